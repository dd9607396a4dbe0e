//! What a message holds: its words, put as if they had been typed to us, and its files.
//!
//! Telegram counts in UTF-16 units, so texts are cut as such; an offset that lies elsewhere cuts nothing.

use std::ops::Range;

use sb_channel::model::FileRef;

use super::parse::Me;
use super::wire::{Entity, Media, Message};

/// A message's words, and whether they are meant for us.
pub(super) struct Words {
    pub text: String,
    pub addressed: bool,
}

/// The words of a message or the caption of its file, without our name before them.
pub(super) fn words(message: &Message, me: &Me) -> Words {
    let (text, entities) = match (&message.text, &message.caption) {
        (Some(text), _) => (text.clone(), &message.entities),
        (None, Some(caption)) => (caption.clone(), &message.caption_entities),
        (None, None) => (told(message), &message.entities),
    };
    typed(&text, entities, me)
}

/// The gist of a message that another one answers.
pub(super) fn gist(message: &Message) -> String {
    let said = message.text.clone().or_else(|| message.caption.clone()).unwrap_or_else(|| told(message));
    match files(message).first() {
        Some(file) if said.is_empty() => format!("({})", file.name),
        _ => said,
    }
}

/// What was sent by other means than words, in words; empty for what says nothing, such as that somebody joined.
fn told(message: &Message) -> String {
    if let Some(venue) = &message.venue {
        let parts = [venue.title.as_deref(), venue.address.as_deref()];
        return format!("Place: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    if let Some(at) = &message.location {
        return format!(
            "Location: {}, {}",
            at.latitude.unwrap_or_default(),
            at.longitude.unwrap_or_default()
        );
    }
    if let Some(contact) = &message.contact {
        let parts = [&contact.first_name, &contact.last_name, &contact.phone_number];
        return format!("Contact: {}", parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" "));
    }
    if let Some(poll) = &message.poll {
        let options: Vec<String> = poll.options.iter().filter_map(|option| option.text.clone()).collect();
        return format!("Poll: {} ({})", poll.question.clone().unwrap_or_default(), options.join(" / "));
    }
    if let Some(dice) = &message.dice {
        return format!("{} {}", dice.emoji.as_deref().unwrap_or("🎲"), dice.value.unwrap_or_default());
    }
    message.sticker.as_ref().and_then(|sticker| sticker.emoji.clone()).unwrap_or_default()
}

/// `text` without our name at its beginning, and its command without the suffix that names us.
fn typed(text: &str, entities: &[Entity], me: &Me) -> Words {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut addressed = false;
    let mut begin = 0;
    let mut suffix = None;
    for entity in entities {
        let Some(range) = range(entity, units.len()) else { continue };
        let Ok(stretch) = String::from_utf16(&units[range.clone()]) else { continue };
        // Entities may overlap, in what nobody should send: one that begins within our name leads nothing.
        let leads = range.start >= begin && is_blank(&units[begin..range.start]);
        match entity.sort.as_deref() {
            Some("mention") if is_our_name(&stretch, me) => {
                addressed = true;
                begin = if leads { after_name(&units, range.end) } else { begin };
            }
            Some("text_mention") if entity.user.as_ref().and_then(|user| user.id) == Some(me.id) => {
                addressed = true;
                begin = if leads { after_name(&units, range.end) } else { begin };
            }
            Some("bot_command") if leads || stretch.contains('@') => match stretch.split_once('@') {
                // Nobody else is named, so it is as much ours as anybody's.
                None => addressed = true,
                Some((bare, name)) if is_our_name(name, me) => {
                    addressed = true;
                    if leads {
                        suffix = Some(range.start + bare.encode_utf16().count()..range.end);
                    }
                }
                // Quirk: command_of_another.json. With its suffix, a command is that bot's alone.
                Some(_) => {}
            },
            _ => {}
        }
    }
    let mut kept = units[begin..].to_vec();
    if let Some(suffix) = suffix.filter(|suffix: &Range<usize>| suffix.start >= begin) {
        kept.drain(suffix.start - begin..suffix.end - begin);
    }
    Words { text: first_word(String::from_utf16_lossy(&kept).trim()), addressed }
}

/// Quirk: start.json. The platform's button for a first chat types `/start`, with what a link to us carried.
fn first_word(text: &str) -> String {
    match text.split_whitespace().next() {
        Some("/start") => "/help".to_owned(),
        _ => text.to_owned(),
    }
}

/// An entity's stretch, if it lies within the text.
fn range(entity: &Entity, length: usize) -> Option<Range<usize>> {
    let (from, long) = (usize::try_from(entity.offset?).ok()?, usize::try_from(entity.length?).ok()?);
    let to = from.checked_add(long).filter(|to| *to <= length)?;
    Some(from..to)
}

/// Whether these units are white space only.
fn is_blank(units: &[u16]) -> bool {
    String::from_utf16_lossy(units).trim().is_empty()
}

/// Where the words begin that follow a name: "@us, what is new?"
fn after_name(units: &[u16], end: usize) -> usize {
    let passed = |unit: &&u16| [b' ', b',', b':', b'\n'].map(u16::from).contains(*unit);
    end + units[end..].iter().take_while(passed).count()
}

fn is_our_name(name: &str, me: &Me) -> bool {
    let name = name.strip_prefix('@').unwrap_or(name);
    me.username.as_ref().is_some_and(|ours| ours.eq_ignore_ascii_case(name))
}

/// The files of a message. A photo is one file: its largest size.
pub(super) fn files(message: &Message) -> Vec<FileRef> {
    let largest = message.photo.iter().max_by_key(|size| size.width.unwrap_or(0) * size.height.unwrap_or(0));
    // Quirk: animation.json. An animation is told twice, once as a document.
    let document = message.document.as_ref().filter(|_| message.animation.is_none());
    let all = [
        (largest, "photo", "jpg", "image/jpeg"),
        (message.animation.as_ref(), "animation", "mp4", "video/mp4"),
        (document, "document", "", ""),
        (message.audio.as_ref(), "audio", "mp3", "audio/mpeg"),
        (message.video.as_ref(), "video", "mp4", "video/mp4"),
        (message.video_note.as_ref(), "video-note", "mp4", "video/mp4"),
        (message.voice.as_ref(), "voice", "ogg", "audio/ogg"),
        (message.sticker.as_ref(), "sticker", "webp", "image/webp"),
    ];
    all.into_iter()
        .filter_map(|(media, sort, ending, media_type)| file(media?, sort, ending, media_type))
        .collect()
}

fn file(media: &Media, sort: &str, ending: &str, media_type: &str) -> Option<FileRef> {
    let (ending, media_type) = match sort {
        "sticker" if media.is_animated == Some(true) => ("tgs", "application/x-tgsticker"),
        "sticker" if media.is_video == Some(true) => ("webm", "video/webm"),
        _ => (ending, media_type),
    };
    let unique = media.file_unique_id.as_deref().unwrap_or("file");
    let made_up = match ending {
        "" => format!("{sort}-{unique}"),
        _ => format!("{sort}-{unique}.{ending}"),
    };
    Some(FileRef {
        reference: media.file_id.clone()?,
        name: media.file_name.clone().filter(|name| !name.is_empty()).unwrap_or(made_up),
        media_type: media.mime_type.clone().unwrap_or_else(|| media_type.to_owned()),
        size: media.file_size,
        voice_s: (sort == "voice").then(|| media.duration.unwrap_or_default()),
    })
}
