//! WhatsApp's Cloud API, imitated: Meta's addresses on one side, people with their chats on the other.
//!
//! What it refuses and tells follows Meta's documentation; it is proven by clients that were not written
//! here (`interop/whatsapp`). What all platforms have is the kit's.

mod calls;
mod refusal;
mod routes;
mod told;

use std::sync::Arc;

use sb_channel::model::{Clock, Person};
use sb_channel::net::Http;
use sb_channel::standin::{Imitated, Named, Platform, StandIn};

/// The one number, its account, and what guards it.
pub const PHONE_NUMBER_ID: &str = "900001";
pub const ACCOUNT_ID: &str = "100200300";
pub const TOKEN: &str = "stand-in_token";
pub const APP_SECRET: &str = "wa-test-app-secret-0123456789abcd";
pub const VERIFY_TOKEN: &str = "stand-in verify token";
/// The number itself, and what it is called.
const NUMBER: &str = "15550001111";
const NAME: &str = "Test Lab";

/// What the ids and the phone numbers of people begin with; what follows tells them apart.
const PEOPLE: &str = "US.7000";
const PHONES: &str = "1555000";

/// The platform, with nobody on it yet. With a way out it calls by itself.
pub fn open(clock: Arc<dyn Clock>, outside: Option<Http>) -> Arc<dyn StandIn> {
    let platform = platform(clock);
    if let Some(calling) = outside.and_then(|outside| platform.calling(outside)) {
        tokio::spawn(calling);
    }
    Arc::new(platform)
}

fn platform(clock: Arc<dyn Clock>) -> Platform {
    let imitated = Imitated {
        settings: &[
            ("phone_number_id", PHONE_NUMBER_ID),
            ("account_id", ACCOUNT_ID),
            ("token", TOKEN),
            ("app_secret", APP_SECRET),
            ("verify_token", VERIFY_TOKEN),
        ],
        ids: |named, n| match named {
            Named::Person => Some(format!("{PEOPLE}{}", 2_221 + n)),
            Named::Direct => None,
            Named::Group => Some(format!("120363{n:09}")),
        },
        router: routes::router,
        tell: told::updates,
        refuse: refusal::planned,
    };
    Platform::new(imitated, clock).that_calls(calls::told).without_albums().with_message_ids("wamid.")
}

/// A person's phone number; none for one who shows none: whose name is a username.
fn phone(person: &Person) -> Option<String> {
    let shown = !person.name.starts_with('@');
    let number = person.id.as_deref().and_then(|id| id.strip_prefix(PEOPLE)).filter(|_| shown)?;
    Some(format!("{PHONES}{number}"))
}

/// The chat that a recipient's phone number or id names.
fn chat_of(recipient: &str) -> String {
    match recipient.strip_prefix(PHONES) {
        Some(number) => format!("{PEOPLE}{number}"),
        None => recipient.to_owned(),
    }
}
