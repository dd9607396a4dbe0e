//! The shared laws, each over a SQLite home of its own.

use sb_testkit::suites::store::{commits, files, intake, keys, law, ledger, logs};

use crate::Home;

#[tokio::test(flavor = "multi_thread")]
async fn loading_gives_what_the_changes_fold_to() {
    for seed in 0..8 {
        law::loading_gives_what_the_changes_fold_to(&Home::new(), seed, 250).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_is_the_first_message_again() {
    intake::a_repeat_is_the_first_message_again(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_key_with_other_words_is_told_apart() {
    intake::a_known_key_with_other_words_is_told_apart(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_past_its_time_is_new() {
    intake::a_key_past_its_time_is_new(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_holds_a_thousand_waiting_messages_and_no_more() {
    intake::a_conversation_holds_a_thousand_waiting_messages_and_no_more(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_keeps_the_profile_it_began_with() {
    intake::a_conversation_keeps_the_profile_it_began_with(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_found_by_its_receipt() {
    intake::a_message_is_found_by_its_receipt(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_takes_nothing_of_a_batch() {
    intake::a_full_disk_takes_nothing_of_a_batch(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_many_write_at_once_all_lands() {
    intake::what_many_write_at_once_all_lands(&Home::durable()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_on_an_old_state_changes_nothing() {
    commits::a_decision_on_an_old_state_changes_nothing(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_on_one_state_one_is_taken() {
    commits::of_two_decisions_on_one_state_one_is_taken(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn taking_a_message_in_does_not_disturb_a_decision() {
    commits::taking_a_message_in_does_not_disturb_a_decision(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_contradicts_the_rows_is_refused_whole() {
    commits::what_contradicts_the_rows_is_refused_whole(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_may_follow_another_in_one_decision() {
    commits::a_turn_may_follow_another_in_one_decision(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_unfinished_or_due_is_found() {
    commits::only_what_is_unfinished_or_due_is_found(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stretch_of_a_log_is_read_with_both_ends() {
    logs::a_stretch_of_a_log_is_read_with_both_ends(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_elsewhere_needs_does_not_grow_with_the_log() {
    logs::what_an_agent_elsewhere_needs_does_not_grow_with_the_log(&Home::new()).await;
}

#[tokio::test]
async fn the_view_begins_after_what_the_newest_usable_summary_covers() {
    logs::the_view_begins_after_what_the_newest_usable_summary_covers(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanges_are_the_newest_first_without_what_was_undone() {
    logs::exchanges_are_the_newest_first_without_what_was_undone(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_by_their_last_activity_and_what_they_do() {
    logs::sessions_are_listed_by_their_last_activity_and_what_they_do(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_kept_replaced_and_removed() {
    keys::profiles_are_kept_replaced_and_removed(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_takes_its_tokens_and_secrets_with_it() {
    keys::a_profile_takes_its_tokens_and_secrets_with_it(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_only_as_a_whole() {
    keys::a_token_opens_only_as_a_whole(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_comes_back_as_it_was_given() {
    keys::a_secret_comes_back_as_it_was_given(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_back_by_its_digest() {
    files::a_file_is_read_back_by_its_digest(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_finished_leaves_nothing() {
    files::a_file_that_is_not_finished_leaves_nothing(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_named_and_missing_is_found() {
    files::a_file_that_is_named_and_missing_is_found(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_and_the_record_of_it_are_one_commit() {
    ledger::a_payment_and_the_record_of_it_are_one_commit(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_paid_once_however_often_it_is_committed() {
    ledger::a_call_is_paid_once_however_often_it_is_committed(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_paid_is_a_result_and_no_entry() {
    ledger::what_cannot_be_paid_is_a_result_and_no_entry(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_payments_at_once_never_spend_more_than_there_is() {
    ledger::many_payments_at_once_never_spend_more_than_there_is(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_gets_one_agent_and_keeps_it() {
    ledger::a_profile_gets_one_agent_and_keeps_it(&Home::new()).await;
}
