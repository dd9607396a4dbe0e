//! A platform that only lets us answer, by handles it lends: an adapter made so for this, over Telegram's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_channel::model::{Chat, Clock, Fault, FaultKind, FileRef, Handle, MessageRef};
use sb_channel::{
    Account, AnyKind, Attempt, Batch, Channel, ChannelContext, Event, Features, Feed, FirstWord, Gesture,
    Inlet, Live, Manifest, Piece, Result, Settings, Updates,
};
use sb_channels::telegram::{KIND, standin::TelegramStandIn};
use sb_testkit::messenger::{Messenger, Subject};
use tokio::io::AsyncWrite;

const LIFE_MS: i64 = 60_000;
const USES: u32 = 2;

struct Lending;

impl AnyKind for Lending {
    fn manifest(&self) -> Manifest {
        (KIND.manifest)()
    }
    fn open(&self, context: ChannelContext, settings: &Settings) -> Result<Arc<dyn Channel>> {
        let clock = context.clock.clone();
        Ok(Arc::new(Lent { whole: (KIND.open)(context, settings)?, clock, used: Mutex::default() }))
    }
}

struct Lent {
    whole: Arc<dyn Channel>,
    clock: Arc<dyn Clock>,
    used: Mutex<HashMap<String, u32>>,
}

#[async_trait]
impl Channel for Lent {
    async fn check(&self) -> Result<Account> {
        self.whole.check().await
    }
    fn features(&self, chat: &Chat) -> Features {
        Features { first_word: FirstWord::ReplyOnly, live: Live::Off, ..self.whole.features(chat) }
    }
    fn inlet(&self) -> Inlet<'_> {
        Inlet::Feeds(vec![("updates", self)])
    }
    async fn send(&self, to: &Chat, piece: Piece<'_>, attempt: &Attempt) -> Result<MessageRef> {
        let good = attempt.handle.as_ref().is_some_and(|handle| {
            let mut used = self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let used = used.entry(handle.token.clone()).or_default();
            *used += 1;
            *used <= USES && handle.until > self.clock.now()
        });
        assert!(good, "it was asked to answer by a handle that is no good: {attempt:?}");
        self.whole.send(to, piece, attempt).await
    }
    async fn gesture(&self, to: &Chat, gesture: Gesture<'_>) -> Result<()> {
        self.whole.gesture(to, gesture).await
    }
    async fn fetch(
        &self,
        file: &FileRef,
        into: &mut (dyn AsyncWrite + Unpin + Send),
        most: u64,
    ) -> Result<u64> {
        self.whole.fetch(file, into, most).await
    }
}

#[async_trait]
impl Feed for Lent {
    async fn open(&self, after: Option<&str>) -> Result<Box<dyn Updates>> {
        let Inlet::Feeds(feeds) = self.whole.inlet() else { return Err(none()) };
        let whole = feeds[0].1.open(after).await?;
        Ok(Box::new(Lends { whole, clock: self.clock.clone() }))
    }
}

fn none() -> Fault {
    let kind = FaultKind::Unsupported;
    Fault { kind, doing: "opening".into(), detail: "no feed".into(), maybe_done: false, status: None }
}

struct Lends {
    whole: Box<dyn Updates>,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl Updates for Lends {
    async fn next(&mut self) -> Result<Batch> {
        let mut batch = self.whole.next().await?;
        for event in &mut batch.events {
            if let Event::Said(said) = event {
                let until = self.clock.now().plus_ms(LIFE_MS);
                said.handle = Some(Handle { token: said.key.clone(), until, uses: USES });
            }
        }
        Ok(batch)
    }
    async fn ack(&mut self) -> Result<()> {
        self.whole.ack().await
    }
}

fn messenger() -> Messenger {
    Messenger::new(&Subject {
        kind: Arc::new(Lending),
        standin: |clock| Arc::new(TelegramStandIn::new(clock, "123456:stand-in_token")),
    })
}

/// Holds: F-42.
#[test]
fn an_answer_goes_by_its_handle_and_what_is_too_late_waits_for_the_next_one() {
    let mut messenger = messenger();
    messenger.live(async |life| {
        life.say("!say In time.");
        life.until_said("In time.").await;
        life.rest().await;
        life.say("!wait 90\n!say Too late.");
        life.pass(300_000).await;
        assert_eq!(life.seen().count("Too late."), 0, "its handle was over");
    });
    // What is held outlives us.
    messenger.live(async |life| {
        life.pass(60_000).await;
        assert_eq!(life.seen().count("Too late."), 0);
        life.say("!say And this.");
        life.until_said("And this.").await;
        let seen = life.seen();
        let place = |words: &str| seen.texts().iter().position(|t| t.contains(words));
        assert!(
            place("Too late.") < place("And this.") && seen.count("Too late.") == 1,
            "{:#?}",
            seen.texts()
        );
    });
}

#[test]
fn a_reply_of_more_parts_than_its_handle_has_uses_goes_on_with_the_next_one() {
    messenger().live(async |life| {
        life.say("!stream 1400 0");
        life.until("two parts", |seen| seen.ours().count() == 2).await;
        life.pass(30_000).await;
        assert_eq!(life.seen().ours().count(), 2, "no third use");
        life.say("/whoami");
        life.until("all parts", |seen| seen.count("word1400") == 1).await;
        let counted = |t: &&str| t.matches("word").count();
        let words: usize = life.seen().texts().iter().map(counted).sum();
        assert_eq!(words, 1400, "{:#?}", life.seen().texts());
    });
}
