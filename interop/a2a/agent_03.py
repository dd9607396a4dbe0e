"""An agent made with the official SDK, version 0.3.x.

    python agent_03.py [silent]

It prints `listening on http://127.0.0.1:PORT`. `silent`: its card says that it does not stream.
"""

import asyncio
import base64
import socket
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, FilePart, FileWithBytes, Part, TextPart
from a2a.utils import new_task


def text(words):
    return Part(root=TextPart(text=words))


class Agent(AgentExecutor):
    def __init__(self):
        self.messages, self.hung = {}, {}

    async def execute(self, context, queue):
        if context.current_task is None:
            await queue.enqueue_event(new_task(context.message))
        task = TaskUpdater(queue, context.task_id, context.context_id)
        count = self.messages[context.context_id] = self.messages.get(context.context_id, 0) + 1
        parts = [part.root for part in context.message.parts]
        words = [part.text for part in parts if part.kind == "text"][-1]
        files = [part.file.name for part in parts if part.kind == "file"]
        await task.start_work(task.new_agent_message([text("looking it up")]))
        if words == "ask":
            await task.requires_input(task.new_agent_message([text("Which colour?")]), final=True)
            return
        if words == "hang":
            self.hung[context.task_id] = stop = asyncio.Event()
            await task.add_artifact([text("Working on it.")], artifact_id="reply", name="reply")
            await stop.wait()
            return
        if words == "file":
            table = FileWithBytes(bytes=base64.b64encode(b"a,b\n1,2\n").decode(), mime_type="text/csv",
                                  name="table.csv")
            await task.add_artifact([text("Here it is."), Part(root=FilePart(file=table))])
        elif words == "stream":
            for at in range(20):
                await task.add_artifact([text(f"word{at} ")], artifact_id="reply", name="reply", append=at > 0,
                                        last_chunk=at == 19)
                await asyncio.sleep(0.1)
        else:
            told = f"message {count} in {context.context_id[:8]}, files {files}: {words}"
            await task.add_artifact([text(told)], name="reply")
        await task.complete()

    async def cancel(self, context, queue):
        print("cancelled", context.task_id, flush=True)
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        if context.task_id in self.hung:
            self.hung[context.task_id].set()


def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name="official", description="Made with the official SDK.", version="1.0.0", url=f"{url}/",
        capabilities=AgentCapabilities(streaming="silent" not in sys.argv),
        default_input_modes=["text/plain", "image/png"], default_output_modes=["text/plain"],
        skills=[AgentSkill(id="chat", name="Chat", description="Talks.", tags=["chat"])])
    handler = DefaultRequestHandler(Agent(), InMemoryTaskStore())
    app = A2AStarletteApplication(card, handler).build()
    print(f"listening on {url}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


main()
