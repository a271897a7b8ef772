#!/usr/bin/env python3
"""What the demo and the tests believe: the receiver of docs/receivers, but it checks both X-Signature headers and
reports every request. It shares no code with the sender.

    witness.py --secret S [--port 0]

Prints {"port": N} first, then one JSON line for each request. Answers 204 when the signatures fit the raw body,
401 otherwise. Stops on SIGTERM or SIGINT.
"""

import argparse
import hashlib
import hmac
import json
import signal
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "receivers"))
from receiver import Receiver, number  # noqa: E402

OUTPUT = threading.Lock()


def say(line):
    """One whole line at a time, although requests come in parallel."""
    with OUTPUT:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def signature_fits(secret, algorithm, body, header):
    """Compares in constant time: an early end would tell how many characters were right."""
    digest = hmac.new(secret.encode(), body, getattr(hashlib, algorithm)).hexdigest()
    expected = f"{algorithm}={digest}"
    return hmac.compare_digest(expected.encode(), (header or "").encode("utf-8", "surrogateescape"))


def parsed(body):
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Witness(Receiver):
    secret = ""

    def do_POST(self):
        received_at_ms = round(time.time_ns() / 1e6, 3)
        body = self.read_body()
        if body is None:
            return
        verified = signature_fits(self.secret, "sha1", body, self.headers.get("X-Signature"))
        verified256 = signature_fits(self.secret, "sha256", body, self.headers.get("X-Signature-256"))
        payload = parsed(body)
        say(
            {
                "verified": verified,
                "verified256": verified256,
                "state": payload.get("state"),
                "stateVersion": payload.get("stateVersion"),
                "run": id_of(payload.get("run")),
                "stack": id_of(payload.get("stack")),
                "delivery": self.headers.get("X-Slipway-Delivery"),
                "attempt": number(self.headers.get("X-Slipway-Attempt")),
                "receivedAtMs": received_at_ms,
                "body": payload or body.decode("utf-8", "replace"),
            }
        )
        self.answer(204 if verified and verified256 else 401)


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # A sender that was killed in the middle of a request is no error of ours.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def id_of(value):
    return value.get("id") if isinstance(value, dict) else None


def main():
    arguments = argparse.ArgumentParser(description="Verifies and prints Slipway webhooks.")
    arguments.add_argument("--port", type=int, default=0, help="0 takes any free one")
    arguments.add_argument("--secret", required=True)
    options = arguments.parse_args()

    Witness.secret = options.secret
    server = Server(("127.0.0.1", options.port), Witness)
    # shutdown() waits for the loop that a signal handler interrupts, so it needs a thread of its own.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: threading.Thread(target=server.shutdown).start())
    say({"port": server.server_address[1]})
    server.serve_forever(poll_interval=0.1)
    server.server_close()


if __name__ == "__main__":
    main()
