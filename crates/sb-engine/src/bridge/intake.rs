//! From a platform's batch to taken messages: each event through the gate, all of it in one transaction
//! with the cursor, and only then what follows from it.

use std::sync::Arc;

use sb_channel::{Batch, Event, Incoming, Pressed, Quoted, Report};
use sb_core::gate::{self, Admission, Asking, Ignored};
use sb_core::model::text::one_line;
use sb_core::model::{
    Address, Busy, Chat, ChatSort, ConversationId, Digest, Fault, Inbound, Isolation, Key, Limit, Manner,
    Origin, Person, PostKey, Principal, ProfileName, RequestId, Rights, Slug, Timestamp,
};
use sb_core::{Quota, commands};
use sb_store::{Intake, Kept, KeptWhy, PairingOffer, Taken};

use super::feed::of_store;
use super::lane::LaneMail;
use super::{Bridge, locked, reported};
use crate::Engine;
use crate::actors::Mail;

/// How long the platform's own ids are remembered: longer than any platform repeats.
const KEY_KEPT_MS: i64 = 45 * 24 * 60 * 60 * 1000;
/// Longest that a choice's words may be, since a button holds no more.
const LONGEST_CHOICE: usize = 64;
/// What a program may say, whatever people may: two programs must not talk for ever.
const OF_A_PROGRAM: Limit = Limit { messages: 20, per_s: 600 };
/// Moved chats that are remembered at hand.
pub(super) const KNOWN_CHATS: usize = 10_000;

/// What is done once the batch is stored.
enum After {
    /// The presser's platform stops waiting.
    Heard(Chat, String),
    /// A chat speaks again.
    Back(String),
    /// A stranger wants in.
    Pair(Box<Incoming>),
    Edited(String, Option<String>),
    /// Something we sent met its fate.
    Reported(Report),
    /// Somebody is told something that is not kept.
    Told(Chat, String),
}

/// Takes a batch in.
///
/// # Errors
/// If it could not be stored: then nothing of it was, and the platform gives it again.
pub(super) async fn take(
    engine: &Engine,
    bridge: &Arc<Bridge>,
    feed: &str,
    batch: Batch,
) -> Result<(), Fault> {
    let slug = &bridge.config.slug;
    let (mut events, mut never_wait, mut kept, mut after) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for event in batch.events {
        match event {
            Event::Said(incoming) => {
                if let Some(inbound) = said(engine, bridge, *incoming, &mut after).await? {
                    never_wait.push(is_urgent(&inbound.text, inbound.manner.stop_words));
                    events.push(inbound);
                }
            }
            Event::Pressed(pressed) => {
                after.push(After::Heard(pressed.chat.clone(), pressed.handle.clone()));
                if let Some(inbound) = press(engine, bridge, pressed).await? {
                    never_wait.push(true);
                    events.push(inbound);
                }
            }
            Event::Stopped { key, chat, person } => {
                if let Some(rights) = admit(engine, bridge, &chat, &person).await? {
                    let inbound = inbound(engine, bridge, key, chat, person, "/stop".into(), rights).await?;
                    never_wait.push(true);
                    events.push(inbound);
                }
            }
            Event::Edited { key, text } => after.push(After::Edited(key, Some(text))),
            Event::Unsent { key } => after.push(After::Edited(key, None)),
            Event::Moved { chat, to } => {
                engine.store().chat_moved(slug, &chat, &to).await.map_err(of_store)?;
                bridge.chat_moved(&chat, &to);
                bridge.log.say(engine.inner().clock.now(), &format!("the chat {chat} is {to} now"));
            }
            Event::Gone { chat, why } => {
                engine.store().chat_gone(slug, &chat, Some(&why)).await.map_err(of_store)?;
                bridge.forget_chat(&chat);
                bridge.log.say(engine.inner().clock.now(), &format!("the chat {chat} is gone: {why}"));
            }
            Event::Back { chat } => {
                engine.store().chat_gone(slug, &chat, None).await.map_err(of_store)?;
                after.push(After::Back(chat));
            }
            Event::Reported(report) => after.push(After::Reported(report)),
            Event::Noted { what } => bridge.log.say(engine.inner().clock.now(), &one_line(&what, 300)),
            Event::Unknown { what, raw } => {
                metrics::counter!("switchboard_updates_unknown_total").increment(1);
                let detail = format!("an update of a kind that is not known: {}", one_line(&what, 80));
                kept.push(Kept { why: KeptWhy::Unknown, key: None, conversation: None, detail, raw });
            }
        }
    }
    let now = engine.inner().clock.now();
    let told: Vec<_> = events.iter().map(|e| (e.conversation.clone(), e.origin.clone())).collect();
    let intake =
        Intake { channel: slug.clone(), feed: bridge.feed_name(feed), cursor: batch.cursor, events, kept };
    let taken = engine.store().take_batch(intake, never_wait, now).await.map_err(of_store)?;
    for (taken, (conversation, origin)) in taken.into_iter().zip(told) {
        follow_up(engine, bridge, taken, conversation, origin.map(|o| *o));
    }
    for next in after {
        finish(engine, bridge, next).await?;
    }
    Ok(())
}

/// What follows from one message once it is stored.
fn follow_up(
    engine: &Engine,
    bridge: &Arc<Bridge>,
    taken: Taken,
    conversation: ConversationId,
    origin: Option<Origin>,
) {
    let Some(address) = origin.map(|o| o.address) else { return };
    match taken {
        Taken::New(message) => {
            metrics::counter!("switchboard_messages_taken_total").increment(1);
            // Nobody may have meant us, so nothing is shown before that is known.
            if message.origin.as_ref().is_none_or(|o| o.addressed) {
                let mail = LaneMail::Taken { message: message.id, address: address.clone() };
                bridge.tell(engine, &address.chat, mail);
            }
            engine.send(&conversation, Mail::Arrived(Box::new(message), None));
        }
        Taken::Held { first } => {
            engine.inner().bridges.holds(conversation.clone());
            // It may have come to rest meanwhile: then there is room already.
            engine.send(&conversation, Mail::Wake);
            if first {
                let said =
                    "You write faster than I can answer. What you send is kept, and is answered in its turn.";
                bridge.tell(engine, &address.chat, LaneMail::Notice(said.to_owned()));
            }
        }
        // It fell out: it is known.
        Taken::Known(_) | Taken::OtherBody(_) | Taken::Full => {}
    }
}

async fn finish(engine: &Engine, bridge: &Arc<Bridge>, after: After) -> Result<(), Fault> {
    match after {
        After::Heard(chat, handle) => bridge.tell(engine, &chat, LaneMail::Heard(handle)),
        After::Back(chat) => {
            let places = engine.store().places_to_send(&bridge.config.slug).await.map_err(of_store)?;
            let of_chat = places.into_iter().filter(|(place, _)| place.id == chat);
            of_chat.for_each(|(place, _)| bridge.posted(engine, &place));
        }
        After::Reported(report) => {
            let Some((post, ..)) = reported::read_key(&report.key) else { return Ok(()) };
            let place = engine.store().post_place(&post).await.map_err(of_store)?;
            if let Some((_, to)) = place.filter(|(_, to)| to.channel == bridge.config.slug) {
                bridge.tell(engine, &to.chat, LaneMail::Reported(report));
            }
        }
        After::Told(chat, said) => bridge.tell(engine, &chat, LaneMail::Notice(said)),
        After::Pair(incoming) => pair(engine, bridge, &incoming).await?,
        After::Edited(key, text) => {
            let now = engine.inner().clock.now();
            let known =
                engine.store().message_by_key(&full_key(bridge, &key), now).await.map_err(of_store)?;
            if let Some(known) = known.filter(|k| k.turn.is_none() && k.ending.is_none()) {
                let id = known.message.id;
                let mail = match text {
                    Some(text) => Mail::Edited(id, text),
                    None => Mail::Unsent(id),
                };
                engine.send(&known.conversation, mail);
            }
        }
    }
    Ok(())
}

async fn said(
    engine: &Engine,
    bridge: &Arc<Bridge>,
    incoming: Incoming,
    after: &mut Vec<After>,
) -> Result<Option<Inbound>, Fault> {
    let now = engine.inner().clock.now();
    let options = &bridge.config.options;
    let known_as = known_as(engine, bridge, &incoming.chat.id).await?;
    let asking = Asking {
        known_as: Some(&known_as),
        chat: &incoming.chat,
        person: &incoming.person,
        us: &bridge.account.id,
        addressed: incoming.addressed,
        of_album: incoming.album.is_some(),
        is_command: incoming.text.starts_with('/'),
        guest: is_guest(bridge, &incoming.person),
    };
    let rights = match gate::judge(options, asking) {
        Admission::Admit(rights) => rights,
        Admission::Pair => {
            after.push(After::Pair(Box::new(incoming)));
            return Ok(None);
        }
        Admission::Ignore(Ignored::NotLetIn) if incoming.addressed => {
            let said = format!(
                "not answered: chat {} and person {} are not let in (channel set {} --allow <id> lets one in)",
                incoming.chat.id,
                incoming.person.id.as_deref().unwrap_or("without an id"),
                bridge.config.slug
            );
            bridge.log.say(now, &said);
            return Ok(None);
        }
        Admission::Ignore(_) => return Ok(None),
    };
    let too_old = options.catch_up_s.zip(incoming.at).is_some_and(|(most, at)| {
        now.ms_since(at) > i64::try_from(most).unwrap_or(i64::MAX).saturating_mul(1000)
    });
    if too_old {
        bridge.log.say(now, "passed over: a message older than --catch-up allows");
        return Ok(None);
    }
    if let Quota::Over { until, first } = count(bridge, &incoming, now) {
        if first {
            let who = incoming.person.id.as_deref().unwrap_or("without an id");
            bridge.log.say(now, &format!("not answered: person {who} writes more than the limit allows"));
        }
        // A program is told nothing: it might answer.
        if first && !incoming.person.bot {
            let wait = roughly(until.ms_since(now));
            let said = format!(
                "That is all I may take of you for now. Write again in {wait}: until then nothing you write is kept, except commands such as /stop and /approve."
            );
            after.push(After::Told(incoming.chat, said));
        }
        return Ok(None);
    }
    let context = context_lines(&incoming);
    let passed_on = incoming.forwarded.is_some();
    let Incoming { key, chat, person, message, mut text, files, album, addressed, handle, .. } = incoming;
    if passed_on {
        // Somebody else's words decide nothing: a leading space says that this is no command.
        text.insert(0, ' ');
    }
    let voice = files.iter().any(|f| f.voice_s.is_some());
    let mut inbound = inbound(engine, bridge, key, chat, person, text, rights).await?;
    if passed_on {
        inbound.manner.stop_words = false;
    }
    if voice && inbound.manner.busy == Busy::Steer {
        // A voice note waits its turn.
        inbound.manner.busy = Busy::Queue;
    }
    if let Some(origin) = inbound.origin.as_deref_mut() {
        origin.address.message = message;
        origin.address.handle = handle;
        origin.context = context;
        origin.files = files;
        origin.album = album;
        origin.addressed = addressed || !options.require_mention;
    }
    Ok(Some(inbound))
}

/// A press says what a person would have typed; whoever presses has no more rights than by typing it.
async fn press(engine: &Engine, bridge: &Arc<Bridge>, pressed: Pressed) -> Result<Option<Inbound>, Fault> {
    let Pressed { key, chat, person, says, lends, .. } = pressed;
    if !says.starts_with('/') || says.len() > LONGEST_CHOICE {
        return Ok(None);
    }
    let Some(rights) = admit(engine, bridge, &chat, &person).await? else { return Ok(None) };
    let asks = asking_conversation(engine, &says, &chat, &bridge.config.slug).await?;
    let mut inbound = inbound(engine, bridge, key, chat, person, says, rights).await?;
    if let Some((conversation, profile)) = asks {
        (inbound.conversation, inbound.profile) = (conversation, profile);
    }
    if let Some(origin) = inbound.origin.as_deref_mut() {
        origin.address.handle = lends;
    }
    Ok(Some(inbound))
}

/// The conversation that put the question a press answers, if it put it into this very chat.
async fn asking_conversation(
    engine: &Engine,
    says: &str,
    chat: &Chat,
    channel: &Slug,
) -> Result<Option<(ConversationId, ProfileName)>, Fault> {
    let request = says.split_whitespace().nth(1).and_then(|word| word.parse::<RequestId>().ok());
    let Some(request) = request else { return Ok(None) };
    let key = PostKey::question(request, None);
    let asked = engine.store().post_place(&key).await.map_err(of_store)?;
    let here = asked.filter(|(_, address)| address.channel == *channel && address.chat.id == chat.id);
    Ok(here.map(|(conversation, _)| {
        let profile = conversation.profile();
        (conversation, profile)
    }))
}

/// Whether somebody who pressed something may, and what: a press is meant for us.
async fn admit(
    engine: &Engine,
    bridge: &Bridge,
    chat: &Chat,
    person: &Person,
) -> Result<Option<Rights>, Fault> {
    let known_as = known_as(engine, bridge, &chat.id).await?;
    let asking = Asking {
        chat,
        person,
        us: &bridge.account.id,
        addressed: true,
        of_album: false,
        is_command: true,
        known_as: Some(&known_as),
        guest: is_guest(bridge, person),
    };
    Ok(match gate::judge(&bridge.config.options, asking) {
        Admission::Admit(rights) => Some(rights),
        _ => None,
    })
}

/// A message without what only a message has.
async fn inbound(
    engine: &Engine,
    bridge: &Arc<Bridge>,
    key: String,
    chat: Chat,
    person: Person,
    text: String,
    rights: Rights,
) -> Result<Inbound, Fault> {
    let (config, options) = (&bridge.config, &bridge.config.options);
    let known_as = known_as(engine, bridge, &chat.id).await?;
    let profile = options
        .routes
        .get(&chat.id)
        .or_else(|| options.routes.get(&known_as))
        .unwrap_or(&config.profile)
        .clone();
    let name = conversation_name(options.isolate, &known_as, &chat, &person);
    let who = person.id.as_deref().unwrap_or("anonymous");
    let key = full_key(bridge, &key);
    Ok(Inbound {
        conversation: ConversationId::new(&config.slug.0, &profile, &name),
        profile: ProfileName::clone(&profile),
        session: None,
        // What stands under the key is the same message, whatever the platform says of it now.
        key: Some(Key { body: Digest::of(key.as_bytes()), text: key, kept_ms: KEY_KEPT_MS }),
        from: Principal(format!("{}:{who}", config.kind)),
        rights,
        text,
        files: Vec::new(),
        manner: Manner {
            busy: options.busy,
            debounce_ms: options.debounce_ms,
            commands_wait: true,
            stop_words: true,
            names_writers: chat.sort == ChatSort::Group,
            ask_expiry_ms: options.ask_expiry_s.map(|s| s.saturating_mul(1000)),
        },
        origin: Some(Box::new(Origin {
            address: Address { channel: config.slug.clone(), chat, message: None, handle: None },
            person,
            context: Vec::new(),
            files: Vec::new(),
            album: None,
            addressed: true,
        })),
    })
}

/// What one conversation is, as the channel's operator chose.
fn conversation_name(isolate: Isolation, chat_id: &str, chat: &Chat, person: &Person) -> String {
    let who = person.id.as_deref().unwrap_or("anonymous");
    match (isolate, &chat.thread) {
        (Isolation::Thread, Some(thread)) => format!("chat:{chat_id}:thread:{thread}"),
        (Isolation::Thread | Isolation::Chat, _) => format!("chat:{chat_id}"),
        (Isolation::Sender, _) => format!("sender:{who}"),
        (Isolation::ChatAndSender, _) => format!("chat:{chat_id}:sender:{who}"),
    }
}

/// The id under which a chat was first known.
async fn known_as(engine: &Engine, bridge: &Bridge, chat: &str) -> Result<String, Fault> {
    if let Some(known) = locked(&bridge.known_as).get(chat) {
        return Ok(known.clone());
    }
    let facts = engine.store().chat_facts(&bridge.config.slug, chat).await.map_err(of_store)?;
    if facts.gone.is_some() {
        // It speaks, so it is back.
        engine.store().chat_gone(&bridge.config.slug, chat, None).await.map_err(of_store)?;
    }
    let known = facts.known_as.unwrap_or_else(|| chat.to_owned());
    let mut all = locked(&bridge.known_as);
    if all.len() >= KNOWN_CHATS {
        all.clear();
    }
    all.insert(chat.to_owned(), known.clone());
    Ok(known)
}

/// What a message refers to, a line each. Other people's words are marked as such.
fn context_lines(incoming: &Incoming) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(about) = &incoming.about {
        lines.push(format!("(About: {})", one_line(about, 200)));
    }
    if let Some(Quoted { from, ours, text }) = &incoming.quoted {
        let whose =
            if *ours { "your message".to_owned() } else { format!("a message of {}", one_line(from, 64)) };
        lines.push(match text.trim() {
            "" => format!("(In answer to {whose}.)"),
            text => format!("(In answer to {whose}: \"{}\")", one_line(text, 500)),
        });
    }
    if let Some(from) = &incoming.forwarded {
        let from = if from.trim().is_empty() { "somebody".to_owned() } else { one_line(from, 64) };
        lines.push(format!("(Passed on, the words of {from}:)"));
    }
    lines
}

/// A stranger is shown a code, once; whoever runs this lets them in by it.
async fn pair(engine: &Engine, bridge: &Arc<Bridge>, incoming: &Incoming) -> Result<(), Fault> {
    let inner = engine.inner();
    let (slug, now) = (&bridge.config.slug, inner.clock.now());
    let Some(id) = incoming.person.id.as_deref() else { return Ok(()) };
    let name = one_line(&incoming.person.name, 64);
    let offer = inner.store.offer_pairing(slug, id, &name, &incoming.chat, now, inner.dice.as_ref()).await;
    match offer.map_err(of_store)? {
        PairingOffer::New(pairing) => {
            let said = format!(
                "I do not know you yet. Whoever runs me can let you in with this code, good for an hour:\n\n`{code}`\n\n(`switchboard pairing approve {code}`)",
                code = pairing.code
            );
            bridge.log.say(now, &format!("{id} asks to be let in: switchboard pairing list"));
            bridge.tell(engine, &incoming.chat, LaneMail::Code { said, code: pairing.code });
        }
        PairingOffer::Again(_) => {}
        PairingOffer::TooMany => {
            bridge.log.say(now, "a stranger was not answered: three codes are open already");
        }
    }
    Ok(())
}

fn is_guest(bridge: &Bridge, person: &Person) -> bool {
    let guests = bridge.guests.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    person.id.as_ref().is_some_and(|id| guests.contains(id))
}

/// Counts a message, if what its writer may write is limited. What stops or decides something is never held up.
fn count(bridge: &Bridge, incoming: &Incoming, now: Timestamp) -> Quota {
    let of_program = incoming.person.bot.then_some(OF_A_PROGRAM);
    let limits = [bridge.config.options.limit, of_program];
    let Some(limit) = limits.into_iter().flatten().reduce(Limit::tighter) else { return Quota::Within };
    if is_urgent(&incoming.text, incoming.forwarded.is_none()) {
        return Quota::Within;
    }
    let who = incoming.person.id.as_deref().unwrap_or_default();
    locked(&bridge.quotas).count(who, incoming.album.as_deref(), limit, now)
}

/// A time as a person says it, rounded up.
fn roughly(ms: i64) -> String {
    let (each, unit) = match ms {
        ..90_000 => (1_000, "second"),
        90_000..5_400_000 => (60_000, "minute"),
        _ => (3_600_000, "hour"),
    };
    let number = ms.max(1).unsigned_abs().div_ceil(each);
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

fn full_key(bridge: &Bridge, key: &str) -> String {
    // The account too: another bot under the same name numbers its messages anew.
    format!("{}@{}:{key}", bridge.config.slug, bridge.account.id)
}

fn is_urgent(text: &str, stop_words: bool) -> bool {
    let read = commands::read_text(text, stop_words);
    read.is_ok_and(|command| command.is_some_and(|(entry, _)| entry.when == commands::When::Always))
}
