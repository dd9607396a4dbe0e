//! The shared laws of what messengers need, each over a SQLite home of its own.

use sb_testkit::suites::store::{batches, channels, outbox, people};

use crate::Home;

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_stored_whole_with_its_cursor_or_not_at_all() {
    batches::a_batch_is_stored_whole_with_its_cursor_or_not_at_all(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_key_falls_out_of_a_batch_and_the_cursor_moves() {
    batches::a_known_key_falls_out_of_a_batch_and_the_cursor_moves(&Home::new()).await;
}

/// Holds: T-24, T-25.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_known_after_more_than_a_thousand_others_and_a_restart() {
    batches::a_key_is_known_after_more_than_a_thousand_others_and_a_restart(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_full_conversation_gets_is_held_and_released_in_order_once() {
    batches::what_a_full_conversation_gets_is_held_and_released_in_order_once(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_and_known_by_now_falls_out() {
    batches::what_is_held_and_known_by_now_falls_out(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_found_by_its_key() {
    batches::a_message_is_found_by_its_key(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_shows_the_newest_and_cuts_what_is_long() {
    batches::the_inbox_shows_the_newest_and_cuts_what_is_long(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_keeps_the_newest_ten_thousand_and_all_that_is_held() {
    batches::the_inbox_keeps_the_newest_ten_thousand_and_all_that_is_held(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_are_kept_changed_and_removed() {
    channels::channels_are_kept_changed_and_removed(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_not_named_stays_and_an_empty_one_goes() {
    channels::a_secret_that_is_not_named_stays_and_an_empty_one_goes(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_adapter_keeps_is_kept_up_to_its_limit() {
    channels::what_an_adapter_keeps_is_kept_up_to_its_limit(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_channel_keeps_its_outbox_and_inbox() {
    channels::a_removed_channel_keeps_its_outbox_and_inbox(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_are_let_in_and_out() {
    people::guests_are_let_in_and_out(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_lives_an_hour_three_at_a_time() {
    people::a_pairing_lives_an_hour_three_at_a_time(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_code_lets_in_whoever_was_shown_it_once() {
    people::an_approved_code_lets_in_whoever_was_shown_it_once(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_wrong_codes_close_pairing_for_the_hour() {
    people::ten_wrong_codes_close_pairing_for_the_hour(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_written_once_under_its_key() {
    outbox::a_post_is_written_once_under_its_key(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_dated_by_what_it_is_decided_with() {
    outbox::a_post_is_dated_by_what_it_is_decided_with(&Home::new()).await;
}

/// Holds: B-35.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_to_be_sent_and_the_cursor_survive_a_restart() {
    outbox::what_is_to_be_sent_and_the_cursor_survive_a_restart(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revised_post_is_open_again() {
    outbox::a_revised_post_is_open_again(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_conversation_posted_is_not_revised() {
    outbox::what_another_conversation_posted_is_not_revised(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_live_before_their_post() {
    outbox::parts_live_before_their_post(&Home::new()).await;
}

/// Holds: B-37.
#[tokio::test(flavor = "multi_thread")]
async fn the_backlog_keeps_the_last_two_hundred() {
    outbox::the_backlog_keeps_the_last_two_hundred(&Home::new()).await;
}

#[tokio::test]
async fn our_own_answers_leave_the_backlog_before_replies_do() {
    outbox::our_own_answers_leave_the_backlog_before_replies_do(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_chat_takes_its_posts_along() {
    outbox::a_moved_chat_takes_its_posts_along(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gone_chat_is_not_among_the_places_to_send() {
    outbox::a_gone_chat_is_not_among_the_places_to_send(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_tries_a_post_again_or_drops_it() {
    outbox::an_operator_tries_a_post_again_or_drops_it(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_clock_put_off_that_was_set_back_is_due_again() {
    outbox::what_a_clock_put_off_that_was_set_back_is_due_again(&Home::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_long_out_is_cleared_away() {
    outbox::what_is_long_out_is_cleared_away(&Home::new()).await;
}
