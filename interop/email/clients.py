"""What the checks share: the bridge as a program, and a person's mailbox."""

import email
import email.policy
import imaplib
import subprocess
import sys
import time


def until(what, look, seconds=30):
    """Looks until there is something; fails with what was last seen."""
    end = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < end, f"never seen: {what}"
        time.sleep(0.1)


class Mailbox:
    """Somebody's folders, by imaplib."""

    def __init__(self, port, user, password):
        self.line = imaplib.IMAP4("127.0.0.1", port, timeout=20)
        self.line.login(user, password)

    def mails(self, folder="INBOX"):
        """All mails with their flags, the oldest first."""
        self.line.select(folder, readonly=True)
        _, told = self.line.uid("FETCH", "1:*", "(FLAGS BODY.PEEK[])")
        found = []
        for answer in told:
            if isinstance(answer, tuple):
                mail = email.message_from_bytes(answer[1], policy=email.policy.default)
                mail.flags = {flag.decode() for flag in imaplib.ParseFlags(answer[0])}
                found.append(mail)
        return found

    def answers_to(self, message_id):
        return [mail for mail in self.mails() if mail["In-Reply-To"] == message_id]


class Bridge:
    """`switchboard bridge --via email`, its log kept in a file."""

    def __init__(self, program, home, settings, *more):
        self.command = [program, "bridge", "--home", str(home), "--via", "email", "--profile", "assistant", *more]
        for key, value in settings.items():
            self.command += ["--set", f"{key}={value}"]
        self.path = home / "bridge.log"

    def __enter__(self):
        log = open(self.path, "ab")
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def log(self):
        return self.path.read_text() if self.path.exists() else ""

    def until_logged(self, words, seconds=30):
        try:
            until(words, lambda: words in self.log(), seconds)
        except AssertionError:
            print(self.log(), file=sys.stderr)
            raise
