"""`make controlplane`: start a control plane, say how to use it, and keep it until interrupted."""

from __future__ import annotations

import signal
import sys
import time

from .binaries import find
from .plane import ControlPlane
from .versions import VARIABLE, ControlPlaneError, minors


def main() -> int:
    """Start, tell, wait."""
    begun = time.monotonic()
    try:
        with ControlPlane(find(say=_say)) as plane:
            version = plane.kubectl("version").splitlines()[-1].partition(": ")[2]
            _say(f"kube-apiserver {version} is ready at {plane.url}, after {time.monotonic() - begun:.1f} s")
            _say(f"\n  export KUBECONFIG={plane.kubeconfig}\n")
            _say(f"other versions: {VARIABLE}={'|'.join(minors())}; press Ctrl-C to stop")
            signal.pause()
    except ControlPlaneError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main())
