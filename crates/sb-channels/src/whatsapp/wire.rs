//! WhatsApp's own shapes, as far as they are read. Everything may be missing.
//!
//! Fields as Meta's Cloud API names them; people's `user_id` is the business-scoped one.

use serde::Deserialize;
use serde_json::Value;

/// What a webhook tells of one of the account's numbers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Change {
    pub metadata: Metadata,
    pub contacts: Vec<Contact>,
    /// Read one by one: an odd one spoils no other.
    pub messages: Vec<Value>,
    pub statuses: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    pub display_phone_number: String,
    pub phone_number_id: String,
}

/// Somebody who wrote.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Contact {
    pub profile: Profile,
    /// A phone number's digits.
    pub wa_id: Option<String>,
    pub user_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Profile {
    pub name: Option<String>,
    pub username: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub id: String,
    #[serde(rename = "type")]
    pub sort: String,
    pub from: Option<String>,
    pub from_user_id: Option<String>,
    /// Seconds since 1970, as a text.
    pub timestamp: Option<String>,
    pub group_id: Option<String>,
    pub context: Option<Context>,
    pub text: Option<Body>,
    pub image: Option<Media>,
    pub video: Option<Media>,
    pub audio: Option<Media>,
    pub document: Option<Media>,
    pub sticker: Option<Media>,
    pub interactive: Option<Interactive>,
    pub button: Option<Quick>,
    pub location: Option<Location>,
    pub contacts: Option<Vec<Card>>,
    pub order: Option<Order>,
    pub system: Option<System>,
    pub edit: Option<Edit>,
    pub revoke: Option<Revoke>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context {
    /// Whose message is answered: a phone number's digits.
    pub from: Option<String>,
    pub id: Option<String>,
    pub forwarded: bool,
    pub frequently_forwarded: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Body {
    pub body: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Media {
    pub id: String,
    pub mime_type: Option<String>,
    pub caption: Option<String>,
    pub filename: Option<String>,
    #[serde(default)]
    pub voice: bool,
    /// Of the bytes, in Base64.
    pub sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Interactive {
    pub button_reply: Option<Chosen>,
    pub list_reply: Option<Chosen>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Chosen {
    pub id: String,
}

/// The button of a template.
#[derive(Debug, Deserialize)]
pub(super) struct Quick {
    pub text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Location {
    pub latitude: f64,
    pub longitude: f64,
    pub name: Option<String>,
    pub address: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Card {
    pub name: CardName,
    pub phones: Vec<CardPhone>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CardName {
    pub formatted_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CardPhone {
    pub phone: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Order {
    pub text: Option<String>,
    pub product_items: Vec<Item>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub product_retailer_id: String,
    pub quantity: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct System {
    #[serde(rename = "type")]
    pub sort: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    pub original_message_id: String,
    pub message: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Revoke {
    pub original_message_id: String,
}

/// What became of a message of ours.
#[derive(Debug, Deserialize)]
pub(super) struct Status {
    pub id: String,
    pub status: String,
    pub biz_opaque_callback_data: Option<String>,
    /// In a group: whom this is about.
    pub recipient_participant_user_id: Option<String>,
    #[serde(default)]
    pub errors: Vec<Refusal>,
}

/// The body of a refusal is `{"error": …}` of these; a status that failed has them too.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub code: Option<i64>,
    pub title: Option<String>,
    pub message: Option<String>,
    pub error_data: Details,
    /// By which Meta finds the request again.
    pub fbtrace_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    pub details: Option<String>,
}
