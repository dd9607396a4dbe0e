"""The stand-in for Discord, seen by discord.py: its gateway client, messages, files, buttons, commands, and refusals as
the library's own exceptions.

    python check_discordpy.py http://127.0.0.1:PORT

It ends with an assertion that failed, or with the line `discord.py: all is well`.
"""

import asyncio
import io
import json
import sys
import urllib.request

import discord
import yarl
from discord import app_commands

URL = sys.argv[1].rstrip("/")
TOKEN = "OTAw.stand-in_token"
discord.http.Route.BASE = URL + "/api/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(URL.replace("http", "ws", 1) + "/gw")


def act(deed, **more):
    body = json.dumps({"do": deed, **more}).encode()
    headers = {"content-type": "application/json", "x-standin": "1"}
    with urllib.request.urlopen(urllib.request.Request(URL + "/standin/act", body, headers), timeout=10) as answer:
        return json.load(answer)


def look(chat):
    return act("look", chat=chat)["messages"]


async def refused(kind, status, code, call):
    try:
        await call
    except discord.HTTPException as why:
        assert type(why) is kind, (type(why), why)
        assert (why.status, why.code) == (status, code), (why.status, why.code, why.text)
        return
    raise AssertionError(f"a refusal with code {code}")


def made(**more):
    intents = discord.Intents.none()
    intents.guilds = intents.messages = True
    intents.message_content = True
    return discord.Client(intents=intents, max_ratelimit_timeout=30, **more)


class Pressed(discord.ui.View):
    def __init__(self):
        super().__init__()
        self.by = asyncio.get_running_loop().create_future()

    @discord.ui.button(label="Allow", style=discord.ButtonStyle.success, custom_id="yes")
    async def allow(self, interaction, button):
        await interaction.response.edit_message(content="Allowed.", view=None)
        self.by.set_result(interaction.user.id)


async def main():
    client = made()
    tree = app_commands.CommandTree(client)
    chosen = asyncio.get_running_loop().create_future()

    @tree.command(name="status", description="How it goes")
    async def status(interaction: discord.Interaction, text: str = ""):
        await interaction.response.defer()
        await interaction.followup.send("All is well.")
        chosen.set_result((interaction.command.name, text))

    act("heartbeat_every", ms=1500)
    await client.login(TOKEN)
    connected = asyncio.create_task(client.connect())
    await client.wait_until_ready()
    assert client.user.id == 900000000000000000 and len(client.guilds) == 1
    ann = act("person", name="Ann")
    direct, lab = act("direct", person=ann), act("channel", name="lab")
    print("discord.py: identified")

    def coming(event, check=lambda *all: True):
        # Listens before what it waits for is done.
        return asyncio.ensure_future(client.wait_for(event, check=check, timeout=30))

    came = coming("message", lambda m: m.content == "Hello 👋")
    await asyncio.sleep(0)
    act("say", chat=direct, person=ann, text="Hello 👋")
    message = await came
    assert isinstance(message.channel, discord.DMChannel) and message.author.display_name == "Ann"
    came = coming("message", lambda m: m.guild is not None)
    await asyncio.sleep(0)
    act("say", chat=lab, person=ann, text=f"<@{client.user.id}> in the lab")
    asked = await came
    assert client.user in asked.mentions and asked.channel.name == "lab"
    print("discord.py: events")

    sent = await message.reply("Good day @everyone", allowed_mentions=discord.AllowedMentions.none())
    assert sent.reference.message_id == message.id and look(direct)[-1]["pings"] == []
    await sent.edit(content="Good evening")
    assert look(direct)[-1]["text"] == "Good evening"
    async with message.channel.typing():
        assert act("look", chat=direct)["typing"]
    await message.add_reaction("👀")
    assert look(direct)[0]["mark"] == "👀"
    await message.remove_reaction("👀", client.user)
    assert look(direct)[0]["mark"] is None
    history = [one.id async for one in message.channel.history(after=message)]
    assert history == [sent.id]
    print("discord.py: messages")

    await asked.channel.send("Here.", file=discord.File(io.BytesIO(b"the report"), "report.txt"))
    assert [(f["name"], f["text"]) for f in look(lab)[-1]["files"]] == [("report.txt", "the report")]
    came = coming("message", lambda m: m.attachments and m.author.id == int(ann["id"]))
    await asyncio.sleep(0)
    act("file", chat=lab, person=ann, text="", name="notes.txt", media_type="text/plain", content="some notes")
    attachment = (await came).attachments[0]
    assert (attachment.filename, attachment.size) == ("notes.txt", 10)
    assert await attachment.read() == b"some notes"
    print("discord.py: files")

    view = Pressed()
    await asked.channel.send("May I?", view=view)
    assert act("press", chat=lab, person=ann, label="Allow")
    assert await asyncio.wait_for(view.by, 10) == int(ann["id"])
    while look(lab)[-1]["text"] != "Allowed.":
        await asyncio.sleep(0.05)
    assert look(lab)[-1]["buttons"] == []
    print("discord.py: buttons")

    assert [one.name for one in await tree.sync()] == ["status"]
    act("choose", chat=lab, person=ann, command="status", words="now")
    assert await asyncio.wait_for(chosen, 10) == ("status", "now")
    assert look(lab)[-1]["text"] == "All is well."
    print("discord.py: commands")

    http = client.http
    parameters = discord.http.handle_message_parameters
    say = lambda channel, text: http.send_message(channel, params=parameters(content=text))
    await refused(discord.NotFound, 404, 10003, say(123456789012345678, "x"))
    await refused(discord.NotFound, 404, 10008, http.edit_message(asked.channel.id, 123456789012345678, params=parameters(content="x")))
    await refused(discord.Forbidden, 403, 50005, http.edit_message(asked.channel.id, asked.id, params=parameters(content="x")))
    await refused(discord.HTTPException, 400, 50006, say(asked.channel.id, ""))
    await refused(discord.HTTPException, 400, 50035, say(asked.channel.id, "x" * 2001))
    act("shut_out", chat=lab, out=True)
    await refused(discord.Forbidden, 403, 50001, say(asked.channel.id, "x"))
    act("shut_out", chat=lab, out=False)
    # What may pass is tried again by the library itself, and a lost answer shows no second message.
    before = len(look(lab))
    act("break", what="flaky", times=1)
    await say(asked.channel.id, "after a failure")
    act("break", what="rate_limit", times=1)
    await say(asked.channel.id, "after a limit")
    assert len(look(lab)) == before + 2
    act("break", what="flaky", times=5)
    await refused(discord.DiscordServerError, 500, 0, say(asked.channel.id, "x"))
    thread = await asked.create_thread(name="a thread")
    assert thread.id == asked.id
    await thread.send("in the thread")
    act("end_thread", chat={**lab, "thread": str(thread.id)}, locked=True)
    await refused(discord.Forbidden, 403, 160005, thread.send("too late"))
    print("discord.py: refusals")

    resumed = coming("resumed")
    await asyncio.sleep(0)
    act("reconnect")
    await resumed
    came, resumed = coming("message", lambda m: m.content == "meanwhile"), coming("resumed")
    await asyncio.sleep(0)
    act("drop")
    act("say", chat=direct, person=ann, text="meanwhile")
    await came
    await resumed
    assert act("count")["begun"] == 1 and act("count")["resumed"] >= 2
    assert client.latency < 30, "no heartbeat was answered"
    await client.close()
    await connected
    stranger = made()
    try:
        await stranger.login("OTAw.another")
        raise AssertionError("a wrong token was taken")
    except discord.LoginFailure:
        await stranger.close()
    act("content_intent", on=False)
    curious = made()
    await curious.login(TOKEN)
    try:
        await curious.connect()
        raise AssertionError("an intent that is off was taken")
    except discord.PrivilegedIntentsRequired:
        pass
    await curious.close()
    print("discord.py: gateway")
    print("discord.py: all is well")


asyncio.run(main())
