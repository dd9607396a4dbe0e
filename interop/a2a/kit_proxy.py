"""Stands between the protocol's compatibility kit and a scripted profile: kit_proxy.py UPSTREAM TOKEN WIRE [PORT].

The kit sends no token, chooses what an agent shall do by the beginning of a message's id, and says no version when it asks
for the card. Here the token and the version are added, and the id becomes lines of the scripted model. Answers pass through
as they are. WIRE is 0.3 or 1.0; UPSTREAM is `http://127.0.0.1:8790/v1/profiles/assistant`.
"""

import http.client
import itertools
import json
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UPSTREAM, TOKEN, WIRE = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2], sys.argv[3]
PORT = int(sys.argv[4]) if len(sys.argv) > 4 else 9999
NUMBERS = itertools.count()
CARD = "/.well-known/agent-card.json"
WAITS = '!say I will write.\n!tool write_file {"path":"kit.txt","content":"x"}\n!say Written.'
SHARES = '!tool share_file {"name":"output.txt","text":"Some text."}'

# What begins so is answered so; the longest beginning that fits counts.
SCRIPTS = {
    "tck-complete-task": "!say Hello from TCK",
    "tck-artifact-text": "!say Generated text content",
    "tck-artifact-file": SHARES,
    "tck-message-response": "!say Direct message response",
    "tck-input-required": WAITS,
    # What is refused by the engine itself: there is nothing to approve.
    "tck-reject-task": "/approve",
    "tck-stream-001": "!say Stream hello from TCK",
    "tck-stream-003": "!say Stream task lifecycle",
    "tck-stream-ordering-001": "!say Ordered output",
    "tck-stream-artifact-text": "!say Streamed text content",
    "tck-stream-artifact-file": SHARES,
    "tck-stream-artifact-chunked": "!stream 2 200",
    # Twice the kit's time for streams.
    "test-resubscribe-message-id": "!stream 40 100",
}


def scripted(message):
    """The words for a message of the kit's; none: its own."""
    name = str(message.get("messageId") or message.get("message_id") or "")
    if message.get("taskId") or message.get("task_id"):
        return "/approve" if name.startswith("tck-complete-task") else None
    fits = [begin for begin in SCRIPTS if name.startswith(begin)]
    if fits:
        return SCRIPTS[max(fits, key=len)]
    return WAITS if WIRE == "0.3" else None


def with_script(body):
    """The same request with a script in place of its words."""
    try:
        asked = json.loads(body)
        message = asked["params"]["message"]
        part = next(part for part in message["parts"] if isinstance(part.get("text"), str))
    except (ValueError, KeyError, TypeError, StopIteration, AttributeError):
        return body
    words = scripted(message)
    if words is not None and part["text"]:
        part["text"] = words
    # The kit of 1.0 uses one id for many messages, and means a new one each time.
    if message.get("messageId", "").startswith("tck-"):
        message["messageId"] += f"-{next(NUMBERS)}"
    return json.dumps(asked).encode()


class Passing(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def passes(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        headers = {name: value for name, value in self.headers.items()
                   if name.lower() not in ("connection", "content-length", "accept-encoding")}
        path = self.path
        if path == CARD:
            path = UPSTREAM.path + CARD
            headers.setdefault("A2A-Version", WIRE)
        else:
            # The kit of 0.3 asks at the root as well, whatever the card says.
            path = f"{UPSTREAM.path}/a2a" if path == "/" else path
            headers.setdefault("Authorization", f"Bearer {TOKEN}")
            body = with_script(body)
        upstream = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port, timeout=120)
        upstream.request(self.command, path, body=body or None, headers=headers)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(piece)
            self.wfile.flush()
        upstream.close()

    do_GET = do_POST = do_PUT = do_DELETE = passes


def main():
    with ThreadingHTTPServer(("127.0.0.1", PORT), Passing) as server:
        print(f"kit proxy on http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
