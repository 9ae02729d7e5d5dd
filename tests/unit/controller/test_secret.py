from __future__ import annotations

import os
import ssl
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from webhook.controller.certificates import Pair, issue
from webhook.controller.secret import as_files


def test_openssl_reads_a_pair_that_is_in_memory_alone() -> None:
    pair, _ = issue(("localhost",), datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with as_files(pair) as (certificate, key):
        context.load_cert_chain(certificate, key)
        assert certificate.read_bytes() == pair.certificate
    assert not certificate.exists()


def as_files_without_memory(patch: pytest.MonkeyPatch) -> AbstractContextManager[tuple[Path, Path]]:
    patch.delattr(os, "memfd_create")
    return as_files(Pair(b"certificate", b"key"))


def test_where_there_are_no_files_in_memory_a_private_folder_holds_them() -> None:
    with pytest.MonkeyPatch.context() as patch, as_files_without_memory(patch) as (certificate, key):
        assert (certificate.read_bytes(), key.read_bytes()) == (b"certificate", b"key")
        assert key.parent.stat().st_mode & 0o077 == 0
    assert not key.parent.exists()
