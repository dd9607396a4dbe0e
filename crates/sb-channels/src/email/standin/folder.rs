//! A folder of mails, with the numbers and flags that IMAP has for them.

use std::collections::{BTreeSet, VecDeque};

use sb_channel::model::Timestamp;

/// Old mails fall out above this.
const MOST_MAILS: usize = 2_000;

pub(super) struct Folder {
    pub validity: u32,
    pub next: u32,
    pub mails: VecDeque<Mail>,
}

pub(super) struct Mail {
    pub uid: u32,
    pub raw: Vec<u8>,
    pub at: Timestamp,
    pub flags: BTreeSet<String>,
}

impl Mail {
    pub fn flags(&self) -> String {
        self.flags.iter().cloned().collect::<Vec<_>>().join(" ")
    }

    /// When it came, as IMAP writes it.
    pub fn internal_date(&self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.at.0).unwrap_or_default();
        at.strftime("%d-%b-%Y %H:%M:%S +0000").to_string()
    }

    /// Whether it came on that day, written as in `27-Nov-2026`, or later.
    pub fn is_since(&self, day: &str) -> bool {
        let day = jiff::civil::Date::strptime("%d-%b-%Y", day);
        let at = jiff::Timestamp::from_millisecond(self.at.0).unwrap_or_default();
        day.is_ok_and(|day| jiff::tz::TimeZone::UTC.to_datetime(at).date() >= day)
    }

    /// A field of its header, unfolded; empty if there is none.
    pub fn field(&self, name: &str) -> String {
        let parsed = mail_parser::MessageParser::default().parse(&self.raw);
        let value = parsed.as_ref().and_then(|mail| mail.header_raw(name).map(str::to_owned));
        value.unwrap_or_default()
    }
}

impl Folder {
    pub fn new(validity: u32) -> Self {
        Self { validity, next: 1, mails: VecDeque::new() }
    }

    pub fn add(&mut self, raw: Vec<u8>, at: Timestamp, flags: &[String]) -> u32 {
        let uid = self.next;
        self.next += 1;
        self.mails.push_back(Mail { uid, raw, at, flags: flags.iter().cloned().collect() });
        if self.mails.len() > MOST_MAILS {
            self.mails.pop_front();
        }
        uid
    }

    pub fn make_anew(&mut self) {
        self.validity += 1;
        for (uid, mail) in (1..).zip(&mut self.mails) {
            mail.uid = uid;
        }
        self.next = u32::try_from(self.mails.len()).unwrap_or(0) + 1;
    }

    /// Where the mails of a set are, by UID or by number. `n:*` goes to the highest in either order.
    pub fn chosen(&self, set: &str, by_uid: bool) -> Vec<usize> {
        let number = |at: usize| if by_uid { self.mails[at].uid } else { u32::try_from(at).unwrap_or(0) + 1 };
        let last = (0..self.mails.len()).map(number).max().unwrap_or(0);
        let read = |text: &str| if text == "*" { Some(last) } else { text.parse().ok() };
        let ranges: Vec<(u32, u32)> = set
            .split(',')
            .filter_map(|range| {
                let (from, to) = range.split_once(':').unwrap_or((range, range));
                let (from, to) = (read(from)?, read(to)?);
                Some((from.min(to), from.max(to)))
            })
            .collect();
        let within = |at: &usize| ranges.iter().any(|(from, to)| (*from..=*to).contains(&number(*at)));
        (0..self.mails.len()).filter(within).collect()
    }
}
