from __future__ import annotations

from typing import Any

from webhook.controller.troubles import Troubles


class Lines(list[str]):
    def info(self, msg: str, **fields: Any) -> None:
        self.append(f"info {msg} {fields}")

    def warning(self, msg: str, **fields: Any) -> None:
        self.append(f"warning {msg} {fields}")

    def error(self, msg: str, **fields: Any) -> None:
        self.append(f"error {msg} {fields}")


def test_a_trouble_is_said_once_and_counted_each_time() -> None:
    lines = Lines()
    troubles = Troubles(lines)
    troubles.clear("lease")
    for _ in range(3):
        troubles.fail("lease", "forbidden")
    troubles.fail("lease", "refused")
    troubles.clear("lease")
    assert lines == [
        "error the controller cannot go on {'what': 'lease', 'error': 'forbidden'}",
        "error the controller cannot go on {'what': 'lease', 'error': 'refused'}",
        "info the controller goes on {'what': 'lease'}",
    ]
    assert troubles.failures == {"lease": 4}
