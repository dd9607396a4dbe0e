"""The program on real IRC servers, with people at the Python library `irc` on the other side.

    python check_servers.py SWITCHBOARD

It ends with an assertion that failed, or with the line `irc servers: all is well`.
"""

import sys
import time

from bridge import Bridge
from network import SERVER_PASSWORD, Network, until, versions
from people import Person, over_tls

PASSWORD, ANNS, EVES = "robo-and-nobody-else", "ann-and-nobody-else", "eve-and-nobody-else"
TAGS = ("message-tags", "account-tag", "server-time")
ANN = ("--profile", "assistant", "--allow", "account:ann", "--approvers", "account:ann")


def holds(what, is_so=True):
    assert is_so, what
    print("  holds:", what, flush=True)


def settings(network, **more):
    return {"server": f"localhost:{network.secure}", "nick": "robo", "fingerprint": network.fingerprint("server")} | more


def ann_of(network, caps=TAGS):
    return Person("ann", network.secure, caps, password=ANNS, sasl_login="ann", connect_factory=over_tls(network.path("ca.pem")))


def accounts(network):
    """The bot's account, and those of two people."""
    with Person("robo", network.plain) as robo:
        robo.register(PASSWORD)
        robo.say("NickServ", f"CERT ADD {network.fingerprint('robo')}")
        robo.until_raw("the certificate is known", "fingerprint")
    for nick, password in (("ann", ANNS), ("eve", EVES)):
        with Person(nick, network.plain) as person:
            person.register(password)


def login(network, program):
    """What is told where it cannot come in."""
    with Bridge(program) as bridge:
        why = bridge.refused(*ANN, "--approvers", "ann", **settings(network, password=PASSWORD))
        holds("a nick cannot be named to decide", "an account of the network's services" in why and '"ann"' in why)
        why = bridge.refused(*ANN, **settings(network, password="wrong"))
        holds("a wrong password is told clearly", "check `account` and `password`" in why and "904" in why)
        holds("and is not repeated", "wrong" not in why.replace("wrong_", ""))
        why = bridge.refused(*ANN, **settings(network, password=PASSWORD, fingerprint="ab" * 32))
        holds("another certificate than the one that is meant is refused", "not the one with this fingerprint" in why)
        why = bridge.refused(*ANN, **settings(network, password=PASSWORD, fingerprint=""))
        holds("a certificate that nobody vouches for is refused", "UnknownIssuer" in why)
        why = bridge.refused(*ANN, **settings(network, nick="1robo"))
        holds("a nick that cannot be is refused", "begins with no digit" in why)
    with Bridge(program, SSL_CERT_FILE=network.path("ca.pem")) as bridge:
        bridge.start(*ANN, **settings(network, password=PASSWORD, fingerprint=""))
        holds("a certificate of a trusted authority is taken")
        bridge.end()
    with Bridge(program) as bridge:
        own = (network.folder / "robo.pem").read_text() + (network.folder / "robo.key").read_text()
        bridge.environment["SWITCHBOARD_IRC_CERTIFICATE"] = own
        bridge.start(*ANN, **settings(network, login="external"))
        holds("SASL EXTERNAL logs in by a certificate", not any("not logged in" in line for line in bridge.logged()))
    with Bridge(program) as bridge:
        bridge.start(*ANN, **settings(network, login="nickserv", password=PASSWORD))
        holds("NickServ logs in where that is set", not any("not logged in" in line for line in bridge.logged()))
        bridge.end()
        why = bridge.refused(*ANN, **settings(network, login="nickserv", password="wrong"))
        holds("NickServ's own words are told", "Invalid password" in why)


def talking(network, program):
    with ann_of(network) as ann, Person("eve", network.plain, TAGS) as eve, Bridge(program) as bridge:
        bridge.start(*ANN, "--require-mention", **settings(network, password=PASSWORD, channels="#lab"))
        ann.joins("#lab")
        until("it is in the channel", lambda: any(" 353 " in line and "robo" in line for line in ann.raw) or any(":robo!" in line and "JOIN" in line for line in ann.raw))
        ann.say("robo", "\x01VERSION\x01")
        until("its version", lambda: [one for one in ann.told("robo", command="NOTICE") if "VERSION Switchboard" in one.text])
        holds("a client's question is answered")
        ann.say("robo", "!say Good morning.")
        answer = ann.until_told("robo", "Good morning.")
        holds("a private message is answered", answer.to == "ann")
        holds("the bot is known as logged in, and as a program", answer.tags["account"] == "robo" and "bot" in answer.tags)
        ann.say("robo", "!stream 90 100")
        ann.until_told("robo", "word90")
        typing = [one.tags.get("+typing") for one in ann.told("robo", command="TAGMSG")]
        holds("it was shown to be at work", "active" in typing)
        ann.say("#lab", "!say Not asked.")
        ann.say("#lab", "robo: !say In the channel.")
        answer = ann.until_told("robo", "In the channel.", "#lab")
        holds("a mention in a channel is answered, with the writer's nick", answer.text.startswith("ann: "))
        holds("what it answers is named", answer.tags.get("+reply") == answer.tags.get("+draft/reply") != None)
        holds("what does not mention it is not", not [one for one in ann.told("robo", "#lab") if "Not asked." in one.text])
        eve.say("robo", "!say For eve.")
        eve.say("#lab", "robo: !say For eve.")
        ann.say("robo", "!say Meanwhile.")
        ann.until_told("robo", "Meanwhile.")
        holds("a nick without an account is nobody", not eve.told("robo"))
        with Person("mallory", network.plain, TAGS) as mallory:
            ann.connection.nick("ann_away")
            until("the nick is free", lambda: any(" NICK " in line for line in ann.raw))
            mallory.connection.nick("ann")
            until("it is taken", lambda: any(" NICK " in line for line in mallory.raw))
            mallory.say("robo", "!say For whoever is called ann.")
            ann.say("robo", "!say For the account.")
            ann.until_told("robo", "For the account.", "ann_away", seconds=120)
            holds("a nick that somebody took is nobody", not mallory.told("robo", "ann") and not mallory.told("robo", "mallory"))
        ann.connection.nick("ann")
        ann.until_raw("ann is ann again", "NICK")
        ann.say("robo", '!tool write_file {"path": "notes.md", "content": "milk"}')
        ann.until_told("robo", "1. Allow once", seconds=120)
        eve.say("robo", "1")
        ann.say("robo", "1")
        until("the question is decided", lambda: [one for one in ann.told("robo") if "Allowed" in one.text or "allowed" in one.text])
        holds("a question is answered by its number")
        ann.say("robo", "!help")
        ann.until_told("robo", "/stop")
        holds("a command is taken with ! in place of /, which clients keep for themselves")


def long_answers(network, program):
    with ann_of(network) as ann, Bridge(program) as bridge:
        bridge.start(*ANN, **settings(network, password=PASSWORD))
        ships = "🚢" * 92
        ann.say("robo", f"!say {ships}")
        until("all of it", lambda: "".join(one.text for one in ann.told("robo")) == ships)
        holds("characters of four bytes arrive whole, in two lines", len(ann.told("robo")) == 2)
        before = len(ann.told("robo"))
        ann.say("robo", "!stream 1000 1")
        ann.until_told("robo", "word1000", seconds=90)
        told = ann.told("robo")[before:]
        words = " ".join(one.text for one in told).split()
        holds("a long answer arrives whole and in order", words == [f"word{at}" for at in range(1, 1001)])
        holds("in lines that fit", max(one.size for one in told) <= 512 and len(told) > 20)
        took, least = told[-1].at - told[0].at, (len(told) - 4) * 2 - 4
        holds(f"paced: {len(told)} lines took {took:.0f} s", took >= least)
        holds("and the server bore it", not any("Flood" in line for line in bridge.logged()))


def nick_in_use(network, program):
    with Person("robo", network.plain) as squatter, ann_of(network) as ann, Bridge(program) as bridge:
        bridge.start(*ANN, **settings(network, password=PASSWORD))
        until("the one before is put out", lambda: not squatter.connection.is_connected())
        # Both sides of a nick's change take a moment.
        is_ours = lambda: ann.connection.whois("robo") or any(" 330 ann robo robo " in line for line in ann.raw)
        until("the nick is its own", lambda: is_ours() or time.sleep(1))
        ann.say("robo", "!say It is me.")
        ann.until_told("robo", "It is me.")
        holds("a nick in use is taken back by the account it belongs to")
        squatter.ended = True


def breaking_off(network, program):
    with Bridge(program) as bridge:
        bridge.start(*ANN, **settings(network, password=PASSWORD, channels="#lab"))
        with ann_of(network) as ann:
            ann.joins("#lab")
            ann.say("#lab", "robo: !say Before.")
            ann.until_told("robo", "Before.", "#lab")
            network.end("atheme")
            until("services are gone", lambda: "sasl=" not in network.abilities())
            ann.say("robo", "!say Without services.")
            ann.until_told("robo", "Without services.")
            holds("who is logged in stays so while services are away")
        network.end("inspircd")
        bridge.until_logged("receiving failed")
        network.inspircd()
        bridge.until_logged("no login by SASL at the moment", 90)
        holds("a server without its services is not entered")
        network.atheme()
        with ann_of(network) as ann:
            ann.joins("#lab")
            found = lambda: any(":robo!" in line and "JOIN" in line or " 353 " in line and "robo" in line for line in ann.raw)
            until("it is back in its channel", found, 120)
            ann.say("#lab", "robo: !say After.")
            ann.until_told("robo", "After.", "#lab")
            holds("it comes back by itself after the server was restarted")


def missed(network, program):
    """What was said while it was away, where the server or a bouncer tells it."""
    with ann_of(network) as ann, Bridge(program) as bridge:
        # Kept lines do not say who was logged in, so the channel itself is let in.
        allowed = ("--profile", "assistant", "--allow", "#kept", "--catch-up", "1h")
        ann.joins("#kept")
        ann.connection.mode("#kept", "+H 50:1h")
        ann.until_raw("the channel keeps lines", "MODE #kept +H")
        bridge.start(*allowed, **settings(network, password=PASSWORD, channels="#kept"))
        ann.say("#kept", "robo: !say While it is there.")
        ann.until_told("robo", "While it is there.", "#kept")
        bridge.kill()
        until("the server knows that it is gone", lambda: any(":robo!" in line and " QUIT" in line for line in ann.raw))
        time.sleep(1.1)
        ann.say("#kept", "robo: !say While it was away.")
        bridge.start(*allowed, **settings(network, password=PASSWORD, channels="#kept"))
        ann.until_told("robo", "While it was away.", "#kept")
        ann.say("#kept", "robo: !say Back.")
        ann.until_told("robo", "Back.", "#kept")
        told = [one.text for one in ann.told("robo", "#kept")]
        holds("a channel's kept lines are answered once", sum("While it was away." in text for text in told) == 1)
        holds("those that were answered are not again", sum("While it is there." in text for text in told) == 1)
    network.znc(PASSWORD)
    with ann_of(network) as ann, Bridge(program) as bridge:
        ann.joins("#lab")
        found = lambda: any("bounced" in line and ("JOIN" in line or " 353 " in line) for line in ann.raw)
        until("the bouncer is in the channel", found)
        anybody = ("--profile", "assistant", "--allow", "*", "--require-mention")
        bounced = dict(server=f"irc://127.0.0.1:{network.bouncer}", nick="bounced", server_password=f"robo/interop:{PASSWORD}")
        bridge.start(*anybody, **bounced)
        ann.say("bounced", "!say Through the bouncer.")
        ann.until_told("bounced", "Through the bouncer.")
        bridge.kill()
        time.sleep(1.1)
        ann.say("bounced", "!say Missed in private.")
        ann.say("#lab", "bounced: !say Missed in the channel.")
        time.sleep(1.1)
        bridge.start(*anybody, **bounced)
        ann.until_told("bounced", "Missed in private.")
        ann.until_told("bounced", "Missed in the channel.", "#lab")
        told = [one.text for one in ann.told("bounced")]
        holds("what a bouncer kept is answered", sum("Missed in private." in text for text in told) == 1)
        holds("what was answered before is not again", sum("Through the bouncer." in text for text in told) == 1)
    network.end("znc")


def an_old_server(network, program):
    """ngIRCd: no abilities, no accounts, nicks of nine letters, and an end to whoever writes too long a line."""
    where = dict(server=f"irc://127.0.0.1:{network.simple}", channels="#lab")
    anybody = ("--profile", "assistant", "--allow", "*", "--require-mention")
    with Bridge(program) as bridge:
        why = bridge.refused(*anybody, **where, nick="robo", server_password="wrong")
        holds("a wrong server's password is told", "server_password" in why or "password" in why.lower())
        where["server_password"] = SERVER_PASSWORD
        why = bridge.refused(*anybody, **where, nick="robotnik-the-long")
        holds("a nick that is too long is told", "max. 9 characters" in why)
        bridge.start(*anybody, **where, nick="robo")
        with Person("bob", network.simple, password=SERVER_PASSWORD) as bob:
            bob.joins("#lab")
            bob.say("robo", "!say Good evening.")
            bob.until_told("robo", "Good evening.")
            holds("a private message is answered")
            bob.say("#lab", "robo: hello")
            heard = bob.until_told("robo", "hello", "#lab")
            assert heard.text.startswith("bob: "), heard.text
            holds("a mention in a channel is answered")
            bob.say("robo", "!stream 300 1")
            bob.until_told("robo", "word300", seconds=60)
            words = " ".join(one.text for one in bob.told("robo", "bob") if "word" in one.text).split()
            holds("no line is too long for it", words == [f"word{at}" for at in range(1, 301)])
            holds("nor too many", not any("receiving failed" in line for line in bridge.logged()))
        note = "nobody can be let in or decide by name here"
        holds("the operator is told that nobody is known there", any(note in line for line in bridge.logged()))


def main():
    program, only = sys.argv[1], sys.argv[2:]
    print("on", ", ".join(f"{name} {version}" for name, version in versions().items()), flush=True)
    checks = [login, talking, long_answers, nick_in_use, breaking_off, missed, an_old_server]
    with Network() as network:
        network.ngircd()
        network.inspircd()
        network.atheme()
        accounts(network)
        for check in checks:
            if not only or check.__name__ in only:
                print(f"{check.__name__}:", flush=True)
                check(network, program)
    print("irc servers: all is well")


if __name__ == "__main__":
    main()
