"""The stand-in for WhatsApp, seen by pywa: every call that the adapter makes, files both ways, each refusal as
that library's own error, and the stand-in's calls judged by its signature check and read by its handlers.

    python check_pywa.py http://127.0.0.1:PORT

It ends with an assertion that failed, or with the line `pywa: all is well`.
"""

import http.server
import json
import logging
import pathlib
import queue
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

from pywa import WhatsApp, errors, handlers, utils
from pywa.types import Button, Section, SectionList, SectionRow

URL = sys.argv[1].rstrip("/")
ID, ACCOUNT, ANN, PHONE = "900001", "100200300", "US.70002222", "15550002222"
SECRET, WORD = "wa-test-app-secret-0123456789abcd", "stand-in verify token"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (64).to_bytes(4, "big") + (48).to_bytes(4, "big")

wa = WhatsApp(phone_id=ID, token="stand-in_token", app_secret=SECRET, verify_token=WORD, waba_id=ACCOUNT)
wa.api._session.base_url = URL + "/v26.0"
# It is made to refuse what it should, and says so each time.
logging.getLogger("pywa").setLevel(logging.CRITICAL)
heard = queue.Queue()
judged = []


def hears(kind, handler):
    wa.add_handlers(handler(lambda _, update: heard.put((kind, update))))


for kind, handler in {
    "said": handlers.MessageHandler,
    "pressed": handlers.CallbackButtonHandler,
    "chosen": handlers.CallbackSelectionHandler,
    "status": handlers.MessageStatusHandler,
    "edited": handlers.EditedMessageHandler,
    "unsent": handlers.DeletedMessageHandler,
    "moved": handlers.PhoneNumberChangeHandler,
}.items():
    hears(kind, handler)


class Hook(http.server.BaseHTTPRequestHandler):
    """Where the stand-in calls: pywa judges the call and reads it."""

    def do_GET(self):
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        assert asked["hub.mode"] == "subscribe", asked
        said, status = wa.webhook_challenge_handler(asked.get(utils.HUB_VT), asked.get(utils.HUB_CH))
        self.answer(status, said)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        signature = self.headers[utils.HUB_SIG]
        refused = wa.webhook_update_validator(body, signature)
        # The same check refuses the same call with one byte more.
        assert wa.webhook_update_validator(body + b" ", signature), "it believes anything"
        judged.append(refused)
        said, status = refused or wa.webhook_update_handler(body)
        self.answer(status, said)

    def answer(self, status, said):
        self.send_response(status)
        self.end_headers()
        self.wfile.write((said or "").encode())

    def log_message(self, *_):
        pass


def act(path, **deed):
    """Does something as Ann, or as the platform itself."""
    headers = {"content-type": "application/json", "x-standin": "1"}
    request = urllib.request.Request(URL + "/standin/" + path, json.dumps(deed).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204, answer.status


def shown():
    with urllib.request.urlopen(URL + "/standin/state") as answer:
        return json.load(answer)


def tell(**value):
    metadata = {"display_phone_number": "15550001111", "phone_number_id": ID}
    value = {"messaging_product": "whatsapp", "metadata": metadata, **value}
    change = {"field": "messages", "value": value}
    act("tell", object="whatsapp_business_account", entry=[{"id": ACCOUNT, "changes": [change]}])


def tell_message(sort, content, **more):
    contact = {"profile": {"name": "Ann"}, "wa_id": PHONE, "user_id": ANN}
    message = {"from": PHONE, "id": "wamid.TOLD-" + sort, "timestamp": "1796000000", "type": sort, sort: content}
    tell(contacts=[contact], messages=[message | more])


def next_of(kind):
    """The next update of a kind; those of other kinds that come before it are passed over."""
    while True:
        found, update = heard.get(timeout=20)
        if found == kind:
            return update


def refused(kind, call):
    try:
        call()
    except kind as why:
        return why
    raise AssertionError(f"{kind.__name__} was not raised")


def main():
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{hook.server_port}/hooks/wa"

    # Who we are, and where to call: the word is asked for there before anything is told.
    number = wa.get_business_phone_number()
    assert (number.id, number.verified_name) == (ID, "Test Lab"), number
    refused(errors.WhatsAppError, lambda: wa.override_waba_callback_url(address, "another word", waba_id=ACCOUNT))
    assert wa.override_waba_callback_url(address, WORD, waba_id=ACCOUNT).success

    # What Ann writes, with letters that Meta escapes before it signs.
    act("act", do="say", text="hé 👋 <b>/</b>")
    said = next_of("said")
    assert (said.text, said.from_user.bsuid, said.from_user.wa_id) == ("hé 👋 <b>/</b>", ANN, PHONE), said
    assert wa.indicate_typing(said.id).success and shown()["typing"]
    assert wa.mark_message_as_read(said.id).success
    assert shown()["messages"][-1]["mark"] == "read"

    # Words, by phone number and by id; what became of them comes in any order, with what was given along.
    for to in (PHONE, ANN):
        sent = wa.send_message(to, "*Done.* ```x```", tracker="turn:1:0:0")
        assert sent.id.startswith("wamid."), sent
        statuses = [next_of("status"), next_of("status")]
        assert {s.status.value for s in statuses} == {"delivered", "sent"}, statuses
        assert all(s.tracker == "turn:1:0:0" and s.id == sent.id for s in statuses), statuses
    assert not shown()["typing"], "it ends with our message"

    # Buttons and a list, and what is told when they are tapped.
    wa.send_message(ANN, "May I?", buttons=[Button("Allow once", "/approve 1"), Button("Decline", "/approve 3")])
    assert shown()["messages"][-1]["buttons"] == ["Allow once", "Decline"]
    act("act", do="press", label="Decline")
    pressed = next_of("pressed")
    assert (pressed.data, pressed.title, pressed.from_user.bsuid) == ("/approve 3", "Decline", ANN), pressed
    rows = [SectionRow("Allow once", "/approve 1"), SectionRow("Always in this session", "/approve 2")]
    wa.send_message(ANN, "May I?", buttons=SectionList("Choose", sections=[Section("Ways", rows=rows)]))
    act("act", do="press", label="Always in this session")
    chosen = next_of("chosen")
    assert (chosen.data, chosen.title) == ("/approve 2", "Always in this session"), chosen

    # A mark, and that it is gone.
    wa.send_reaction(ANN, "⚠️", said.id)
    assert shown()["messages"][0]["mark"] == "⚠️"
    wa.remove_reaction(ANN, said.id)
    assert shown()["messages"][0]["mark"] is None

    # Files out and in.
    with tempfile.TemporaryDirectory() as folder:
        picture, report = pathlib.Path(folder, "a.png"), pathlib.Path(folder, "report.txt")
        picture.write_bytes(PNG)
        report.write_text("the report")
        wa.send_image(ANN, picture, caption="see")
        wa.send_document(ANN, report, filename="report.txt", caption="the plan")
        files = [m["files"] for m in shown()["messages"][-2:]]
        assert files[1] == ["report.txt"] and len(files[0]) == 1, files
        media = wa.upload_media(report, mime_type="text/plain")
        found = wa.get_media_url(media.id)
        assert (found.file_size, found.mime_type) == (10, "text/plain"), found
        assert wa.get_media_bytes(found.url) == b"the report"
        assert wa.delete_media(media.id)

    # What is told that no page can do: files, edits, another number, what nobody knows.
    tell_message("image", {"id": "1001", "mime_type": "image/jpeg", "sha256": "x", "caption": "see"})
    said = next_of("said")
    assert (said.caption, said.image.id) == ("see", "1001"), said
    tell_message("edit", {"original_message_id": "wamid.A", "message": {"type": "text", "text": {"body": "new"}}})
    next_of("edited")
    tell_message("revoke", {"original_message_id": "wamid.A"})
    next_of("unsent")
    tell_message("system", {"type": "user_changed_user_id", "body": "Ann has another id", "user_id": "US.9"})
    assert next_of("moved").new_user_id == "US.9"
    failed = {"id": "wamid.X", "status": "failed", "timestamp": "1796000000", "recipient_id": PHONE,
              "errors": [{"code": 131047, "title": "Re-engagement message", "message": "late"}]}
    tell(contacts=[{"wa_id": PHONE, "user_id": ANN}], statuses=[failed])
    while not (status := next_of("status")).error:
        pass
    assert isinstance(status.error, errors.ReEngagementMessage), status

    # Refusals, each as the library knows it.
    refused(errors.InvalidParameter, lambda: wa.send_message(ANN, "x" * 4097))
    refused(errors.InvalidParameter, lambda: wa.mark_message_as_read("wamid.none"))
    refused(errors.MessageUndeliverable, lambda: wa.send_message("15559999999", "x"))
    stranger = WhatsApp(phone_id=ID, token="wrong")
    stranger.api._session.base_url = URL + "/v26.0"
    refused(errors.ExpiredAccessToken, lambda: stranger.send_message(ANN, "x"))

    assert len(judged) > 15 and not any(judged), f"{len(judged)} calls, refused: {[j for j in judged if j]}"
    print(f"pywa: all is well ({len(judged)} calls of the stand-in judged)")


main()
