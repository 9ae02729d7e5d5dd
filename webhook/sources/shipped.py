"""The bundled policies as the wheel carries them: compiled, so that the first start after an installation is quick.

`hatch_build.py` has them written when a wheel is built. They lie beside the code, are trusted like it, and are never
written at run time. They hold the source text that was generated, not code, so any version of Python will do; and of
their files the places within the bundle, so they can be installed anywhere.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import webhook
from webhook.errors import DocumentErrors
from webhook.sources import policy_files
from webhook.sources.bundled import bundled
from webhook.sources.policy_files import PolicyFile

if TYPE_CHECKING:
    from webhook.sources.compiled import Compiled

_PACKAGE: Final = Path(webhook.__file__).parent
_SHIPPED: Final = _PACKAGE / "bundled.pickle"
"""Only an installed wheel has it: in a checkout, policies and code change."""
_DIGEST_SIZE: Final = hashlib.sha256().digest_size


def is_bundled(file: PolicyFile) -> bool:
    """Is a file one of those that come with cozyguard."""
    return Path(file.name).is_relative_to(bundled())


def find(files: tuple[PolicyFile, ...]) -> Compiled | None:
    """Give the compiled policies of these files, where they are all of the bundle and nothing was edited since."""
    if not files or not _SHIPPED.is_file():
        return None
    with _SHIPPED.open("rb") as stream:
        if stream.read(_DIGEST_SIZE) != _digest(files):
            return None
        found: Compiled = _Unpickler(stream).load()
    ready = (replace(one, program=one.program.with_code()) for one in found.policies)
    return replace(found, policies=tuple(ready))


def write(target: Path) -> None:
    """Compile the bundled policies into a file: from equal code and policies, and with equal hashes, equal bytes.

    Raises DocumentErrors when a policy cannot be read or compiled.
    """
    from webhook.engine.compile import compile_policy
    from webhook.sources import policies
    from webhook.sources.compiled import Compiled

    files, _ = policy_files.find([bundled()])
    loaded = policies.read(files)
    if loaded.errors:
        raise DocumentErrors(loaded.errors)
    made = map(compile_policy, loaded.policies)  # neither from the cache nor in parallel: what is shared would differ
    bare = (replace(one, program=replace(one.program, code=b"")) for one in made)
    with target.open("wb") as stream:
        stream.write(_digest(files))
        _Pickler(stream, protocol=5).dump(Compiled(tuple(bare), notices=loaded.notices))


class _Pickler(pickle.Pickler):
    """Writes the names of bundled files as their places within the bundle."""

    def persistent_id(self, obj: Any) -> str | None:
        """Say which file a text names, if it does."""
        if isinstance(obj, str) and obj.startswith(str(bundled())):
            return _place(obj)
        return None


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` has written, wherever the bundle is now."""

    def persistent_load(self, pid: str) -> str:
        """Name the file of a place."""
        return _name(pid)


def _place(name: str) -> str:
    return Path(name).relative_to(bundled()).as_posix()


@cache
def _name(place: str) -> str:
    return str(bundled() / place)


def _digest(files: Iterable[PolicyFile]) -> bytes:
    """Hash all that the compiled policies come from: our code, and the files."""
    digest = hashlib.sha256()
    for part in _parts(files):
        digest.update(len(part).to_bytes(8) + part)
    return digest.digest()


def _parts(files: Iterable[PolicyFile]) -> Iterator[bytes]:
    for module in sorted(_PACKAGE.rglob("*.py")):
        yield from (module.relative_to(_PACKAGE).as_posix().encode(), module.read_bytes())
    for file in files:
        yield from (_place(file.name).encode(), file.content)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
