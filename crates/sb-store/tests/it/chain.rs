//! Homes whose ledger somebody changed: none opens, and the first entry that is wrong is named.

use sb_store::model::Secret;
use sb_store::{Durability, NewAccount, OPERATOR, Store, StoreErrorKind};
use sb_testkit::suites::store::Ground;
use sb_testkit::suites::store::samples::{NOON, Seeded};

use crate::Home;

/// A home with six entries, closed.
async fn kept() -> Home {
    let home = Home::new();
    let (store, dice) = (home.open().await, Seeded::new(1));
    store.agent_for(&"helper".into(), NOON, &dice).await.unwrap();
    for name in ["bob", "carol"] {
        let new = NewAccount { name: name.into(), parent: None, budget: "5".parse().unwrap() };
        store.open_account(new, NOON, &dice).await.unwrap();
    }
    store.close().await.unwrap();
    home
}

/// What opening says after this was done to the database.
async fn said_after(statement: &str) -> String {
    let home = kept().await;
    rusqlite::Connection::open(home.path().join("switchboard.db")).unwrap().execute_batch(statement).unwrap();
    match Store::open(home.path(), Durability::Process).await {
        Ok(_) => panic!("it opened after {statement}"),
        Err(why) => {
            assert_eq!(why.kind, StoreErrorKind::Corrupt);
            why.to_string()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_chain_does_not_open_and_its_first_bad_entry_is_named() {
    for (statement, says) in [
        (
            "update ledger set entry = replace(entry, '5.00', '9.00') where number = 4",
            "entry 4 of the ledger is not as it was signed",
        ),
        (
            "update ledger set signature = replace(signature, 'a', 'b') where number = 3",
            "entry 3 of the ledger is not as it was signed",
        ),
        ("delete from ledger where number = 2", "entry 2 of the ledger is not as it was signed"),
        (
            "update ledger set digest = (select digest from ledger where number = 1) where number = 5",
            "the row of entry 5",
        ),
        ("update ledger set once = 'x' where number = 3", "the row of entry 3"),
        ("delete from ledger where number = 6", "entry 6 of the ledger is gone"),
        ("delete from ledger", "entry 1 of the ledger is gone"),
        ("delete from secrets where name = 'ledger/end'", "the seal of the ledger's end was taken away"),
    ] {
        let said = said_after(statement).await;
        assert!(said.contains(says) && said.contains("go back to a backup"), "{statement}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_machines_key_the_chain_still_verifies_and_profiles_still_get_agents() {
    let home = kept().await;
    std::fs::remove_file(home.path().join("machine.key")).unwrap();
    let store = home.open().await;
    assert_eq!(store.verify_ledger().await.unwrap(), 6);
    let operator = store.look_at_ledger(|l| l.find(OPERATOR).unwrap().key);
    let act = sb_store::ledgers::Act::BroughtIn { amount: "1".parse().unwrap() };
    let refused = store.sign(operator, act, NOON).await.unwrap_err();
    assert!(refused.to_string().contains("bring the machine.key"), "{refused}");
    store.put_secret("other", &Secret::new("makes a new key")).await.unwrap();
    let agent = store.agent_for(&"new".into(), NOON, &Seeded::new(9)).await.unwrap();
    let parent =
        store.look_at_ledger(|l| l.account(l.account(agent).unwrap().parent.unwrap()).unwrap().name.clone());
    assert_eq!(parent, "operator-2");
    let store = home.reopen(store).await;
    assert_eq!(store.verify_ledger().await.unwrap(), 8);
}
