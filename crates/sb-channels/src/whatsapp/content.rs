//! What a message holds: its words, put as if they had been typed to us, and its file.

use sb_channel::model::FileRef;

use super::parse::digits;
use super::wire::{Card, Location, Media, Message, Order};

/// A message's words; empty for a file without a caption. None: nobody here knows such a message.
pub(super) fn text(message: &Message) -> Option<String> {
    let caption = |media: &Option<Media>| media.as_ref().map(|m| m.caption.clone().unwrap_or_default());
    match message.sort.as_str() {
        "text" => message.text.as_ref().map(|text| text.body.clone()),
        "image" => caption(&message.image),
        "video" => caption(&message.video),
        "audio" => caption(&message.audio),
        "document" => caption(&message.document),
        "sticker" => caption(&message.sticker),
        "button" => message.button.as_ref().map(|button| button.text.clone()),
        "location" => message.location.as_ref().map(place),
        "contacts" => message.contacts.as_ref().map(|cards| cards.iter().map(card).collect::<Vec<_>>().join("\n")),
        "order" => message.order.as_ref().map(order),
        // Quirk: unsupported.json. The person sees it as sent, so the agent hears of it.
        "unsupported" => Some("(Something that WhatsApp does not hand on to businesses.)".to_owned()),
        _ => None,
    }
}

fn place(at: &Location) -> String {
    let whole = format!("Location: {}, {}", at.latitude, at.longitude);
    let named: Vec<&str> = [&at.name, &at.address].into_iter().flatten().map(String::as_str).collect();
    if named.is_empty() { whole } else { format!("{whole} ({})", named.join(", ")) }
}

fn card(card: &Card) -> String {
    let phones = card.phones.iter().filter_map(|phone| phone.phone.as_deref());
    let name = card.name.formatted_name.as_deref();
    let parts: Vec<&str> = name.into_iter().chain(phones).collect();
    format!("Contact: {}", parts.join(" "))
}

fn order(order: &Order) -> String {
    let items = order.product_items.iter().map(|item| {
        // It comes as a number or as a text.
        let many = item.quantity.as_str().map_or_else(|| item.quantity.to_string(), str::to_owned);
        format!("{many} × {}", item.product_retailer_id)
    });
    let items = format!("Order: {}", items.collect::<Vec<_>>().join(", "));
    order.text.iter().cloned().chain([items]).collect::<Vec<_>>().join("\n")
}

/// The file of a message.
pub(super) fn file(message: &Message) -> Option<FileRef> {
    let all = [
        ("image", &message.image, "image/jpeg"),
        ("video", &message.video, "video/mp4"),
        ("audio", &message.audio, "audio/ogg"),
        ("document", &message.document, ""),
        ("sticker", &message.sticker, "image/webp"),
    ];
    let (sort, media, usual) = all.into_iter().find(|(sort, ..)| *sort == message.sort)?;
    let media = media.as_ref()?;
    let media_type = media.mime_type.clone().unwrap_or_else(|| usual.to_owned());
    let name = media.filename.clone().filter(|name| !name.is_empty());
    Some(FileRef {
        reference: reference(media),
        name: name.unwrap_or_else(|| format!("{sort}-{}{}", message.id, ending(&media_type))),
        media_type,
        size: None,
        // How long it is, WhatsApp does not say.
        voice_s: media.voice.then_some(0),
    })
}

/// How the name of such a file ends; only documents have names of their own.
fn ending(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or_default() {
        "image/jpeg" => ".jpg",
        "image/png" => ".png",
        "image/webp" => ".webp",
        "video/mp4" => ".mp4",
        "video/3gpp" => ".3gp",
        "audio/ogg" => ".ogg",
        "audio/mpeg" => ".mp3",
        "audio/mp4" => ".m4a",
        "audio/aac" => ".aac",
        "audio/amr" => ".amr",
        "application/pdf" => ".pdf",
        _ => "",
    }
}

/// A file by its id, and the digest its bytes must have.
fn reference(media: &Media) -> String {
    match &media.sha256 {
        Some(digest) => format!("{} {digest}", media.id),
        None => media.id.clone(),
    }
}

/// Whether words in a group name us, and the words without our name at their beginning. A mention is no more than
/// `@` and our number, or our name: the platform marks none.
pub(super) fn meant_for(text: &str, number: &str, name: Option<&str>) -> (bool, String) {
    let names = [Some(number), name].into_iter().flatten().filter(|name| !name.is_empty());
    let said = text.to_lowercase();
    let mut named = text.starts_with('/');
    let mut rest = text;
    for name in names {
        let mention = format!("@{}", name.to_lowercase());
        let is_number = !digits(name).is_empty() && digits(name) == name;
        named |= said.contains(&mention) || (!is_number && said.contains(&name.to_lowercase()));
        // Letters may change their length in lower case; then nothing is left out.
        let begins = text.get(..mention.len()).is_some_and(|begin| begin.to_lowercase() == mention);
        if let Some(after) = text.get(mention.len()..).filter(|_| begins) {
            rest = after.trim_start_matches([' ', ',', ':', '\n']);
        }
    }
    (named, rest.to_owned())
}
