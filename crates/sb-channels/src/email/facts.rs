//! What email can, needs and rests on, as values.

use sb_channel::text::{Dialect, Fit, Unit};
use sb_channel::{Features, Field, FilesOut, Manifest, Proof, Repeats, TextRules, Trust};

use super::address;

const MB: u64 = 1024 * 1024;
/// Most providers take mails of 25 MB, and files grow by a third on their way.
pub(super) const LARGEST_OUT: u64 = 18 * MB;

const FEATURES: Features = Features {
    // Mails have no limit that matters; this is where reading them ends.
    text: TextRules { fit: Fit { limit: 60_000, unit: Unit::Chars, dialect: Dialect::Spans } },
    files_in: Some(25 * MB),
    files_out: Some(FilesOut { largest: LARGEST_OUT, caption: None, at_once: 1 }),
    ..Features::PLAIN
};

/// `provider_files`: what was taken from us can be found among what was sent.
pub(super) const fn features(provider_files: bool) -> Features {
    Features { repeats: if provider_files { Repeats::Found } else { Repeats::Seen }, ..FEATURES }
}

pub(super) fn manifest() -> Manifest {
    Manifest {
        id: "email",
        label: "Email",
        blurb: "A mailbox of its own, read by IMAP and written from by SMTP.",
        fields: fields(),
        direct: FEATURES,
        group: FEATURES,
        id_hint: "An address in lower case, such as ann@example.org, without a name beside it; what stands after a plus or between dots is part of it.",
        is_id: address::is_id,
        trust: trust(),
        gaps: vec![
            "Mail shows no typing and no growing reply, and has no marks or buttons: an answer is one mail, once it is whole.",
            "The agent answers a mail's writer alone, also where the mail went to several people.",
            "What stands below the new words of a mail (the old mail, a signature) is cut off by guessing.",
            "Encrypted mail (S/MIME, PGP) is a file to the agent; it is not opened.",
            "Ten files of a mail are taken at most, and a mail above 36 MB is read without them.",
            "Mail has no key by which a repeated send is dropped: if its answer is lost, it is looked for among the sent mail; where the provider does not file that by itself, it goes once more under the same Message-ID, and people may see it twice.",
            "That a mail of ours came back is a line of the channel's log; an address that is none is not written to again until it writes.",
        ],
        proof: Proof::StandIn,
        page: include_str!("README.md"),
    }
}

fn fields() -> Vec<Field> {
    let needed = |key, label, hint| Field { required: true, ..Field::new(key, label, hint) };
    let secret = |key, label, hint| Field { required: false, ..Field::secret(key, label, hint) };
    vec![
        needed("address", "Address", "The agent's own mailbox, such as agent@example.org: nobody else should read it."),
        needed("imap", "IMAP server", "imaps://imap.example.org, or imap://HOST for STARTTLS."),
        needed("smtp", "SMTP server", "smtps://smtp.example.org, or smtp://HOST for STARTTLS."),
        needed(
            "authserv",
            "Whose verdict counts",
            "The name that stands first in the Authentication-Results line your provider writes, such as mx.google.com; `microsoft` for Microsoft 365.",
        ),
        secret("password", "Password", "Of the mailbox; where people log in twice, an app password."),
        Field::new("user", "User", "If it is not the address."),
        Field::new("name", "Name", "What people see beside the address."),
        Field::new(
            "received_above",
            "Received lines above the verdict",
            "How many the provider writes above its Authentication-Results: 0 unless set; Gmail writes 2.",
        ),
        Field {
            choices: &["dmarc", "dkim"],
            ..Field::new(
                "accept",
                "What is enough",
                "dmarc unless set; dkim: a good signature of the writer's own domain, for providers that say nothing of dmarc.",
            )
        },
        Field::new("folder", "Folder", "What is read: INBOX unless set."),
        Field {
            choices: &["ours", "provider"],
            ..Field::new(
                "sent_copies",
                "Who files sent mail",
                "ours unless set: a copy is put into the folder of sent mail; provider, where it files what it takes by itself (Gmail, Microsoft): then a mail whose answer was lost is looked for there and not sent twice.",
            )
        },
        Field::new("trust_certificates", "Certificates", "Trusted beside the machine's, as PEM: for a server of your own."),
        Field::new("oauth_url", "Token address", "Where tokens are got, in place of a password."),
        Field::new("oauth_client", "Client id", "For tokens."),
        secret("oauth_secret", "Client secret", "For tokens."),
        secret("oauth_refresh", "Refresh token", "For tokens by a person's consent."),
        Field::new("oauth_scope", "Scope", "For tokens, such as https://mail.google.com/."),
    ]
}

fn trust() -> Vec<Trust> {
    vec![
        Trust {
            id: "agent:email-from",
            assumes: "The mailbox's provider checks who sent a mail, writes what it found above all that a stranger could have written, and removes what strangers wrote in its name.",
            enforced: "Only the topmost Authentication-Results of the host that is named counts, with no more Received lines above it than are allowed; dmarc must have passed for the writer's own domain. All else is kept and never reaches the agent.",
            otherwise: "Anybody could write, and decide, as a person who is let in.",
        },
        Trust {
            id: "agent:email-domain",
            assumes: "Whoever runs a person's mail domain lets nobody send in another's name there.",
            enforced: "By that domain; the verdict is about domains, not about people.",
            otherwise: "Somebody with a mailbox at the same domain could speak and decide as the person who is let in.",
        },
        Trust {
            id: "agent:email-replay",
            assumes: "A mail's id is never used for two mails, and its date is true.",
            enforced: "A known id is not taken again; a mail that came a day off its date decides nothing.",
            otherwise: "An old approval that is still validly signed could be sent again.",
        },
    ]
}
