//! The gateway's side of a connection: greets, checks who comes, tells what happens, counts heartbeats.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use sb_channel::model::Timestamp;
use sb_channel::standin::Breakage;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::platform::Platform;
use super::sessions::PRIVILEGED;
use super::{Shared, TOKEN};

const LONGEST_FRAME: usize = 4_096;
/// Frames in a minute.
const MOST_FRAMES: usize = 120;
/// Sessions may not begin closer to each other.
const BETWEEN_STARTS_MS: i64 = 5_000;

/// How a connection goes on.
enum Then {
    Listen,
    Say(Value),
    Close(u16, &'static str),
    /// The line breaks.
    Break,
}

struct Connection {
    number: u64,
    drops: u64,
    reconnects: u64,
    session: Option<String>,
    /// All up to here was told.
    told: u64,
    frames: VecDeque<Timestamp>,
}

/// Serves one connection until it ends. `how`: it goes wrong so when the bot says who it is.
pub(super) async fn serve(shared: Arc<Shared>, mut socket: WebSocket, how: Option<Breakage>) {
    let mut changed = shared.changed.subscribe();
    let mut connection = shared.with(|platform| {
        platform.connections += 1;
        Connection {
            number: platform.connections,
            drops: platform.drops,
            reconnects: platform.reconnects,
            session: None,
            told: 0,
            frames: VecDeque::new(),
        }
    });
    let beat_ms = shared.look(|platform| platform.beat_ms);
    let hello = json!({"op": 10, "s": null, "t": null, "d": {"heartbeat_interval": beat_ms, "_trace": []}});
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    let silence = Duration::from_millis(beat_ms * 3 / 2);
    let mut heard = Instant::now();
    loop {
        let (frames, then) = shared.look(|platform| connection.waiting(platform));
        for frame in frames {
            if socket.send(Message::text(frame)).await.is_err() {
                return;
            }
        }
        let then = match then {
            Then::Listen => tokio::select! {
                _ = changed.changed() => continue,
                () = tokio::time::sleep_until(heard + silence) => Then::Close(4_009, "Session timed out."),
                came = socket.recv() => match came {
                    Some(Ok(Message::Text(text))) => {
                        heard = Instant::now();
                        shared.with(|platform| connection.hear(platform, &text, how))
                    }
                    Some(Ok(Message::Close(said))) => {
                        let code = said.map_or(1_000, |said| said.code);
                        shared.with(|platform| connection.closed(platform, code));
                        // Reading on sends the good-bye back.
                        return drop(socket.recv().await);
                    }
                    Some(Ok(_)) => Then::Listen,
                    Some(Err(_)) | None => return,
                },
            },
            then => then,
        };
        let sent = match then {
            Then::Listen => continue,
            Then::Say(what) => socket.send(Message::text(what.to_string())).await,
            Then::Close(code, why) => {
                let frame = CloseFrame { code, reason: why.into() };
                return drop(socket.send(Message::Close(Some(frame))).await);
            }
            Then::Break => return,
        };
        if sent.is_err() {
            return;
        }
    }
}

impl Connection {
    /// What waits to be told, and what follows from what was planned.
    fn waiting(&mut self, platform: &Platform) -> (Vec<String>, Then) {
        if platform.drops != self.drops {
            return (Vec::new(), Then::Break);
        }
        if let Some((_, code)) = platform.close.filter(|(up_to, _)| self.number <= *up_to) {
            return (Vec::new(), Then::Close(code, "as planned"));
        }
        let Some(id) = &self.session else { return (Vec::new(), Then::Listen) };
        let Some(session) = platform.sessions.iter().find(|known| known.id == *id) else {
            self.session = None;
            return (Vec::new(), Then::Say(json!({"op": 9, "s": null, "t": null, "d": false})));
        };
        if session.connection != self.number {
            return (Vec::new(), Then::Close(4_000, "Resumed elsewhere."));
        }
        let waiting = session.events.iter().filter(|told| told.seq > self.told);
        let frames = waiting.map(super::sessions::Told::frame).collect();
        self.told = session.seq;
        if platform.reconnects > self.reconnects {
            self.reconnects = platform.reconnects;
            return (frames, Then::Say(json!({"op": 7, "s": null, "t": null, "d": null})));
        }
        (frames, Then::Listen)
    }

    fn hear(&mut self, platform: &mut Platform, text: &str, how: Option<Breakage>) -> Then {
        let now = platform.now();
        self.frames.push_back(now);
        self.frames.retain(|at| now.ms_since(*at) < 60_000);
        if self.frames.len() > MOST_FRAMES {
            return Then::Close(4_008, "Rate limited.");
        }
        let Some(said) = serde_json::from_str::<Value>(text).ok().filter(|_| text.len() <= LONGEST_FRAME)
        else {
            return Then::Close(4_002, "Error while decoding payload.");
        };
        let data = &said["d"];
        match said["op"].as_u64() {
            Some(1) => {
                if let (Some(id), Some(seq)) = (&self.session, data.as_u64())
                    && let Some(session) = platform.session(id)
                {
                    if seq > session.seq {
                        return Then::Close(4_007, "Invalid seq.");
                    }
                    session.acked = session.acked.max(seq);
                }
                if platform.is_mute {
                    Then::Listen
                } else {
                    Then::Say(json!({"op": 11, "s": null, "t": null, "d": null}))
                }
            }
            Some(2 | 6) if self.session.is_some() => Then::Close(4_005, "Already authenticated."),
            Some(2 | 6) if data["token"] != TOKEN || how == Some(Breakage::Revoked) => {
                Then::Close(4_004, "Authentication failed.")
            }
            Some(2) => self.identify(platform, data),
            Some(6) => {
                let (id, seq) = (
                    data["session_id"].as_str().unwrap_or_default(),
                    data["seq"].as_u64().unwrap_or_default(),
                );
                if !platform.resume_session(id, seq, self.number) {
                    return Then::Say(json!({"op": 9, "s": null, "t": null, "d": false}));
                }
                (self.session, self.told) = (Some(id.to_owned()), seq);
                Then::Listen
            }
            // Presence, voice state, members: heard, and of no consequence here.
            Some(3 | 4 | 8) if self.session.is_some() => Then::Listen,
            Some(3 | 4 | 8) => Then::Close(4_003, "Not authenticated."),
            _ => Then::Close(4_001, "Unknown opcode."),
        }
    }

    fn identify(&mut self, platform: &mut Platform, data: &Value) -> Then {
        let Some(intents) = data["intents"].as_u64().filter(|_| data["properties"].is_object()) else {
            return Then::Close(4_013, "Invalid intent(s).");
        };
        let allowed = if platform.content_intent { super::sessions::CONTENT } else { 0 };
        if intents & PRIVILEGED & !allowed != 0 {
            return Then::Close(4_014, "Disallowed intent(s).");
        }
        let now = platform.now();
        if platform.starts_left == 0
            || platform.began_at.is_some_and(|at| now.ms_since(at) < BETWEEN_STARTS_MS)
        {
            return Then::Say(json!({"op": 9, "s": null, "t": null, "d": false}));
        }
        self.session = Some(platform.begin_session(intents, self.number));
        Then::Listen
    }

    /// Closed in an orderly way, which ends a session but for other codes.
    fn closed(&self, platform: &mut Platform, code: u16) {
        if matches!(code, 1_000 | 1_001) {
            platform.sessions.retain(|session| self.session.as_ref() != Some(&session.id));
        }
    }
}
