"""Open WebUI, driven through its page in a real browser, as a client of the program.

    python check_openwebui.py SWITCHBOARD OPEN_WEBUI CHROMIUM [FOLDER FOR SCREENSHOTS]

OPEN_WEBUI is the `open-webui` of an environment that has it (it takes 7 GB, so nothing installs it by itself), CHROMIUM
a browser; the Python that runs this needs `playwright`. It ends with an assertion that failed, or with the line
`Open WebUI: all is well`.
"""

import base64
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

from server import Server, holds

WHO = {"name": "Ann", "email": "ann@example.org", "password": "a-long-password-1"}
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class WebUi:
    """A running Open WebUI whose only provider is the program; it ends with the block."""

    def __init__(self, program, server):
        self.folder = tempfile.TemporaryDirectory(prefix="open-webui-")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": self.folder.name, "DATA_DIR": self.folder.name,
            "OFFLINE_MODE": "true", "HF_HUB_OFFLINE": "1", "ENABLE_VERSION_UPDATE_CHECK": "false",
            "ANONYMIZED_TELEMETRY": "false", "WEBUI_SECRET_KEY": "of-this-run", "ENABLE_PERSISTENT_CONFIG": "false",
            "ENABLE_OLLAMA_API": "false", "ENABLE_OPENAI_API": "true", "OPENAI_API_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": server.token, "RAG_EMBEDDING_ENGINE": "openai", "AUDIO_STT_ENGINE": "openai",
        }
        self.program = program

    def __enter__(self):
        self.log = open(os.path.join(self.folder.name, "log"), "w")
        self.process = subprocess.Popen(
            [self.program, "serve", "--host", "127.0.0.1", "--port", str(self.port)],
            env=self.environment, stdout=self.log, stderr=subprocess.STDOUT,
        )
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.url}/health", timeout=5)
                break
            except OSError:
                assert self.process.poll() is None, open(self.log.name).read()[-2000:]
                time.sleep(1)
        self.token = self.ask("/api/v1/auths/signup", WHO)["token"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.folder.cleanup()

    def ask(self, path, body):
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        return json.load(urllib.request.urlopen(request, timeout=60))


class Page:
    """The page of one chat, used as a person does."""

    def __init__(self, page, shots):
        self.page, self.shots = page, shots

    def open(self, url):
        """Opens a new chat, without what the page tells its first visitors."""
        self.page.goto(url)
        self.page.locator("#chat-input").wait_for(timeout=120_000)
        self.page.wait_for_timeout(3_000)
        while self.page.locator("div[role=dialog]").count():
            self.page.keyboard.press("Escape")
            self.page.wait_for_timeout(500)

    def say(self, text):
        self.page.locator("#chat-input").click()
        for number, line in enumerate(text.split("\n")):
            if number:
                self.page.keyboard.press("Shift+Enter")
            # Not typed: its editor would make typographic quotes of straight ones.
            self.page.keyboard.insert_text(line)
        self.page.keyboard.press("Enter")

    def until(self, text):
        """Waits until an answer on the page has it."""
        self.page.locator(".chat-assistant", has_text=text).last.wait_for(timeout=60_000)
        self.at_rest()

    def at_rest(self):
        """Waits until nothing is being written."""
        self.page.get_by_role("button", name="Regenerate").last.wait_for(timeout=60_000)
        self.page.wait_for_timeout(1_500)

    def shoot(self, name):
        if self.shots:
            self.page.screenshot(path=os.path.join(self.shots, f"{name}.png"))


def said(server, session):
    transcript = server.session(session)["transcript"]
    return [line["text"] for line in transcript if line["kind"] == "said"]


def newest(server):
    return server.sessions()[0]["id"]


def talking(server, page):
    page.say("How do I bake bread?")
    page.until('You said: "How do I bake bread?"')
    first = newest(server)
    page.say("And cake?")
    page.until('You said: "And cake?"')
    holds("a follow-up goes on in its session", newest(server) == first)
    holds("it has both and nothing else", said(server, first) == ["How do I bake bread?", "And cake?"])
    page.page.get_by_text("How do I bake bread?").first.wait_for()
    page.page.wait_for_function("document.title.startsWith('How do I bake bread?')", timeout=60_000)
    holds("the chat has its title, and no side request a session", len(server.sessions()) == 1)
    page.shoot("talk")
    return first


def regenerating(server, page, first):
    page.page.get_by_role("button", name="Regenerate").last.click()
    page.page.wait_for_timeout(1_000)
    page.page.get_by_text("Try Again", exact=True).click()
    page.page.get_by_text("2/2").last.wait_for(timeout=60_000)
    page.at_rest()
    branch = newest(server)
    holds("an answer made anew is a branch", branch != first and len(server.sessions()) == 2)
    holds("the first session is as it was", said(server, first) == ["How do I bake bread?", "And cake?"])
    page.say("And pie?")
    page.until('You said: "And pie?"')
    holds("the talk goes on in the branch", newest(server) == branch and said(server, branch)[-1] == "And pie?")
    page.shoot("regenerated")
    return branch


def editing(server, page, branch):
    # It lies below the page's bar when the chat is scrolled down.
    page.page.locator(".edit-user-message-button").first.dispatch_event("click")
    page.page.locator("textarea[id^=message-edit]").fill("How do I bake rolls?")
    page.page.get_by_role("button", name="Send", exact=True).click()
    page.until('You said: "How do I bake rolls?"')
    edited = newest(server)
    holds("an edited first message begins a session", edited != branch and said(server, edited) == ["How do I bake rolls?"])
    page.shoot("edited")
    return edited


def restarting(server, page, session):
    server.restart()
    page.say("With seeds?")
    page.until('You said: "With seeds?"')
    holds("after a restart the chat goes on in the same session", newest(server) == session)
    holds("which has it all", said(server, session) == ["How do I bake rolls?", "With seeds?"])


def deciding(server, page):
    page.say('!tool write_file {"path": "rolls.txt", "content": "flour"}\n!say Written.')
    page.until("/approve")
    file = pathlib.Path(server.workspace, "rolls.txt")
    holds("a call waits for a person", not file.exists())
    page.shoot("asked")
    page.say("/approve")
    page.until("Written.")
    holds("the next message decides it", file.read_text() == "flour")
    page.say('!tool share_file {"path": "rolls.txt"}\n!say Here.')
    page.until("rolls.txt")
    holds("a shared file is a link in the answer", page.page.locator(".chat-assistant a[href*='/v1/files/']").count() == 1)
    page.shoot("shared")


def stopping(server, page):
    page.say("!stream 600 100")
    page.page.locator(".chat-assistant", has_text="word10").last.wait_for(timeout=60_000)
    page.page.get_by_role("button", name="Stop").last.click()
    session = newest(server)
    for _ in range(100):
        if server.session(session)["state"] == "idle":
            break
        time.sleep(0.2)
    ended = server.session(session)["transcript"][-1]
    holds("the page's stop button stops the turn", "word600" not in json.dumps(ended))
    page.shoot("stopped")


def showing(server, page, folder):
    picture = pathlib.Path(folder, "dot.png")
    picture.write_bytes(PICTURE)
    page.open(page.page.url.split("/c/")[0])
    page.page.locator("input[type=file]").first.set_input_files(str(picture))
    page.page.wait_for_timeout(3_000)
    page.say("Look at this.")
    page.until("Look at this.")
    held = json.dumps(server.session(newest(server))["transcript"])
    holds("a picture reaches the agent", "image/png" in held)
    page.shoot("picture")


def main():
    program, open_webui, chromium = sys.argv[1:4]
    shots = sys.argv[4] if len(sys.argv) > 4 else None
    with Server(program) as server, WebUi(open_webui, server) as ui, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1200, "height": 850})
        context.add_init_script(f"localStorage.setItem('token', {json.dumps(ui.token)})")
        page = Page(context.new_page(), shots)
        page.open(ui.url)
        try:
            first = talking(server, page)
            branch = regenerating(server, page, first)
            session = editing(server, page, branch)
            restarting(server, page, session)
            deciding(server, page)
            stopping(server, page)
            showing(server, page, ui.folder.name)
        except BaseException:
            page.shoot("failed")
            raise
        browser.close()
    print("Open WebUI: all is well")


main()
