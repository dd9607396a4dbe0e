"""OpenAI's own Python library as a client of the program.

    python check_sdk.py SWITCHBOARD

It ends with an assertion that failed, or with the line `openai for Python: all is well`.
"""

import os
import sys

import openai
from openai import OpenAI

from server import Server, holds, session_of


def models(client):
    names = [m.id for m in client.models.list()]
    holds("a token's list has its profile", names == ["assistant", "assistant:task"])
    holds("one model can be asked for", client.models.retrieve("assistant").object == "model")
    try:
        client.models.retrieve("other")
        raise AssertionError("another profile was reached")
    except openai.NotFoundError as why:
        holds("another profile is not there", why.code == "model_not_found" and why.param == "model")


def whole(client, server):
    first = client.chat.completions.create(model="assistant", messages=[{"role": "user", "content": "one"}])
    answer = first.choices[0].message.content
    holds("a question is answered", 'You said: "one"' in answer and first.choices[0].finish_reason == "stop")
    holds("usage adds up", first.usage.total_tokens == first.usage.prompt_tokens + first.usage.completion_tokens > 0)
    talk = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": answer.strip() + " \n"},
        {"role": "user", "content": "two"},
    ]
    second = client.chat.completions.create(model="assistant", messages=talk)
    holds("a follow-up goes on in its session", session_of(second.id) == session_of(first.id) and second.id != first.id)
    session = server.session(session_of(first.id))
    said = [line["text"] for line in session["transcript"] if line["kind"] == "said"]
    holds("the session has both and nothing else", said == ["one", "two"])
    shown = server.run("trace", second.id)
    holds("trace takes an answer's id", "two" in shown)


def streamed(client):
    messages = [{"role": "user", "content": "!say One.\n!tool list_files {}\n!say Two."}]
    chunks = list(client.chat.completions.create(
        model="assistant", messages=messages, stream=True, stream_options={"include_usage": True}
    ))
    holds("the first chunk has the role", chunks[0].choices[0].delta.role == "assistant")
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    holds("the answers of a run are paragraphs", text == "One.\n\nTwo.")
    holds("the last but one ends it", chunks[-2].choices[0].finish_reason == "stop")
    holds("the last has the usage", not chunks[-1].choices and chunks[-1].usage.total_tokens > 0)
    holds("all share an id", len({c.id for c in chunks}) == 1)
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "more"}]
    with client.chat.completions.stream(model="assistant", messages=messages) as stream:
        final = stream.get_final_completion()
    holds("a stream's follow-up goes on", session_of(final.id) == session_of(chunks[0].id))


def errors(client, server):
    def fails(kind, call):
        try:
            call()
        except kind as why:
            return why
        raise AssertionError(f"no {kind.__name__}")

    say = client.chat.completions.create
    wrong = OpenAI(base_url=f"{server.url}/v1", api_key="not-a-token-of-this-server")
    fails(openai.AuthenticationError, lambda: wrong.models.list())
    fails(openai.NotFoundError, lambda: say(model="none", messages=[{"role": "user", "content": "x"}]))
    fails(openai.BadRequestError, lambda: say(model="assistant", messages=[]))
    why = fails(openai.BadRequestError, lambda: say(model="assistant", messages=[{"role": "robot", "content": "x"}]))
    holds("a bad role is named", why.param == "messages[0].role")
    many = [{"role": "user", "content": "x"}] * 5000
    why = fails(openai.BadRequestError, lambda: say(model="assistant", messages=many))
    holds("too many messages are told", why.code == "array_above_max_length")
    fails(openai.NotFoundError, lambda: client.embeddings.create(model="assistant", input="x"))
    failing = [{"role": "user", "content": "!say So far.\n!fail credit"}]
    why = fails(openai.InternalServerError, lambda: say(model="assistant", messages=failing))
    holds("a failed turn is an error that says what to do", "top up" in why.message)
    turns = sum(s["turns"] for s in server.sessions())

    def streams():
        for _ in say(model="assistant", messages=failing, stream=True):
            pass

    why = fails(openai.APIError, streams)
    holds("a stream that fails raises", "top up" in why.message)
    holds("and was not run again", sum(s["turns"] for s in server.sessions()) == turns + 1)


def approvals(client):
    say = client.chat.completions.create
    messages = [{"role": "user", "content": '!tool write_file {"path": "notes/a.txt", "content": "x"}\n!say Written.'}]
    waits = say(model="assistant", messages=messages)
    text = waits.choices[0].message.content
    holds("a request that waits is said", "waiting for your approval" in text and "/approve" in text)
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "/approve"}]
    goes_on = say(model="assistant", messages=messages)
    holds("and decided in the chat", "Written." in goes_on.choices[0].message.content)
    holds("in its session", session_of(goes_on.id) == session_of(waits.id))


def responses(client, server):
    name = lambda answer: answer.id.removeprefix("resp_").split("-")[0]
    first = client.responses.create(model="assistant", input="one", instructions="Be brief.")
    holds("the newer API answers", 'You said: "one"' in first.output_text and first.usage.total_tokens > 0)
    second = client.responses.create(model="assistant", input="two", previous_response_id=first.id)
    holds("and goes on from an answer's id", name(second) == name(first))
    with client.responses.stream(model="assistant", input="!say x\n!tool list_files {}\n!say y") as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    holds("and streams", text == final.output_text == "x\n\ny" and final.status == "completed")
    holds("trace takes its ids", "two" in server.run("trace", second.id))


def files(client, server):
    path = os.path.join(server.workspace, "report.txt")
    with open(path, "w") as report:
        report.write("All is well.")
    shared = client.chat.completions.create(
        model="assistant", messages=[{"role": "user", "content": '!tool share_file {"path": "report.txt"}\n!say Here.'}]
    ).choices[0].message.content
    link = shared.split("](")[1].rstrip(")")
    holds("a shared file is a link to this server", link.startswith(server.url) and shared.startswith("Here."))
    holds("which the library reads", client.files.content(link.rsplit("/", 1)[1]).read() == b"All is well.")


def main():
    with Server(sys.argv[1]) as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key=server.token)
        models(client)
        whole(client, server)
        streamed(client)
        errors(client, server)
        approvals(client)
        responses(client, server)
        files(client, server)
    print("openai for Python: all is well")


main()
