"""The scripted agent of our tests, driven by the official client library: if that understands it, then what our own
side was tested on is believed.

    python check_scripted.py ACP_AGENT

It opens a session, streams, asks and is allowed, refused and cancelled, is set to a mode, and is loaded again by
another process. It ends with an assertion that failed, or with the line `scripted agent: all is well`.
"""

import asyncio
import pathlib
import sys
import tempfile

import acp
from acp.schema import (AllowedOutcome, ClientCapabilities, DeniedOutcome, FileSystemCapabilities,
                        Implementation, RequestPermissionResponse)
from acp.stdio import spawn_agent_process

WRITE = '!tool write_file {"path": "a.txt", "content": "x"}\n!say After it.'


class Person(acp.Client):
    """Decides as told, and keeps what it hears."""

    def __init__(self):
        self.says, self.updates, self.asked, self.before = "allow_once", [], [], None

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append((tool_call, options))
        if self.before:
            await self.before()
        if self.says is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = next(option for option in options if option.kind == self.says)
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)

    def words(self):
        chunks = [u.content.text for u in self.updates if u.session_update == "agent_message_chunk"]
        self.updates = [u for u in self.updates if u.session_update != "agent_message_chunk"]
        return "".join(chunks)


async def opened(agent):
    able = await agent.initialize(
        protocol_version=acp.PROTOCOL_VERSION,
        client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(), terminal=False),
        client_info=Implementation(name="check", version="1"))
    assert able.protocol_version == acp.PROTOCOL_VERSION, able
    assert able.agent_capabilities.load_session and able.agent_capabilities.prompt_capabilities.image, able


async def say(agent, session, text):
    return (await agent.prompt(session_id=session, prompt=[acp.text_block(text)])).stop_reason


async def check(program, folder):
    person = Person()
    async with spawn_agent_process(person, program, "--load", "--options", cwd=folder) as (agent, _):
        await opened(agent)
        new = await agent.new_session(cwd=str(folder), mcp_servers=[])
        session = new.session_id
        assert {o.category for o in new.config_options} == {"mode", "model"}, new
        assert await say(agent, session, "!stream 5 1") == "end_turn"
        assert person.words() == "word1 word2 word3 word4 word5 "

        assert await say(agent, session, WRITE) == "end_turn"
        assert person.words() == "After it." and (folder / "a.txt").read_text() == "x"
        begun, ended = (person.updates[0], person.updates[-1])
        assert (begun.session_update, begun.kind, begun.status) == ("tool_call", "edit", "pending"), begun
        assert (ended.session_update, ended.status) == ("tool_call_update", "completed"), ended
        assert [o.kind for o in person.asked[0][1]] == ["allow_always", "allow_once", "reject_once"]

        person.says = "reject_once"
        assert await say(agent, session, WRITE) == "end_turn" and person.words() == ""
        person.says, person.updates = "allow_once", []
        assert await say(agent, session, '!tool edit {"path":"a.txt","old":"1","new":"2"}') == "end_turn"
        diff = [u.content[0] for u in person.updates if u.content and u.content[0].type == "diff"][0]
        assert (diff.old_text, diff.new_text) == ("1", "2"), diff

        person.says = None
        assert await say(agent, session, '!tool fault {"kind": "twice"}') == "end_turn"
        assert person.words() == "a: cancelled, b: cancelled"

        person.before = lambda: agent.cancel(session_id=session)
        assert await say(agent, session, WRITE) == "cancelled"

    person = Person()
    async with spawn_agent_process(person, program, "--load", "--options", cwd=folder) as (agent, _):
        await opened(agent)
        await agent.load_session(session_id=session, cwd=str(folder), mcp_servers=[])
        assert person.words() == "What was said before."
        assert await say(agent, session, "hello") == "end_turn"
        assert person.words() == "prompt 7, 0 pictures: hello"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(check(program, pathlib.Path(folder)), 120))
    print("scripted agent: all is well")


if __name__ == "__main__":
    main()
