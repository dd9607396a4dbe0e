//! Email, by the adapter and the imitated provider, in process.

mod living;
mod mails;
mod servers;

use std::cell::RefCell;
use std::sync::Arc;

use async_trait::async_trait;
use sb_channel::model::{Clock, Secret, Timestamp};
use sb_channel::net::{FixedDice, Http, ManualClock};
use sb_channel::standin::StandIn;
use sb_channel::{Channel, ChannelContext, Event, Inlet, Result, Settings, State};
use sb_channels::email::standin::Provider;
use sb_channels::email::{KIND, standin};
use sb_testkit::messenger::Subject;

thread_local! {
    static PROVIDER: RefCell<Option<Provider>> = const { RefCell::new(None) };
}

fn keep(provider: Provider) -> Arc<dyn StandIn> {
    PROVIDER.with_borrow_mut(|kept| *kept = Some(provider.clone()));
    Arc::new(provider)
}

/// The kind with a provider; [`provider`] is the one that was opened last.
fn subject() -> Subject {
    Subject { kind: Arc::new(KIND), standin: |clock| keep(Provider::new(clock)) }
}

fn filing_subject() -> Subject {
    Subject { kind: Arc::new(KIND), standin: |clock| keep(Provider::filing(clock)) }
}

fn provider() -> Provider {
    PROVIDER.with_borrow(|kept| kept.clone()).expect("a provider was opened")
}

struct NoState;

#[async_trait]
impl State for NoState {
    async fn get(&self) -> Result<Option<String>> {
        Ok(None)
    }
    async fn set(&self, _: String) -> Result<()> {
        Ok(())
    }
}

const NOW: Timestamp = Timestamp(1_796_000_000_000);

fn channel(http: Http, clock: Arc<dyn Clock>, settings: Vec<(String, String)>) -> Result<Arc<dyn Channel>> {
    let dice = Arc::new(FixedDice::new(1));
    let context = ChannelContext { http, clock, dice, state: Arc::new(NoState), by_webhook: false };
    (KIND.open)(context, &Settings::new(settings.into_iter().map(|(key, value)| (key, Secret::new(value)))))
}

/// What becomes of mails that lie in the mailbox.
async fn events(mails: &[&[u8]]) -> Vec<Event> {
    let clock = Arc::new(ManualClock::at(NOW));
    let provider = Provider::new(clock.clone());
    mails.iter().for_each(|mail| provider.deliver(mail));
    let email = channel(provider.http(), clock, provider.settings()).expect("a channel");
    let Inlet::Feeds(feeds) = email.inlet() else { panic!("it has a feed") };
    let mut updates = feeds[0].1.open(None).await.expect("open");
    updates.next().await.expect("mails").events
}

/// A time as mails have it.
fn dated(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).expect("a time");
    at.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// A mail as the provider delivers it, vouched for or not; `fields` and `body` as they stand.
fn mail(verdict: &str, fields: &str, body: &str) -> Vec<u8> {
    let date = dated(NOW);
    let has_date = fields.lines().any(|line| line.starts_with("Date:"));
    let date = if has_date { String::new() } else { format!("Date: {date}\r\n") };
    let verdict = match verdict {
        "" => String::new(),
        verdict => format!("Authentication-Results: {}; {verdict}\r\n", standin::AUTHSERV),
    };
    let fields: String = fields.lines().map(|line| format!("{line}\r\n")).collect();
    format!("{verdict}Received: from x by y\r\n{date}{fields}\r\n{body}").into_bytes()
}

const PASS: &str = "dmarc=pass header.from=example.org";
