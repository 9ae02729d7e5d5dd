"""What was measured on: figures without it mean nothing."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> str:
    """Name the processor, its cores and the Python."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*:\s*(.*)", text)
    cpu = model[1] if model else platform.processor()
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}"


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
