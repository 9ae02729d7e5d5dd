"use strict";
// Chooses among the findings of a report. They stand in <noscript>: without scripts a browser shows them all, with
// scripts it takes them for text, which costs next to nothing, and only those that are looked at become elements.

const PAGE = 50, PRINTED = 1000;
const $ = id => document.getElementById(id);
const form = $("chosen"), list = $("list"), more = $("more"), shown = $("shown");
const fields = ["outcome", "severity", "policy", "namespace", "kind", "name"];
const index = JSON.parse($("index").textContent);
const parts = $("all").textContent.split("<!---->");
let texts, found = [], drawn = 0;

// What a finding says, in lower case: without tags, and with character references read by the browser.
function readTexts() {
  if (texts) return;
  const area = document.createElement("textarea");
  area.innerHTML = parts.join("\f").replace(/<[^>]*>/g, " ");
  texts = area.value.toLowerCase().split("\f");
}

function choose() {
  const wanted = new FormData(form), words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
  const picked = fields.map((name, at) => [at, wanted.get(name)]).filter(([, value]) => value);
  if (words.length) readTexts();
  found = index.map((_, at) => at).filter(at =>
    picked.every(([field, value]) => index[at][field] === value) && words.every(word => texts[at].includes(word)));
  const key = fields.indexOf(wanted.get("sort"));
  if (key >= 0) found.sort((a, b) => index[a][key] < index[b][key] ? -1 : index[a][key] > index[b][key] ? 1 : a - b);
  list.replaceChildren();
  drawn = 0;
  draw(PAGE);
  const number = n => n.toLocaleString("en");
  shown.textContent = `${number(found.length)} of ${number(index.length)} findings`;
  remember(wanted);
}

function draw(number) {
  list.insertAdjacentHTML("beforeend", found.slice(drawn, drawn + number).map(at => parts[at]).join(""));
  drawn = Math.min(drawn + number, found.length);
  more.hidden = drawn >= found.length;
}

// What is chosen stands in the address, so that it can be passed on and survives a reload.
function remember(wanted) {
  const chosen = new URLSearchParams([...wanted].filter(([, value]) => value)).toString();
  history.replaceState(null, "", chosen ? `#${chosen}` : location.pathname + location.search);
}

function recall() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const field = form.elements[name];
    if (field && (field.type === "search" || [...field.options].some(one => one.value === value))) field.value = value;
  }
}

let waiting;
form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 60); });
form.addEventListener("reset", () => setTimeout(choose));
form.addEventListener("submit", event => event.preventDefault());
more.addEventListener("click", () => draw(PAGE));
new IntersectionObserver(([seen]) => seen.isIntersecting && draw(PAGE), { rootMargin: "400px" }).observe(more);
addEventListener("beforeprint", () => draw(PRINTED - drawn));
addEventListener("hashchange", () => { form.reset(); recall(); choose(); });
document.querySelector(".heat")?.addEventListener("click", event => {
  const { policy, namespace } = event.target.dataset;
  if (!policy) return;
  form.reset();
  form.elements.policy.value = policy;
  form.elements.namespace.value = namespace;
  choose();
  $("findings").scrollIntoView();
  form.elements.text.focus({ preventScroll: true });
});

form.hidden = $("clear").hidden = false;
recall();
choose();
(window.requestIdleCallback || setTimeout)(readTexts);
