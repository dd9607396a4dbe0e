"""LangChain's ChatOpenAI and the `llm` command as clients of the program, and the program for JavaScript's.

    python check_more.py SWITCHBOARD NODE_MODULES

It ends with an assertion that failed, or with the line `more clients: all is well`.
"""

import json
import os
import pathlib
import subprocess
import sys

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from server import Server, holds, session_of

HERE = pathlib.Path(__file__).parent
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def said(server, session):
    return [line["text"] for line in server.session(session)["transcript"] if line["kind"] == "said"]


def langchain(server):
    print("LangChain")
    chat = ChatOpenAI(model="assistant", base_url=f"{server.url}/v1", api_key=server.token)
    talk = [SystemMessage("Be brief."), HumanMessage("one")]
    first = chat.invoke(talk)
    holds("a question is answered", 'You said: "one"' in first.content and first.usage_metadata["total_tokens"] > 0)
    talk += [first, HumanMessage("two")]
    whole = None
    for chunk in chat.stream(talk):
        whole = chunk if whole is None else whole + chunk
    holds("a streamed follow-up is answered", "two" in whole.content)
    session = session_of(first.response_metadata["id"])
    holds("in its session", said(server, session) == ["one", "two"])
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    looked = chat.invoke([HumanMessage([{"type": "text", "text": "look"}, picture])])
    files = server.session(session_of(looked.response_metadata["id"]))["transcript"][0]["files"]
    holds("a picture arrives", [f["media_type"] for f in files] == ["image/png"])
    newer = ChatOpenAI(model="assistant", base_url=f"{server.url}/v1", api_key=server.token, use_responses_api=True)
    answer = newer.invoke([HumanMessage("one more")])
    holds("by the newer API too", "one more" in answer.text)
    goes_on = newer.invoke([HumanMessage("one more"), AIMessage(answer.text), HumanMessage("then this")])
    name = lambda message: message.response_metadata["id"].removeprefix("resp_").split("-")[0]
    holds("and goes on there", name(goes_on) == name(answer))


def llm(server):
    print("llm")
    folder = pathlib.Path(server.folder.name) / "llm"
    folder.mkdir()
    model = {"model_id": "sb", "model_name": "assistant", "api_base": f"{server.url}/v1", "api_key_name": "sb",
             "can_stream": True, "vision": True}
    (folder / "extra-openai-models.yaml").write_text(json.dumps([model]))
    (folder / "keys.json").write_text(json.dumps({"sb": server.token}))
    environment = {**os.environ, "LLM_USER_PATH": str(folder)}
    program = pathlib.Path(sys.executable).parent / "llm"

    def ask(*words):
        done = subprocess.run([program, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    before = len(server.sessions())
    holds("a question is answered", "first of llm" in ask("-m", "sb", "first of llm"))
    holds("-c goes on", "second of llm" in ask("-m", "sb", "-c", "second of llm", "--usage"))
    holds("whole as well", "third of llm" in ask("-m", "sb", "-c", "--no-stream", "third of llm"))
    sessions = server.sessions()
    holds("in one session", len(sessions) == before + 1)
    newest = max(sessions, key=lambda s: s["last_active"])["id"]
    holds("which has all three", said(server, newest) == ["first of llm", "second of llm", "third of llm"])


def node(server):
    subprocess.run(["node", HERE / "check_node.mjs", server.url, server.token, sys.argv[2]], check=True, timeout=120)


def main():
    with Server(sys.argv[1]) as server:
        langchain(server)
        llm(server)
        node(server)
    print("more clients: all is well")


main()
