//! The laws of a messenger, whichever platform is behind it: an adapter and its stand-in under the whole
//! engine. Each law says by its features whether it is asked of a kind at all.
//!
//! That a law can fail is shown too: for each there is an adapter, broken on purpose, that it catches
//! ([`broken`]).

pub mod broken;
mod deciding;
mod files;
mod keeping;
mod living;
mod receiving;
mod sending;
mod talking;

use sb_channel::{Features, Manifest};

pub use crate::messenger::Subject;

/// One law: its sentence, the kinds it is asked of, and what is done.
#[derive(Clone, Copy)]
pub struct Law {
    pub name: &'static str,
    /// Whether a kind with these features in direct chats is held to it.
    pub holds_for: fn(&Manifest) -> bool,
    pub check: fn(&Subject),
}

/// Laws from functions, named as they are.
macro_rules! laws {
    ($($module:ident::$law:ident if $when:expr),+ $(,)?) => {
        /// All laws.
        pub const LAWS: &[Law] = &[$(Law {
            name: stringify!($law),
            holds_for: $when,
            check: $module::$law,
        }),+];
    };
}

laws![
    talking::a_message_is_answered_once_where_it_came_from if every,
    talking::two_chats_never_mix if every,
    talking::replies_keep_their_order if every,
    talking::a_long_reply_arrives_whole_in_parts if every,
    talking::commands_are_answered_and_stop_ends_the_turn if every,
    talking::our_own_messages_are_not_answered if every,
    receiving::a_repeat_is_answered_once if every,
    receiving::a_broken_feed_comes_back_and_nothing_is_lost if every,
    receiving::what_is_said_while_we_are_away_is_answered if every,
    receiving::nothing_is_acknowledged_before_it_is_stored if every,
    receiving::rejected_credentials_are_shown_and_tried_again if every,
    keeping::a_kill_at_any_moment_loses_nothing if every,
    keeping::a_cut_chat_is_told_once_and_answered if every,
    keeping::what_was_unsent_goes_out_after_a_restart if every,
    keeping::a_flood_is_held_told_once_and_answered if every,
    sending::what_may_pass_is_tried_again if every,
    sending::a_limit_is_waited_for if every,
    sending::a_lost_answer_loses_nothing_and_is_repeated_at_most_once if every,
    sending::a_closed_chat_is_left_alone_until_it_speaks if every,
    sending::refused_formatting_goes_as_plain_words if every,
    living::we_are_shown_to_be_at_work_until_the_reply_is_out if types,
    living::a_taken_message_is_marked_until_it_is_answered if marks,
    living::a_reply_is_shown_while_it_is_written if lives,
    living::what_is_shown_live_becomes_the_reply_and_no_second_message if lives,
    living::switched_off_nothing_of_it_is_shown if every,
    deciding::a_question_is_answered_by_its_number if every,
    deciding::a_button_decides_once_and_closes_the_question if buttons,
    deciding::a_stranger_is_let_in_by_a_code_and_in_direct_chats_only if every,
    deciding::in_a_group_only_what_is_meant_for_us_is_answered if groups,
    files::a_file_comes_in_and_goes_out_unchanged if files_both,
    files::an_album_is_one_turn if files_both,
];

fn every(_: &Manifest) -> bool {
    true
}

fn direct(manifest: &Manifest) -> Features {
    manifest.direct
}

fn types(manifest: &Manifest) -> bool {
    direct(manifest).typing != sb_channel::Typing::Off
}

fn marks(manifest: &Manifest) -> bool {
    direct(manifest).marks.taken.is_some()
}

fn lives(manifest: &Manifest) -> bool {
    direct(manifest).live != sb_channel::Live::Off
}

fn buttons(manifest: &Manifest) -> bool {
    matches!(direct(manifest).questions, sb_channel::Questions::Buttons(_))
}

fn groups(manifest: &Manifest) -> bool {
    manifest.group.mentions
}

fn files_both(manifest: &Manifest) -> bool {
    direct(manifest).files_in.is_some() && direct(manifest).files_out.is_some()
}

/// Holds a kind to all laws that are asked of it; panics naming the first that does not hold.
pub fn check_all(subject: &Subject) {
    let manifest = (subject.kind.manifest)();
    for law in LAWS.iter().filter(|law| (law.holds_for)(&manifest)) {
        eprintln!("{}: {}", manifest.id, law.name);
        (law.check)(subject);
    }
}

/// A law by its name.
pub fn law(name: &str) -> Law {
    *LAWS.iter().find(|law| law.name == name).unwrap_or_else(|| panic!("there is no law {name}"))
}
