//! Whether a conversation can be written to first: asked before a job is made or a message is sent there.

use std::time::Duration;

use sb_channel::{FirstWord, Gesture, Typing};
use sb_core::model::{Address, FaultKind};
use sb_store::ConversationPlace;

use crate::Engine;

impl Engine {
    /// Whether a conversation can be written to without anybody having just written there: what its operator
    /// should know of it, a sentence each; or why not. Where the channel runs here and can show that we type,
    /// its platform is asked by doing so.
    pub(crate) async fn writes_first(&self, place: &ConversationPlace) -> Result<Vec<String>, String> {
        let Some(to) = place.address() else {
            return Ok(vec![format!(
                "Nobody is written to in {}: it is on no messenger. What is answered there is in its session.",
                place.id
            )]);
        };
        let slug = &to.channel;
        let store = self.store();
        let config = store.channel(slug).await.map_err(|why| why.to_string())?;
        let Some(config) = config else {
            return Err(format!("There is no channel {slug} any more, so {} is out of reach.", place.id));
        };
        let facts = store.chat_facts(slug, &to.chat.id).await.map_err(|why| why.to_string())?;
        if let Some(why) = facts.gone {
            return Err(format!("Nothing reaches {}: {why}.", place.id));
        }
        let bridge = self.inner().bridges.get(slug);
        let kind = self.inner().kinds.iter().map(|kind| kind.manifest()).find(|m| m.id == config.kind);
        let features = match (&bridge, kind) {
            (Some(bridge), _) => bridge.channel.features(&to.chat),
            (None, Some(kind)) => kind.features(to.chat.sort),
            (None, None) => return Err(format!("Nothing here speaks to the kind {:?}.", config.kind)),
        };
        let mut notes = Vec::new();
        match features.first_word {
            FirstWord::Any => {}
            FirstWord::ReplyOnly => {
                return Err(format!("On {slug} we can only answer: nobody can be written to first there."));
            }
            FirstWord::Within(time) => notes.push(format!(
                "On {slug} people can be written to within {} of their last message only; a run later than that waits until they write.",
                hours(time)
            )),
        }
        match bridge {
            Some(bridge) if features.typing != Typing::Off => {
                probe(&*bridge.channel, &to, &mut notes).await?
            }
            Some(_) => {}
            None if config.enabled => {}
            None => notes.push(format!("The channel {slug} is switched off.")),
        }
        Ok(notes)
    }
}

/// Shows that we type, and takes it back: what is wrong with the chat or the account comes out by it.
async fn probe(
    channel: &dyn sb_channel::Channel,
    to: &Address,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let Err(fault) = channel.gesture(&to.chat, Gesture::Typing(true)).await else {
        // It goes by itself where this is not heard.
        let _ = channel.gesture(&to.chat, Gesture::Typing(false)).await;
        return Ok(());
    };
    match fault.kind {
        FaultKind::ChatGone | FaultKind::Refused | FaultKind::Lost | FaultKind::Auth => {
            Err(format!("The chat cannot be written to: {}.", fault.detail.trim_end_matches('.')))
        }
        _ => {
            notes.push(format!("Whether it can be written to could not be asked now: {}", fault.detail));
            Ok(())
        }
    }
}

fn hours(time: Duration) -> String {
    format!("{} hours", time.as_secs() / 3600)
}
