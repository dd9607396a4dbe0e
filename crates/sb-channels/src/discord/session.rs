//! Sessions of the gateway: which one may be gone on with, how one begins, and what ends one.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use sb_channel::Result;
use sb_channel::model::{Fault, FaultKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Bot;
use super::faults::{self, About};
use super::parse::text;

/// Servers, their messages, direct messages; and everybody's words, where the portal allows it.
const INTENTS: u64 = 1 | 1 << 9 | 1 << 12;
const EVERYBODYS_WORDS: u64 = 1 << 15;
/// After so many resumes in a row that came to nothing, a new session begins: by then Discord has forgotten the old one.
const MOST_RESUMES: u32 = 10;
/// Sessions of a day that are left alone: Discord takes the token of a bot that begins too many.
const SPARE_STARTS: u64 = 20;
/// Waits before the next try, in milliseconds: two sessions may not begin at once; what only the operator can change.
const BETWEEN_STARTS_MS: u64 = 5_000;
const FOR_THE_OPERATOR_MS: u64 = 15 * 60 * 1000;
pub(super) const SWITCH_ON: &str = "the Message Content Intent is off, so in servers it gets only messages that mention it (to change that: Developer Portal, your application, Bot, Message Content Intent)";
pub(super) const OVER: &str = "the session is over; a new one begins, and what was missed is fetched";
const REFUSES: &str = "Discord does not let this bot ask for what it asks for; look at Privileged Gateway Intents in the Developer Portal";
const TOO_MANY_SERVERS: &str = "the bot is in 2,500 servers or more, for which Discord asks for several connections; that is not done yet";
const TOO_OLD: &str = "Discord does not take our way of asking any more; a newer version is needed";

/// Where we are with Discord. It is the feed's cursor, so it is stored together with what it stands for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Cursor {
    pub session: Option<Session>,
    /// No message up to this id is owed to us.
    pub last: u64,
}

/// What the gateway goes on with after a break.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Session {
    pub id: String,
    pub url: String,
    pub seq: u64,
}

impl Bot {
    /// The session that was tried last, and how often in vain.
    fn tries(&self) -> MutexGuard<'_, (String, u32)> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether a session may be tried once more.
    pub(super) fn may_resume(&self, session: &Session) -> bool {
        let mut tries = self.tries();
        let before = if tries.0 == session.id { tries.1 } else { 0 };
        *tries = (session.id.clone(), before + 1);
        before < MOST_RESUMES
    }
    /// That session is not resumed any more.
    pub(super) fn give_up(&self, session: Option<&Session>) {
        *self.tries() = (session.map(|session| session.id.clone()).unwrap_or_default(), MOST_RESUMES);
    }
    /// The session we have is a good one.
    pub(super) fn goes_on(&self) {
        *self.tries() = Default::default();
    }

    /// Where a new session may begin, if one still may today.
    pub(super) async fn find_gateway(&self) -> Result<String> {
        let gateway = self.api.get("gateway/bot", About::Account).await?;
        let limit = &gateway["session_start_limit"];
        if limit["remaining"].as_u64().is_some_and(|left| left < SPARE_STARTS) {
            let wait = limit["reset_after"].as_u64().unwrap_or(FOR_THE_OPERATOR_MS);
            return Err(passing("this bot has begun as many sessions today as Discord allows", Some(wait)));
        }
        Ok(text(&gateway, "/url").unwrap_or_default().to_owned())
    }

    /// What is said first: who we are, and which session we go on with, if any.
    pub(super) fn introduction(&self, session: Option<&Session>) -> Value {
        let token = self.api.token.expose();
        if let Some(Session { id, seq, .. }) = session {
            return json!({"op": 6, "d": {"token": token, "session_id": id, "seq": seq}});
        }
        let more = if self.reads_all.load(Ordering::Relaxed) { EVERYBODYS_WORDS } else { 0 };
        let us = json!({"os": std::env::consts::OS, "browser": "switchboard", "device": "switchboard"});
        json!({"op": 2, "d": {"token": token, "intents": INTENTS | more, "properties": us}})
    }

    /// What follows from the way a connection was closed.
    pub(super) fn closed(&self, code: Option<u16>, why: &str, session: Option<&Session>) -> Fault {
        let operator = |what: &str| passing(what, Some(FOR_THE_OPERATOR_MS));
        match code {
            Some(4_004) => faults::local(FaultKind::Auth, faults::GET_A_TOKEN),
            Some(4_014) if self.reads_all.swap(false, Ordering::Relaxed) => {
                passing(&format!("{SWITCH_ON}; it goes on without"), Some(BETWEEN_STARTS_MS))
            }
            Some(4_014) => operator(REFUSES),
            Some(4_010 | 4_011) => operator(TOO_MANY_SERVERS),
            Some(4_012 | 4_013) => operator(TOO_OLD),
            Some(4_007 | 4_009) => {
                self.give_up(session);
                passing(OVER, None)
            }
            code => {
                let code = code.map_or_else(|| "no code".to_owned(), |code| format!("close code {code}"));
                let why = sb_channel::text::one_line(why, 80);
                passing(&format!("the gateway ended the connection ({code}) {why}"), None)
            }
        }
    }
}

pub(super) fn passing(detail: &str, wait_ms: Option<u64>) -> Fault {
    Fault::new(FaultKind::Passing { wait_ms }, "listening to Discord", detail)
}
