from webhook.model.diagnosis import Diagnosis, Examination, Level, Remedy
from webhook.model.result import Resource, Source
from webhook.report.doctor import command, document, lines, summary_line
from webhook.report.style import Style

RESOURCE = Resource("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "it's")
FIX = Remedy("set it to 5", ({"op": "add", "path": "/webhooks/0/timeoutSeconds", "value": 5},))


def finding(message: str, source: Source, level: Level = Level.REMARK, fix: Remedy = FIX) -> Diagnosis:
    return Diagnosis(level, "timeout", RESOURCE, source, ("webhooks", 0, "timeoutSeconds"), message, "it hangs", fix)


LIVE = Source("ValidatingWebhookConfiguration it's")
FILE = Source("a.yaml", 0, 3, 17, 2, "  timeoutSeconds: 30")


def test_a_finding_of_a_file_shows_the_line() -> None:
    assert list(lines(Examination(1, (finding("`a` has 30 s", FILE),)), Style())) == [
        "a.yaml:3:17: remark: `a` has 30 s [timeout]",
        "  3 |   timeoutSeconds: 30",
        "    |                 ^^",
        "    = why: it hangs",
        "    = fix: set it to 5",
        "",
    ]


def test_a_finding_of_a_cluster_shows_the_field_and_a_command_that_a_shell_takes() -> None:
    shown = list(lines(Examination(1, (finding("`a` has 30 s", LIVE),)), Style()))
    assert shown[:2] == [
        "ValidatingWebhookConfiguration it's: remark: `a` has 30 s [timeout]",
        "    = at: webhooks[0].timeoutSeconds",
    ]
    assert shown[4] == (
        "    = run: kubectl patch validatingwebhookconfiguration 'it'\"'\"'s' --type=json "
        '--patch=\'[{"op": "add", "path": "/webhooks/0/timeoutSeconds", "value": 5}]\''
    )


def test_the_same_of_another_webhook_takes_one_line() -> None:
    others = [finding(f"`{name}` has 30 s", LIVE, fix=Remedy("give less")) for name in ("a", "b", "c")]
    last = finding("`d` has 30 s", LIVE)
    heads = [line[:3] for line in lines(Examination(4, (*others, last)), Style())]
    assert heads == ["Val", "   ", "   ", "   ", "", "Val", "Val", "", "Val", "   ", "   ", "   ", "   ", ""]


def test_what_files_hold_cannot_hide_or_paint_anything() -> None:
    shown = "\n".join(lines(Examination(1, (finding("`\x1b[2J` has 30 s", LIVE),)), Style()))
    assert "\x1b" not in shown


def test_words_alone_are_no_command() -> None:
    assert command(finding("a", LIVE, fix=Remedy("think"))) == ""
    assert command(finding("a", FILE)) == ""


def test_the_last_line_counts() -> None:
    found = Examination(2, (finding("a", LIVE, Level.ERROR), finding("b", LIVE), finding("c", LIVE)))
    assert summary_line(found, 0.123) == "examined 2 webhooks in 0.12 s: 1 error, 2 remarks"
    assert summary_line(Examination(1, ()), 0) == "examined 1 webhook in 0.00 s: nothing to mend"


def test_the_document_has_all_that_is_promised() -> None:
    told = document(Examination(1, (finding("a", FILE),), unknown=("Secret",)))
    assert told == {
        "version": 1,
        "summary": {"webhooks": 1, "error": 0, "warning": 0, "remark": 1},
        "findings": [
            {
                "level": "remark",
                "check": "timeout",
                "message": "a",
                "why": "it hangs",
                "field": "webhooks[0].timeoutSeconds",
                "fix": {"text": "set it to 5", "patch": list(FIX.patch), "command": ""},
                "resource": {
                    "apiVersion": "admissionregistration.k8s.io/v1",
                    "kind": "ValidatingWebhookConfiguration",
                    "namespace": "",
                    "name": "it's",
                },
                "source": {"file": "a.yaml", "document": 0, "line": 3, "column": 17},
            }
        ],
        "notRead": ["Secret"],
        "inputErrors": [],
    }
