//! Submitting a message that comes with all that was said before it, and noting how its answer was read.

use sb_core::model::{Asked, ConversationId, Digest, Ending, Inbound, MessageId, Place, SessionId};
use sb_store::{AnswerPlace, Taken};
use tokio::sync::watch;

use crate::Engine;
use crate::actors::Mail;
use crate::api::{Receipt, never_waits};
use crate::error::{EngineError, EngineErrorKind, Result};
use crate::live::Live;

/// What came of such a submission.
#[derive(Debug)]
pub struct SubmittedAsked {
    pub receipt: Receipt,
    pub place: Place,
    pub conversation: ConversationId,
    /// The session it went into.
    pub session: SessionId,
}

impl Engine {
    /// As [`submit`](Self::submit), into whichever conversation what was said before belongs to. A talk that is
    /// not named and must begin anew gets a name by lot, after what the message's conversation begins with.
    pub async fn submit_asked(&self, inbound: Inbound, asked: Asked) -> Result<SubmittedAsked> {
        let engine = self.clone();
        // On a task of its own, for the same reason as there.
        let taking = tokio::spawn(async move { engine.take_asked(inbound, asked).await });
        taking.await.unwrap_or_else(|why| {
            tracing::error!(error = %why, "taking a message failed");
            Err(EngineError::new(EngineErrorKind::Store, "The message could not be taken. Send it again."))
        })
    }

    async fn take_asked(&self, mut inbound: Inbound, asked: Asked) -> Result<SubmittedAsked> {
        self.may_take(&inbound.profile)?;
        let inner = self.inner();
        let session = SessionId(inner.dice.roll());
        if !asked.named {
            inbound.conversation.0.push_str(&format!("{:016x}", inner.dice.roll()));
        }
        let at_once = never_waits(&inbound);
        let placed = inner.store.take_asked(inbound, asked, session, at_once, inner.clock.now()).await?;
        let (place, conversation) = (placed.place, placed.conversation);
        let receipt = match placed.taken {
            Taken::New(message) => {
                metrics::counter!("switchboard_messages_taken_total").increment(1);
                if let Some(system) = placed.system {
                    self.send(&conversation, Mail::Arrived(Box::new(system), None));
                }
                let (shows, live) = watch::channel(Live::default());
                let receipt = Receipt { message: message.id, live: Some(live) };
                self.send(&conversation, Mail::Arrived(Box::new(message), Some(shows)));
                receipt
            }
            Taken::Known(message) => Receipt { message, live: None },
            Taken::OtherBody(_) => return Err(EngineError::other_body()),
            Taken::Full | Taken::Held { .. } => return Err(EngineError::full()),
        };
        let session = placed.session.unwrap_or(session);
        Ok(SubmittedAsked { receipt, place, conversation, session })
    }

    /// The answer to such a message is whole: `digest` stands for all that was said, with it, as its reader has it.
    pub async fn note_answer(&self, message: MessageId, digest: Digest, ending: &Ending) -> Result<()> {
        Ok(self.store().note_answer(message, digest, ending, self.inner().clock.now()).await?)
    }

    /// The place where such a message has its answer, or stands itself as long as it has none.
    pub async fn answered_at(&self, message: MessageId) -> Result<Option<AnswerPlace>> {
        Ok(self.store().answered_at(message).await?)
    }
}
