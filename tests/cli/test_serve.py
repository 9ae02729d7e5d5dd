from collections.abc import Callable
from typing import Any

import pytest

from webhook.server import app
from webhook.server.settings import Settings

Run = Callable[..., Any]
Write = Callable[[str, Any], str]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Collect what would be served."""
    settings: list[Settings] = []

    def run(given: Settings) -> int:
        settings.append(given)
        return 0

    monkeypatch.setattr(app, "run", run)
    return settings


def test_flags_and_variables_become_the_settings(
    cozyguard: Run, write: Write, served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COZYGUARD_TLS_KEY", write("tls.key", "key"))
    monkeypatch.setenv("COZYGUARD_PORT", "1")
    monkeypatch.setenv("COZYGUARD_POLICIES", write("a/policy.yaml", ""))

    answer = cozyguard("serve", "--tls-cert", write("tls.crt", "cert"), "--port", "9443", "--release", "1.6")

    assert (answer.code, answer.err) == (0, "")
    (settings,) = served
    assert (str(settings.tls_cert), str(settings.tls_key)) == ("tls.crt", "tls.key")
    assert (settings.port, str(settings.release)) == (9443, "1.6")
    assert list(map(str, settings.policies)) == ["a/policy.yaml"]


def test_all_that_is_wrong_with_the_settings_is_told_at_once(cozyguard: Run, served: list[Settings]) -> None:
    answer = cozyguard("serve", "--port", "many", "--tls-cert", "none.crt")

    assert answer.code == 2
    assert "--port: got `many`" in answer.err
    assert "--tls-cert: `none.crt` does not exist" in answer.err
    assert "--tls-key" in answer.err
    assert served == []
