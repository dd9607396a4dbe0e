"""The official Python SDKs as clients of the stand-in model servers.

What the loop is tested on is believed only if the makers' own clients work with it. Needs the packages
`openai` and `anthropic`. Usage:

    python check_models.py <path of the model_standin program>
    python check_models.py http://127.0.0.1:8899        # one that is running

Ends with a non-zero code if anything is not as it should be.
"""

import json
import subprocess
import sys
import urllib.request

import anthropic
import openai

PNG = "iVBORw0KGgowMDAw"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = '!tool weather {"city":"Zürich"}\n!say It is sunny.'
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(what)


def raises(kind, work, what):
    try:
        work()
    except kind as error:
        check(True, what)
        return error
    raise AssertionError(f"{what}: nothing was raised")


class Standin:
    """The control side of the stand-ins."""

    def __init__(self, base):
        self.base = base

    def ask(self, method, path):
        request = urllib.request.Request(self.base + path, method=method)
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def requests(self):
        return len(self.ask("GET", "/standin/requests"))

    def forget(self):
        self.ask("DELETE", "/standin/requests")

    def fail(self, kind, times):
        self.forget()
        self.ask("POST", f"/standin/fail/{kind}/{times}")


def anthropic_plain(client, _):
    answer = client.messages.create(model="m", max_tokens=99, messages=[{"role": "user", "content": "Grüezi"}])
    check(answer.content[0].text == 'You said: "Grüezi"', "plain text")
    check(answer.stop_reason == "end_turn" and answer.usage.input_tokens == 1, "reason and usage")
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    content = [picture, {"type": "text", "text": "look"}]
    answer = client.messages.create(model="m", max_tokens=99, messages=[{"role": "user", "content": content}])
    check("1 picture" in answer.content[0].text, "a picture")


def anthropic_streamed(client, _):
    messages = [{"role": "user", "content": "!stream 5 5"}]
    with client.messages.stream(model="thinking-m", max_tokens=99, messages=messages) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()
    check(len(pieces) == 5 and "".join(pieces) == "word1 word2 word3 word4 word5", "pieces")
    check([b.type for b in final.content] == ["thinking", "text"], "a thought, then words")
    check(final.content[0].signature and final.usage.output_tokens == 5, "signature and usage")


def anthropic_tools(client, _):
    tools = [{"name": "weather", "description": "d", "input_schema": SCHEMA}]
    messages = [{"role": "user", "content": CALL}]
    for streamed in [False, True]:
        asked = dict(model="thinking-m" if streamed else "m", max_tokens=99, tools=tools, messages=messages)
        if streamed:
            with client.messages.stream(**asked) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(**asked)
        call = answer.content[-1]
        check(answer.stop_reason == "tool_use" and call.input == {"city": "Zürich"}, "a call")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "sun"}
        talk = messages + [
            {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]},
            {"role": "user", "content": [result]},
        ]
        answer = client.messages.create(model="m", max_tokens=99, tools=tools, messages=talk)
        check(answer.content[0].text == "It is sunny.", "the answer after the call")
        no_result = talk[:2] + [{"role": "user", "content": "and?"}]
        create = client.messages.create
        raises(
            anthropic.BadRequestError,
            lambda: create(model="m", max_tokens=99, tools=tools, messages=no_result),
            "a call without its result",
        )


def anthropic_errors(client, standin):
    ask = lambda text: client.messages.create(
        model="m", max_tokens=99, messages=[{"role": "user", "content": text}]
    )
    standin.fail("overloaded", 2)
    check(ask("hi").content[0].text == 'You said: "hi"' and standin.requests() == 3, "tried again twice")
    standin.fail("rate_limit", 9)
    raises(anthropic.RateLimitError, lambda: ask("hi"), "429")
    check(standin.requests() == 3, "then given up")
    standin.forget()
    check(raises(anthropic.APIStatusError, lambda: ask("!fail overloaded"), "529").status_code == 529, "529")
    raises(anthropic.AuthenticationError, lambda: ask("!fail auth"), "401")
    raises(anthropic.BadRequestError, lambda: ask("!fail context"), "400")
    wrong = client.with_options(api_key="wrong-key")
    talk = [{"role": "user", "content": "hi"}]
    raises(
        anthropic.AuthenticationError,
        lambda: wrong.messages.create(model="m", max_tokens=9, messages=talk),
        "a wrong key",
    )
    prefill = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "I"}]
    raises(
        anthropic.BadRequestError,
        lambda: client.messages.create(model="m", max_tokens=9, messages=prefill),
        "a last message of the model",
    )

    older = client.with_options(default_headers={"anthropic-version": "2023-06-01"})
    sampling = {"temperature": 1.0}
    older.messages.create(model="m", max_tokens=9, messages=talk, extra_body=sampling)
    raises(
        anthropic.BadRequestError,
        lambda: client.messages.create(model="m", max_tokens=9, messages=talk, extra_body=sampling),
        "a field the newer version took away",
    )

    def broken():
        talk = [{"role": "user", "content": "!say half\n!fail overloaded"}]
        with client.messages.stream(model="m", max_tokens=99, messages=talk) as stream:
            for _ in stream.text_stream:
                pass

    raises(anthropic.APIStatusError, broken, "an error inside the stream")


def openai_plain(client, _):
    talk = [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Grüezi"}]
    answer = client.chat.completions.create(model="m", messages=talk)
    check(answer.choices[0].message.content == 'You said: "Grüezi"', "plain text")
    check(answer.choices[0].finish_reason == "stop" and answer.usage.prompt_tokens == 3, "reason and usage")
    url = {"url": f"data:image/png;base64,{PNG}"}
    content = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": url}]
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": content}])
    check("1 picture" in answer.choices[0].message.content, "a picture")


def openai_streamed(client, _):
    talk = [{"role": "user", "content": "!stream 5 5"}]
    stream = client.chat.completions.create(
        model="m", messages=talk, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    words = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    check(words == ["word1", " word2", " word3", " word4", " word5"], "pieces")
    check(not chunks[-1].choices and chunks[-1].usage.completion_tokens == 5, "usage comes last")


def openai_tools(client, _):
    function = {"name": "weather", "description": "d", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    talk = [{"role": "user", "content": CALL}]
    answer = client.chat.completions.create(model="m", messages=talk, tools=tools).choices[0]
    call = answer.message.tool_calls[0]
    check(answer.finish_reason == "tool_calls", "the reason of a call")
    check(json.loads(call.function.arguments) == {"city": "Zürich"}, "a call")
    with client.chat.completions.stream(model="m", messages=talk, tools=tools) as stream:
        streamed = stream.get_final_completion().choices[0].message.tool_calls[0]
    check(json.loads(streamed.function.arguments) == {"city": "Zürich"}, "a streamed call")
    asked = answer.message.model_dump(exclude_none=True)
    result = {"role": "tool", "tool_call_id": call.id, "content": "sun"}
    after = client.chat.completions.create(model="m", messages=talk + [asked, result], tools=tools)
    check(after.choices[0].message.content == "It is sunny.", "the answer after the call")
    create = client.chat.completions.create
    raises(
        openai.BadRequestError,
        lambda: create(model="m", messages=talk + [asked, talk[0]], tools=tools),
        "a call without its result",
    )


def openai_errors(client, standin):
    ask = lambda text: client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    standin.fail("overloaded", 2)
    check(ask("hi").choices[0].message.content == 'You said: "hi"', "an answer after all")
    check(standin.requests() == 3, "tried again twice")
    standin.fail("rate_limit", 9)
    raises(openai.RateLimitError, lambda: ask("hi"), "429")
    standin.forget()
    error = raises(openai.RateLimitError, lambda: ask("!fail credit"), "no quota")
    check(error.code == "insufficient_quota", "its code")
    raises(openai.AuthenticationError, lambda: ask("!fail auth"), "401")
    check(raises(openai.BadRequestError, lambda: ask("!fail context"), "400").code == "context_length_exceeded", "code")
    raises(openai.InternalServerError, lambda: ask("!fail overloaded"), "503")

    def broken():
        talk = [{"role": "user", "content": "!say half\n!fail overloaded"}]
        for _ in client.chat.completions.create(model="m", messages=talk, stream=True):
            pass

    raises(openai.APIError, broken, "an error inside the stream")


def hang_up(client, standin):
    before = standin.ask("GET", "/standin/hangups")["hangups"]
    talk = [{"role": "user", "content": "!say one\n!wait 600"}]
    with client.messages.stream(model="m", max_tokens=99, messages=talk) as stream:
        next(iter(stream.text_stream))
    for _ in range(100_000):
        if standin.ask("GET", "/standin/hangups")["hangups"] > before:
            return check(True, "the hang-up is noticed")
    raise AssertionError("the hang-up was not noticed")


def main(target):
    running = None
    if target.startswith("http"):
        base = target.rstrip("/")
    else:
        running = subprocess.Popen([target, "--port", "0"], stdout=subprocess.PIPE, text=True)
        base = running.stdout.readline().split()[-1]
    failed = 0
    try:
        standin = Standin(base)
        clients = {
            "anthropic": anthropic.Anthropic(base_url=base, api_key="k"),
            "openai": openai.OpenAI(base_url=base + "/v1", api_key="k"),
        }
        for run in [
            anthropic_plain, anthropic_streamed, anthropic_tools, anthropic_errors,
            openai_plain, openai_streamed, openai_tools, openai_errors, hang_up,
        ]:
            standin.forget()
            try:
                run(clients["openai" if run.__name__.startswith("openai") else "anthropic"], standin)
                print(f"ok      {run.__name__}")
            except Exception as error:  # every check runs, whatever the one before did
                failed += 1
                print(f"FAILED  {run.__name__}: {type(error).__name__}: {error}")
    finally:
        if running:
            running.terminate()
            running.wait()
    print(f"openai {openai.__version__}, anthropic {anthropic.__version__}: {checks} checks, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
