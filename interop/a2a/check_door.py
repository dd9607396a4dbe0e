"""The official SDKs as clients of a profile that Switchboard offers over A2A.

    python check_door.py SWITCHBOARD PYTHON_0_3 PYTHON_1 [NODE_MODULES]

SWITCHBOARD is the program, the Pythons have a2a-sdk 0.3.x and 1.x, NODE_MODULES has @a2a-js/sdk. It starts a server with a
scripted profile and runs a client for each. It ends with an assertion that failed, or with `a2a door: all is well`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TOKEN = "interop-token-of-this-run"


def main():
    program, old, new = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    clients = [[old, HERE / "client_03.py"], [new, HERE / "client_1.py"]]
    environment = dict(os.environ, SWITCHBOARD_TOKEN=TOKEN)
    if len(sys.argv) > 4:
        clients.append(["node", HERE / "client_js.cjs"])
        environment["NODE_PATH"] = sys.argv[4]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment["SWITCHBOARD_HOME"] = home
        for words in (["profile", "add", "assistant", "--model", "scripted", "--workspace", f"{home}-work"],):
            done = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        words = ["serve", "--listen", "127.0.0.1:0", "--a2a", "assistant", "--a2a-push-private"]
        server = subprocess.Popen([program, *words], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().split(" on ")[1].split(" ")[0].rstrip("/")
            for client in clients:
                print(f"{client[1].name}:", flush=True)
                subprocess.run([*client, url, TOKEN], env=environment, check=True, timeout=120)
        finally:
            server.kill()
            server.wait()
    print("a2a door: all is well")


if __name__ == "__main__":
    main()
