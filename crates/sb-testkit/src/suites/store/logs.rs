//! Laws of logs and sessions: what is read back, what the agent remembers, what can be undone.

use sb_store::Store;
use sb_store::model::{
    Change, ConversationId, Entry, Phase, Record, Seq, SessionId, Timestamp, TurnId, Usage,
};

use super::Ground;
use super::samples::{NOON, commit, conversation, ended, entry, exchange, logged, say, turn_began};

const SESSION: SessionId = SessionId(0xa1);

/// A conversation whose session holds three exchanges of two entries: turns 1, 2 and 3.
async fn three_exchanges(store: &Store) -> ConversationId {
    let of = conversation("a");
    say(store, &of, "/new").await;
    commit(store, &of, vec![Change::SessionBegan { id: SESSION, at: NOON }]).await;
    for (turn, from, text) in [(1, 1, "one"), (2, 3, "two"), (3, 5, "three")] {
        exchange(store, &of, SESSION, TurnId(turn), from, text).await;
    }
    of
}

async fn seqs(store: &Store) -> Vec<i64> {
    store.view_log(SESSION).await.unwrap().iter().map(|e| e.seq.0).collect()
}

pub async fn what_an_agent_elsewhere_needs_does_not_grow_with_the_log(ground: &impl Ground) {
    let store = ground.open().await;
    let of = three_exchanges(&store).await;
    let opened = |at, id: &str| logged(SESSION, entry(at, Some(TurnId(3)), Record::Opened { id: id.into() }));
    commit(&store, &of, vec![opened(7, "first")]).await;
    let noted = |at| {
        let by = sb_store::model::Principal("agent:x".into());
        logged(SESSION, entry(at, None, Record::Noted { text: "on".into(), by, told: false }))
    };
    commit(&store, &of, (8..=1500).map(noted).collect()).await;
    let needed = async |from| -> Vec<i64> {
        store.recent_log(SESSION, Seq(from)).await.unwrap().iter().map(|e| e.seq.0).collect()
    };
    let expected = |first: &[i64], from: i64, to: i64| [first, &(from..=to).collect::<Vec<_>>()].concat();
    assert_eq!(needed(1501).await, expected(&[7], 1101, 1500), "what it opened, and what was said lately");
    commit(&store, &of, undone(1501, 2)).await;
    commit(&store, &of, vec![opened(1502, "second")]).await;
    commit(&store, &of, (1503..=3000).map(noted).collect()).await;
    assert_eq!(
        needed(3001).await,
        expected(&[7, 1501, 1502], 2601, 3000),
        "and what an undoing took from it"
    );
    assert_eq!(needed(1501).await, expected(&[7], 1101, 3000), "all of a turn, however long");
    commit(&store, &of, vec![summary(3001, 2999)]).await;
    assert_eq!(needed(3002).await, expected(&[7, 1501, 1502], 2602, 3000), "nothing undone is covered");
}

fn summary(at: i64, covers: i64) -> Change {
    logged(SESSION, entry(at, None, Record::Summary { text: "short".into(), covers: Seq(covers) }))
}

fn undone(at: i64, turn: u64) -> Vec<Change> {
    let turn = TurnId(turn);
    vec![logged(SESSION, entry(at, None, Record::Undone { turn })), Change::Undone { turn }]
}

pub async fn a_stretch_of_a_log_is_read_with_both_ends(ground: &impl Ground) {
    let store = ground.open().await;
    three_exchanges(&store).await;
    let read = async |from, to| -> Vec<i64> {
        let entries: Vec<Entry> = store.log(SESSION, Seq(from), Seq(to)).await.unwrap();
        entries.iter().map(|e| e.seq.0).collect()
    };
    assert_eq!(read(2, 4).await, [2, 3, 4]);
    assert_eq!(read(5, i64::MAX).await, [5, 6]);
    assert_eq!(read(1, 0).await, [0i64; 0]);
    assert_eq!(store.log(SessionId(9), Seq(1), Seq(9)).await.unwrap(), []);
}

pub async fn the_view_begins_after_what_the_newest_usable_summary_covers(ground: &impl Ground) {
    let store = ground.open().await;
    let of = three_exchanges(&store).await;
    assert_eq!(seqs(&store).await, [1, 2, 3, 4, 5, 6], "without a summary: all");
    commit(&store, &of, vec![summary(7, 2)]).await;
    assert_eq!(seqs(&store).await, [3, 4, 5, 6, 7]);
    commit(&store, &of, vec![summary(8, 4)]).await;
    assert_eq!(seqs(&store).await, [5, 6, 7, 8]);
    commit(&store, &of, undone(9, 3)).await;
    assert_eq!(seqs(&store).await, [5, 6, 7, 8, 9], "nothing undone is covered");
    commit(&store, &of, undone(10, 2)).await;
    assert_eq!(seqs(&store).await, [3, 4, 5, 6, 7, 8, 9, 10], "the older summary serves again");
    commit(&store, &of, undone(11, 1)).await;
    assert_eq!(seqs(&store).await, (1..=11).collect::<Vec<_>>(), "no summary is left");
}

pub async fn exchanges_are_the_newest_first_without_what_was_undone(ground: &impl Ground) {
    let store = ground.open().await;
    let of = three_exchanges(&store).await;
    let found = store.exchanges(SESSION, 2).await.unwrap();
    assert_eq!(found.iter().map(|e| e.turn.0).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(found[0].said, "answer to three");
    assert!(matches!(&found[0].prompts[..], [Record::Said { text, .. }] if text == "three"));
    commit(&store, &of, undone(7, 3)).await;
    let store = ground.reopen(store).await;
    let found = store.exchanges(SESSION, 9).await.unwrap();
    assert_eq!(found.iter().map(|e| e.turn.0).collect::<Vec<_>>(), [2, 1]);
    let message = say(&store, &of, "shorten").await;
    let turn = TurnId(4);
    let end = Change::TurnEnded { turn, exchange: false };
    commit(&store, &of, vec![turn_began(turn, SESSION, vec![message.id], 8)]).await;
    assert_eq!(store.exchanges(SESSION, 9).await.unwrap().len(), 2, "a running turn is none");
    commit(&store, &of, vec![ended(message.id, "done"), end]).await;
    assert_eq!(store.exchanges(SESSION, 9).await.unwrap().len(), 2, "nor is one that does not count");
}

pub async fn sessions_are_listed_by_their_last_activity_and_what_they_do(ground: &impl Ground) {
    let store = ground.open().await;
    let of = three_exchanges(&store).await;
    let (newer, other, turn) = (SessionId(0xa2), conversation("b"), TurnId(9));
    let late = Timestamp(NOON.0 + 60_000);
    let usage = Usage { turns: 3, ..Usage::default() };
    let used = Change::Used { session: SESSION, usage };
    let titled = Change::Titled { session: SESSION, title: "Numbers".into() };
    commit(&store, &of, vec![used, titled, Change::SessionBegan { id: newer, at: late }]).await;
    let message = say(&store, &other, "x").await;
    let third = SessionId(0xffff_0000_0000_0000);
    let began = Change::SessionBegan { id: third, at: NOON };
    commit(&store, &other, vec![began, turn_began(turn, third, vec![message.id], 1)]).await;

    let all = store.sessions(None, None, 9).await.unwrap();
    let shown: Vec<_> = all.iter().map(|s| (s.id, s.current, s.state.as_str())).collect();
    assert_eq!(shown, [(newer, true, "idle"), (SESSION, false, "idle"), (third, true, "running")]);
    assert_eq!((all[1].title.as_deref(), all[1].usage), (Some("Numbers"), usage));
    commit(&store, &other, vec![Change::Entered { turn, phase: Phase::Parked, worked_ms: 1 }]).await;
    let one = store.sessions(Some(&other), None, 9).await.unwrap();
    assert_eq!((one.len(), one[0].state.as_str()), (1, "waiting"));
    assert_eq!(store.sessions(None, Some(&"nobody".into()), 9).await.unwrap(), []);
    assert_eq!(store.sessions(None, Some(&"assistant".into()), 1).await.unwrap().len(), 1);

    let (session, conversation, profile) = store.session(SESSION).await.unwrap().unwrap();
    assert_eq!((session.last, session.usage, &conversation), (Seq(6), usage, &of));
    assert_eq!(profile.as_str(), "assistant");
    assert_eq!(store.session(SessionId(1)).await.unwrap(), None);
    let found = |prefix| store.session_by_prefix(&of, prefix);
    assert_eq!(found("00000000000000a").await.unwrap(), [newer, SESSION]);
    assert_eq!(found("00000000000000A1").await.unwrap(), [SESSION]);
    assert_eq!(found("ffff").await.unwrap(), [], "another conversation's");
    assert_eq!(found("%").await.unwrap(), []);
}
