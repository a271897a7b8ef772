#!/usr/bin/env python3
"""Receives Slipway's webhooks, with nothing but the standard library:

    WEBHOOK_SECRET=... PORT=8080 python3 receiver.py
"""

import base64
import hmac
import json
import os
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()
MAX_BODY_BYTES = 1_000_000
TOLERANCE_SECONDS = 300

# A real receiver keeps both in its database: here a restart forgets them, and they only grow.
handled = set()  # ids of deliveries
latest = {}  # id of a run -> its highest stateVersion so far
lock = threading.Lock()


def handle(payload):
    """Your work. Put what takes long into a queue: the sender waits 15 seconds for an answer."""
    print("news", payload["run"]["id"], payload["stateVersion"], payload["state"], flush=True)


def is_genuine(headers, body):
    """webhook-signature covers the id and the time beside the body, so an old request cannot be sent again.

    `body` is the bytes as they came: JSON that was parsed and written again is rarely the same.
    """
    timestamp = number(headers.get("webhook-timestamp"))
    if timestamp is None or abs(time.time() - timestamp) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(SECRET, signed, "sha256"))
    # While the secret is being changed there are two, one of each secret.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, each.encode()) for each in given)


def receive(delivery, payload):
    run, version = payload["run"]["id"], payload["stateVersion"]
    with lock:
        if delivery in handled:
            print("duplicate", run, version, flush=True)
        elif version <= latest.get(run, 0):
            print("outdated", run, version, flush=True)
        else:
            handle(payload)
            latest[run] = version
        # Not before the work is done: if that raises, the next attempt must not be taken for a duplicate.
        handled.add(delivery)


class Receiver(BaseHTTPRequestHandler):
    # Connections stay open between deliveries, so every answer needs a length, and every body must be read.
    protocol_version = "HTTP/1.1"
    # A sender that falls silent must not hold a thread for ever.
    timeout = 60

    def do_POST(self):
        body = self.read_body()
        if body is None:
            return
        if not is_genuine(self.headers, body):
            print("refused", flush=True)
            self.answer(401)
            return
        try:
            # The id is also in X-Slipway-Delivery, but signed only here.
            receive(self.headers["webhook-id"], json.loads(body))
        except Exception:
            traceback.print_exc()
            self.answer(500)
            return
        self.answer(204)

    def read_body(self):
        """The bytes as they came; None when the request was refused instead."""
        # A length beside a transfer encoding is not that of the body.
        is_encoded = "Transfer-Encoding" in self.headers
        length = None if is_encoded else number(self.headers.get("Content-Length"))
        if length is not None and length <= MAX_BODY_BYTES:
            return self.rfile.read(length)
        # What was not read would be taken for the next request of this connection.
        self.close_connection = True
        self.answer(411 if length is None else 413)
        return None

    def answer(self, status):
        self.send_response(status)
        # 204 never has a body and must not say so.
        if status != 204:
            self.send_header("Content-Length", "0")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        """What matters is printed already."""


def number(text):
    fits = text is not None and len(text) <= 12 and text.isascii() and text.isdigit()
    return int(text) if fits else None


if __name__ == "__main__":
    if not SECRET:
        sys.exit("WEBHOOK_SECRET is empty: anybody could write what this would believe")
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
