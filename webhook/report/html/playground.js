"use strict";
// The playground: sends what stands in the editors, and shows what comes of it, all of it as text, never as markup.

const $ = id => document.getElementById(id);
const token = location.hash.slice(1);
const editors = ["policy", "object", "old", "cluster"];
const fields = Object.fromEntries([...document.querySelectorAll(".desk [name]")].map(one => [one.name, one]));
const KEPT = "cozyguard playground", PAUSE = 150;

async function ask(path, body, signal) {
  const headers = { Authorization: `Bearer ${token}` };
  const options = body ? { method: "POST", body: JSON.stringify(body), headers, signal } : { headers };
  const response = await fetch(`/api/${path}`, options);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

// Make an element: what is no element among its children becomes text.
function make(tag, settings, ...children) {
  const made = Object.assign(document.createElement(tag), settings);
  made.append(...children.flat().filter(one => one !== "" && one !== null && one !== undefined));
  return made;
}
const more = number => number ? `and ${number.toLocaleString("en")} more` : "";

// Head what there is, as a list if it has a look; null where there is nothing.
function section(head, children, look) {
  if (!children.some(Boolean)) return null;
  return make("section", {}, make("h2", {}, head), look ? make("ul", { className: look }, children) : children);
}

// --- editors: a text area over a copy of its text, which has the marks ---

function numbered(name) {
  const area = fields[name], count = area.value.split("\n").length;
  const numbers = area.closest(".editor").querySelector(".numbers");
  numbers.textContent = Array.from({ length: count }, (_, at) => at + 1).join("\n");
}

function mark(name, marks) {
  const area = fields[name], lines = area.value.split("\n"), shown = area.closest(".editor").querySelector(".marks");
  shown.replaceChildren();
  lines.forEach((line, at) => {
    const here = marks.filter(one => Math.min(one.line, lines.length) === at + 1).sort((a, b) => a.column - b.column);
    let done = 0;
    for (const { column, length, look } of here) {
      const start = Math.min(Math.max(column - 1, 0), line.length), end = start + (length || line.length || 1);
      if (start < done) continue;
      shown.append(line.slice(done, start), make("mark", { className: look }, line.slice(start, end) || " "));
      done = end;
    }
    shown.append(line.slice(done) + "\n");
  });
  follow(area);
}

function follow(area) {
  const editor = area.closest(".editor");
  editor.querySelector(".numbers").scrollTop = area.scrollTop;
  const marks = editor.querySelector(".marks");
  marks.scrollTop = area.scrollTop;
  marks.scrollLeft = area.scrollLeft;
}

// Go to a place of an editor, as from a finding.
function show(name, line, column) {
  const area = fields[name];
  if (name !== "policy") choose(name);
  const before = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(before + column - 1, before + column - 1);
  area.scrollTop = (line - 4) * parseFloat(getComputedStyle(area).lineHeight);
}

function place({ file, line, column, path }) {
  const words = [line ? `${file}:${line}:${column}` : file, path].filter(Boolean).join(" ");
  if (!line || !editors.includes(file)) return make("span", { className: "place" }, words);
  return make("button", { type: "button", className: "place", onclick: () => show(file, line, column) }, words);
}

// --- tabs ---

const tabs = [...document.querySelectorAll("[role=tab]")];
function choose(name) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.ariaSelected = String(chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}
for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab.id.slice(4)));
  tab.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    choose(next.id.slice(4));
    next.focus();
  });
}

// --- what comes of it ---

function tell(tried) {
  const { allowed, findings = [], changes = [], warnings = [], notAsked = [] } = tried;
  const asked = (tried.policies ?? []).some(one => !one.left);
  const nobody = tried.exempt ? "allowed: the configuration exempts it"
    : tried.errors.length ? "no policy that loads is about it" : "allowed: no policy is about it";
  const look = allowed === undefined ? "warn" : !allowed ? "deny" : asked ? "pass" : "skip";
  const words = { warn: "not decided", skip: nobody }[look] ?? tried.answer;
  answer(look, words, tried.release ? `Cozystack ${tried.release} · ${tried.milliseconds} ms` : "");
  const fault = one => make("li", {}, place(one), " ", one.message);
  $("outcome").replaceChildren(...[
    section("What is wrong with the texts", tried.errors.map(fault), "errors"),
    section("Notes", tried.notices.map(fault), "list"),
    section("Findings", [...findings.map(finding), more(tried.moreFindings)]),
    section("Changes", changes.map(change)),
    section("Warnings that kubectl prints", warnings.map(one => make("li", {}, one)), "list"),
    section("Step by step", (tried.policies ?? []).map(policy)),
    section("Not asked", notAsked.map(one => make("li", {}, make("code", {}, one.policy), ` ${one.why}`)), "list"),
  ].filter(Boolean));
  const marks = [...tried.errors.map(one => ({ ...one, look: "deny" })), ...findings].filter(one => one.line);
  for (const name of editors) mark(name, marks.filter(one => one.file === name));
}

function answer(look, words, more = "") {
  $("answer").className = look;
  $("answer").replaceChildren(make("strong", {}, words), make("small", {}, more));
}

const code = text => make("code", {}, text);

function finding(one) {
  const facts = {
    path: one.field && code(one.field),
    found: one.value && code(one.value),
    allowed: one.allowed.length && [...one.allowed.flatMap(value => [code(value), " "]), more(one.moreAllowed)],
    "did you mean": one.suggestion && code(one.suggestion),
    why: one.why,
    fix: one.fix,
    at: one.line && place(one),
  };
  const listed = Object.entries(facts).filter(([, what]) => what);
  return make("div", { className: "card" },
    make("p", {}, tag(one.look, one.word), " ", make("strong", {}, one.message),
      make("small", {}, `${one.policy} / ${one.rule}`)),
    make("dl", {}, listed.flatMap(([head, what]) => [make("dt", {}, head), make("dd", {}, what)])));
}

function change(one) {
  const tags = { "+": "ins", "-": "del" };
  return make("figure", {}, make("figcaption", {}, `${one.message || "changed"} (${one.policy})`),
    make("pre", { tabIndex: 0 }, one.lines.map(line => make(tags[line[0]] ?? "span", {}, line))));
}

function policy(one) {
  const phase = { mutate: "changes the object", validate: "judges the object" }[one.phase];
  const left = one.left && ` · is not asked: ${one.left}`, parts = [...one.conditions, ...one.rules];
  return make("details", { open: !one.left },
    make("summary", {}, make("strong", {}, one.policy), make("small", {}, ` ${phase}${left}`)),
    one.conditions.map(each => expression("only where", each)), one.rules.map(each => expression("rule", each)),
    more(one.moreRules),
    parts.length || left || one.changes ? "" : make("p", {}, "has nothing to say"));
}

const LOOKS = { true: "pass", pass: "pass", deny: "deny", error: "error", warn: "warn", audit: "audit" };
const tag = (look, word) => make("b", { className: `tag ${look}` }, word);

function expression(head, one) {
  const name = make("p", {}, `${head} `, make("b", {}, one.name), " ", tag(LOOKS[one.result] ?? "skip", one.result));
  return make("div", { className: "told" }, name, one.steps === null
    ? make("p", {}, "values are withheld: they may hold a secret") : one.steps.length ? steps(one) : "");
}

function steps(one) {
  const cell = text => make("td", {}, code(text.replace(/\s+/g, " ")));
  const rows = one.steps.map(step => make("tr", {}, step.map(cell)));
  return make("table", { className: "steps", ariaLabel: `steps of ${one.name}` }, make("tbody", {}, rows));
}

// --- trying ---

let waiting, running;
async function attempt() {
  running?.abort();
  const { signal } = running = new AbortController();
  const given = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
  sessionStorage.setItem(KEPT, JSON.stringify({ given, chosen: [policies.value, cases.value] }));
  try {
    tell(await ask("try", given, signal));
  } catch (error) {
    if (!signal.aborted) fail(error);
  }
}

function fail(error) {
  answer("deny", error instanceof TypeError ? "the playground does not answer: has it been stopped?" : error.message);
  $("outcome").replaceChildren();
}

function fill(texts) {
  for (const [name, text] of Object.entries(texts)) if (fields[name]) fields[name].value = text;
  editors.forEach(numbered);
  attempt();
}

// --- where to start ---

const policies = $("policies"), cases = $("cases");
let started = [];

// Offer the cases of the policy that is chosen, and give its text.
async function offer() {
  const start = policies.value ? await ask(`starts/${encodeURIComponent(policies.value)}`) : { cases: [], policy: "" };
  started = start.cases;
  const words = one => one.expects ? `${one.name} (${one.expects})` : one.name;
  cases.replaceChildren(...started.map((one, at) => make("option", { value: at }, words(one))));
  cases.disabled = !started.length;
  return start.policy;
}

function take(policy) {
  const empty = Object.fromEntries(Object.keys(fields).map(name => [name, ""]));
  fill({ ...empty, ...started[cases.value]?.given, policy });
}

policies.addEventListener("change", () => offer().then(policy => {
  const speaks = started.findIndex(one => one.expects === "deny" || one.expects === "warn");
  cases.value = Math.max(speaks, 0);
  take(policy);
}).catch(fail));
cases.addEventListener("change", () => take(fields.policy.value));

for (const field of Object.values(fields)) {
  field.addEventListener("input", () => {
    if (editors.includes(field.name)) { numbered(field.name); mark(field.name, []); }
    clearTimeout(waiting);
    waiting = setTimeout(attempt, PAUSE);
  });
  field.addEventListener("scroll", () => editors.includes(field.name) && follow(field));
}

async function begin() {
  const listed = await ask("starts");
  const groups = Map.groupBy(listed, one => one.category || "other");
  for (const [category, ours] of groups)
    policies.append(make("optgroup", { label: category }, ours.map(one =>
      make("option", { value: one.name }, one.title ? `${one.name}: ${one.title}` : one.name))));
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept) {
    policies.value = kept.chosen[0];
    await offer();
    cases.value = kept.chosen[1];
    return fill(kept.given);
  }
  policies.selectedIndex = listed.length ? 1 : 0;
  policies.dispatchEvent(new Event("change"));
}
begin().catch(fail);
