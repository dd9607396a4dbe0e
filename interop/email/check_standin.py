"""The stand-in for a mail provider, seen by Python's imaplib and smtplib: every command that the adapter uses, and
each refusal as those libraries' own error.

    python3 check_standin.py target/debug/switchboard

It ends with an assertion that failed, or with the line `imaplib and smtplib: all is well`.
"""

import email
import imaplib
import json
import re
import shlex
import smtplib
import subprocess
import sys
import urllib.request
from email.message import EmailMessage

from clients import until

ADDRESS, PASSWORD, ANN = "agent@standin.test", "stand-in_password", "ann@example.org"


def say(page, text):
    headers = {"content-type": "application/json", "x-standin": "1"}
    deed = json.dumps({"do": "say", "text": text}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{page}/standin/act", deed, headers), timeout=20).close()


def shown(page):
    with urllib.request.urlopen(f"{page}/standin/state", timeout=20) as answer:
        return json.load(answer)["messages"]


def refused(code, call):
    try:
        call()
    except smtplib.SMTPRecipientsRefused as why:
        codes = [answer[0] for answer in why.recipients.values()]
    except smtplib.SMTPResponseException as why:
        codes = [why.smtp_code]
    else:
        raise AssertionError(f"{code} was expected")
    assert codes == [code], codes


def reading(port, page):
    wrong = imaplib.IMAP4("127.0.0.1", port, timeout=20)
    try:
        wrong.login(ADDRESS, "wrong")
        raise AssertionError("a wrong password was taken")
    except imaplib.IMAP4.error as why:
        assert "AUTHENTICATIONFAILED" in str(why), why
    line = imaplib.IMAP4("127.0.0.1", port, timeout=20)
    line.login(ADDRESS, PASSWORD)
    folders = [told.decode() for told in line.list()[1]]
    assert any("\\Sent" in told for told in folders), folders
    say(page, "Hello there.")
    assert line.select("INBOX") == ("OK", [b"1"])
    assert line.response("UIDVALIDITY")[1][0].isdigit() and line.response("UIDNEXT")[1] == [b"2"]
    # From a number beyond the last one to the highest brings the highest, as on real servers.
    assert line.uid("SEARCH", "UID", "999:*")[1] == [b"1"]
    _, told = line.uid("FETCH", "1", "(UID INTERNALDATE RFC822.SIZE FLAGS BODY.PEEK[])")
    made = email.message_from_bytes(told[0][1])
    assert made.get_payload().strip() == "Hello there." and made["From"].endswith(f"<{ANN}>"), made
    size = int(re.search(rb"RFC822.SIZE (\d+)", told[0][0]).group(1))
    assert size == len(told[0][1]) and imaplib.Internaldate2tuple(told[0][0]), told[0][0]
    assert imaplib.ParseFlags(told[0][0]) == ()
    line.uid("STORE", "1", "+FLAGS", "(\\Seen $SwitchboardDone)")
    assert line.uid("SEARCH", "UNSEEN")[1] == [b""]
    assert line.uid("SEARCH", "KEYWORD", "$SwitchboardDone")[1] == [b"1"]
    assert line.uid("SEARCH", "HEADER", "Message-ID", f'"{made["Message-ID"].strip("<>")}"')[1] == [b"1"]
    status, told = line.append("Sent", "(\\Seen)", None, b"Message-ID: <1@x>\r\n\r\nA copy.\r\n")
    assert status == "OK" and b"APPENDUID" in told[0], told
    # It tells of new mail while one waits.
    line.send(b"a1 IDLE\r\n")
    assert line.readline().startswith(b"+")
    say(page, "While you wait.")
    assert line.readline() == b"* 2 EXISTS\r\n"
    line.send(b"DONE\r\n")
    assert line.readline().startswith(b"a1 OK")
    line.logout()


def sending(port, page):
    def line():
        return smtplib.SMTP("127.0.0.1", port, timeout=20)

    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Message-ID"] = ADDRESS, ANN, "An answer", "<2@standin.test>"
    made.set_content("Said by a program.")
    made.add_attachment(b"\0\1\2", maintype="image", subtype="png", filename="p.png")
    refused(530, lambda: line().send_message(made))
    refused(535, lambda: line().login(ADDRESS, "wrong"))
    with line() as open_line:
        open_line.login(ADDRESS, PASSWORD)
        open_line.send_message(made)
        refused(550, lambda: open_line.sendmail(ADDRESS, "nobody@example.org", made.as_bytes()))
        refused(553, lambda: open_line.sendmail("other@standin.test", ANN, made.as_bytes()))
        refused(552, lambda: rejected(open_line))
    seen = until("the mail", lambda: [m for m in shown(page) if m["ours"]])
    assert [(m["text"], m["files"]) for m in seen] == [("Said by a program.", ["p.png"])], seen


def rejected(line):
    code, said = line.mail(ADDRESS, ["SIZE=99999999"])
    raise smtplib.SMTPResponseException(code, said)


def main():
    command = [sys.argv[1], "standin", "email", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        page = re.search(r"http://[\d.:]+", lines[0]).group()
        words = shlex.split(lines[2])
        ports = {name: int(word.rsplit(":", 1)[1]) for word in words for name in ("imap", "smtp") if word.startswith(f"{name}=")}
        reading(ports["imap"], page)
        sending(ports["smtp"], page)
    finally:
        process.kill()
        process.wait()
    print("imaplib and smtplib: all is well")


main()
