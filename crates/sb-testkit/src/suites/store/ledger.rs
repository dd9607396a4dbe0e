//! Laws of the ledger in a store: an entry and what allows it are one commit, and a payment is made once.

use sb_store::ledgers::{Act, Usd};
use sb_store::model::{
    AccountKey, Call, CallId, Change, ConversationId, MessageId, Record, SessionId, ToolClass, TurnId,
};
use sb_store::{NewAccount, Store, StoreErrorKind};
use serde_json::json;

use super::Ground;
use super::samples::{NOON, Seeded, commit, conversation, ended, say, version};

const SESSION: SessionId = SessionId(0xa);
const TURN: TurnId = TurnId(0x7);

fn usd(text: &str) -> Usd {
    text.parse().unwrap()
}

async fn open(
    store: &Store,
    dice: &Seeded,
    name: &str,
    parent: Option<AccountKey>,
    budget: &str,
) -> AccountKey {
    let new = NewAccount { name: name.into(), parent, budget: usd(budget) };
    let entries = store.open_account(new, NOON, dice).await.unwrap();
    match &entries[0].act {
        Act::Opened { account, .. } => *account,
        other => panic!("no account: {other:?}"),
    }
}

/// alice with 70.00, her agent helper with 30.00, and a session that has begun; helper's key.
async fn begun(store: &Store, of: &ConversationId) -> AccountKey {
    let dice = Seeded::new(3);
    let alice = open(store, &dice, "alice", None, "100").await;
    let helper = open(store, &dice, "helper", Some(alice), "30").await;
    say(store, of, "Pay her.").await;
    commit(store, of, vec![Change::SessionBegan { id: SESSION, at: NOON }]).await;
    helper
}

fn pays(agent: AccountKey, id: &str, amount: &str, seq: i64) -> Change {
    let input = json!({"to": "alice", "amount": amount, "purpose": "cake"});
    let call = Call { id: CallId(id.into()), tool: "ledger_pay".into(), input, class: ToolClass::Spend };
    let (session, seq, turn) = (SESSION, sb_store::model::Seq(seq), TURN);
    Change::House { session, seq, at: NOON, turn, agent: Some(agent), call: Box::new(call) }
}

fn left(store: &Store, account: AccountKey) -> String {
    store.look_at_ledger(|ledger| ledger.account(account).unwrap().balance.to_string())
}

/// What the log's entry of this place tells.
async fn told(store: &Store, seq: i64) -> (bool, String) {
    let seq = sb_store::model::Seq(seq);
    match store.log(SESSION, seq, seq).await.unwrap().remove(0).record {
        Record::Result { ok, text, .. } => (ok, text),
        other => panic!("no result: {other:?}"),
    }
}

pub async fn a_payment_and_the_record_of_it_are_one_commit(ground: &impl Ground) {
    let (store, of) = (ground.open().await, conversation("a"));
    let helper = begun(&store, &of).await;
    let old = version(&store, &of).await;
    commit(&store, &of, vec![pays(helper, "c1", "2.50", 1)]).await;
    let (ok, text) = told(&store, 1).await;
    assert!(ok && text.contains("\"amount_usd\":\"2.50\"") && text.contains("\"entry\":5"), "{text}");
    assert_eq!(left(&store, helper), "27.50");
    // One decision on an old state, and one that contradicts what is stored: neither pays.
    let stale = store.commit(&of, old, vec![pays(helper, "c2", "1", 2)]).await.unwrap_err();
    assert_eq!(stale.kind, StoreErrorKind::Stale);
    let at = version(&store, &of).await;
    let impossible = vec![pays(helper, "c2", "1", 2), ended(MessageId(999), "nobody's")];
    let refused = store.commit(&of, at, impossible).await.unwrap_err();
    assert_eq!(refused.kind, StoreErrorKind::Contradiction);
    // The next goes on from what is stored, not from what was undone.
    commit(&store, &of, vec![pays(helper, "c3", "1", 2)]).await;
    assert!(told(&store, 2).await.1.contains("\"entry\":6"));
    let store = ground.reopen(store).await;
    assert_eq!(left(&store, helper), "26.50");
    assert_eq!(store.verify_ledger().await.unwrap(), 6);
}

pub async fn a_call_is_paid_once_however_often_it_is_committed(ground: &impl Ground) {
    let (store, of) = (ground.open().await, conversation("a"));
    let helper = begun(&store, &of).await;
    commit(&store, &of, vec![pays(helper, "c1", "2.50", 1)]).await;
    commit(&store, &of, vec![pays(helper, "c1", "2.50", 2)]).await;
    let receipt = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["receipt"].clone();
    let (first, second) = (told(&store, 1).await, told(&store, 2).await);
    assert!(first.0 && second.0);
    assert_eq!(receipt(&first.1), receipt(&second.1));
    assert_eq!(left(&store, helper), "27.50");
}

pub async fn what_cannot_be_paid_is_a_result_and_no_entry(ground: &impl Ground) {
    let (store, of) = (ground.open().await, conversation("a"));
    let helper = begun(&store, &of).await;
    commit(&store, &of, vec![pays(helper, "c1", "30.01", 1), pays(helper, "c2", "30", 2)]).await;
    let (ok, text) = told(&store, 1).await;
    assert!(!ok && text.contains("30.00 USD left, which does not cover 30.01 USD"), "{text}");
    assert!(told(&store, 2).await.0);
    assert_eq!((left(&store, helper), store.verify_ledger().await.unwrap()), ("0.00".into(), 5));
    let by = store.look_at_ledger(|l| l.find("alice").unwrap().key);
    store.sign(by, Act::Suspended { agent: helper }, NOON).await.unwrap();
    commit(&store, &of, vec![pays(helper, "c3", "1", 3)]).await;
    assert!(told(&store, 3).await.1.contains("suspended by alice"));
    let twice = store.sign(by, Act::Suspended { agent: helper }, NOON).await.unwrap_err();
    assert_eq!(twice.kind, StoreErrorKind::Refused);
}

pub async fn many_payments_at_once_never_spend_more_than_there_is(ground: &impl Ground) {
    let store = ground.open().await;
    let helper = begun(&store, &conversation("a")).await;
    let by = store.look_at_ledger(|l| l.find("alice").unwrap().key);
    let paying = (0..60).map(|_| {
        let store = store.clone();
        let act = Act::Paid { to: by, amount: usd("1"), purpose: "tea".into(), once: None };
        tokio::spawn(async move { store.sign(helper, act, NOON).await.is_ok() })
    });
    let mut made = 0;
    for paid in paying.collect::<Vec<_>>() {
        made += usize::from(paid.await.unwrap());
    }
    assert_eq!((made, left(&store, helper)), (30, "0.00".into()));
    let store = ground.reopen(store).await;
    assert_eq!(store.verify_ledger().await.unwrap(), 34);
}

pub async fn a_profile_gets_one_agent_and_keeps_it(ground: &impl Ground) {
    let store = ground.open().await;
    let dice = Seeded::new(5);
    let first = store.agent_for(&"helper".into(), NOON, &dice).await.unwrap();
    let other = store.agent_for(&"other".into(), NOON, &dice).await.unwrap();
    let store = ground.reopen(store).await;
    assert_eq!(store.agent_for(&"helper".into(), NOON, &dice).await.unwrap(), first);
    assert_ne!(first, other);
    // A person of that name is no agent.
    open(&store, &dice, "carol", None, "0").await;
    let carols = store.agent_for(&"carol".into(), NOON, &dice).await.unwrap();
    store.look_at_ledger(|ledger| {
        let account = ledger.account(carols).unwrap();
        assert_eq!(account.name, "carol-agent");
        assert_eq!(ledger.account(account.parent.unwrap()).unwrap().name, sb_store::OPERATOR);
    });
}
