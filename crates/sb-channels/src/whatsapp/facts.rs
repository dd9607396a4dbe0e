//! What WhatsApp can, needs and rests on, as values.

use std::time::Duration;

use sb_channel::model::ChatSort;
use sb_channel::text::{Dialect, Fit, Unit};
use sb_channel::{
    Account, Features, Field, FilesOut, FirstWord, Manifest, Marks, Proof, Questions, TextRules, Trust, Typing,
};
use serde::Deserialize;

use super::outgoing::MOST_ROWS;
use super::parse::{self, WINDOW_MS};

/// The mark of a message whose answer failed.
pub(super) const FAILED: &str = "⚠️";
const MB: u64 = 1024 * 1024;

const fn fit(limit: usize) -> Fit {
    Fit { limit, unit: Unit::Utf16, dialect: Dialect::Marks }
}

const GROUP: Features = Features {
    // 4,096 are taken; how they are counted is not said.
    text: TextRules { fit: fit(4000) },
    files_in: Some(100 * MB),
    files_out: Some(FilesOut { largest: 100 * MB, caption: Some(fit(1024)), at_once: 1 }),
    mentions: true,
    first_word: FirstWord::Within(Duration::from_millis(WINDOW_MS.unsigned_abs())),
    ..Features::PLAIN
};

const DIRECT: Features = Features {
    // It is shown for 25 seconds.
    typing: Typing::Renew { every: Duration::from_secs(20) },
    marks: Marks { taken: Some(Marks::READ), failed: Some(FAILED) },
    questions: Questions::Buttons(MOST_ROWS),
    mentions: false,
    ..GROUP
};

pub(super) const fn features(sort: ChatSort) -> Features {
    match sort {
        ChatSort::Direct => DIRECT,
        ChatSort::Group => GROUP,
    }
}

pub(super) fn manifest() -> Manifest {
    Manifest {
        id: "whatsapp",
        label: "WhatsApp",
        blurb: "A business's number on WhatsApp, by Meta's Cloud API and its webhook.",
        fields: fields(),
        direct: DIRECT,
        group: GROUP,
        id_hint: "A person's business-scoped id, such as US.13491208655302741918: a code lets them in, or the log names them once they wrote. Never a phone number: it belongs to somebody else one day.",
        is_id,
        trust: trust(),
        gaps: vec![
            "Meta's terms allow a business to answer its own customers with an agent; they do not allow a general assistant as what a number is mainly for.",
            "We may write only within 24 hours of a person's last message. What is finished later is kept, and goes out when they write again; templates are not sent.",
            "Nothing that was sent can be changed or taken back, so a reply comes whole and a question that is closed keeps its buttons: pressed again, they decide nothing.",
            "A phone number that changes makes a new person: whoever was let in is let in again by the operator.",
            "In groups there are no buttons, no read marks and no typing; a mention is told by our name or number in the words alone, so write to us with either or answer a message of ours.",
            "There is no key by which a repeated send is dropped. If an answer is lost, what became of the message is waited for, a minute long, and only then it is sent once more.",
            "About one message in six seconds reaches the same person; a long reply in many parts takes its time.",
            "Webhooks are the only way in: without a public address nothing is received, and what Meta could not deliver for seven days is gone.",
            "Meta can read all that a business's number reads and writes.",
        ],
        proof: Proof::StandIn,
        page: include_str!("README.md"),
    }
}

/// Two letters, a dot, perhaps `ENT.`, and up to 128 letters and digits.
fn is_id(text: &str) -> bool {
    let Some((country, rest)) = text.split_once('.') else { return false };
    let number = rest.strip_prefix("ENT.").unwrap_or(rest);
    country.len() == 2
        && country.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=128).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn fields() -> Vec<Field> {
    let needed = |key, label, hint| Field { required: true, ..Field::new(key, label, hint) };
    vec![
        needed("phone_number_id", "Phone number id", "Of WhatsApp, API Setup: a number of Meta's, not the phone number."),
        needed("account_id", "Business account id", "Of the same page: the id of the WhatsApp Business Account."),
        Field::secret("token", "Access token", "Of a system user, without an end, with whatsapp_business_messaging and whatsapp_business_management."),
        Field::secret("app_secret", "App secret", "Of App settings, Basic: by it Meta signs its calls."),
        Field::secret("verify_token", "Verify token", "Any long random word; Meta shows it once when it is told where to call."),
        Field::new("version", "API version", "If not v26.0: another one of the Graph API."),
        Field::API_URL,
    ]
}

fn trust() -> Vec<Trust> {
    vec![
        Trust {
            id: "agent:messenger-identity",
            assumes: "Meta tells truly who wrote a message and in which chat, and only people who are let in hold the WhatsApp accounts that are let in.",
            enforced: "By Meta's servers and WhatsApp's registration of a phone; not by us. A person is known by the business-scoped id, never by number or name, and with another number is another person.",
            otherwise: "Whoever takes over such an account, or its number, speaks to the agent and answers its questions.",
        },
        Trust {
            id: "agent:pairing",
            assumes: "The operator pairs only people whose code came to them by a way they trust.",
            enforced: "By the operator, who sees the person's id beside the name; a private chat's pairing opens no group.",
            otherwise: "A stranger with the same name as somebody known would be let in.",
        },
        Trust {
            id: "agent:webhooks",
            assumes: "Only Meta and we know the app's secret, and calls reach us over TLS.",
            enforced: "A call without a signature over its very bytes, compared in constant time, is refused; without an app secret the channel does not start. No time is signed, so messages older than eight days are passed over and younger ones are known by their ids.",
            otherwise: "Anybody could make up messages of anybody.",
        },
    ]
}

/// The fields asked for about our number.
pub(super) const ASKED: &str = "display_phone_number,verified_name,quality_rating,status";

/// What is told about it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    pub display_phone_number: String,
    pub verified_name: Option<String>,
    quality_rating: Option<String>,
    status: Option<String>,
}

/// Who we are, as `check` tells it.
pub(super) fn account(id: &str, told: &Told) -> Account {
    let digits = parse::digits(&told.display_phone_number);
    let mut notes = Vec::new();
    if told.quality_rating.as_deref() == Some("RED") {
        notes.push("Meta rates the number's quality as low and may limit it (WhatsApp Manager, Phone numbers).".to_owned());
    }
    if let Some(status) = told.status.as_deref().filter(|status| *status != "CONNECTED") {
        notes.push(format!("Meta says that the number is {status}; only a CONNECTED one sends and receives."));
    }
    let name = match &told.verified_name {
        Some(name) => format!("{name} (+{digits})"),
        None => format!("+{digits}"),
    };
    let link = (!digits.is_empty()).then(|| format!("https://wa.me/{digits}"));
    Account { link, notes, ..Account::new(id, name) }
}
