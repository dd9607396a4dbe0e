//! The whole engine with a messenger, under chance: some hundred seeds here, as many as one likes with
//! the example `simulate`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sb_channels::telegram::{KIND, standin::TelegramStandIn};
use sb_testkit::messenger::Subject;
use sb_testkit::simulation::{Tried, run};
use sb_testkit::suites::channel::broken::{Broken, Flaw};

fn subject() -> Subject {
    Subject {
        kind: Arc::new(KIND),
        standin: |clock| Arc::new(TelegramStandIn::new(clock, "123456:stand-in_token")),
    }
}

/// A crash may fall on any moment; nothing taken is lost, mixed up, or said twice without cause.
#[test]
fn whatever_goes_wrong_nothing_is_lost_mixed_up_or_out_of_order() {
    let mut tried = Tried::default();
    for seed in 1..=200 {
        let one = run(&subject(), seed);
        tried.messages += one.messages;
        tried.kills += one.kills;
        tried.faults += one.faults;
        tried.decisions += one.decisions;
    }
    let enough = tried.messages > 600 && tried.kills > 200 && tried.faults > 100 && tried.decisions > 10;
    assert!(enough, "it tried too little: {tried:?}");
}

/// The same where the platform calls us, tells later what became of a message, and shows nothing that grows.
#[test]
fn nor_where_we_are_called() {
    let whatsapp = Subject {
        kind: Arc::new(sb_channels::whatsapp::KIND),
        standin: |clock| sb_channels::whatsapp::standin::open(clock, None),
    };
    let tried: Vec<Tried> = (1..=60).map(|seed| run(&whatsapp, seed)).collect();
    assert!(tried.iter().map(|one| one.messages).sum::<u64>() > 180);
    assert!(tried.iter().map(|one| one.kills + one.faults).sum::<u64>() > 90);
}

/// The same on a platform that pushes: its sessions, what it drops of repeats, its limits.
#[test]
fn whatever_goes_wrong_on_a_gateway_nothing_is_lost_mixed_up_or_out_of_order() {
    let discord = Subject {
        kind: Arc::new(sb_channels::discord::KIND),
        standin: |clock| Arc::new(sb_channels::discord::standin::DiscordStandIn::new(clock)),
    };
    let mut tried = Tried::default();
    for seed in 1..=30 {
        let one = run(&discord, seed);
        tried.messages += one.messages;
        tried.kills += one.kills;
        tried.faults += one.faults;
    }
    let enough = tried.messages > 90 && tried.kills > 30 && tried.faults > 15;
    assert!(enough, "it tried too little: {tried:?}");
}

fn finds(flaw: Flaw) {
    let whole = subject();
    let broken = Subject { kind: Arc::new(Broken { kind: whole.kind, flaw }), standin: whole.standin };
    let found = (1..=100).find(|seed| catch_unwind(AssertUnwindSafe(|| run(&broken, *seed))).is_err());
    assert!(found.is_some(), "a hundred seeds see nothing of an adapter that {flaw:?}");
}

#[test]
fn it_finds_what_is_acknowledged_before_it_is_stored() {
    finds(Flaw::AcknowledgesEarly);
}

#[test]
fn it_finds_a_delivery_that_is_forgotten() {
    finds(Flaw::Forgets);
}

#[test]
fn it_finds_one_that_is_sent_twice() {
    finds(Flaw::SendsTwice);
}

#[test]
fn it_finds_two_chats_that_are_mixed() {
    finds(Flaw::MixesChats);
}
