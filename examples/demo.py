"""`make run`: the real server, real TLS and three reviews, shown as a person at `kubectl apply` would see them.

Starts `cozyguard serve` with a self-signed certificate and the bundled policies, sends it the sample
AdmissionReviews beside this file, prints what comes back, and keeps serving until interrupted.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HERE = Path(__file__).parent
PORT, PROBE_PORT = int(os.environ.get("PORT", "8443")), int(os.environ.get("PROBE_PORT", "8080"))
BOLD, DIM, RED, GREEN, YELLOW, PLAIN = (
    ("\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[0m") if sys.stdout.isatty() else ("",) * 6
)


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for localhost, good for a day, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "tls.crt", folder / "tls.key"
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.touch(mode=0o600)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key_file.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    return certificate_file, key_file


def wait_until_ready(server: subprocess.Popen[bytes], log: Path, seconds: float = 20) -> None:
    """Ask `/readyz` until it says yes; a server that has ended never will, and has said why."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PROBE_PORT}/readyz", timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    sys.stderr.write(log.read_text())
    sys.exit(f"the server did not become ready; are ports {PORT} and {PROBE_PORT} free? (set PORT and PROBE_PORT)")


def ask(path: str, review: dict[str, Any], certificate: Path) -> dict[str, Any]:
    """Post one review as the API server does, and return the response."""
    trust = ssl.create_default_context(cafile=str(certificate))
    body, headers = json.dumps(review).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"https://localhost:{PORT}{path}?timeout=10s", body, headers)
    with urllib.request.urlopen(request, context=trust, timeout=10) as answer:
        response: dict[str, Any] = json.load(answer)["response"]
        return response


def show(title: str, response: dict[str, Any]) -> None:
    """Print one answer as people read it."""
    print(f"\n{BOLD}{title}{PLAIN}")
    for warning in response.get("warnings", ()):
        print(f"{YELLOW}Warning:{PLAIN} {warning}")
    if not response["allowed"]:
        print(f"{RED}denied{PLAIN} ({response['status']['reason']}, {response['status']['code']})")
        print(response["status"]["message"])
    elif "patch" in response:
        print(f"{GREEN}allowed, and patched:{PLAIN}")
        for operation in json.loads(base64.b64decode(response["patch"])):
            print(f"  {operation['op']} {operation['path']}: {json.dumps(operation.get('value'))}")
    else:
        print(f"{GREEN}allowed{PLAIN}")


def main() -> int:
    """Start, show, serve."""
    with tempfile.TemporaryDirectory(prefix="cozyguard-") as folder:
        certificate, key = self_signed(Path(folder))
        arguments = ["--host", "127.0.0.1", "--port", str(PORT), "--probe-port", str(PROBE_PORT)]
        arguments += ["--tls-cert", str(certificate), "--tls-key", str(key)]
        arguments += ["--cluster-state", str(HERE / "cluster-state.yaml")]
        command = [sys.executable, "-m", "webhook", "serve", *arguments]
        log = Path(folder) / "log"
        with log.open("wb") as stderr, subprocess.Popen(command, stderr=stderr) as server:
            try:
                wait_until_ready(server, log)
                for name, path in (("deny", "/validate"), ("patch", "/mutate"), ("allow", "/validate")):
                    review = json.loads((HERE / "reviews" / f"{name}.json").read_text())
                    title = review["request"].get("name", "")
                    kind = review["request"]["kind"]["kind"]
                    show(f"$ kubectl apply   # {kind} {title} ({name}.json)", ask(path, review, certificate))
                print(f"\n{DIM}serving https://localhost:{PORT}/validate and /mutate")
                print(f"metrics and probes: http://localhost:{PROBE_PORT}/metrics, /readyz, /healthz")
                print(f"press Ctrl-C to stop{PLAIN}", flush=True)
                return server.wait()
            except KeyboardInterrupt:
                return 0
            finally:
                server.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main())
