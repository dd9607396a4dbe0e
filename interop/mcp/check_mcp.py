"""Servers we did not write, in the hands of an agent: the program, asked as a person would.

check_mcp.py PROGRAM NODE_MODULES: adds the reference servers to a profile, over a child's input and output and over
streamable HTTP, lets the scripted model call their tools, and looks at what comes back.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAM, MODULES = sys.argv[1:3]
BIN = os.path.join(MODULES, ".bin")
HOME = tempfile.mkdtemp(prefix="mcp-interop-")
ENVIRONMENT = {
    "PATH": BIN + os.pathsep + os.environ["PATH"],
    "HOME": HOME,
    "SWITCHBOARD_HOME": os.path.join(HOME, "home"),
    "GIVEN": "a value that is given",
    "NOT_GIVEN": "a value that is not",
}


def run(*words, said=None, code=0):
    done = subprocess.run(
        [PROGRAM, *words], input=said, env=ENVIRONMENT, cwd=HOME, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def says(words):
    return run("talk", "helper", said=words + "\n")


def holds(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"
    print("  holds:", ", ".join(repr(part) for part in parts))


def everything_over_stdio():
    print("server-everything, as a child")
    added = run(
        "profile", "mcp", "add", "helper", "all", "--env", "GIVEN", "--", "mcp-server-everything", "stdio"
    )
    holds(added, "all__echo", "all__get-sum", "all__get-env")
    print(added)
    holds(says('!tool all__echo {"message": "hello"}'), "Echo: hello")
    holds(says('!tool all__get-sum {"a": 2, "b": 40}'), "42")
    holds(says("!tool all__get-structured-content {\"location\": \"New York\"}"), "temperature")
    picture = says("!tool all__get-tiny-image {}")
    holds(picture, "get-tiny-image-1.png")
    known = says("!tool all__get-env {}")
    holds(known, "a value that is given")
    assert "a value that is not" not in known and "SWITCHBOARD" not in known, known
    holds(says('!tool all__get-sum {"a": "two"}'), "It must match this schema")
    links = says('!tool all__get-resource-links {"count": 2}')
    holds(links, "[link: ")


def everything_over_http():
    print("server-everything, at an address")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        ["mcp-server-everything", "streamableHttp"],
        env={**ENVIRONMENT, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}/mcp"
        for _ in range(200):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.1)
        holds(run("profile", "mcp", "add", "helper", "far", "--url", url), "far__echo")
        holds(says('!tool far__echo {"message": "over the wire"}'), "Echo: over the wire")
    finally:
        server.kill()
        server.wait()


def files():
    print("server-filesystem")
    folder = os.path.join(HOME, "files")
    os.makedirs(folder)
    with open(os.path.join(folder, "note.txt"), "w") as note:
        note.write("milk")
    added = run("profile", "mcp", "add", "helper", "files", "--", "mcp-server-filesystem", folder)
    print(added)
    for tool, counts in [("read_text_file", "a read"), ("write_file", "always asks"), ("create_directory", "a write")]:
        row = next(line for line in added.splitlines() if line.startswith(f"files__{tool} "))
        assert counts in row, row
    holds(says(f'!tool files__read_text_file {{"path": "{folder}/note.txt"}}'), "milk")
    holds(says('!tool files__read_text_file {"path": "/etc/hostname"}'), "denied")
    asked = says(f'!tool files__write_file {{"path": "{folder}/new.txt", "content": "bread"}}')
    holds(asked, "a call that may destroy something")
    session = re.search(r"continue ([0-9a-f]{16})", asked).group(1)
    assert not os.path.exists(f"{folder}/new.txt")
    run("continue", session, "--approve")
    with open(f"{folder}/new.txt") as new:
        assert new.read() == "bread"
    print("  holds: what was approved was written")


run("profile", "add", "helper", "--model", "scripted", "--autonomy", "L4")
everything_over_stdio()
everything_over_http()
files()
print("all of it holds")
