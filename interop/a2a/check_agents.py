"""Agents made with the official SDKs answer a profile of Switchboard's: in pieces, with files both ways, with a
question, stopped, and after a restart.

    python check_agents.py SWITCHBOARD PYTHON_0_3 PYTHON_1

SWITCHBOARD is the program; the others are the Pythons in which a2a-sdk 0.3.x and 1.x are installed. It ends with an
assertion that failed, or with the line `a2a agents: all is well`.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
TOKEN = "interop-token-of-this-run"
# The smallest picture there is.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


class Agent:
    def __init__(self, python, script, *how):
        self.process = subprocess.Popen([python, HERE / script, *how], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split("listening on ")[1].strip()
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Switchboard:
    def __init__(self, program, home):
        self.program = program
        self.environment = dict(os.environ, SWITCHBOARD_HOME=str(home), SWITCHBOARD_TOKEN=TOKEN)

    def command(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self):
        self.server = subprocess.Popen([self.program, "serve", "--listen", "127.0.0.1:0"], env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.server.stdout.readline().split(" on ")[1].split(" ")[0].rstrip("/")

    def kill(self):
        self.server.kill()
        self.server.wait()

    def request(self, profile, text, **more):
        body = json.dumps({"text": text, "conversation": "interop", **more}).encode()
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        return urllib.request.Request(f"{self.url}/v1/profiles/{profile}/messages", body, headers)

    def say(self, profile, text, **more):
        try:
            with urllib.request.urlopen(self.request(profile, text, **more), timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    def stream(self, profile, text):
        pieces, name = [], None
        with urllib.request.urlopen(self.request(profile, text, stream=True), timeout=60) as answer:
            for line in answer:
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: ") and name == "delta":
                    pieces.append(json.loads(line[6:])["text"])
                elif line.startswith("data: ") and name == "done":
                    return pieces, json.loads(line[6:])
        raise AssertionError("a stream without an end")


def check(name, agent, board, streams):
    pieces, done = board.stream(name, "stream")
    whole = "".join(f"word{at} " for at in range(20)).strip()
    assert done["said"].strip() == whole, (name, done)
    if streams:
        assert len(pieces) > 3, (name, pieces)

    first = board.say(name, "hello")
    assert first["state"] == "done" and ": hello" in first["said"], (name, first)

    given = board.say(name, "file")
    assert given["said"].startswith("Here it is.") and given["files"][0]["name"] == "table.csv", (name, given)
    picture = {"name": "dot.png", "base64": base64.b64encode(PICTURE).decode()}
    seen = board.say(name, "look", files=[picture])
    assert "['dot.png']" in seen["said"], (name, seen)

    asked = board.say(name, "ask")
    assert asked["state"] == "done" and "Which colour?" in asked["said"], (name, asked)
    told = board.say(name, "red")
    assert ": red" in told["said"] and "Which" not in told["said"], (name, told)

    hangs = []
    thread = threading.Thread(target=lambda: hangs.append(board.stream(name, "hang")))
    thread.start()
    trace = ""
    for _ in range(100):
        trace = board.command("trace", first["session"])
        if trace.count("a2a_task gave") == 7:  # the seventh message is the one that hangs
            break
        time.sleep(0.1)
    begun = time.monotonic()
    stopped = board.say(name, "/stop")
    assert stopped["state"] == "stopped", (name, stopped)
    thread.join()
    for _ in range(50):
        if any("cancelled" in line for line in agent.lines):
            break
        time.sleep(0.1)
    assert any("cancelled" in line for line in agent.lines), (name, agent.lines, trace)
    print(f"  {name}: stopped within {time.monotonic() - begun:.1f} s, and cancelled there")

    context = told["said"].split(" in ")[1].split(",")[0]
    board.kill()
    board.start()
    again = board.say(name, "and on")
    assert again["session"] == first["session"] and f" in {context}," in again["said"], (name, again, context)
    print(f"  {name}: {again['said']!r} after a restart")
    assert "progress:" in board.command("trace", first["session"])


def main():
    program, old, new = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    agents = {
        "sdk-03": (old, "agent_03.py"),
        "sdk-03-silent": (old, "agent_03.py", "silent"),
        "sdk-1": (new, "agent_1.py"),
        "sdk-1-both": (new, "agent_1.py", "both"),
        "sdk-1-silent": (new, "agent_1.py", "silent"),
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        for name, how in agents.items():
            agent = Agent(*how)
            board = Switchboard(program, pathlib.Path(made) / name)
            try:
                board.command("profile", "add", name, "--harness", f"a2a:{agent.address}")
                board.start()
                check(name, agent, board, "silent" not in how)
                print(f"{name}: all is well", flush=True)
            finally:
                board.kill()
                agent.kill()
    print("a2a agents: all is well")


if __name__ == "__main__":
    main()
