//! What a conversation's actor tells the lane of its chat: what was posted, what is being written, how
//! messages stand. All of it follows a commit, and a lane that is told nothing finds it stored.

use sb_core::Show;
use sb_core::model::{Address, Change, EndKind, MessageId, PostKey, Snapshot};
use tokio::sync::watch;

use super::{Actor, Loaded, Result};
use crate::bridge::{GrowingReply, Growth};

/// The places that a decision posts to, and messages it sends elsewhere: where these go the store knows.
pub(super) struct Posts {
    places: Vec<Address>,
    sent: Vec<PostKey>,
}

impl Posts {
    pub fn of(changes: &[Change], state: &Snapshot) -> Self {
        let mut places: Vec<Address> = Vec::new();
        let mut sent = Vec::new();
        for change in changes {
            let place = match change {
                Change::House { turn, call, .. } if call.tool == "send_message" => {
                    sent.push(PostKey::sent(*turn, &call.id));
                    None
                }
                Change::Posted(post) => Some(&post.to),
                Change::Reposted { .. } => state
                    .turn
                    .iter()
                    .flat_map(|t| &t.messages)
                    .find_map(|(m, _)| Some(&m.origin.as_ref()?.address)),
                _ => None,
            };
            if let Some(place) = place.filter(|p| !places.iter().any(|known| known.is_same_place(p))) {
                places.push(place.clone());
            }
        }
        Self { places, sent }
    }
}

impl Actor {
    /// Tells the lanes that something is in the outbox for them.
    pub(super) async fn posted(&self, posts: Posts) -> Result<()> {
        let mut places = posts.places;
        for key in posts.sent {
            places.extend(self.engine.inner().store.post_place(&key).await?.map(|(_, place)| place));
        }
        for place in places {
            if let Some(bridge) = self.engine.inner().bridges.get(&place.channel) {
                bridge.posted(&self.engine, &place.chat);
            }
        }
        Ok(())
    }

    /// Tells the lane how the reply grows and how messages stand.
    pub(super) fn show_chat(&mut self, now: &mut Loaded, show: &Show) {
        match show {
            Show::Began(_, messages) => self.begin_growing(now, messages),
            Show::Text(text) => grow(now, |g| g.write(text)),
            Show::Break => grow(now, Growth::end_answer),
            Show::Void => grow(now, Growth::void),
            Show::Tool(update) => grow(now, |g| g.tool(&update.tool, update.state)),
            Show::Ended(message, ending) => {
                let waits = ending.kind == EndKind::Waiting;
                if waits || now.conversation.state().turn.is_none() {
                    now.growing = None;
                }
                self.settled(*message, ending.kind);
            }
        }
    }

    fn begin_growing(&self, now: &mut Loaded, messages: &[MessageId]) {
        let Some(growing) = now.conversation.growing() else { return };
        if now.growing.is_some() {
            // Steered words: the same reply covers them.
            return;
        }
        let Some(bridge) = self.engine.inner().bridges.get(&growing.to.channel) else { return };
        let (sender, growth) = watch::channel(Growth::new(growing.words));
        now.growing = Some(sender);
        let (key, to, messages) = (growing.key, growing.to, messages.to_vec());
        bridge.grows(&self.engine, GrowingReply { key, to, messages, growth });
    }

    fn settled(&mut self, message: MessageId, how: EndKind) {
        let waits = how == EndKind::Waiting;
        let place = if waits { self.places.get(&message).cloned() } else { self.places.remove(&message) };
        // Of one that came before this actor was here, no lane knows.
        let Some(place) = place else { return };
        if let Some(bridge) = self.engine.inner().bridges.get(&place.channel) {
            bridge.settled(&self.engine, &place, message, how);
        }
    }

    /// There may be room again for what was held back.
    pub(super) async fn release_held(&mut self, now: &mut Loaded) -> Result<()> {
        let inner = self.engine.inner();
        if now.conversation.state().turn.is_some() || !inner.bridges.take_held(&self.id) {
            return Ok(());
        }
        let released = inner.store.release_held(&self.id, inner.clock.now()).await?;
        if !released.is_empty() || !now.conversation.state().waiting.is_empty() {
            // There may be more than there is room for now.
            inner.bridges.holds(self.id.clone());
        }
        for message in released {
            self.engine.send(&self.id, crate::actors::Mail::Arrived(Box::new(message), None));
        }
        Ok(())
    }
}

fn grow(now: &mut Loaded, change: impl FnOnce(&mut Growth)) {
    if let Some(growing) = &now.growing {
        growing.send_modify(change);
    }
}
