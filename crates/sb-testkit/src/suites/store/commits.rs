//! Laws of committing: all or nothing, at the version it was decided on, and nothing twice.

use sb_store::model::{Change, MessageId, Phase, Seq, SessionId, Timestamp, TurnId};
use sb_store::{StoreErrorKind, Version};

use super::Ground;
use super::samples::{NOON, commit, conversation, ended, entry, logged, said, say, turn_began, version};

const SESSION: SessionId = SessionId(0xa1);
const TURN: TurnId = TurnId(0xb1);

fn session_began() -> Change {
    Change::SessionBegan { id: SESSION, at: NOON }
}

pub async fn a_decision_on_an_old_state_changes_nothing(ground: &impl Ground) {
    let store = ground.open().await;
    let of = conversation("a");
    let message = say(&store, &of, "hello").await;
    let at = version(&store, &of).await;
    let next = store.commit(&of, at, vec![session_began()]).await.unwrap();
    assert!(next > at);
    let before = store.load(&of).await.unwrap();
    for old in [at, Version(next.0 + 1)] {
        let refused = store.commit(&of, old, vec![ended(message.id, "twice")]).await.unwrap_err();
        assert_eq!(refused.kind, StoreErrorKind::Stale);
    }
    let nobody = store.commit(&conversation("b"), Version(0), vec![]).await.unwrap_err();
    assert_eq!(nobody.kind, StoreErrorKind::Stale);
    assert_eq!(store.load(&of).await.unwrap(), before);
}

pub async fn of_two_decisions_on_one_state_one_is_taken(ground: &impl Ground) {
    let store = ground.open().await;
    let of = conversation("a");
    say(&store, &of, "hello").await;
    let at = version(&store, &of).await;
    let wake = |ms| store.commit(&of, at, vec![Change::WakeAt(Some(Timestamp(ms)))]);
    let (a, b, c) = tokio::join!(wake(1), wake(2), wake(3));
    let taken = [a, b, c].into_iter().filter(|r| r.is_ok()).count();
    assert_eq!(taken, 1);
}

pub async fn taking_a_message_in_does_not_disturb_a_decision(ground: &impl Ground) {
    let store = ground.open().await;
    let of = conversation("a");
    say(&store, &of, "hello").await;
    let at = version(&store, &of).await;
    say(&store, &of, "more").await;
    store.commit(&of, at, vec![session_began()]).await.unwrap();
}

pub async fn what_contradicts_the_rows_is_refused_whole(ground: &impl Ground) {
    let store = ground.open().await;
    let (of, other) = (conversation("a"), conversation("b"));
    let (one, two) = (say(&store, &of, "one").await, say(&store, &of, "two").await);
    let elsewhere = say(&store, &other, "three").await;
    let first = logged(SESSION, entry(1, Some(TURN), said(&one)));
    commit(&store, &of, vec![session_began(), turn_began(TURN, SESSION, vec![one.id], 1), first]).await;
    commit(&store, &of, vec![ended(two.id, "done")]).await;
    let before = store.load(&of).await.unwrap();
    let at = version(&store, &of).await;
    let again = TurnId(0xb2);
    let phase = |turn| Change::Entered { turn, phase: Phase::Parked, worked_ms: 1 };
    let edited = |message| Change::Edited { message, text: "other words".into() };
    let note = |seq| logged(SESSION, entry(seq, None, said(&one)));
    let cases: Vec<(&str, Vec<Change>)> = vec![
        ("a message ends twice", vec![ended(two.id, "again")]),
        ("another conversation's message ends", vec![ended(elsewhere.id, "no")]),
        (
            "a message joins that does not wait",
            vec![Change::Joined {
                turn: TURN,
                message: two.id,
                from: Seq(2),
                rights: sb_core::model::Rights::ALL,
            }],
        ),
        ("a turn begins over a message of another", vec![turn_began(again, SESSION, vec![one.id], 2)]),
        ("a second turn begins", vec![turn_began(again, SESSION, vec![], 2)]),
        ("a turn ends with its message unanswered", vec![Change::TurnEnded { turn: TURN, exchange: true }]),
        ("an unknown turn ends", vec![Change::TurnEnded { turn: again, exchange: true }]),
        ("an unknown turn changes", vec![phase(again)]),
        ("a log has a gap", vec![note(3)]),
        ("a log has a gap later", vec![note(2), note(4)]),
        ("an entry is written again", vec![note(1)]),
        (
            "an unknown session gets a title",
            vec![Change::Titled { session: SessionId(9), title: "x".into() }],
        ),
        ("a session begins again", vec![session_began()]),
        ("an unknown message ends", vec![ended(MessageId(12345), "no")]),
        ("a message of a turn is changed", vec![edited(one.id)]),
        ("a message is changed after its ending", vec![edited(two.id)]),
        ("another conversation's message is changed", vec![edited(elsewhere.id)]),
        ("an unknown message is changed", vec![edited(MessageId(12345))]),
    ];
    for (what, mut changes) in cases {
        changes.insert(0, Change::WakeAt(Some(Timestamp(77))));
        let refused = store.commit(&of, at, changes).await.expect_err(what);
        assert_eq!(refused.kind, StoreErrorKind::Contradiction, "{what}: {refused}");
        assert_eq!(store.load(&of).await.unwrap(), before, "{what}");
        assert_eq!(store.next_wake().await.unwrap(), None, "{what}");
    }
    store
        .commit(&of, at, vec![ended(one.id, "x"), Change::TurnEnded { turn: TURN, exchange: true }])
        .await
        .unwrap();
}

pub async fn a_turn_may_follow_another_in_one_decision(ground: &impl Ground) {
    let store = ground.open().await;
    let of = conversation("a");
    let (one, two) = (say(&store, &of, "one").await, say(&store, &of, "two").await);
    commit(&store, &of, vec![session_began(), turn_began(TURN, SESSION, vec![one.id], 1)]).await;
    let next = TurnId(0xb2);
    commit(
        &store,
        &of,
        vec![
            Change::Entered { turn: TURN, phase: Phase::Stopping, worked_ms: 1 },
            Change::TurnEnded { turn: TURN, exchange: true },
            ended(one.id, "done"),
            turn_began(next, SESSION, vec![two.id], 1),
            Change::TurnRestarted { turn: next },
        ],
    )
    .await;
    let turn = store.load(&of).await.unwrap().unwrap().0.turn.unwrap();
    assert_eq!((turn.id, turn.starts, turn.messages.len()), (next, 2, 1));
}

pub async fn only_what_is_unfinished_or_due_is_found(ground: &impl Ground) {
    let store = ground.open().await;
    let (idle, waiting, running) = (conversation("idle"), conversation("waiting"), conversation("running"));
    let done = say(&store, &idle, "x").await;
    commit(&store, &idle, vec![ended(done.id, "y"), Change::WakeAt(Some(NOON.plus_ms(50)))]).await;
    say(&store, &waiting, "x").await;
    commit(&store, &waiting, vec![Change::WakeAt(Some(NOON.plus_ms(20)))]).await;
    let at_work = say(&store, &running, "x").await;
    commit(&store, &running, vec![session_began(), turn_began(TURN, SESSION, vec![at_work.id], 1)]).await;
    let store = ground.reopen(store).await;
    let mut found = store.unfinished().await.unwrap();
    found.sort();
    assert_eq!(found, [running, waiting.clone()]);
    assert_eq!(store.next_wake().await.unwrap(), Some(NOON.plus_ms(20)));
    assert_eq!(store.due(NOON).await.unwrap(), []);
    assert_eq!(store.due(NOON.plus_ms(20)).await.unwrap(), std::slice::from_ref(&waiting));
    assert_eq!(store.due(NOON.plus_ms(50)).await.unwrap(), [waiting.clone(), idle.clone()]);
    commit(&store, &waiting, vec![Change::WakeAt(None)]).await;
    assert_eq!(store.next_wake().await.unwrap(), Some(NOON.plus_ms(50)));
    commit(&store, &idle, vec![]).await;
    assert_eq!(store.next_wake().await.unwrap(), Some(NOON.plus_ms(50)), "unmentioned, it stays");
}
