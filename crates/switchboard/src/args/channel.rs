//! What makes up a channel: the flags that `bridge`, `channel add` and `channel set` share.
//!
//! A flag that is not given leaves what there is as it is. What they come to is in
//! [`changes`](crate::changes).

use std::str::FromStr;

use clap::{Args, ValueEnum};
use sb_engine::model::{Busy, Isolation, Limit, Streaming};

/// The flags of a channel.
#[derive(Debug, Clone, Default, Args)]
pub struct ChannelFlags {
    /// Who answers [default: the only profile there is, else `assistant`]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// One of the messenger's own settings, such as token=…; without a value it is taken from
    /// SWITCHBOARD_<KIND>_<KEY>. Secrets are kept sealed and never shown. Again for more
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub fields: Vec<String>,
    /// A chat, by its id, that another profile answers. Again for more; they replace those there are, and
    /// an empty one takes all back
    #[arg(long = "route", value_name = "CHAT=PROFILE", allow_hyphen_values = true)]
    pub routes: Vec<String>,
    /// People and chats that may talk, by their ids, separated by commas or again; `*` lets anybody in. They
    /// replace those there are, and an empty one takes all back [default: those let in by pairing]
    #[arg(long, value_name = "ID,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub allow: Vec<String>,
    /// Who decides what waits for a person, by their ids; they may talk too. Replaces as --allow does
    /// [default: whoever may talk, but nobody where anybody may]
    #[arg(long, value_name = "ID,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub approvers: Vec<String>,
    /// In groups it answers only what mentions it [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub require_mention: Option<bool>,
    /// Messages of a chat that come closer together than this are one turn: milliseconds, or as 2s
    /// [default: 500]
    #[arg(long, value_name = "MS")]
    pub debounce: Option<Millis>,
    /// What a message does while the agent is at work: reach it before its next step, wait for a turn of its
    /// own, wait to be joined with all others, or stop it [default: steer]
    #[arg(long)]
    pub busy: Option<BusyFlag>,
    /// What is shown of a reply while it is written: text and running tool, text alone, or nothing
    /// [default: progress]
    #[arg(long)]
    pub stream: Option<StreamFlag>,
    /// Show that it is at work [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub typing: Option<bool>,
    /// Do not show that it is at work
    #[arg(long, conflicts_with = "typing")]
    pub no_typing: bool,
    /// Mark messages that will be answered, and those whose answer failed [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub reactions: Option<bool>,
    /// Mark nothing
    #[arg(long, conflicts_with = "reactions")]
    pub no_reactions: bool,
    /// Send the final answer fresh if what was shown of it is older than this, so that it notifies: seconds, or
    /// as 10m; off [default: off]
    #[arg(long, value_name = "SECONDS")]
    pub fresh_final: Option<Span>,
    /// Answer what was said while it was down only if it is no older than this: seconds, or as 2h; off
    /// [default: off, all is answered]
    #[arg(long, value_name = "SECONDS")]
    pub catch_up: Option<Span>,
    /// What is a conversation of its own: a chat, its threads too where it has them, a person, or a person in
    /// each chat [default: thread]
    #[arg(long)]
    pub isolate: Option<IsolateFlag>,
    /// Withdraw a request that nobody decides in this time: seconds, or as 30m; off [default: off]
    #[arg(long, value_name = "SECONDS")]
    pub ask_expiry: Option<Span>,
    /// What one person may write, so many messages in a time, as 20/10m: what is more is not taken, and they are
    /// told once; off [default: off]
    #[arg(long, value_name = "MESSAGES/TIME")]
    pub limit: Option<LimitFlag>,
}

impl ChannelFlags {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        let Self { profile, fields, routes, allow, approvers, require_mention, debounce, .. } = self;
        let Self {
            busy, stream, typing, reactions, fresh_final, catch_up, isolate, ask_expiry, limit, ..
        } = self;
        [fields, routes, allow, approvers].into_iter().all(Vec::is_empty)
            && [require_mention, typing, reactions].into_iter().all(Option::is_none)
            && [fresh_final, catch_up, ask_expiry].into_iter().all(Option::is_none)
            && (profile.is_none() && debounce.is_none() && busy.is_none() && stream.is_none())
            && (limit.is_none() && isolate.is_none() && !self.no_typing && !self.no_reactions)
    }
}

/// A time in milliseconds, as `500`, `500ms`, `2s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Millis(pub u32);

impl FromStr for Millis {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let ms = milliseconds(text, 1)?;
        u32::try_from(ms).map(Self).map_err(|_| "that is too long".to_owned())
    }
}

/// A time in seconds, as `90`, `90s`, `10m`, `2h`, `1d`; or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Option<u64>);

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let ms = milliseconds(text, 1000)?;
        match ms.is_multiple_of(1000) {
            true => Ok(Self(Some(ms / 1000))),
            false => Err("whole seconds are taken".to_owned()),
        }
    }
}

/// Messages in a time, as `20/10m`; or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitFlag(pub Option<Limit>);

impl FromStr for LimitFlag {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self(None));
        }
        let parts = text.split_once('/').map(|(most, time)| (most.trim().parse(), time.trim().parse()));
        let limit = match parts {
            Some((Ok(messages), Ok(Span(Some(s))))) => {
                u32::try_from(s).ok().map(|per_s| Limit { messages, per_s })
            }
            _ => None,
        };
        limit
            .map(|l| Self(Some(l)))
            .ok_or_else(|| "write messages and a time, such as 20/10m, or off".to_owned())
    }
}

/// A number with its unit; `bare` is what a number without one counts.
fn milliseconds(text: &str, bare: u64) -> Result<u64, String> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let each = match unit {
        "" => bare,
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err("write a number, or one with ms, s, m, h or d".to_owned()),
    };
    let number: u64 =
        number.parse().map_err(|_| "write a number, or one with ms, s, m, h or d".to_owned())?;
    number.checked_mul(each).filter(|ms| *ms <= 366 * 86_400_000).ok_or_else(|| "that is too long".to_owned())
}

/// `--busy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BusyFlag {
    Steer,
    Queue,
    Collect,
    Interrupt,
}

impl From<BusyFlag> for Busy {
    fn from(flag: BusyFlag) -> Self {
        match flag {
            BusyFlag::Steer => Self::Steer,
            BusyFlag::Queue => Self::Queue,
            BusyFlag::Collect => Self::Collect,
            BusyFlag::Interrupt => Self::Interrupt,
        }
    }
}

/// `--stream`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StreamFlag {
    Progress,
    Partial,
    Off,
}

impl From<StreamFlag> for Streaming {
    fn from(flag: StreamFlag) -> Self {
        match flag {
            StreamFlag::Progress => Self::Progress,
            StreamFlag::Partial => Self::Partial,
            StreamFlag::Off => Self::Off,
        }
    }
}

/// `--isolate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolateFlag {
    Chat,
    Thread,
    Sender,
    #[value(name = "chat+sender")]
    ChatAndSender,
}

impl From<IsolateFlag> for Isolation {
    fn from(flag: IsolateFlag) -> Self {
        match flag {
            IsolateFlag::Chat => Self::Chat,
            IsolateFlag::Thread => Self::Thread,
            IsolateFlag::Sender => Self::Sender,
            IsolateFlag::ChatAndSender => Self::ChatAndSender,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_or_one_with_its_unit() {
        let ms = |text: &str| text.parse::<Millis>().map(|m| m.0);
        assert_eq!((ms("500"), ms("500ms"), ms("2s")), (Ok(500), Ok(500), Ok(2000)));
        let span = |text: &str| text.parse::<Span>().map(|s| s.0);
        assert_eq!((span("90"), span("10m"), span("2h")), (Ok(Some(90)), Ok(Some(600)), Ok(Some(7200))));
        assert_eq!((span("1d"), span("off"), span("2000ms")), (Ok(Some(86_400)), Ok(None), Ok(Some(2))));
        let limit = |text: &str| text.parse::<LimitFlag>().map(|l| l.0.map(|l| (l.messages, l.per_s)));
        assert_eq!(
            (limit("20/10m"), limit("5/90"), limit("off")),
            (Ok(Some((20, 600))), Ok(Some((5, 90))), Ok(None))
        );
        for odd in ["20", "/", "a/10m", "20/off", "20/10w", "-1/1m", ""] {
            assert!(limit(odd).is_err(), "{odd:?}");
        }
        for odd in ["", "s", "-1", "1w", "1.5h", "10 m", "500ms", "99999999999999999999", "400d"] {
            assert!(span(odd).is_err(), "{odd:?}");
        }
    }
}
