"""The program as the checks of this folder need it: a home of its own, the scripted model, one bridge."""

import os
import pathlib
import subprocess
import tempfile

from network import until


class Bridge:
    """A home, and the bridge that runs over it now, if any."""

    def __init__(self, program, **environment):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="irc-bridge-", ignore_cleanup_errors=True)
        home = os.path.join(self.folder.name, "home")
        self.environment = dict(
            PATH=os.environ["PATH"], HOME=self.folder.name, SWITCHBOARD_HOME=home, NO_COLOR="1", **environment
        )
        self.process, self.log = None, os.path.join(self.folder.name, "log")

    def __enter__(self):
        workspace = os.path.join(self.folder.name, "workspace")
        os.mkdir(workspace)
        done = self.run("profile", "add", "assistant", "--model", "scripted", "--workspace", workspace)
        assert done.returncode == 0, done.stderr
        return self

    def __exit__(self, *_):
        self.end()
        self.folder.cleanup()

    def run(self, *words):
        return subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True, timeout=60)

    def refused(self, *flags, **settings):
        """Why a bridge does not start."""
        done = self.run("bridge", "--via", "irc", *flags, *self.flags(settings))
        assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
        return done.stderr.strip().splitlines()[-1]

    def start(self, *flags, **settings):
        open(self.log, "w").close()
        log = open(self.log, "ab")
        words = [self.program, "bridge", "--via", "irc", *flags, *self.flags(settings)]
        self.process = subprocess.Popen(words, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.until_logged("running as")

    def until_logged(self, words, seconds=40):
        found = lambda: [line for line in self.logged() if words in line]
        try:
            return until(f"the log says {words!r}", found, seconds)[-1]
        except AssertionError:
            print("\n".join(self.logged()[-20:]))
            raise

    def logged(self):
        return pathlib.Path(self.log).read_text().splitlines()

    def end(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)
            self.process = None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    @staticmethod
    def flags(settings):
        return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
