//! Jobs and messages into other conversations, under the whole engine with a platform.

use sb_channel::model::Level;
use sb_channels::telegram::standin::{Break, Calls, TelegramStandIn};
use sb_engine::{JobTime, JobView, JobWish, RunState};
use sb_testkit::messenger::{Life, SLUG};

use crate::bridge::{said, telegram, until};

fn wish(life: &Life, name: &str, time: JobTime, prompt: &str) -> JobWish {
    JobWish {
        name: name.to_owned(),
        profile: "assistant".into(),
        conversation: conversation(life),
        prompt: prompt.to_owned(),
        time,
        zone: Some("UTC".to_owned()),
    }
}

fn conversation(life: &Life) -> String {
    format!("{SLUG}:assistant:chat:{}", life.chat.id)
}

/// A time so many seconds from now.
fn at(life: &Life, seconds: i64) -> JobTime {
    let at = jiff::Timestamp::from_millisecond(life.engine.now().0).expect("a time").as_second() + seconds;
    JobTime::At(jiff::Timestamp::from_second(at).expect("a time").to_string())
}

/// Ann and the agent have spoken, so there is a conversation.
async fn met(life: &Life) {
    life.say("!say Hello.");
    life.until_said("Hello.").await;
    life.rest().await;
}

async fn state(life: &Life, name: &str) -> JobView {
    life.engine.job(name).await.expect("the job")
}

fn count(platform: &TelegramStandIn, life: &Life, words: &str) -> usize {
    said(platform, &life.chat).iter().filter(|text| text.contains(words)).count()
}

/// Holds: H-25, U-10, F-46.
#[test]
fn a_job_writes_first_at_its_times_and_is_delivered_once_the_platform_named_the_message() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        met(life).await;
        let time = JobTime::Cron("*/10 * * * *".to_owned());
        let made = life.engine.add_job(wish(life, "tick", time, "!say Tick.")).await.expect("a job");
        assert!(made.notes.is_empty(), "{:?}", made.notes);
        life.pass(1_210_000).await;
        until(life, "two runs", || count(&platform, life, "Tick.") == 2).await;
        life.rest().await;
        let job = state(life, "tick").await;
        let states: Vec<_> = job.runs.iter().map(|run| run.state.clone()).collect();
        let named: Vec<_> = platform
            .seen_of_us(&life.chat)
            .into_iter()
            .filter(|m| m.text == "Tick.")
            .map(|m| RunState::Delivered(m.reference.0.clone()))
            .rev()
            .collect();
        assert_eq!(states, named);
        // What was sent is cleared away after a week; that it was delivered is known on.
        life.engine.remove_job("tick").await.expect("it was there");
        let once = wish(life, "once", at(life, 60), "!say Only once.");
        life.engine.add_job(once).await.expect("a job");
        life.pass(70_000).await;
        life.rest().await;
    });
    messenger.clock.leap(8 * 86_400_000);
    messenger.live(async |life| {
        life.engine.store().purge(life.engine.now()).await.expect("a purge");
        let posts = life.engine.outbox(None, true).await.expect("a list");
        assert!(posts.is_empty(), "{posts:?}");
        let job = state(life, "once").await;
        assert!(matches!(job.runs[0].state, RunState::Delivered(_)), "{job:?}");
        assert_eq!((job.next, count(&platform, life, "Only once.")), (None, 1));
    });
}

#[test]
fn what_was_missed_while_nobody_ran_runs_once() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        met(life).await;
        let each = JobTime::Every("1h".to_owned());
        life.engine.add_job(wish(life, "hourly", each, "!say The hour.")).await.expect("a job");
        let once = wish(life, "once", at(life, 7_200), "!say The appointment.");
        life.engine.add_job(once).await.expect("a job");
    });
    messenger.clock.leap((5 * 3_600 + 1_800) * 1_000);
    messenger.live(async |life| {
        life.pass(60_000).await;
        life.rest().await;
        assert_eq!(count(&platform, life, "The hour."), 1, "five were missed");
        assert_eq!(count(&platform, life, "The appointment."), 1);
        let trace = life.engine.sessions(None, 1).await.expect("a list").remove(0);
        let view = life.engine.session(trace.id).await.expect("a session");
        let told = format!("{:?}", view.log);
        assert!(told.contains("This was due"), "the agent is told that it is late: {told}");
        life.pass(3_600_000).await;
        life.rest().await;
        assert_eq!(count(&platform, life, "The hour."), 2, "and it goes on by its hours");
        assert_eq!(count(&platform, life, "The appointment."), 1);
    });
}

#[test]
fn a_due_time_becomes_one_message_wherever_a_kill_falls() {
    for after in [0, 4_000, 4_990, 5_000, 5_010, 5_060, 6_000, 9_000] {
        let (mut messenger, platform) = telegram(|_| ());
        messenger.live(async |life| {
            met(life).await;
            let once = wish(life, "once", at(life, 10), "!wait 2\n!say The appointment.");
            life.engine.add_job(once).await.expect("a job");
            life.pass(5_000 + after).await;
        });
        messenger.live(async |life| {
            life.pass(60_000).await;
            life.rest().await;
            assert_eq!(count(&platform, life, "The appointment."), 1, "killed after {after} ms");
        });
    }
}

#[test]
fn runs_do_not_pile_up_behind_one_that_waits_for_a_person() {
    let (mut messenger, platform) = telegram(|options| options.ask_expiry_s = None);
    messenger.live(async |life| {
        met(life).await;
        let each = JobTime::Every("1m".to_owned());
        let asks = "!tool write_file {\"path\": \"a\", \"text\": \"b\"}\n!say Written.";
        life.engine.add_job(wish(life, "eager", each, asks)).await.expect("a job");
        life.pass(600_000).await;
        assert_eq!(count(&platform, life, "May I run write_file"), 1);
        let why = life.engine.run_job("eager").await.expect_err("one is at work");
        assert!(why.said.contains("has no end yet"), "{why}");
        let job = state(life, "eager").await;
        assert_eq!((job.runs.len(), job.runs[0].state.clone()), (1, RunState::Unfinished));
    });
}

#[test]
fn a_job_is_refused_where_it_could_never_be_delivered() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        let early = life.engine.add_job(wish(life, "a", at(life, 60), "Hi")).await.expect_err("nobody spoke");
        assert!(early.said.contains("has no conversation yet"), "{early}");
        met(life).await;
        let mut elsewhere = wish(life, "a", at(life, 60), "Hi");
        elsewhere.conversation = "chat:assistant:chat:999".to_owned();
        let why = life.engine.add_job(elsewhere).await.expect_err("there is no such");
        assert!(why.said.contains(&conversation(life)), "it names those there are: {why}");
        let mut by_name = wish(life, "a", at(life, 60), "Hi");
        by_name.conversation = format!("chat:{}", life.chat.id);
        let made = life.engine.add_job(by_name).await.expect("the name alone is enough");
        assert_eq!(made.job.conversation.0, conversation(life));
        let again = life.engine.add_job(wish(life, "a", at(life, 60), "Hi")).await.expect_err("it is there");
        assert!(again.said.contains("there is a job a already"), "{again}");
        // The platform is asked, since nobody has told us yet.
        platform.break_next(Break::ChatGone, Calls::Gestures, 1);
        let gone = life.engine.add_job(wish(life, "b", at(life, 60), "Hi")).await.expect_err("it is gone");
        assert!(gone.said.contains("cannot be written to"), "{gone}");
        platform.block(&life.chat);
        life.pass(1_000).await;
        let blocked = life.engine.add_job(wish(life, "b", at(life, 60), "Hi")).await.expect_err("blocked");
        assert!(blocked.said.contains("the bot was blocked"), "{blocked}");
    });
}

#[test]
fn a_run_that_the_platform_refuses_is_not_called_delivered() {
    let (mut messenger, platform) = telegram(|_| ());
    messenger.live(async |life| {
        met(life).await;
        life.engine.add_job(wish(life, "a", at(life, 30), "!say Are you there?")).await.expect("a job");
        platform.block(&life.chat);
        life.pass(120_000).await;
        let job = state(life, "a").await;
        assert!(!matches!(job.runs[0].state, RunState::Delivered(_)), "{job:?}");
        platform.unblock(&life.chat);
        until(life, "it arrives", || count(&platform, life, "Are you there?") == 1).await;
        life.rest().await;
        assert!(matches!(state(life, "a").await.runs[0].state, RunState::Delivered(_)));
    });
}

#[test]
fn a_message_into_another_conversation_is_allowed_sent_once_and_told_with_the_answer_to_it() {
    let (mut messenger, platform) = telegram(|options| options.allow.push("*".to_owned()));
    let ben = platform.person("Ben");
    let bens = platform.direct(&ben);
    let send = |to: &str| {
        format!("!tool send_message {{\"to\": \"{to}\", \"text\": \"Dinner at **eight**?\"}}\n!say Asked.")
    };
    let to_ben = format!("{SLUG}:assistant:chat:{}", bens.id);
    messenger.live(async |life| {
        let mut profile = life.engine.profile(&"assistant".into()).await.expect("a profile");
        profile.autonomy = Level::L4;
        life.engine.put_profile(profile, None).await.expect("a change");
        met(life).await;
        platform.say(&bens, &ben, "!say Hello Ben.");
        until(life, "Ben is answered", || said(&platform, &bens) == ["Hello Ben."]).await;
        life.rest().await;
        // Of one that is not there nobody is asked; the model is told which there are.
        life.say(&send("chat:assistant:chat:1"));
        life.until_said("Asked.").await;
        assert_eq!(count(&platform, life, "May I run"), 0);
        let session = life.engine.sessions(None, 1).await.expect("a list").remove(0);
        let log = format!("{:?}", life.engine.session(session.id).await.expect("a session").log);
        assert!(log.contains(&format!("{to_ben} (Ben)")), "{log}");
        life.say(&send(&to_ben));
        life.until_said("May I run send_message").await;
        assert_eq!(said(&platform, &bens).len(), 1, "not before it is allowed");
        life.say("/approve");
        life.pass(20).await;
    });
    messenger.live(async |life| {
        until(life, "Ben reads it", || said(&platform, &bens).iter().any(|t| t.contains("eight"))).await;
        life.rest().await;
        assert_eq!(said(&platform, &bens).len(), 2, "once: {:?}", said(&platform, &bens));
        platform.say(&bens, &ben, "Yes, gladly.\n!say Good.");
        until(life, "Ben is answered", || said(&platform, &bens).iter().any(|t| t == "Good.")).await;
        platform.say(&bens, &ben, "And where?\n!say Here.");
        until(life, "Ben is answered", || said(&platform, &bens).iter().any(|t| t == "Here.")).await;
        let sessions = life.engine.sessions(None, 5).await.expect("a list");
        let of_ben = sessions.into_iter().find(|s| s.conversation.0 == to_ben).expect("Ben's session");
        let log = format!("{:?}", life.engine.session(of_ben.id).await.expect("a session").log);
        assert_eq!(log.matches("You wrote here, from another conversation").count(), 1, "{log}");
    });
}
