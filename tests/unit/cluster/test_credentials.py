"""Credentials, read from files alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trustme

from webhook.cluster.access import Access, Credentials
from webhook.cluster.credentials import load, load_here
from webhook.errors import UsageError
from webhook.server.compiling import elsewhere

TOKEN = "eyJ-a-token"


def kubeconfig(folder: Path, **user: Any) -> Path:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example.org:6443/"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("production", "staging")],
        "current-context": "staging",
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(config))
    return file


async def test_a_certificate_beside_the_kubeconfig_is_shown_to_the_api_server(tmp_path: Path) -> None:
    made = trustme.CA().issue_cert("jane@example.org")
    made.cert_chain_pems[0].write_to_path(tmp_path / "jane.crt")
    made.private_key_pem.write_to_path(tmp_path / "jane.key")
    file = kubeconfig(tmp_path, **{"client-certificate": "jane.crt", "client-key": "jane.key"})
    credentials = await load(Access(file))
    assert credentials.url == "https://api.example.org:6443"
    assert "PRIVATE KEY" in (credentials.certificate or "")
    assert credentials.tls().check_hostname


async def test_credentials_do_not_show_what_is_secret(tmp_path: Path) -> None:
    credentials = await load(Access(kubeconfig(tmp_path, token=TOKEN)))
    assert credentials.authorization == f"Bearer {TOKEN}"
    assert TOKEN not in repr(credentials)


async def test_a_context_that_is_not_there_is_told_with_the_near_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no context `prodution`; did you mean `production`\?"):
        await load(Access(kubeconfig(tmp_path, token=TOKEN), "prodution"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"token: [{TOKEN}", "is no YAML: see line 2"),
        ("", "holds no kubeconfig"),
        ("[]", "holds no kubeconfig"),
        ("contexts: []", "has no current-context: name one of its contexts: none"),
    ],
)
async def test_a_kubeconfig_that_cannot_be_read_is_told_without_its_text(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        await load(Access(file))
    assert words in str(refused.value)
    assert TOKEN not in str(refused.value)


async def test_a_kubeconfig_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="kubeconfig `nowhere` cannot be read: no such file or directory"):
        await load(Access(Path("nowhere")))


async def test_outside_a_cluster_a_kubeconfig_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UsageError, match=r"no service account of a pod here: .*; outside a cluster name a kubeconfig"):
        await load(Access())


def test_another_process_is_told_what_is_wrong_as_well() -> None:
    with pytest.raises(UsageError, match="kubeconfig `nowhere` cannot be read: no such file or directory"):
        elsewhere(load_here, Access(Path("nowhere")))


async def test_a_certificate_authority_that_is_none_is_told(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, token=TOKEN)
    config = json.loads(file.read_text())
    (tmp_path / "ca.crt").write_text("no certificate")
    config["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
    file.write_text(json.dumps(config))
    with pytest.raises(UsageError, match=r"the certificates of kubeconfig `.*` cannot be used"):
        await load(Access(file))


async def test_a_token_that_is_exchanged_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    credentials = Credentials("https://api.example.org", token_file=file)
    first = await credentials.headers()
    file.write_text("two\n")
    assert (first, await credentials.headers()) == (
        (("Authorization", "Bearer one"),),
        (("Authorization", "Bearer two"),),
    )
