//! From another agent's message to one of ours: its words, its files, its conversation.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use sb_wire::a2a::{Code, Content, Message, Send, Unreadable};
use sb_wire::jsonrpc::{BAD_PARAMS, Failure};

use super::ending::{context_of, message_of, state_of};
use super::rpc::{Asked, engine_failed};
use crate::engine::harness::net::media;
use crate::engine::{Follow, Looked};
use crate::http::{LARGEST_FILE, MOST_FILES};
use crate::model::text::one_line;
use crate::model::{Attachment, Busy, ConversationId, Digest, Inbound, Key, Manner, MessageId};

/// Characters of a context's id that somebody else made up.
const LONGEST_CONTEXT: usize = 128;
/// How long a message is known that is sent again.
const KEY_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// A message that was taken.
pub(super) struct Taken {
    /// The task it is, or goes on with.
    pub task: MessageId,
    /// It answers a question of that task's.
    pub goes_on: bool,
    /// Of the message itself.
    pub follow: Follow,
}

/// Reads what is to be sent, and takes it.
pub(super) async fn take(asked: &Asked) -> Result<(Taken, Send), Failure> {
    let send = Send::read(&asked.params).map_err(|why| asked.wrong(&why))?;
    let engine = &asked.shared.door.engine;
    if !asked.shared.door.is_open() {
        return Err(Failure::new(sb_wire::jsonrpc::INTERNAL, "The server is closing; nothing was taken."));
    }
    if let Some(push) = &send.push {
        super::hooks::judge(asked, push)?;
    }
    let key = key_of(asked, &send.message);
    let known = match &key {
        Some(key) => engine.message_of_key(&key.text).await.map_err(engine_failed)?,
        None => None,
    };
    if let Some(message) = known {
        return Ok((repeated(asked, &send, message).await?, send));
    }
    let goes_on = match &send.message.task {
        Some(id) => Some(continued(asked, id, &send.message).await?),
        None => None,
    };
    if let (Some(looked), Some(push)) = (&goes_on, &send.push) {
        super::hooks::has_room(asked, looked.stored.message.id, push).await?;
    }
    let conversation = match &goes_on {
        Some(looked) => looked.stored.conversation.clone(),
        None => {
            let context = match &send.message.context {
                Some(context) => checked_context(asked, context)?,
                None => engine.new_name(),
            };
            ConversationId::new("a2a", &asked.profile, &context)
        }
    };
    let (text, files) = content(asked, &send.message).await?;
    let inbound = Inbound { key, ..inbound(asked, conversation, text, files) };
    let submitted = engine.submit(inbound).await.map_err(engine_failed)?;
    let receipt = submitted.receipt;
    let task = goes_on.as_ref().map_or(receipt.message, |looked| looked.stored.message.id);
    let taken = Taken { task, goes_on: goes_on.is_some(), follow: engine.follow(receipt) };
    if let Some(push) = &send.push {
        super::hooks::keep(asked, task, push.clone()).await?;
    }
    Ok((taken, send))
}

/// The same message of the same sender's, so that one sent again is not done again. The protocol lets a message's
/// id tell that; who uses one id for different messages is not held to it.
fn key_of(asked: &Asked, message: &Message) -> Option<Key> {
    if message.id.is_empty() {
        return None;
    }
    let mut all = format!("{:?} {:?} {:?}", message.id, message.context, message.task);
    for part in &message.parts {
        let content = match &part.content {
            Content::Text(words) => Digest::of(words.as_bytes()),
            Content::Raw(base64) => Digest::of(base64.as_bytes()),
            Content::Url(url) => Digest::of(url.as_bytes()),
            Content::Data(data) => Digest::of(data.to_string().as_bytes()),
        };
        let sort = std::mem::discriminant(&part.content);
        write!(all, "\n{sort:?} {content} {:?} {:?}", part.name, part.media_type).ok()?;
    }
    let body = Digest::of(all.as_bytes());
    let text = format!("{}:{}:{body}", asked.who.principal.0, asked.profile);
    Some(Key { text, body, kept_ms: KEY_KEPT_MS })
}

/// What a message that was taken before stands for.
async fn repeated(asked: &Asked, send: &Send, message: MessageId) -> Result<Taken, Failure> {
    let goes_on = send.message.task.is_some();
    let task = match &send.message.task {
        Some(id) => find(asked, id).await?.stored.message.id,
        None => message,
    };
    let engine = &asked.shared.door.engine;
    // It may have been cut off between its message and its webhook.
    if let Some(push) = &send.push
        && !super::hooks::is_kept(asked, task, push).await?
    {
        super::hooks::keep(asked, task, push.clone()).await?;
    }
    Ok(Taken { task, goes_on, follow: engine.follow_message(message) })
}

/// A message of ours.
pub(super) fn inbound(
    asked: &Asked,
    conversation: ConversationId,
    text: String,
    files: Vec<Attachment>,
) -> Inbound {
    Inbound {
        conversation,
        profile: asked.profile.clone(),
        session: None,
        key: None,
        from: asked.who.principal.clone(),
        rights: asked.who.rights,
        text,
        files,
        manner: Manner {
            busy: Busy::Queue,
            debounce_ms: 0,
            commands_wait: true,
            stop_words: false,
            names_writers: false,
            ask_expiry_ms: None,
        },
        origin: None,
    }
}

/// A task of this profile's, by its id.
pub(super) async fn find(asked: &Asked, id: &str) -> Result<Looked, Failure> {
    let engine = &asked.shared.door.engine;
    let looked = match message_of(id) {
        Some(message) => engine.look(message).await.map_err(engine_failed)?,
        None => None,
    };
    let is_ours = |looked: &Looked| {
        let begins = format!("a2a:{}:", asked.profile);
        looked.stored.conversation.0.starts_with(&begins)
    };
    looked.filter(is_ours).ok_or_else(|| asked.no_task(id))
}

/// The task that a message goes on with.
async fn continued(asked: &Asked, id: &str, message: &Message) -> Result<Looked, Failure> {
    let looked = find(asked, id).await?;
    if message.context.as_ref().is_some_and(|context| *context != context_of(&looked.stored.conversation)) {
        let why =
            Unreadable { field: "message.contextId".into(), why: "the task is of another context".into() };
        return Err(asked.wrong(&why));
    }
    let state = state_of(looked.ending.as_ref(), looked.began);
    if !state.is_interrupted() {
        let said = match state.is_terminal() {
            true => "This task has ended. Send a message without a task's id, in the same context.",
            false => {
                "This task is at work. A message without a task's id, in the same context, is answered after it."
            }
        };
        return Err(asked.fails(Code::UnsupportedOperation, said, &[("taskId", id)]));
    }
    Ok(looked)
}

fn checked_context(asked: &Asked, context: &str) -> Result<String, Failure> {
    let fits = context.chars().count() <= LONGEST_CONTEXT && context.bytes().all(|b| b.is_ascii_graphic());
    if fits {
        return Ok(context.to_owned());
    }
    let why = format!("it is at most {LONGEST_CONTEXT} visible ASCII characters");
    Err(asked.wrong(&Unreadable { field: "message.contextId".into(), why }))
}

/// The words and the files of a message.
async fn content(asked: &Asked, message: &Message) -> Result<(String, Vec<Attachment>), Failure> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match &part.content {
            Content::Text(words) => texts.push(words.clone()),
            Content::Data(data) => texts.push(format!("```json\n{data:#}\n```")),
            // Whatever another agent names is not fetched: only told.
            Content::Url(url) => texts.push(format!("(a file at {})", one_line(url, 2_000))),
            Content::Raw(base64) => {
                if files.len() == MOST_FILES {
                    return Err(Failure::new(
                        BAD_PARAMS,
                        format!("At most {MOST_FILES} files come with one message."),
                    ));
                }
                let number = files.len() + 1;
                files.push(
                    file(asked, number, base64, part.name.as_deref(), part.media_type.as_deref()).await?,
                );
            }
        }
    }
    let text = texts.join("\n\n");
    if text.trim().is_empty() && files.is_empty() {
        let why =
            Unreadable { field: "message.parts".into(), why: "there are neither words nor files".into() };
        return Err(asked.wrong(&why));
    }
    Ok((text, files))
}

async fn file(
    asked: &Asked,
    number: usize,
    base64: &str,
    name: Option<&str>,
    declared: Option<&str>,
) -> Result<Attachment, Failure> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let wrong = |why: &str| {
        asked.wrong(&Unreadable { field: format!("message.parts, file {number}"), why: why.to_owned() })
    };
    let bytes = LENIENT.decode(base64).map_err(|_| wrong("its bytes are not base64"))?;
    if bytes.len() > LARGEST_FILE {
        return Err(wrong(&format!("it is larger than {LARGEST_FILE} bytes")));
    }
    let last = name.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
    let name = one_line(last, 100);
    let name = match name.trim_matches(['.', ' ']).is_empty() {
        true => format!("file-{number}"),
        false => name,
    };
    let media_type = one_line(&media::media_type(&bytes, &name, declared), 80);
    let size = bytes.len() as u64;
    let digest = asked.shared.door.engine.keep_blob(&bytes).await.map_err(engine_failed)?;
    Ok(Attachment { name, media_type, size, digest })
}
