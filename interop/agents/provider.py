"""A provider of models for agents that are run without an account: it obeys the script in what was said last.

    python provider.py PORT      (0: any; it prints `listening on http://127.0.0.1:PORT`)

Lines of a script: `!say WORDS`, `!stream WORDS MS`, `!tool NAME JSON`. A tool ends an answer; the next
answer goes on after it. It speaks Anthropic's messages, OpenAI's chat completions and responses, and
Gemini's content, streamed or whole, takes whatever else a request holds, and keeps nothing.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRIPTED = ("!say ", "!tool ", "!stream ")


def script_of(text):
    return [line for line in text.splitlines() if line.startswith(SCRIPTED)]


def steps_left(talk):
    """What is to be done now: `talk` is a list of ("said", text) and ("result", text).

    Some agents put a result before the words that led to it, so results are counted over the whole talk.
    """
    scripts = [script_of(text) for sort, text in talk if sort == "said" and script_of(text)]
    if not scripts:
        return ["!say Nothing was asked for."]
    done = sum(sort == "result" for sort, _ in talk)
    done -= sum(line.startswith("!tool ") for script in scripts[:-1] for line in script)
    lines = list(scripts[-1])
    while done > 0 and lines:
        if lines.pop(0).startswith("!tool "):
            done -= 1
    return lines


def plan(talk):
    """Words as (text, pause) pieces, and at most one call at their end."""
    words, call = [], None
    for line in steps_left(talk):
        verb, _, rest = line.partition(" ")
        if verb == "!say":
            words.append(((" " if words else "") + rest, 0))
        elif verb == "!stream":
            count, ms = (int(n) for n in rest.split())
            words += [(f"word{n} ", ms / 1000) for n in range(1, count + 1)]
        else:
            name, _, given = rest.partition(" ")
            call = (name, json.loads(given or "{}"))
            break
    return words, call


def texts(content):
    """The texts and results of one message's content, in any of the dialects."""
    if isinstance(content, str):
        return [("said", content)]
    found = []
    for part in content or []:
        if part.get("type") == "tool_result" or "functionResponse" in part:
            found.append(("result", ""))
        elif isinstance(part.get("text"), str):
            found.append(("said", part["text"]))
    return found


def talk_of(path, body):
    talk = []
    if path.endswith("/responses"):
        given = body.get("input") or []
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            if str(item.get("type", "")).endswith("_output"):
                talk.append(("result", ""))
            elif item.get("role") == "user":
                talk += texts(item.get("content"))
    elif "contents" in body:
        for item in body["contents"]:
            if item.get("role") in ("user", "function"):
                talk += texts(item.get("parts"))
    else:
        for item in body.get("messages", []):
            if item.get("role") == "tool":
                talk.append(("result", ""))
            elif item.get("role") == "user":
                talk += texts(item.get("content"))
    return talk


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.whole({"data": [{"id": "fake", "object": "model", "type": "model"}], "models": [], "object": "list"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("count_tokens") or path.endswith(":countTokens"):
            return self.whole({"input_tokens": 10, "totalTokens": 10})
        words, call = plan(talk_of(path, body))
        if path.endswith("/messages"):
            return self.as_anthropic(body, words, call)
        if path.endswith("/responses"):
            return self.as_responses(words, call)
        if "generateContent" in path.lower() or "GenerateContent" in path:
            return self.as_gemini("stream" in path, words, call)
        if path.endswith("/chat/completions"):
            return self.as_chat(body, words, call)
        return self.whole({})

    def whole(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, name=None):
        head = f"event: {name}\n" if name else ""
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(f"{head}data: {data}\n\n".encode())
        self.wfile.flush()

    def as_anthropic(self, body, words, call):
        usage = {"input_tokens": 10, "output_tokens": 5}
        stop = "tool_use" if call else "end_turn"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "fake"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        ident = f"toolu_{time.time_ns()}"
        if not body.get("stream"):
            content = [{"type": "text", "text": "".join(text for text, _ in words) or "ok"}]
            if call:
                content.append({"type": "tool_use", "id": ident, "name": call[0], "input": call[1]})
            return self.whole({**message, "content": content, "stop_reason": stop})
        self.begin()
        self.event({"type": "message_start", "message": message}, "message_start")
        at = 0
        if words:
            self.block(at, {"type": "text", "text": ""},
                       [({"type": "text_delta", "text": text}, pause) for text, pause in words])
            at += 1
        if call:
            self.block(at, {"type": "tool_use", "id": ident, "name": call[0], "input": {}},
                       [({"type": "input_json_delta", "partial_json": json.dumps(call[1])}, 0)])
        delta = {"stop_reason": stop, "stop_sequence": None}
        self.event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}, "message_delta")
        self.event({"type": "message_stop"}, "message_stop")

    def block(self, at, begins, deltas):
        self.event({"type": "content_block_start", "index": at, "content_block": begins}, "content_block_start")
        for delta, pause in deltas:
            time.sleep(pause)
            self.event({"type": "content_block_delta", "index": at, "delta": delta}, "content_block_delta")
        self.event({"type": "content_block_stop", "index": at}, "content_block_stop")

    def as_chat(self, body, words, call):
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        frame = {"id": "chatcmpl-1", "created": 1, "model": "fake"}
        calls = [{"index": 0, "id": f"call_{time.time_ns()}", "type": "function",
                  "function": {"name": call[0], "arguments": json.dumps(call[1])}}] if call else None
        stop = "tool_calls" if call else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(text for text, _ in words), "tool_calls": calls}
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return self.whole({**frame, "object": "chat.completion", "choices": [choice], "usage": usage})
        self.begin()
        frame["object"] = "chat.completion.chunk"

        def chunk(delta, reason=None, **more):
            self.event({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more})

        chunk({"role": "assistant", "content": ""})
        for text, pause in words:
            time.sleep(pause)
            chunk({"content": text})
        if calls:
            chunk({"tool_calls": calls})
        chunk({}, stop, usage=usage)
        self.event("[DONE]")

    def as_responses(self, words, call):
        self.begin()
        base = {"id": f"resp_{time.time_ns()}", "object": "response", "model": "fake", "status": "in_progress",
                "output": []}
        self.event({"type": "response.created", "response": base}, "response.created")
        output = []
        if words:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
            self.event({"type": "response.output_item.added", "output_index": 0, "item": item},
                       "response.output_item.added")
            for text, pause in words:
                time.sleep(pause)
                self.event({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
                            "content_index": 0, "delta": text}, "response.output_text.delta")
            text = "".join(text for text, _ in words)
            content = [{"type": "output_text", "text": text, "annotations": []}]
            output.append({**item, "status": "completed", "content": content})
        if call:
            # Tools of a server are a namespace there, written before a slash.
            space, _, name = call[0].rpartition("/")
            output.append({"type": "function_call", "id": f"fc_{time.time_ns()}", "status": "completed",
                           "call_id": f"call_{time.time_ns()}", "name": name, "arguments": json.dumps(call[1]),
                           **({"namespace": space} if space else {})})
        for at, item in enumerate(output):
            self.event({"type": "response.output_item.done", "output_index": at, "item": item},
                       "response.output_item.done")
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = {**base, "status": "completed", "output": output, "usage": usage}
        self.event({"type": "response.completed", "response": done}, "response.completed")

    def as_gemini(self, streamed, words, call):
        def piece(parts, reason=None):
            candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
            if reason:
                candidate["finishReason"] = reason
            usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
            return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}

        last = [{"functionCall": {"name": call[0], "args": call[1]}}] if call else [{"text": ""}]
        if not streamed:
            text = "".join(text for text, _ in words)
            return self.whole(piece([{"text": text}] + (last if call else []), "STOP"))
        self.begin()
        for text, pause in words:
            time.sleep(pause)
            self.event(piece([{"text": text}]))
        self.event(piece(last, "STOP"))


def main():
    # Whoever hangs up in the middle is no failure.
    ThreadingHTTPServer.handle_error = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
