"""The email adapter on real servers, Dovecot and Postfix; the people use Python's own mail libraries.

    sudo python3 check_real.py target/debug/switchboard

It ends with an assertion that failed, or with the line `dovecot and postfix: all is well`.
"""

import email.utils
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from email.message import EmailMessage

from clients import Bridge, Mailbox, until
from servers import AGENT, AUTHSERV, DOMAIN, PASSWORD, PEOPLE, Servers

PROGRAM = sys.argv[1]
ANN, BEN = PEOPLE
VERDICT = f"Authentication-Results: {AUTHSERV};\r\n dmarc=pass header.from={{domain}}\r\n"
ids = iter(range(1, 1000))


def mail(text, writer=ANN, subject="A question", html=None, files=(), **fields):
    """A mail, with its id."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = f"Somebody <{writer}>", AGENT, subject
    made["Date"] = email.utils.formatdate(fields.pop("at", None))
    made["Message-ID"] = f"<{next(ids)}.{time.time_ns()}@{DOMAIN}>"
    for name, value in fields.items():
        made[name.replace("_", "-")] = value
    if html is not None:
        made.set_content(html, subtype="html")
    else:
        made.set_content(text)
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made


class World:
    def __init__(self, servers):
        self.servers = servers
        self.ann = Mailbox(servers.imap, ANN, PEOPLE[ANN])
        self.agent = Mailbox(servers.imap, AGENT, PASSWORD)

    def vouched(self, made, writer=ANN):
        """The provider delivers it with its verdict on top."""
        verdict = VERDICT.format(domain=writer.split("@")[1]).encode()
        self.servers.deliver(writer, verdict + made.as_bytes(policy=made.policy.clone(linesep="\r\n")))
        return made["Message-ID"]

    def answered(self, message_id, seconds=30):
        found = until(f"an answer to {message_id}", lambda: self.ann.answers_to(message_id), seconds)
        assert len(found) == 1, f"{len(found)} answers"
        return found[0]

    def ask(self, text, **more):
        return self.answered(self.vouched(mail(text, **more)))

    def original(self, message_id):
        return next(made for made in self.agent.mails() if made["Message-ID"] == message_id)


def words(made):
    return made.get_body(("plain",)).get_content().strip()


def an_answer_continues_the_thread(world, bridge):
    asked = world.vouched(mail("!say Three **bold** words & <b>none</b>."))
    answer = world.answered(asked)
    assert words(answer) == "Three bold words & <b>none</b>.", words(answer)
    html = answer.get_body(("html",)).get_content()
    assert "<b>bold</b>" in html and "&lt;b&gt;none" in html, html
    assert answer["Subject"] == "Re: A question", answer["Subject"]
    assert answer["References"].split() == [asked], answer["References"]
    assert answer["Auto-Submitted"] == "auto-replied"
    assert email.utils.parseaddr(answer["From"])[1] == AGENT
    follow_up = mail("!say And more.", subject="Re: A question", In_Reply_To=answer["Message-ID"],
                     References=f"{asked} {answer['Message-ID']}")
    second = world.answered(world.vouched(follow_up))
    assert second["References"].split() == [asked, answer["Message-ID"], follow_up["Message-ID"]]
    assert second["Subject"] == "Re: A question"


def what_was_taken_is_marked_and_what_was_sent_is_filed(world, bridge):
    asked = world.vouched(mail("!say Filed."))
    answer = world.answered(asked)
    wanted = {"\\Seen", "\\Answered", "$SwitchboardDone"}
    until("flags", lambda: wanted <= world.original(asked).flags)
    filed = until("a copy", lambda: [m for m in world.agent.mails("Sent") if m["Message-ID"] == answer["Message-ID"]])
    assert "\\Seen" in filed[0].flags


def what_nobody_vouches_for_is_not_answered(world, bridge):
    forged = mail("!say Forged.")
    world.servers.send_as_a_stranger(ANN, VERDICT.format(domain=DOMAIN).encode() + forged.as_bytes())
    bare = mail("!say Bare.")
    world.servers.deliver(ANN, bare.as_bytes())
    failed = mail("!say Failed.")
    world.servers.deliver(ANN, VERDICT.format(domain=DOMAIN).replace("pass", "fail").encode() + failed.as_bytes())
    bridge.until_logged("Received lines stand above its verdict")
    bridge.until_logged("no verdict at all")
    bridge.until_logged("dmarc=fail")
    world.ask("!say Vouched for.")
    for made in (forged, bare, failed):
        assert not world.ann.answers_to(made["Message-ID"]), made["Message-ID"]


def only_a_vouched_for_approver_decides(world, bridge):
    question = world.ask('!tool write_file {"path": "notes.md", "content": "milk"}\n!say Done.')
    assert "/approve" in words(question), words(question)
    code = words(question).split("/approve", 1)[1].split()[0].strip("`.,")
    forged = mail(f"/approve {code}")
    world.servers.deliver(ANN, forged.as_bytes())
    bridge.until_logged("no verdict at all")
    time.sleep(1)
    assert not any("Done." in words(m) for m in world.ann.mails() if m.get_body(("plain",)))
    decided = mail(f"/approve {code}\n\nOn Monday, the agent wrote:\n> /deny {code}")
    world.vouched(decided)
    until("it is done", lambda: [m for m in world.ann.mails() if m.get_body(("plain",)) and "Done." in words(m)])


def programs_are_not_answered(world, bridge):
    for field, value in [("Auto_Submitted", "auto-replied"), ("List_Id", "<news.example.test>"), ("Precedence", "bulk")]:
        quiet = mail("!say Loop.", **{field: value})
        world.vouched(quiet)
        world.ask("!say Next.")
        assert not world.ann.answers_to(quiet["Message-ID"]), field


def files_go_both_ways(world, bridge):
    before = len(world.ann.mails())
    answer = world.ask("Look at this.", files=[("../notes.txt", b"three lines\n")])
    assert "notes.txt" in words(answer) and "12 bytes" in words(answer), words(answer)
    assert len(world.ann.mails()) == before + 1
    path = re.search(r"[\w./-]*notes\.txt", words(answer)).group()
    asked = world.vouched(mail('!tool share_file {"path": "%s"}\n!say Here it is.' % path))
    both = until("words and file", lambda: len(found := world.ann.answers_to(asked)) == 2 and found)
    attached = [part for made in both for part in made.iter_attachments()]
    assert [part.get_filename() for part in attached] == [path.split("/")[-1]]
    assert attached[0].get_payload(decode=True) == b"three lines\n", "to the byte"


def html_and_old_character_sets_are_read(world, bridge):
    answer = world.ask("", html="<html><style>p {color: red}</style><p>!say Gr&uuml;&szlig;e</p></html>")
    assert words(answer) == "Grüße", words(answer)
    body = "!say 日本語".encode("iso-2022-jp")
    made = mail("x")
    head = made.as_bytes().split(b"\n\n")[0].replace(b'charset="utf-8"', b'charset="iso-2022-jp"')
    world.servers.deliver(ANN, VERDICT.format(domain=DOMAIN).encode() + head + b"\n\n" + body + b"\n")
    assert words(world.answered(made["Message-ID"])) == "日本語"


def a_mail_for_nobody_comes_back(world, bridge):
    stranger = "carol@elsewhere.test"
    world.vouched(mail("!say Into the void.", writer=stranger), stranger)
    bridge.until_logged(f"a report: mail to {stranger} is failed")
    nobody = f"nobody@{DOMAIN}"
    world.vouched(mail("!say Into the void.", writer=nobody), nobody)
    until("a refusal in Postfix's log", lambda: "User unknown" in (world.servers.at / "postfix.log").read_text())


def a_mailbox_made_anew_repeats_nothing(world, bridge):
    before = len(world.ann.mails())
    config = world.servers.at / "dovecot.conf"
    update = ["doveadm", "-c", config, "mailbox", "update", "-u", AGENT, "--uid-validity", "1900000001", "INBOX"]
    subprocess.run(update, check=True)
    subprocess.run(["doveadm", "-c", config, "kick", AGENT], check=True, stdout=subprocess.DEVNULL)
    bridge.until_logged("the mailbox was made anew")
    world.agent = Mailbox(world.servers.imap, AGENT, PASSWORD)
    world.ask("!say After it.")
    time.sleep(1)
    assert len(world.ann.mails()) == before + 1


CHECKS = [
    an_answer_continues_the_thread,
    what_was_taken_is_marked_and_what_was_sent_is_filed,
    what_nobody_vouches_for_is_not_answered,
    only_a_vouched_for_approver_decides,
    programs_are_not_answered,
    files_go_both_ways,
    html_and_old_character_sets_are_read,
    a_mail_for_nobody_comes_back,
    a_mailbox_made_anew_repeats_nothing,
]


def log_ins_that_fail_are_told(servers, settings):
    """The wrong password, and ports that are meant for something else."""
    cases = [
        ({"password": "wrong"}, "AUTHENTICATIONFAILED"),
        ({"imap": f"imaps://localhost:{servers.imap}"}, "is it the right port?"),
        ({"imap": f"imap://localhost:{servers.submission}"}, "is it the right port?"),
        ({"smtp": f"smtps://localhost:{servers.submission}"}, "is it the right port?"),
        ({"smtp": f"smtp://localhost:{servers.mx}"}, "no way to log in"),
        ({"trust_certificates": (servers.at / "tls/stranger.pem").read_text()}, "certificate"),
    ]
    for change, says in cases:
        with tempfile.TemporaryDirectory() as home:
            with Bridge(PROGRAM, pathlib.Path(home), {**settings, **change}, "--allow", ANN) as bridge:
                bridge.until_logged(says)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="switchboard-mail-"))
    servers = Servers(folder)
    servers.start()
    try:
        settings = {
            "address": AGENT,
            "password": PASSWORD,
            "authserv": AUTHSERV,
            # Dovecot's LMTP writes one above what it is given.
            "received_above": "1",
            "imap": f"imap://localhost:{servers.imap}",
            "smtp": f"smtp://localhost:{servers.submission}",
            "trust_certificates": (folder / "tls/ca.pem").read_text(),
        }
        home = folder / "home"
        home.mkdir()
        world = World(servers)
        allowed = f"{ANN},carol@elsewhere.test,nobody@{DOMAIN}"
        flags = ("--allow", allowed, "--approvers", ANN, "--debounce", "0")
        with Bridge(PROGRAM, home, settings, *flags) as bridge:
            world.ask("!say Ready.")
            for check in CHECKS:
                check(world, bridge)
                print(f"ok: {check.__name__}")
        # Killed: what comes now is answered by the next start, once, and nothing older again.
        waiting = world.vouched(mail("!say While away."))
        before = len(world.ann.mails())
        direct = {**settings, "imap": f"imaps://localhost:{servers.imaps}", "smtp": f"smtps://localhost:{servers.submissions}"}
        with Bridge(PROGRAM, home, direct) as bridge:
            world.answered(waiting)
            time.sleep(1)
            assert len(world.ann.mails()) == before + 1
        print("ok: what came while it was down is answered once, over TLS from the first byte")
        log_ins_that_fail_are_told(servers, settings)
        print("ok: log-ins that fail are told")
    finally:
        servers.stop()
    print("dovecot and postfix: all is well")


main()
