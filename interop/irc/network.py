"""Real IRC servers on this machine, for as long as a block runs: ngIRCd, InspIRCd with Atheme's services, ZNC.

All listen on loopback at free ports, and keep what they need in a folder that vanishes.
"""

import hashlib
import os
import pathlib
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import time

SERVER_PASSWORD = "sesame"
LINK_PASSWORD = "between-server-and-services"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, found, seconds=30):
    """Waits until something is there."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        value = found()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"never seen: {what}")


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Network:
    """The folder, the certificates and the running programs."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="irc-interop-"))
        self.running = {}

    def __enter__(self):
        os.chmod(self.folder, 0o755)
        self.certificates()
        self.plain, self.secure, self.links, self.simple, self.bouncer = (free_port() for _ in range(5))
        return self

    def __exit__(self, failed, *_):
        for name in list(self.running):
            self.end(name)
            if failed:
                print(f"{name}:", (self.folder / f"{name}.out").read_text(errors="replace")[-1500:])
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def start(self, name, *command, user=None):
        log = open(self.path(f"{name}.out"), "ab")
        self.running[name] = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=user, cwd=self.folder)

    def end(self, name):
        process = self.running.pop(name)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def open_to_all(self, name):
        """For programs that run as another user where root starts them."""
        folder = self.folder / name
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o777)

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, cwd=self.folder, capture_output=True)

    def certificates(self):
        """An authority, a certificate of the server's for `localhost`, and one of the bot's own."""
        self.openssl(*"req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=interop".split())
        self.write("names.ext", "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\n")
        for name, subject in (("server", "localhost"), ("robo", "robo")):
            self.openssl(*f"req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={subject}".split())
            sign = f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out {name}.pem"
            self.openssl(*sign.split(), "-extfile", "names.ext")
        for path in self.folder.iterdir():
            path.chmod(0o644)

    def fingerprint(self, name):
        certificate = ssl.PEM_cert_to_DER_cert((self.folder / f"{name}.pem").read_text())
        return hashlib.sha256(certificate).hexdigest()

    # ngIRCd: a server of the old sort, without abilities and without accounts.

    def ngircd(self):
        conf = self.write("ngircd.conf", f"""
[Global]
Name = irc.simple.test
Info = interop
Listen = 127.0.0.1
Ports = {self.simple}
Password = {SERVER_PASSWORD}
[Limits]
MaxNickLength = 9
[Options]
Ident = no
PAM = no
DNS = no
""")
        self.start("ngircd", "ngircd", "-n", "-f", conf)
        until("ngIRCd", lambda: listens(self.simple))

    # InspIRCd with Atheme: abilities of IRCv3, TLS, accounts.

    def inspircd(self):
        modules = [
            "cap", "ircv3", "ircv3_accounttag", "ircv3_batch", "ircv3_capnotify", "ircv3_ctctags", "ircv3_echomessage",
            "ircv3_labeledresponse", "ircv3_msgid", "ircv3_servertime", "sasl", "services_account", "spanningtree",
            "botmode", "ssl_gnutls", "sslinfo", "chanhistory", "callerid", "hidechans",
        ]
        conf = self.write("inspircd.conf", f"""
<server name="irc.interop.test" description="interop" network="Interop" id="00A">
<admin name="a" nick="a" email="a@interop.test">
<bind address="127.0.0.1" port="{self.plain}" type="clients">
<bind address="127.0.0.1" port="{self.secure}" type="clients" sslprofile="tls">
<bind address="127.0.0.1" port="{self.links}" type="servers">
<sslprofile name="tls" provider="gnutls" certfile="{self.path('server.pem')}" keyfile="{self.path('server.key')}" requestclientcert="yes" hash="sha256">
<connect name="main" allow="*" timeout="20" pingfreq="120" recvq="16384" sendq="262144" softsendq="16384" fakelag="on" commandrate="1000" threshold="10" localmax="50" globalmax="50" resolvehostnames="no" useident="no">
<options prefixquit="Quit: " casemapping="ascii">
<limits maxnick="30" maxchan="64" maxmodes="20" maxident="10" maxhost="64" maxquit="255" maxtopic="307" maxkick="255" maxreal="128" maxaway="200" maxline="512">
<chanhistory bots="yes" enableumode="no">
<sasl target="services.interop.test" requiressl="no">
<link name="services.interop.test" ipaddr="127.0.0.1" port="{self.links}" allowmask="127.0.0.0/8" timeout="30" sendpass="{LINK_PASSWORD}" recvpass="{LINK_PASSWORD}">
<uline server="services.interop.test" silent="yes">
""" + "".join(f'<module name="{name}">\n' for name in modules))
        root = ["--runasroot"] if os.geteuid() == 0 else []
        self.start("inspircd", "inspircd", *root, "--nofork", f"--config={conf}", "--nopid")
        until("InspIRCd", lambda: listens(self.plain) and listens(self.secure))

    def atheme(self):
        modules = [
            "protocol/inspircd", "backend/opensex", "crypto/pbkdf2v2", "nickserv/main", "nickserv/register",
            "nickserv/identify", "nickserv/ghost", "nickserv/group", "nickserv/cert", "saslserv/main", "saslserv/plain",
            "saslserv/external",
        ]
        conf = self.write("atheme/atheme.conf", "".join(f'loadmodule "modules/{name}";\n' for name in modules) + f"""
serverinfo {{ name = "services.interop.test"; desc = "s"; numeric = "00S"; recontime = 1; netname = "Interop"; hidehostsuffix = "u"; adminname = "a"; adminemail = "a@interop.test"; registeremail = "n@interop.test"; mta = "/bin/true"; loglevel = {{ admin; error; info; network; wallops; }}; maxcertfp = 5; maxlogins = 5; maxusers = 5; mdlimit = 30; emaillimit = 10; emailtime = 300; auth = none; casemapping = ascii; }};
uplink "irc.interop.test" {{ host = "127.0.0.1"; send_password = "{LINK_PASSWORD}"; receive_password = "{LINK_PASSWORD}"; port = {self.links}; }};
nickserv {{ nick = "NickServ"; user = "NickServ"; host = "services.interop.test"; real = "n"; }};
saslserv {{ nick = "SaslServ"; user = "SaslServ"; host = "services.interop.test"; real = "s"; }};
general {{ }};
""")
        (self.folder / "atheme/var").mkdir(exist_ok=True)
        self.open_to_all("atheme")
        words = ["-c", conf, "-D", self.path("atheme/var"), "-l", self.path("atheme/log"), "-p", self.path("atheme/pid")]
        self.start("atheme", "atheme-services", "-n", *words)
        until("login by SASL", lambda: "sasl=" in self.abilities())

    def abilities(self):
        """What InspIRCd offers now."""
        try:
            with socket.create_connection(("127.0.0.1", self.plain), timeout=5) as stream:
                stream.sendall(b"CAP LS 302\r\n")
                told = b""
                while b" LS :" not in told:
                    piece = stream.recv(4096)
                    if not piece:
                        return ""
                    told += piece
                return told.decode()
        except OSError:
            return ""

    # ZNC: a bouncer that stays on InspIRCd while its client is away, and tells it afterwards what was said.

    def znc(self, password):
        salt = secrets.token_hex(10)
        digest = hashlib.sha256((password + salt).encode()).hexdigest()
        self.write("znc/configs/znc.conf", f"""
Version = 1.8.2
<Listener l>
    Port = {self.bouncer}
    IPv4 = true
    IPv6 = false
    SSL = false
</Listener>
<User robo>
    <Pass password>
        Method = sha256
        Hash = {digest}
        Salt = {salt}
    </Pass>
    Nick = bounced
    Ident = robo
    RealName = robo
    AutoClearChanBuffer = true
    AutoClearQueryBuffer = true
    ChanBufferSize = 50
    QueryBufferSize = 50
    <Network interop>
        Server = 127.0.0.1 {self.plain}
        <Chan #lab>
        </Chan>
    </Network>
</User>
""")
        self.open_to_all("znc")
        # It does not want to be root's.
        user = "nobody" if os.geteuid() == 0 else None
        self.start("znc", "znc", "--foreground", f"--datadir={self.path('znc')}", user=user)
        until("ZNC", lambda: listens(self.bouncer))


def versions():
    """What is run here, as the programs say."""
    said = {}
    for name, words in (("ngircd", ["--version"]), ("inspircd", ["--version"]), ("atheme-services", ["-v"]), ("znc", ["--version"])):
        done = subprocess.run([name, *words], capture_output=True, text=True)
        found = re.search(r"\d+\.\d+[\d.]*", done.stdout + done.stderr)
        said[name] = found.group(0) if found else "?"
    return said
