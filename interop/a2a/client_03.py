"""a2a-sdk 0.3.x as a client: client_03.py URL TOKEN."""

import asyncio
import base64
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (FilePart, FileWithBytes, Message, Part, PushNotificationConfig, Role, TaskIdParams,
                       TaskPushNotificationConfig, TaskQueryParams, TaskState, TextPart)

URL, TOKEN = sys.argv[1:3]


def message(words, *files, **more):
    parts = [Part(root=TextPart(text=words)), *files]
    return Message(message_id=uuid.uuid4().hex, role=Role.user, parts=parts, **more)


async def last(client, said):
    """The task at the end, and how many updates came."""
    task, updates = None, 0
    async for event in client.send_message(said):
        task, update = event
        updates += update is not None
    return task, updates


async def main():
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
        card = await A2ACardResolver(http, URL).get_agent_card()
        for streaming in (True, False):
            client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)
            task, updates = await last(client, message("!stream 5 20"))
            assert task.status.state == TaskState.completed, task
            said = "".join(part.root.text for part in task.artifacts[0].parts)
            assert said.split() == [f"word{at}" for at in range(1, 6)], said
            assert updates > 3 or not streaming, updates
            print("  sent", "streamed" if streaming else "whole")
            got = await client.get_task(TaskQueryParams(id=task.id))
            assert got.id == task.id and got.context_id == task.context_id

            waits, _ = await last(client, message("!tool write_file {\"path\":\"b.txt\",\"content\":\"x\"}\n!say Written.",
                                                  context_id=task.context_id))
            assert waits.status.state == TaskState.input_required, waits
            done, _ = await last(client, message("/approve", context_id=task.context_id, task_id=waits.id))
            assert done.status.state == TaskState.completed and done.id == waits.id, done
            print("  approved")

            file = FileWithBytes(bytes=base64.b64encode(b"hi").decode(), mime_type="text/plain", name="a.txt")
            sent, _ = await last(client, message("hello", Part(root=FilePart(file=file))))
            assert sent.status.state == TaskState.completed, sent

            hook = PushNotificationConfig(url="https://example.com/hook", token="t")
            kept = await client.set_task_callback(
                TaskPushNotificationConfig(task_id=task.id, push_notification_config=hook))
            assert kept.push_notification_config.id == "default", kept
        begun = asyncio.create_task(last(client, message("!wait 60")))
        try:
            await asyncio.wait_for(client.cancel_task(TaskIdParams(id="0" * 16)), 10)
            raise AssertionError("a task that is not there was cancelled")
        except Exception as why:
            assert "-32001" in str(why) or "no such task" in str(why), why
        begun.cancel()
        print("  refused what is not there")


asyncio.run(main())
