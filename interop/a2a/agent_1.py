"""An agent made with the official SDK, version 1.x: it speaks wire version 1.0 and, with `both`, 0.3 too.

    python agent_1.py [both] [silent]

It prints `listening on http://127.0.0.1:PORT`. `silent`: its card says that it does not stream.
"""

import asyncio
import socket
import sys

import uvicorn
from a2a.helpers import new_raw_part, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus)
from starlette.applications import Starlette


class Agent(AgentExecutor):
    def __init__(self):
        self.messages, self.hung = {}, {}

    async def execute(self, context, queue):
        known = context.current_task is not None
        if not known:
            await queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, history=[context.message],
                                           status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)))
        task = TaskUpdater(queue, context.task_id, context.context_id)
        count = self.messages[context.context_id] = self.messages.get(context.context_id, 0) + 1
        said = [part.text for part in context.message.parts if part.HasField("text")]
        words = said[-1] if said else ""
        files = [part.filename for part in context.message.parts if part.HasField("raw")]
        await task.start_work(task.new_agent_message([new_text_part("looking it up")]))
        if words == "ask":
            await task.requires_input(task.new_agent_message([new_text_part("Which colour?")]))
            return
        if words == "hang":
            self.hung[context.task_id] = stop = asyncio.Event()
            await task.add_artifact([new_text_part("Working on it.")], artifact_id="reply", name="reply")
            await stop.wait()
            return
        if words == "file":
            await task.add_artifact([new_text_part("Here it is."),
                                     new_raw_part(b"a,b\n1,2\n", media_type="text/csv", filename="table.csv")])
        elif words == "stream":
            for at in range(20):
                await task.add_artifact([new_text_part(f"word{at} ")], artifact_id="reply", name="reply",
                                        append=at > 0, last_chunk=at == 19)
                await asyncio.sleep(0.1)
        else:
            told = f"message {count} in {context.context_id[:8]}, files {files}: {words}"
            await task.add_artifact([new_text_part(told)], name="reply")
        await task.complete()

    async def cancel(self, context, queue):
        print("cancelled", context.task_id, flush=True)
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        if context.task_id in self.hung:
            self.hung[context.task_id].set()


def main():
    both, silent = "both" in sys.argv, "silent" in sys.argv
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    versions = ["1.0", "0.3"] if both else ["1.0"]
    card = AgentCard(
        name="official", description="Made with the official SDK.", version="1.0.0",
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version=version)
                              for version in versions],
        capabilities=AgentCapabilities(streaming=not silent), default_input_modes=["text/plain", "image/png"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="chat", name="Chat", description="Talks.", tags=["chat"])])
    handler = DefaultRequestHandler(Agent(), InMemoryTaskStore(), card)
    app = Starlette(routes=[*create_agent_card_routes(card),
                            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=both)])
    print(f"listening on {url}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


main()
