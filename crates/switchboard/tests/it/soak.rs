//! A short soak of the program: killed under load, started again, judged by its clients' own record.
//! `cargo xtask soak` is the long one.

use sb_testkit::soak::{Plan, run};

/// Holds: C-60, C-61, C-63.
#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_message_is_answered_once_however_often_it_is_killed() {
    let binary = env!("CARGO_BIN_EXE_switchboard").into();
    let report = run(Plan { binary, kills: 12, conversations: 8, seed: 42 }).await.expect("the soak runs");
    assert!(report.wrong.is_empty(), "{report}");
    assert!(report.at_work * 2 > report.kills, "most kills met an idle program: {report}");
    assert!(report.acknowledged > 50, "{report}");
}
