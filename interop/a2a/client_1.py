"""a2a-sdk 1.x as a client: client_1.py URL TOKEN."""

import asyncio
import sys
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.helpers import new_raw_part, new_text_part
from a2a.types import (CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, Role, SendMessageConfiguration,
                       SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig,
                       ListTaskPushNotificationConfigsRequest, TaskState)

URL, TOKEN = sys.argv[1:3]


def message(*parts, **more):
    parts = [new_text_part(part) if isinstance(part, str) else part for part in parts]
    return Message(message_id=uuid.uuid4().hex, role=Role.ROLE_USER, parts=parts, **more)


async def send(client, said, **how):
    request = SendMessageRequest(message=said)
    if how:
        request.configuration.CopyFrom(SendMessageConfiguration(**how))
    return [event async for event in client.send_message(request)]


def states(events):
    found = []
    for event in events:
        if event.HasField("task"):
            found.append(event.task.status.state)
        if event.HasField("status_update"):
            found.append(event.status_update.status.state)
    return found


async def main():
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
        for streaming in (True, False):
            factory = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming))
            client = await factory.create_from_url(URL)
            events = await send(client, message("!stream 5 20"))
            assert states(events)[-1] == TaskState.TASK_STATE_COMPLETED, events
            task_id, context = (events[0].task.id, events[0].task.context_id)
            task = await client.get_task(GetTaskRequest(id=task_id))
            assert "word5" in task.artifacts[0].parts[0].text, task
            if streaming:
                assert sum(event.HasField("artifact_update") for event in events) > 2, events
            print("  sent", "streamed" if streaming else "whole")

            asked = await send(client, message("!tool write_file {\"path\":\"a.txt\",\"content\":\"x\"}\n!say Written.",
                                               context_id=context))
            assert states(asked)[-1] == TaskState.TASK_STATE_INPUT_REQUIRED, asked
            waits = asked[0].task.id
            done = await send(client, message("/approve", context_id=context, task_id=waits))
            assert states(done)[-1] == TaskState.TASK_STATE_COMPLETED, done
            print("  approved")

            events = await send(client, message("hello", new_raw_part(b"hi", media_type="text/plain", filename="a.txt")))
            assert states(events)[-1] == TaskState.TASK_STATE_COMPLETED, events

            begun = await send(client, message("!wait 60"), return_immediately=True) if not streaming else None
            if begun:
                gone = await client.cancel_task(CancelTaskRequest(id=begun[0].task.id))
                assert gone.status.state == TaskState.TASK_STATE_CANCELED, gone
                print("  cancelled")
                begun = await send(client, message("!stream 30 50"), return_immediately=True)
                follower = await ClientFactory(ClientConfig(httpx_client=http)).create_from_url(URL)
                followed = [e async for e in follower.subscribe(SubscribeToTaskRequest(id=begun[0].task.id))]
                assert states(followed)[-1] == TaskState.TASK_STATE_COMPLETED, followed
                print("  followed")

            listed = await client.list_tasks(ListTasksRequest(page_size=2))
            assert len(listed.tasks) == 2 and listed.next_page_token, listed
            hook = TaskPushNotificationConfig(task_id=task_id, url="https://example.com/hook", token="t")
            kept = await client.create_task_push_notification_config(hook)
            all_of = await client.list_task_push_notification_configs(
                ListTaskPushNotificationConfigsRequest(task_id=task_id))
            assert kept.id in [one.id for one in all_of.configs], all_of
            print("  listed, and told whom to tell")


asyncio.run(main())
