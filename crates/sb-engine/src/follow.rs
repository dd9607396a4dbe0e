//! [`Follow`]: a reader's own pace through a message's live view, until its ending.

use sb_core::model::{Ending, Entry, MessageId, SessionId, ToolUpdate};
use tokio::sync::watch;

use crate::Engine;
use crate::error::{EngineError, EngineErrorKind, Result};
use crate::live::{Live, Shown};

/// What somebody who follows a message is told, in order. The last is always `Ended`.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEvent {
    /// Its turn begins, in this session.
    Session(SessionId),
    /// Words written since the last ones; every answer of the turn is a paragraph.
    Delta(String),
    Tool(ToolUpdate),
    /// How it ended. `Waiting` ends the stream too: follow again after somebody decided.
    Ended(Ending),
}

/// Follows one message. Dropping it changes nothing about the turn.
pub struct Follow {
    engine: Engine,
    message: MessageId,
    from: Source,
    began: bool,
    item: usize,
    offset: usize,
    over: bool,
}

enum Source {
    Live(watch::Receiver<Live>),
    Ended(Box<Ending>),
    /// To be asked for again.
    Lost,
}

impl Follow {
    pub(crate) fn live(engine: Engine, message: MessageId, live: Option<watch::Receiver<Live>>) -> Self {
        let from = live.map_or(Source::Lost, Source::Live);
        Self { engine, message, from, began: false, item: 0, offset: 0, over: false }
    }

    /// The next event; `None` after the ending. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<ReplyEvent>> {
        while !self.over {
            match &mut self.from {
                Source::Ended(ending) => {
                    let (ending, session) = (ending.as_ref().clone(), ending.session);
                    return Ok(Some(self.end(session, ending)));
                }
                Source::Lost => self.from = self.find().await?,
                Source::Live(live) => {
                    let event = {
                        let now = live.borrow_and_update();
                        read(&now, &mut self.began, &mut self.item, &mut self.offset)
                    };
                    match event {
                        Some(ReplyEvent::Ended(ending)) => return Ok(Some(self.end(None, ending))),
                        Some(event) => return Ok(Some(event)),
                        None => {
                            if live.changed().await.is_err() {
                                self.from = Source::Lost;
                            }
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// The stretch of log that belongs to the ending just given, for its lines.
    pub async fn stretch(&self, ending: &Ending) -> Result<Vec<Entry>> {
        let at_hand = match &self.from {
            Source::Live(live) => live.borrow().stretch.clone(),
            _ => None,
        };
        match at_hand {
            Some(entries) => Ok(entries),
            None => self.engine.stretch(ending).await,
        }
    }

    /// Reads on to the ending.
    pub async fn ending(mut self) -> Result<Ending> {
        while let Some(event) = self.next().await? {
            if let ReplyEvent::Ended(ending) = event {
                return Ok(ending);
            }
        }
        Err(EngineError::new(EngineErrorKind::NotFound, "The message has no ending."))
    }

    fn end(&mut self, session: Option<SessionId>, ending: Ending) -> ReplyEvent {
        if let (Some(session), false) = (session, self.began) {
            self.began = true;
            return ReplyEvent::Session(session);
        }
        self.over = true;
        ReplyEvent::Ended(ending)
    }

    async fn find(&mut self) -> Result<Source> {
        (self.item, self.offset) = (0, 0);
        if let Some(live) = self.engine.attach(self.message).await? {
            return Ok(Source::Live(live));
        }
        let stored = self.engine.store().message(self.message).await?;
        match stored.and_then(|m| m.ending) {
            Some(ending) => Ok(Source::Ended(Box::new(ending))),
            None if self.engine.is_closing() => Err(EngineError::new(
                EngineErrorKind::Closing,
                "The server is closing. Your message is kept, and is answered when it starts again.",
            )),
            None if self.engine.trouble().is_some() => Err(EngineError::new(
                EngineErrorKind::Store,
                "This conversation cannot be read: the home is damaged. `switchboard doctor` says more; a backup may be needed.",
            )),
            None => {
                // Between its commit and its actor's loading: look again.
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                Ok(Source::Lost)
            }
        }
    }
}

/// What a reader at this place sees next.
fn read(live: &Live, began: &mut bool, item: &mut usize, offset: &mut usize) -> Option<ReplyEvent> {
    if let (Some(session), false) = (live.session, *began) {
        *began = true;
        return Some(ReplyEvent::Session(session));
    }
    while let Some(shown) = live.shown.get(*item) {
        match shown {
            Shown::Text(text) if *offset < text.len() => {
                let more = text[*offset..].to_owned();
                *offset = text.len();
                return Some(ReplyEvent::Delta(more));
            }
            // The last text may still grow.
            Shown::Text(_) if *item + 1 == live.shown.len() => break,
            Shown::Text(_) => (*item, *offset) = (*item + 1, 0),
            Shown::Tool(update) => {
                (*item, *offset) = (*item + 1, 0);
                return Some(ReplyEvent::Tool(update.clone()));
            }
        }
    }
    live.ending.clone().map(ReplyEvent::Ended)
}
