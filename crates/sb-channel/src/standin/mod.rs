//! What a stand-in offers: a platform imitated, as its people see it and as its operator breaks it.
//!
//! The conformance suite knows a platform by this alone. A stand-in is called in process, so that a test
//! needs no socket and no real time; what it shows is what a person would see now.
//!
//! What all platforms have is in [`Platform`]: people, chats, messages, updates that wait, and what goes
//! wrong. So a stand-in is a platform's addresses, its updates and its refusals ([`Imitated`]).

mod calling;
mod imitated;
mod line;
mod page;
mod people;
mod platform;
mod refusing;
mod seen;
mod serving;
mod state;

use std::sync::Arc;

use axum::Router;
use sb_net::Http;
use sb_net::model::{Chat, Clock, Person};

pub use calling::{Calling, MakeCall};
pub use imitated::{Imitated, Named, Page, Post, Told};
pub use line::{Line, Talks, listen};
pub use page::with_page;
pub use platform::Platform;
pub use refusing::Breakage;
pub use seen::{Seen, SeenFile, SeenMessage};
pub use serving::{LostAnswer, in_process, lost_answer, serve};

/// How a kind's stand-in is made: with the clock it goes by, and what it calls webhooks with, if it may.
pub type Opens = fn(Arc<dyn Clock>, Option<Http>) -> Arc<dyn StandIn>;

/// A platform imitated.
pub trait StandIn: Send + Sync + 'static {
    /// Its addresses.
    fn router(&self) -> Router;
    /// A client whose every request reaches it.
    fn http(&self) -> Http {
        in_process(self.router())
    }
    /// Whether there is a page at `/`, where one types as a person. [`with_page`] gives it one if not.
    fn has_page(&self) -> bool {
        false
    }
    /// What it speaks beside HTTP: a port each, and the setting that says where it is.
    fn lines(&self) -> Vec<Line> {
        Vec::new()
    }
    /// The settings of a channel that uses it in process: fields and values.
    fn settings(&self) -> Vec<(String, String)>;

    /// A new person.
    fn person(&self, name: &str) -> Person;
    /// The chat of a person and us.
    fn direct(&self, person: &Person) -> Chat;
    /// A new group that we are in; none where the platform has none.
    fn group(&self, _title: &str) -> Option<Chat> {
        None
    }

    /// Somebody writes. What it returns names the message for the calls below.
    fn say(&self, chat: &Chat, person: &Person, text: &str) -> String;
    /// Somebody writes so that it is meant for us, also in a group.
    fn mention(&self, chat: &Chat, person: &Person, text: &str) -> String {
        self.say(chat, person, text)
    }
    /// The platform tells of a message once more; false where it never does.
    fn say_again(&self, _message: &str) -> bool {
        false
    }
    /// Somebody sends files in one go, with words; false where the platform has none.
    fn send_files(&self, _chat: &Chat, _person: &Person, _text: &str, _files: &[SeenFile]) -> bool {
        false
    }
    /// Somebody presses the newest button of that label; false if none shows it.
    fn press(&self, _chat: &Chat, _person: &Person, _label: &str) -> bool {
        false
    }
    /// Somebody changes their message; false where nobody can.
    fn edit(&self, _message: &str, _text: &str) -> bool {
        false
    }

    /// What is in a chat now, as a person sees it.
    fn seen(&self, chat: &Chat) -> Seen;
    /// Updates we were not told to forget yet.
    fn unacknowledged(&self) -> usize;
    /// Requests that were made to it.
    fn requests(&self) -> u64;

    /// The next `times` requests that put something into a chat go wrong so.
    fn break_next(&self, how: Breakage, times: u32);
    /// The next `times` requests that ask for updates fail.
    fn break_receiving(&self, how: Breakage, times: u32);
    /// Nothing goes wrong any more.
    fn mend(&self);
    /// Every open connection breaks.
    fn drop_connections(&self);

    /// Its calls to our webhook, made with this client for as long as it is polled; none where it never calls.
    fn calling(&self, _outside: Http) -> Option<Calling> {
        None
    }
    /// Whether it says that files sent in one go belong together.
    fn has_albums(&self) -> bool {
        true
    }
}
