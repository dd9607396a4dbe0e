"""Runs the protocol's compatibility kit against a scripted profile: run_kit.py SWITCHBOARD KIT PYTHON WIRE [pytest words].

KIT is a checkout of a2aproject/a2a-tck: its branch 0.3.x for WIRE 0.3, 1.0-dev for 1.0. PYTHON has what the kit needs.
What has to be there and what stays red is said in README.md beside this.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent.resolve()
TOKEN = "interop-token-of-this-run"


def main():
    program, kit, python, wire = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], os.path.abspath(sys.argv[3]), sys.argv[4]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        environment = dict(os.environ, SWITCHBOARD_TOKEN=TOKEN, SWITCHBOARD_HOME=home)
        add = ["profile", "add", "assistant", "--model", "scripted", "--workspace", f"{home}-work"]
        subprocess.run([program, *add], env=environment, check=True, stdout=subprocess.DEVNULL)
        words = ["serve", "--listen", "127.0.0.1:0", "--a2a", "assistant", "--a2a-push-private"]
        server = subprocess.Popen([program, *words], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        url = server.stdout.readline().split(" on ")[1].split(" ")[0].rstrip("/")
        proxy = subprocess.Popen([sys.executable, HERE / "kit_proxy.py", f"{url}/v1/profiles/assistant", TOKEN, wire, "0"],
                                 stdout=subprocess.PIPE, text=True)
        try:
            host = proxy.stdout.readline().split(" on ")[1].strip()
            run = {
                "0.3": ["tests/mandatory", "tests/optional", f"--sut-url={host}", "--test-scope=all"],
                "1.0": ["tests/compatibility", f"--sut-host={host}", "--transport=jsonrpc"],
            }[wire]
            run = [python, "-m", "pytest", "-q", "-rfs", *run, *sys.argv[5:]]
            environment = dict(os.environ, TCK_STREAMING_TIMEOUT="2.0")
            done = subprocess.run(run, cwd=kit, env=environment)
        finally:
            for child in (proxy, server):
                child.kill()
                child.wait()
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
