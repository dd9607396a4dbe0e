"""People on IRC, by the Python library `irc`, which was not written here."""

import functools
import re
import ssl
import threading
import time

import irc.client
import irc.connection

from network import until

# A bot's lines may hold what is no UTF-8 only if somebody cut a character in two: that is to be seen.
PRIVMSG = re.compile(r"^(?:@(\S+) )?:([^ !]+)\S* (PRIVMSG|NOTICE|TAGMSG) :?(\S+)(?: :?(.*))?$", re.DOTALL)


class Heard:
    """One line that somebody said: `by`, `to`, `text`, the tags, and when it came."""

    def __init__(self, raw, found):
        tags, self.by, self.command, self.to, self.text = found.groups()
        self.tags = dict(tag.partition("=")[::2] for tag in (tags or "").split(";") if tag)
        self.size = len(raw.split(" ", 1)[1].encode() if raw.startswith("@") else raw.encode()) + 2
        self.at = time.monotonic()


class Person:
    """Somebody at a client of their own; it reads along in a thread."""

    def __init__(self, nick, port, caps=(), **login):
        self.raw, self.heard, self.events, self.nick = [], [], [], nick
        self.reactor = irc.client.Reactor()
        self.reactor.add_global_handler("all_raw_messages", self.took)
        self.reactor.add_global_handler("all_events", lambda _, event: self.events.append(event.type))
        self.connection = self.reactor.server()
        self.connection.connect("127.0.0.1", port, nick, **login)
        self.ended = False
        threading.Thread(target=self.run, daemon=True).start()
        until(f"{nick} is let in", lambda: any(" 376 " in line or " 422 " in line for line in self.raw))
        if caps:
            self.connection.cap("REQ", *caps)
            until(f"{nick} has {caps}", lambda: any(" ACK " in line for line in self.raw))

    def run(self):
        while not self.ended:
            self.reactor.process_once(0.05)

    def took(self, _, event):
        raw = event.arguments[0]
        self.raw.append(raw)
        found = PRIVMSG.match(raw)
        if found:
            self.heard.append(Heard(raw, found))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        if self.connection.is_connected():
            self.connection.quit("gone")
            until(f"{self.nick} is gone", lambda: not self.connection.is_connected(), 10)
        self.ended = True

    def say(self, to, text):
        self.connection.privmsg(to, text)

    def told(self, by, to=None, command="PRIVMSG"):
        """What somebody said, here or there."""
        to = (to or self.nick).lower()
        return [one for one in self.heard if (one.by, one.to.lower(), one.command) == (by, to, command)]

    def until_told(self, by, words, to=None, seconds=40):
        """Waits until somebody said something with these words in it."""
        found = lambda: [one for one in self.told(by, to) if words in one.text]
        try:
            return until(f"{by} says {words!r}", found, seconds)[0]
        except AssertionError:
            print("\n".join(self.raw[-30:]))
            raise

    def until_raw(self, what, words, seconds=30):
        return until(what, lambda: [line for line in self.raw if words in line], seconds)[0]

    def joins(self, channel):
        self.connection.join(channel)
        self.until_raw(f"{self.nick} is in {channel}", f" 366 {self.nick} {channel}")

    def register(self, password):
        """Makes an account of this nick with the network's services."""
        self.say("NickServ", f"REGISTER {password} {self.nick}@interop.test")
        self.until_raw(f"{self.nick} has an account", " 900 ")


def over_tls(authority):
    """How a client is connected over TLS."""
    context = ssl.create_default_context(cafile=authority)
    wrap = functools.partial(context.wrap_socket, server_hostname="localhost")
    return irc.connection.Factory(wrapper=wrap)
