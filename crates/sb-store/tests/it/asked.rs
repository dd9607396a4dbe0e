//! The shared laws of talks that are sent whole, each over a SQLite home of its own.

use sb_testkit::suites::store::asked;

use crate::Home;

#[tokio::test(flavor = "multi_thread")]
async fn a_talk_goes_on_at_its_tip_and_branches_before_it() {
    asked::a_talk_goes_on_at_its_tip_and_branches_before_it(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_knows_is_told_as_content_from_outside() {
    asked::what_nobody_knows_is_told_as_content_from_outside(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_is_the_first_message_for_ten_seconds_after_its_answer() {
    asked::a_retry_is_the_first_message_for_ten_seconds_after_its_answer(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_system_text_is_a_command_before_the_message() {
    asked::a_changed_system_text_is_a_command_before_the_message(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_cut_off_is_known_by_its_beginning() {
    asked::an_answer_that_was_cut_off_is_known_by_its_beginning(&Home::new()).await;
}
