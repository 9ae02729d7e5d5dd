from pathlib import Path

import pytest

from webhook.errors import DocumentErrors
from webhook.model.configuration import ModeName
from webhook.server.compiling import elsewhere, read_configuration
from webhook.sources import configuration
from webhook.sources.configuration import File


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_configuration_is_read_in_another_process(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    for mode in ("warn", "audit"):  # what is remembered is the content, not the name
        file.write_text(
            f"apiVersion: cozyguard.io/v1alpha1\nkind: Configuration\nmodes: [{{policies: ['*'], mode: {mode}}}]"
        )
        assert read_configuration(file).modes[0].mode is ModeName(mode)
        assert read_configuration(file) == configuration.load(file)


def test_faults_found_in_another_process_are_told_as_if_they_were_found_here() -> None:
    file = File("c.yaml", b"apiVersion: cozyguard.io/v1alpha1\nkind: Configuration\nmodes: [{policies: 1, mode: wran}]")
    with pytest.raises(DocumentErrors) as here:
        configuration.read(file)
    with pytest.raises(DocumentErrors) as there:
        elsewhere(configuration.read, file)
    assert there.value.errors == here.value.errors
    assert len(there.value.errors) == 2
