"""Real agents run by Switchboard, without an account: each answers in pieces, asks, is allowed, is refused, is
stopped, and is taken up again by another process. pi cannot ask, so it is only run where nobody would be asked.

    python check_agents.py [--short] SWITCHBOARD NODE_MODULES [NAME …]

SWITCHBOARD is the program, NODE_MODULES the folder in which the agents are installed. The models they ask are
`provider.py`. `--short`: it answers in pieces, asks, and is allowed, no more. It ends with an assertion that
failed, or with the line `agents: all is well`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
TOKEN = "interop-token-of-this-run"


class Agent:
    """One agent: the call that runs a command, whether another process can take its session up, whether it asks,
    what its profile needs besides, and how it names the tools it is lent."""

    def __init__(self, tool, resumes=True, asks=True, flags=(), harness=None, lent=None):
        self.tool, self.resumes, self.asks, self.flags, self.harness = tool, resumes, asks, flags, harness
        self.lent = lent


AGENTS = {
    "opencode": Agent(lambda do: ("bash", {"command": do, "description": "a try"}), lent="switchboard_"),
    "claude-code": Agent(lambda do: ("Bash", {"command": do, "description": "a try"}), lent="mcp__switchboard__"),
    "codex": Agent(lambda do: ("exec_command", {"cmd": do, "sandbox_permissions": "require_escalated",
                                                "justification": "a try"}), lent="mcp__switchboard/"),
    # It says that it can, and sometimes does.
    "gemini": Agent(lambda do: ("run_shell_command", {"command": do, "description": "a try"}), resumes=False,
                    flags=("--model", "google:gemini-2.5-flash")),
    "pi": Agent(lambda do: ("bash", {"command": do}), asks=False, harness="pi",
                flags=("--autonomy", "L5", "--model", "fake:fake")),
}


def set_up(home, provider):
    """What the agents read: where their models are, and that nothing is fetched or reported."""
    (home / ".codex").mkdir(parents=True)
    (home / ".gemini").mkdir()
    models = {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "models": {"fake": {"name": "fake"}},
                       "options": {"baseURL": f"{provider}/v1", "apiKey": "none"}}}
    opencode = {"provider": models, "model": "fake/fake", "small_model": "fake/fake", "autoupdate": False,
                "share": "disabled"}
    (home / ".config/opencode").mkdir(parents=True)
    (home / ".config/opencode/opencode.json").write_text(json.dumps(opencode))
    (home / ".codex/config.toml").write_text(
        'model = "fake"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
        f'base_url = "{provider}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n')
    (home / ".pi/agent").mkdir(parents=True)
    pi = {"fake": {"baseUrl": f"{provider}/v1", "api": "openai-completions", "apiKey": "none",
                   "models": [{"id": "fake"}]}}
    (home / ".pi/agent/models.json").write_text(json.dumps({"providers": pi}))
    gemini = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": True},
              "privacy": {"usageStatisticsEnabled": False}}
    (home / ".gemini/settings.json").write_text(json.dumps(gemini))


class Switchboard:
    """The running server."""

    def __init__(self, program, home, **environment):
        self.program = program
        self.environment = dict(os.environ, SWITCHBOARD_HOME=str(home), SWITCHBOARD_TOKEN=TOKEN, **environment)
        self.server = None

    def command(self, *arguments):
        done = subprocess.run([self.program, *arguments], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self):
        self.server = subprocess.Popen([self.program, "serve", "--listen", "127.0.0.1:0"], env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        self.url = line.split(" on ")[1].split(" ")[0].rstrip("/")

    def kill(self):
        self.server.kill()
        self.server.wait()

    def request(self, profile, text, stream=False):
        body = json.dumps({"text": text, "conversation": "interop", "stream": stream}).encode()
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        return urllib.request.Request(f"{self.url}/v1/profiles/{profile}/messages", body, headers)

    def say(self, profile, text):
        try:
            with urllib.request.urlopen(self.request(profile, text), timeout=180) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    def stream(self, profile, text):
        """The answer's pieces, and its end."""
        pieces, name = [], None
        with urllib.request.urlopen(self.request(profile, text, stream=True), timeout=180) as answer:
            for line in answer:
                line = line.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: ") and name == "delta":
                    pieces.append(json.loads(line[6:])["text"])
                elif line.startswith("data: ") and name == "done":
                    return pieces, json.loads(line[6:])
        raise AssertionError("a stream without an end")


def check(name, agent, board, folder, short):
    def call(file, after):
        tool, given = agent.tool(f"echo made > {file}")
        return f"!tool {tool} {json.dumps(given)}\n!say {after}"

    pieces, done = board.stream(name, "!stream 40 100")
    assert len(pieces) > 1 and "word40" in "".join(pieces), (name, pieces)
    session = done["session"]

    if agent.asks:
        asks(name, call, board, folder, short)
    else:
        done = board.say(name, call("one.txt", "It is made."))
        assert done["state"] == "done" and "It is made." in done["said"], (name, done)
        assert (folder / "one.txt").exists(), f"{name} did not do what it was told to"
    if agent.lent:
        uses_ours(name, agent.lent, board, folder)
    if short:
        return

    with urllib.request.urlopen(board.request(name, "!stream 2000 50", stream=True), timeout=180) as answer:
        while b"word3" not in answer.readline():
            pass
        begun = time.monotonic()
        stopped = board.say(name, "/stop")
    assert stopped["state"] == "stopped", (name, stopped)
    print(f"  {name}: stopped within {time.monotonic() - begun:.1f} s")

    board.kill()
    board.start()
    again = board.say(name, "!say Here again.")
    assert again["session"] == session and "Here again." in again["said"], (name, again)
    anew = "begins anew" in again["said"]
    assert not (anew and agent.resumes), (name, again)
    print(f"  {name}: {'begun anew, and said so' if anew else 'taken up again'} after a restart")
    trace = board.command("trace", session)
    decided = ("approved by http:machine", "declined by http:machine") if agent.asks else ()
    for part in (*decided, "one.txt"):
        assert part in trace, (name, part, trace)


def uses_ours(name, lent, board, folder):
    """It is lent tools of ours: it shares a file, and notes something once a person allowed that, who is asked once."""
    shared = board.say(name, f'!tool {lent}share_file {{"path": "one.txt"}}\n!say It is shared.')
    assert shared["state"] == "done" and "It is shared." in shared["said"], (name, shared)
    assert [file["name"] for file in shared["files"]] == ["one.txt"], (name, shared)
    asked = board.say(name, f'!tool {lent}remember {{"text": "{name} was here"}}\n!say It is noted.')
    assert asked["state"] == "waiting" and 'remember {"text"' in asked["said"], (name, asked)
    seen = subprocess.run(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null"], capture_output=True).stdout
    assert not re.search(rb"Bearer [0-9a-f]{64}", seen), f"{name} shows its key to whoever lists processes"
    done = board.say(name, "/approve")
    assert done["state"] == "done" and "It is noted." in done["said"], (name, done)
    assert f"{name} was here" in board.command("memory", "list", name), name
    trace = board.command("trace", done["session"])
    for part in ("share_file gave: one.txt", "remember gave: Noted"):
        assert trace.count(part) == 1, (name, part, trace)
    print(f"  {name}: shared a file and noted something by tools it was lent")


def asks(name, call, board, folder, short):
    asked = board.say(name, call("one.txt", "It is made."))
    assert asked["state"] == "waiting", (name, asked)
    assert not (folder / "one.txt").exists(), f"{name} acted before it was allowed"
    done = board.say(name, "/approve")
    assert done["state"] == "done" and "It is made." in done["said"], (name, done)
    assert (folder / "one.txt").exists(), f"{name} did not do what it was allowed to"

    if short:
        return
    asked = board.say(name, call("two.txt", "It went on."))
    assert asked["state"] == "waiting", (name, asked)
    refused = board.say(name, "/decline not now")
    if refused["state"] == "waiting":
        # Told the reason, this model asks for the same again.
        refused = board.say(name, "/decline")
    assert refused["state"] in ("done", "silent"), (name, refused)
    assert not (folder / "two.txt").exists(), f"{name} did what it was refused"


def main():
    given = [argument for argument in sys.argv[1:] if argument != "--short"]
    short = len(given) < len(sys.argv) - 1
    program, modules = pathlib.Path(given[0]).resolve(), pathlib.Path(given[1]).resolve()
    wanted = given[2:]
    provider = subprocess.Popen([sys.executable, HERE / "provider.py", "0"], stdout=subprocess.PIPE, text=True)
    address = provider.stdout.readline().split("listening on ")[1].strip()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        made = pathlib.Path(made)
        home = made / "agents"
        set_up(home, address)
        keys = {f"{name}_API_KEY": "none" for name in ("ANTHROPIC", "OPENAI", "GEMINI")}
        board = Switchboard(program, made / "home", HOME=str(home), PATH=f"{modules}/.bin:{os.environ['PATH']}",
                            ANTHROPIC_BASE_URL=address, GOOGLE_GEMINI_BASE_URL=address, **keys)
        try:
            for name, agent in AGENTS.items():
                if wanted and name not in wanted:
                    continue
                folder = made / name
                begun = time.monotonic()
                board.command("profile", "add", name, "--harness", agent.harness or f"acp:{name}",
                              "--workspace", str(folder), *agent.flags)
                board.start()
                check(name, agent, board, folder, short)
                board.kill()
                print(f"{name}: all is well, in {time.monotonic() - begun:.0f} s", flush=True)
        finally:
            if board.server:
                board.kill()
            provider.kill()
    print("agents: all is well")


if __name__ == "__main__":
    main()
