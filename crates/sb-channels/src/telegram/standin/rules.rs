//! What Telegram refuses in a text, its entities, a keyboard, a reaction.

use serde_json::Value;

use super::params::Refusal;

/// Lengths in UTF-16 units.
pub(super) const LONGEST_TEXT: usize = 4096;
pub(super) const LONGEST_CAPTION: usize = 1024;
const LONGEST_DATA: usize = 64;

/// The reactions a bot may set.
#[rustfmt::skip]
const REACTIONS: [&str; 73] = [
    "❤", "👍", "👎", "🔥", "🥰", "👏", "😁", "🤔", "🤯", "😱", "🤬", "😢", "🎉", "🤩", "🤮", "💩", "🙏", "👌", "🕊",
    "🤡", "🥱", "🥴", "😍", "🐳", "❤‍🔥", "🌚", "🌭", "💯", "🤣", "⚡", "🍌", "🏆", "💔", "🤨", "😐", "🍓", "🍾", "💋",
    "🖕", "😈", "😴", "😭", "🤓", "👻", "👨‍💻", "👀", "🎃", "🙈", "😇", "😨", "🤝", "✍", "🤗", "🫡", "🎅", "🎄", "☃",
    "💅", "🤪", "🗿", "🆒", "💘", "🙉", "🦄", "😘", "💊", "🙊", "😎", "👾", "🤷‍♂", "🤷", "🤷‍♀", "😡",
];

/// What may be said of what we are doing.
#[rustfmt::skip]
const ACTIONS: [&str; 11] = [
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
    "choose_sticker", "find_location", "record_video_note", "upload_video_note",
];

const STYLES: [&str; 14] = [
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "code",
    "pre",
    "text_link",
    "blockquote",
    "expandable_blockquote",
    "text_mention",
    "custom_emoji",
    "mention",
    "bot_command",
];

/// A text as it is kept: without white space at its ends, its entities moved along.
pub(super) fn words(
    text: &str,
    entities: &[Value],
    longest: usize,
    too_long: &str,
) -> Result<(String, Vec<Value>), Refusal> {
    let units: Vec<u16> = text.encode_utf16().collect();
    for entity in entities {
        check_entity(entity, &units)?;
    }
    let begin = text.len() - text.trim_start().len();
    let shift = text[..begin].encode_utf16().count();
    let kept = text.trim();
    let length = kept.encode_utf16().count();
    if length > longest {
        return Err(Refusal::bad(too_long));
    }
    let moved = entities.iter().filter_map(|entity| {
        let (from, to) = range(entity)?;
        let (from, to) = (from.saturating_sub(shift).min(length), to.saturating_sub(shift).min(length));
        let mut entity = entity.clone();
        entity["offset"] = from.into();
        entity["length"] = (to - from).into();
        (to > from).then_some(entity)
    });
    Ok((kept.to_owned(), moved.collect()))
}

fn range(entity: &Value) -> Option<(usize, usize)> {
    let number = |name: &str| entity.get(name)?.as_u64().and_then(|n| usize::try_from(n).ok());
    let from = number("offset")?;
    Some((from, from.checked_add(number("length")?)?))
}

fn check_entity(entity: &Value, units: &[u16]) -> Result<(), Refusal> {
    let outside = || Refusal::bad("ENTITY_BOUNDS_INVALID");
    let (from, to) = range(entity).ok_or_else(outside)?;
    let halves = |at: usize| units.get(at).is_some_and(|unit| (0xdc00..0xe000).contains(unit));
    if to > units.len() || halves(from) || halves(to) {
        return Err(outside());
    }
    let sort = entity.get("type").and_then(Value::as_str).unwrap_or_default();
    if !STYLES.contains(&sort) {
        return Err(Refusal::bad("can't parse MessageEntity: unsupported type specified"));
    }
    if sort == "text_link" && entity.get("url").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(Refusal::bad("can't parse MessageEntity: field \"url\" must be of type String"));
    }
    Ok(())
}

/// A keyboard as it is kept; none, if there are no buttons.
pub(super) fn keyboard(markup: Option<Value>) -> Result<Option<Value>, Refusal> {
    let Some(rows) = markup.as_ref().and_then(|markup| markup.get("inline_keyboard")) else {
        return Ok(None);
    };
    let buttons: Vec<&Value> =
        rows.as_array().into_iter().flatten().filter_map(Value::as_array).flatten().collect();
    for button in &buttons {
        let text = |name: &str| button.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("text").is_empty() {
            return Err(Refusal::bad(
                "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
            ));
        }
        if text("callback_data").len() > LONGEST_DATA {
            return Err(Refusal::bad("BUTTON_DATA_INVALID"));
        }
        let style = text("style");
        if !["", "danger", "success", "primary"].contains(&style) {
            return Err(Refusal::bad("invalid button style specified"));
        }
    }
    Ok(if buttons.is_empty() { None } else { markup })
}

/// The emoji of a reaction; none takes it off.
pub(super) fn reaction(list: &[Value]) -> Result<Option<String>, Refusal> {
    if list.len() > 1 {
        return Err(Refusal::bad("REACTIONS_TOO_MANY"));
    }
    let Some(one) = list.first() else { return Ok(None) };
    let emoji = one.get("emoji").and_then(Value::as_str).unwrap_or_default();
    if REACTIONS.contains(&emoji) {
        Ok(Some(emoji.to_owned()))
    } else {
        Err(Refusal::bad("REACTION_INVALID"))
    }
}

/// What is said of what we are doing.
pub(super) fn action(action: Option<&str>) -> Result<(), Refusal> {
    match action {
        Some(action) if ACTIONS.contains(&action) => Ok(()),
        _ => Err(Refusal::bad("wrong parameter action in request")),
    }
}

/// Commands of a menu.
pub(super) fn commands(list: &[Value]) -> Result<(), Refusal> {
    if list.len() > 100 {
        return Err(Refusal::bad("too much commands specified"));
    }
    for command in list {
        let text = |name: &str| command.get(name).and_then(Value::as_str).unwrap_or_default();
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if !(1..=32).contains(&text("command").len()) || !text("command").bytes().all(allowed) {
            return Err(Refusal::bad("BOT_COMMAND_INVALID"));
        }
        if !(1..=256).contains(&text("description").chars().count()) {
            return Err(Refusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
    }
    Ok(())
}

/// Whether a picture is one that is shown as a photo.
pub(super) fn photo(bytes: &[u8]) -> Result<(), Refusal> {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    let known = bytes.starts_with(PNG)
        || bytes.starts_with(b"\xff\xd8\xff")
        || (bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"));
    if !known {
        return Err(Refusal::bad("IMAGE_PROCESS_FAILED"));
    }
    let side =
        |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    if let (true, Some(width), Some(height)) = (bytes.starts_with(PNG), side(16), side(20)) {
        let (long, short) = (width.max(height), width.min(height).max(1));
        if width.saturating_add(height) > 10_000 || long / short > 20 {
            return Err(Refusal::bad("PHOTO_INVALID_DIMENSIONS"));
        }
    }
    Ok(())
}
