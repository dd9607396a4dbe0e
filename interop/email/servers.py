"""A real mail server for tests: Dovecot (IMAP, LMTP) and Postfix (submission, and the door to the world).

Both run on loopback from a folder of their own, need root, and end with `stop`. Mail that comes by LMTP is what
the provider delivers, its verdict on top; mail that comes by `mx` is what a stranger sends.
"""

import grp
import os
import pathlib
import pwd
import shutil
import smtplib
import socket
import subprocess

DOMAIN = "example.test"
AUTHSERV = "mx.example.test"
AGENT, PASSWORD = f"agent@{DOMAIN}", "agent-secret"
PEOPLE = {f"ann@{DOMAIN}": "ann-secret", f"ben@{DOMAIN}": "ben-secret"}
PORTS = ("imap", "imaps", "lmtp", "auth", "submission", "submissions", "mx")

DOVECOT_23 = """
protocols = imap lmtp
ssl_cert = <{at}/tls/server.pem
ssl_key = <{at}/tls/server.key
disable_plaintext_auth = no
mail_location = maildir:{at}/mail/%u
passdb {{
  driver = passwd-file
  args = username_format=%u {at}/users
}}
userdb {{
  driver = static
  args = uid=mailtest gid=mailtest home={at}/mail/%u
}}
"""

DOVECOT_24 = """
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
protocols {{
  imap = yes
  lmtp = yes
}}
ssl_server_cert_file = {at}/tls/server.pem
ssl_server_key_file = {at}/tls/server.key
auth_allow_cleartext = yes
mail_driver = maildir
mail_path = {at}/mail/%{{user}}
passdb passwd-file {{
  passwd_file_path = {at}/users
}}
userdb static {{
  fields {{
    uid = mailtest
    gid = mailtest
    home = {at}/mail/%{{user}}
  }}
}}
"""

DOVECOT = """
base_dir = {at}/dovecot/run
state_dir = {at}/dovecot/state
log_path = {at}/dovecot.log
instance_name = switchboard-interop
listen = 127.0.0.1
ssl = yes
auth_mechanisms = plain login
first_valid_uid = 1
namespace inbox {{
  inbox = yes
  mailbox Sent {{
    auto = create
    special_use = \\Sent
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    port = {lmtp}
  }}
}}
service auth {{
  inet_listener auth {{
    port = {auth}
  }}
}}
protocol lmtp {{
  postmaster_address = postmaster@{domain}
}}
"""

POSTFIX_MAIN = """
compatibility_level = 3.6
queue_directory = {at}/postfix/queue
data_directory = {at}/postfix/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = {authserv}
mydestination =
mynetworks = 127.0.0.1/32
maillog_file = {at}/postfix.log
maillog_file_prefixes = {at}
virtual_mailbox_domains = {domain}
virtual_mailbox_maps = inline:{{ {mailboxes} }}
virtual_transport = lmtp:inet:127.0.0.1:{lmtp}
transport_maps = inline:{{ {{ elsewhere.test = smtp:[127.0.0.1]:{mx} }} }}
smtpd_tls_cert_file = {at}/tls/server.pem
smtpd_tls_key_file = {at}/tls/server.key
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:{auth}
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
message_size_limit = 31457280
mailbox_size_limit = 0
virtual_mailbox_limit = 0
"""

POSTFIX_DOORS = """
127.0.0.1:{submission} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_client_restrictions=permit_sasl_authenticated,reject
127.0.0.1:{submissions} inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_client_restrictions=permit_sasl_authenticated,reject
127.0.0.1:{mx} inet n - n - - smtpd
"""
# Postfix's own services that a small set-up needs: name, type, private, wake-up, most processes, command.
POSTFIX_SERVICES = """
pickup unix n 60 1 pickup | cleanup unix n - 0 cleanup | qmgr unix n 300 1 qmgr | rewrite unix - - - trivial-rewrite
bounce unix - - 0 bounce | defer unix - - 0 bounce | trace unix - - 0 bounce | smtp unix - - - smtp | lmtp unix - - - lmtp
proxymap unix - - - proxymap | anvil unix - - 1 anvil | error unix - - - error | retry unix - - - retry
tlsmgr unix - 1000? 1 tlsmgr | postlog unix-dgram n - 1 postlogd
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def quietly(*command):
    # Daemons must not hold our output open.
    nothing = subprocess.DEVNULL
    subprocess.run(command, check=True, stdin=nothing, stdout=nothing, stderr=nothing)


class Servers:
    def __init__(self, folder):
        self.at = pathlib.Path(folder)
        self.ports = {name: free_port() for name in PORTS}

    def __getattr__(self, name):
        try:
            return self.__dict__["ports"][name]
        except KeyError:
            raise AttributeError(name) from None

    def start(self):
        for folder in ("mail", "tls", "dovecot", "postfix/etc", "postfix/queue", "postfix/data"):
            (self.at / folder).mkdir(parents=True)
        os.chmod(self.at, 0o755)
        self._owner()
        self._certificates()
        everybody = {AGENT: PASSWORD, **PEOPLE}
        lines = [f"{name}:{{PLAIN}}{password}::::::\n" for name, password in everybody.items()]
        (self.at / "users").write_text("".join(lines))
        words = dict(at=self.at, domain=DOMAIN, authserv=AUTHSERV, **self.ports)
        words["mailboxes"] = ", ".join(f"{{ {name} = ok }}" for name in everybody)
        self._dovecot(words)
        self._postfix(words)

    def stop(self):
        quietly("postfix", "-c", self.at / "postfix/etc", "stop")
        quietly("doveadm", "-c", self.at / "dovecot.conf", "stop")

    def _owner(self):
        """Who owns the mail: Dovecot gives none to root."""
        try:
            grp.getgrnam("mailtest")
        except KeyError:
            quietly("groupadd", "-r", "mailtest")
        try:
            pwd.getpwnam("mailtest")
        except KeyError:
            quietly("useradd", "-r", "-g", "mailtest", "-s", "/usr/sbin/nologin", "mailtest")
        shutil.chown(self.at / "mail", "mailtest", "mailtest")

    def _certificates(self):
        """An authority with a certificate for localhost, and another that has signed nothing."""
        tls = self.at / "tls"
        names = tls / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj"]
        quietly(*new, "/CN=Interop", "-x509", "-days", "2", "-keyout", tls / "ca.key", "-out", tls / "ca.pem")
        quietly(*new, "/CN=Stranger", "-x509", "-days", "2", "-keyout", tls / "stranger.key", "-out", tls / "stranger.pem")
        quietly(*new, "/CN=localhost", "-keyout", tls / "server.key", "-out", tls / "server.csr")
        sign = ["openssl", "x509", "-req", "-days", "2", "-CAcreateserial", "-extfile", names]
        quietly(*sign, "-in", tls / "server.csr", "-CA", tls / "ca.pem", "-CAkey", tls / "ca.key", "-out", tls / "server.pem")

    def _dovecot(self, words):
        version = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=True).stdout
        of_version = DOVECOT_23 if version.startswith("2.3") else DOVECOT_24
        config = self.at / "dovecot.conf"
        config.write_text((of_version + DOVECOT).format(**words))
        quietly("dovecot", "-c", config)

    def _postfix(self, words):
        etc = self.at / "postfix/etc"
        (etc / "main.cf").write_text(POSTFIX_MAIN.format(**words))
        master = POSTFIX_DOORS.format(**words)
        for service in POSTFIX_SERVICES.replace("\n", "|").split("|"):
            if service.strip():
                name, kind, private, wakes, most, command = service.split()
                master += f"{name} {kind} {private} - n {wakes} {most} {command}\n"
        (etc / "master.cf").write_text(master)
        for name in ("postfix-script", "post-install", "postfix-files"):
            shutil.copy(f"/etc/postfix/{name}", etc)
        (etc / "postfix-files.d").mkdir()
        (etc / "dynamicmaps.cf.d").mkdir()
        shutil.chown(self.at / "postfix/data", "postfix")
        quietly("postfix", "-c", etc, "start")

    def deliver(self, writer, mail, to=AGENT):
        """As the provider delivers: `mail` as it stands."""
        with smtplib.LMTP("127.0.0.1", self.lmtp, timeout=20) as line:
            line.sendmail(writer, [to], mail)

    def send_as_a_stranger(self, writer, mail, to=AGENT):
        """As anybody can send, without logging in."""
        with smtplib.SMTP("127.0.0.1", self.mx, timeout=20) as line:
            line.sendmail(writer, [to], mail)
