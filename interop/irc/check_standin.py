"""The imitated network, seen by the Python library `irc`, which was not written here; and the program on it.

    python check_standin.py SWITCHBOARD

It ends with an assertion that failed, or with the line `irc stand-in: all is well`.
"""

import re
import subprocess
import sys
import time

from bridge import Bridge
from check_servers import TAGS, holds
from network import until
from people import Person

PASSWORD = "stand-in"


def as_a_server(port):
    """What the library sees of a server."""
    with Person("bob", port, TAGS) as bob, Person("eve", port) as eve:
        features = bob.connection.features
        holds("its features are read", features.network == "Imitated" and features.nicklen == 30 and features.chantypes == "#")
        bob.joins("#den")
        eve.joins("#den")
        bob.until_raw("eve came", "JOIN")
        bob.say("#den", "hello, den")
        holds("a channel hears", eve.until_told("bob", "hello, den", "#den").tags == {})
        eve.say("bob", "hello, bob")
        heard = bob.until_told("eve", "hello, bob")
        holds("tags come with the abilities", {"time", "msgid"} <= heard.tags.keys() and "account" not in heard.tags)
        for what, line, event in [
            ("a nick in use", "NICK eve", "nicknameinuse"),
            ("a nick that cannot be", "NICK 1bob", "erroneusnickname"),
            ("nobody", "PRIVMSG nobody :x", "nosuchnick"),
            ("no words", "PRIVMSG eve", "notexttosend"),
            ("no channel", "PRIVMSG #none :x", "nosuchchannel"),
            ("a command that there is not", "NONSENSE", "unknowncommand"),
            ("somebody asked for", "WHOIS eve", "endofwhois"),
        ]:
            bob.connection.send_raw(line)
            until(what, lambda event=event: event in bob.events)
            holds(f"it tells of {what}")
            # It puts out whoever writes too fast, as servers do.
            time.sleep(0.5)
        bob.connection.topic("#den", "a new subject")
        eve.until_raw("the subject", "TOPIC")
        bob.connection.kick("#den", "eve", "out")
        eve.until_raw("put out", "KICK #den eve")
        eve.say("#den", "still here?")
        until("she is refused", lambda: "cannotsendtochan" in eve.events)
        bob.connection.nick("robert")
        until("he is called otherwise", lambda: bob.connection.get_nickname() == "robert")
        holds("subjects, kicks and names are told")
    for password, event in ((PASSWORD, "loggedin"), ("wrong", "login_failed")):
        with Person("robo", port, password=password, sasl_login="robo") as robo:
            done = lambda: any(" 900 " in line for line in robo.raw) if event == "loggedin" else event in robo.events
            until(event, done)
            holds(f"the library's login ends in {event}")


def with_the_program(program, port):
    where = dict(server=f"irc://127.0.0.1:{port}", nick="robo", channels="#den")
    with Bridge(program) as bridge:
        why = bridge.refused("--profile", "assistant", "--allow", "*", **where, password="wrong")
        holds("a wrong password is told", "check `account` and `password`" in why)
        with Person("bob", port, TAGS) as bob:
            bob.joins("#den")
            bridge.start("--profile", "assistant", "--allow", "*", "--require-mention", **where, password=PASSWORD)
            bob.until_raw("it came", ":robo!~robo@host.irc.invalid JOIN")
            bob.say("robo", "!say Good morning.")
            holds("a private message is answered", bob.until_told("robo", "Good morning.").tags["account"] == "robo")
            bob.say("#den", "robo: hello")
            holds("a mention is answered", bob.until_told("robo", "hello", "#den").text.startswith("bob: "))


def main():
    program = sys.argv[1]
    standin = subprocess.Popen([program, "standin", "irc", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        for line in standin.stdout:
            found = re.search(r"irc://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        port = int(found.group(1))
        as_a_server(port)
        with_the_program(program, port)
    finally:
        standin.terminate()
        standin.wait()
    print("irc stand-in: all is well")


if __name__ == "__main__":
    main()
