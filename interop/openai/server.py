"""The program as the checks of this folder need it: a home of its own, the scripted model, a token."""

import json
import os
import pathlib
import subprocess
import tempfile
import urllib.request

MACHINE = "interop-token-of-this-run"


class Server:
    """A running server with the profile `assistant`; it ends with the block."""

    def __init__(self, program, *flags):
        self.program, self.flags = str(pathlib.Path(program).resolve()), flags
        self.folder = tempfile.TemporaryDirectory(prefix="openai-interop-")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder.name,
            "SWITCHBOARD_HOME": os.path.join(self.folder.name, "home"),
            "SWITCHBOARD_TOKEN": MACHINE,
        }

    def __enter__(self):
        self.workspace = os.path.join(self.folder.name, "workspace")
        os.mkdir(self.workspace)
        self.run("profile", "add", "assistant", "--model", "scripted", "--workspace", self.workspace)
        self.run("profile", "add", "other", "--model", "scripted")
        self.token = self.run("profile", "token", "add", "assistant", "--approve").split()[-1]
        self.start("127.0.0.1:0")
        return self

    def __exit__(self, *_):
        self.end()
        self.folder.cleanup()

    def start(self, listen):
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", listen, *self.flags],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for line in self.process.stdout:
            if "http://127.0.0.1:" in line:
                self.url = "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split()[0].split("/")[0].strip(".,")
                break

    def end(self):
        self.process.terminate()
        self.process.wait(20)

    def restart(self):
        """Ends it and starts it again, at the same address."""
        self.end()
        self.start(self.url.removeprefix("http://"))

    def run(self, *words):
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def sessions(self):
        """All sessions there are, as `session list` has them."""
        return json.loads(self.run("session", "list", "--json"))

    def session(self, session):
        """One session as the HTTP channel shows it."""
        request = urllib.request.Request(
            f"{self.url}/v1/sessions/{session}", headers={"Authorization": f"Bearer {MACHINE}"}
        )
        return json.load(urllib.request.urlopen(request, timeout=20))


def session_of(answer_id):
    """The session that an answer's id names."""
    return answer_id.split("-")[1]


def holds(what, is_so=True):
    assert is_so, what
    print("  holds:", what)
