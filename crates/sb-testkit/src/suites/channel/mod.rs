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

use std::sync::Arc;

use sb_channel::standin::StandIn;
use sb_channel::{Features, Marks};
use sb_engine::model::Timestamp;
use sb_engine::model::text::Dialect;
use sb_harness::net::{Http, ManualClock};

use broken::{Broken, Flaw};

pub use crate::messenger::Subject;

/// One law: its sentence, the kinds it is asked of, and what is done.
#[derive(Clone, Copy)]
pub struct Law {
    pub name: &'static str,
    /// Whether such a kind is held to it.
    pub holds_for: fn(&Subject) -> bool,
    pub check: fn(&Subject),
}

/// All laws, handed to a macro: one list for the table here and for the tests of each kind.
#[macro_export]
macro_rules! for_each_channel_law {
    ($then:path $(, $with:expr)?) => {
        $then! { [$($with)?]
            talking::a_message_is_answered_once_where_it_came_from if every,
            talking::two_chats_never_mix if every,
            talking::replies_keep_their_order if every,
            talking::a_long_reply_arrives_whole_in_parts if every,
            talking::commands_are_answered_and_stop_ends_the_turn if every,
            talking::our_own_messages_are_not_answered if every,
            receiving::a_repeat_is_answered_once if repeats,
            receiving::a_broken_feed_comes_back_and_nothing_is_lost if every,
            receiving::what_is_said_while_we_are_away_is_answered if every,
            receiving::nothing_is_acknowledged_before_it_is_stored if every,
            receiving::rejected_credentials_are_shown_and_tried_again if asks,
            keeping::a_kill_at_any_moment_loses_nothing if every,
            keeping::a_cut_chat_is_told_once_and_answered if every,
            keeping::what_was_unsent_goes_out_after_a_restart if every,
            keeping::a_flood_is_held_told_once_and_answered if every,
            sending::what_may_pass_is_tried_again if every,
            sending::a_limit_is_waited_for if every,
            sending::a_lost_answer_loses_nothing_and_is_repeated_at_most_once if every,
            sending::a_closed_chat_is_left_alone_until_it_speaks if every,
            sending::refused_formatting_goes_as_plain_words if formats,
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
            files::an_album_is_one_turn if albums,
        }
    };
}

macro_rules! table {
    ([] $($module:ident::$law:ident if $when:ident),+ $(,)?) => {
        /// All laws.
        pub const LAWS: &[Law] = &[$(Law {
            name: stringify!($law),
            holds_for: $when,
            check: $module::$law,
        }),+];
    };
}

for_each_channel_law!(table);

/// A test for each law that is asked of a kind: `conformance!(subject())`.
#[macro_export]
macro_rules! conformance {
    ($subject:expr) => {
        $crate::for_each_channel_law!($crate::conformance_tests, $subject);
    };
}

/// See [`conformance`].
#[macro_export]
macro_rules! conformance_tests {
    ([$subject:expr] $($module:ident::$law:ident if $when:ident),+ $(,)?) => {
        $(
            #[test]
            fn $law() {
                $crate::suites::channel::check(stringify!($law), &$subject);
            }
        )+

        /// Each law catches the adapter that is broken for it.
        mod caught {
            use super::*;

            $(
                #[test]
                fn $law() {
                    $crate::suites::channel::catches(stringify!($law), &$subject);
                }
            )+
        }
    };
}

fn every(_: &Subject) -> bool {
    true
}

fn direct(subject: &Subject) -> Features {
    subject.kind.manifest().direct
}

/// Whether the platform ever tells of a message again: that is tried.
fn repeats(subject: &Subject) -> bool {
    let standin = standin(subject);
    let ann = standin.person("Ann");
    let message = standin.say(&standin.direct(&ann), &ann, "Hello");
    standin.say_again(&message)
}

/// Whether a server reads how words are formatted, and can refuse it; marks are no more than letters to it.
fn formats(subject: &Subject) -> bool {
    direct(subject).text.fit.dialect != Dialect::Marks
}

fn types(subject: &Subject) -> bool {
    direct(subject).typing != sb_channel::Typing::Off
}

fn marks(subject: &Subject) -> bool {
    direct(subject).marks.taken.is_some()
}

/// Whether the mark of a taken message is a read receipt.
fn reads(subject: &Subject) -> bool {
    direct(subject).marks.taken == Some(Marks::READ)
}

fn lives(subject: &Subject) -> bool {
    direct(subject).live != sb_channel::Live::Off
}

fn buttons(subject: &Subject) -> bool {
    matches!(direct(subject).questions, sb_channel::Questions::Buttons(_))
}

fn groups(subject: &Subject) -> bool {
    subject.kind.manifest().group.mentions
}

fn files_both(subject: &Subject) -> bool {
    direct(subject).files_in.is_some() && direct(subject).files_out.is_some()
}

fn albums(subject: &Subject) -> bool {
    files_both(subject) && standin(subject).has_albums()
}

/// Whether the platform is asked for what people write, and may refuse us; one that calls us cannot.
fn asks(subject: &Subject) -> bool {
    let nowhere = Http::in_process(Arc::new(crate::hooked::Hooked::default()));
    standin(subject).calling(nowhere).is_none()
}

fn standin(subject: &Subject) -> Arc<dyn StandIn> {
    (subject.standin)(Arc::new(ManualClock::at(Timestamp(0))))
}

fn law(name: &str) -> &'static Law {
    LAWS.iter().find(|law| law.name == name).unwrap_or_else(|| panic!("there is no law {name}"))
}

/// Holds a kind to a law, if it is asked of such a kind.
pub fn check(name: &str, subject: &Subject) {
    let law = law(name);
    if (law.holds_for)(subject) {
        (law.check)(subject);
    }
}

/// The flaw that a law must catch in such a kind.
fn flaw(law: &str, subject: &Subject) -> Flaw {
    match law {
        "a_message_is_answered_once_where_it_came_from" => Flaw::SendsTwice,
        "two_chats_never_mix" => Flaw::MixesChats,
        "replies_keep_their_order" => Flaw::Forgets,
        "a_long_reply_arrives_whole_in_parts" => Flaw::CutsTexts,
        "commands_are_answered_and_stop_ends_the_turn" => Flaw::Forgets,
        "our_own_messages_are_not_answered" => Flaw::Echoes,
        "a_repeat_is_answered_once" => Flaw::NamesTheEnvelope,
        "a_broken_feed_comes_back_and_nothing_is_lost" => Flaw::StaysDeaf,
        "what_is_said_while_we_are_away_is_answered" => Flaw::SkipsTheBacklog,
        "nothing_is_acknowledged_before_it_is_stored" => Flaw::AcknowledgesEarly,
        "rejected_credentials_are_shown_and_tried_again" => Flaw::StaysDeaf,
        "a_kill_at_any_moment_loses_nothing" => Flaw::Forgets,
        "a_cut_chat_is_told_once_and_answered" => Flaw::SendsTwice,
        "what_was_unsent_goes_out_after_a_restart" => Flaw::GivesUp,
        "a_flood_is_held_told_once_and_answered" => Flaw::Forgets,
        "what_may_pass_is_tried_again" => Flaw::GivesUp,
        "a_limit_is_waited_for" => Flaw::ForgetsTheWait,
        // Where the platform drops repeats, it does not matter what the adapter says of the deed.
        "a_lost_answer_loses_nothing_and_is_repeated_at_most_once"
            if direct(subject).repeats == sb_channel::Repeats::Dropped =>
        {
            Flaw::SendsTwice
        }
        "a_lost_answer_loses_nothing_and_is_repeated_at_most_once" => Flaw::DeniesTheDeed,
        "a_closed_chat_is_left_alone_until_it_speaks" => Flaw::KnocksForEver,
        "refused_formatting_goes_as_plain_words" => Flaw::BlamesTheWords,
        "we_are_shown_to_be_at_work_until_the_reply_is_out" => Flaw::HidesWork,
        "a_taken_message_is_marked_until_it_is_answered" if reads(subject) => Flaw::HidesWork,
        "a_taken_message_is_marked_until_it_is_answered" => Flaw::KeepsMarks,
        "a_reply_is_shown_while_it_is_written" => Flaw::HidesGrowth,
        "what_is_shown_live_becomes_the_reply_and_no_second_message" => Flaw::SendsTwice,
        // Where that is shown on a message, there is none to show it on that nobody asked about.
        "switched_off_nothing_of_it_is_shown" if types(subject) && !reads(subject) => Flaw::AlwaysTypes,
        "switched_off_nothing_of_it_is_shown" => Flaw::Announces,
        "a_question_is_answered_by_its_number" => Flaw::CutsQuestions,
        "a_button_decides_once_and_closes_the_question" if direct(subject).edits => Flaw::KeepsButtons,
        "a_button_decides_once_and_closes_the_question" => Flaw::DropsButtons,
        "a_stranger_is_let_in_by_a_code_and_in_direct_chats_only" => Flaw::MistakesPeople,
        "in_a_group_only_what_is_meant_for_us_is_answered" => Flaw::AnswersEverything,
        "a_file_comes_in_and_goes_out_unchanged" => Flaw::CutsFiles,
        "an_album_is_one_turn" => Flaw::ScattersAlbums,
        other => panic!("no flaw is known that {other} catches"),
    }
}

/// Holds an adapter that is broken on purpose to a law; panics if the law sees nothing wrong.
pub fn catches(name: &str, subject: &Subject) {
    let law = law(name);
    if !(law.holds_for)(subject) {
        return;
    }
    let flaws = [Some(flaw(name, subject)), otherwise(name)];
    let seen = flaws.into_iter().flatten().any(|flaw| {
        let broken = Arc::new(Broken { kind: subject.kind.clone(), flaw });
        let broken = Subject { kind: broken, standin: subject.standin };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (law.check)(&broken))).is_err()
    });
    assert!(seen, "{name} does not see that an adapter {flaws:?}");
}

/// Another flaw to be caught, where the first one does nothing: an adapter that keeps to a limit by itself has none to
/// forget.
fn otherwise(law: &str) -> Option<Flaw> {
    (law == "a_limit_is_waited_for").then_some(Flaw::GivesUp)
}
