//! Server-sent events, read and written.
//!
//! The decoder is fed bytes as they come, cut anywhere, and gives whole events; it reads no network
//! and keeps no time. Lines are decoded only once whole, so a cut inside a character does no harm. One
//! event is bounded, so a sender that never ends a line cannot fill the memory.

use std::collections::VecDeque;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its data lines, joined by line feeds.
    pub data: String,
}

/// An event grew over the limit; nothing can be read after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {limit} bytes")]
pub struct TooLarge {
    pub limit: usize,
}

/// Reads events out of bytes: [`push`](Decoder::push) them, then pull with [`pull`](Decoder::pull).
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    event: Event,
    has_data: bool,
    ready: VecDeque<Event>,
    broken: bool,
}

impl Decoder {
    /// A decoder that takes events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            begun: false,
            event: Event::default(),
            has_data: false,
            ready: VecDeque::new(),
            broken: false,
        }
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// If the event they belong to is too large; the whole events before it can still be pulled.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while !self.broken && !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let (part, ended) = rest.split_at(end.unwrap_or(rest.len()));
            self.broken = self.line.len() + part.len() + self.held() > self.limit;
            if self.broken {
                break;
            }
            self.line.extend_from_slice(part);
            rest = ended;
            if let Some((end, after)) = ended.split_first() {
                self.after_cr = *end == b'\r';
                rest = after;
                self.end_line();
            }
        }
        if self.broken { Err(TooLarge { limit: self.limit }) } else { Ok(()) }
    }

    /// The next whole event, if there is one.
    pub fn pull(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// The stream has ended: what was left of it, for senders that leave out the last blank line.
    pub fn finish(&mut self) -> Option<Event> {
        if !self.broken && !self.line.is_empty() {
            self.end_line();
        }
        if !self.broken {
            self.end_event();
        }
        self.pull()
    }

    fn held(&self) -> usize {
        self.event.data.len() + self.event.name.len()
    }

    fn end_line(&mut self) {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line: &str = &text;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.name = value.to_owned(),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments (an empty field), ids and retry times are of no use to us.
            _ => {}
        }
    }

    fn end_event(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

/// One event as it is written; line breaks in `data` become lines of their own.
pub fn encode(name: &str, data: &str) -> String {
    let mut out = String::with_capacity(name.len() + data.len() + 24);
    if !name.is_empty() {
        out.push_str("event: ");
        out.extend(name.chars().filter(|c| !matches!(c, '\n' | '\r')));
        out.push('\n');
    }
    for line in data.replace("\r\n", "\n").split(['\n', '\r']) {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
    out
}

/// A comment, which keeps a connection alive and is no event.
pub fn comment(text: &str) -> String {
    format!(": {}\n\n", text.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(10_000);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece).expect("small events");
            events.extend(std::iter::from_fn(|| decoder.pull()));
        }
        events.extend(decoder.finish());
        events
    }
    fn event(name: &str, data: &str) -> Event {
        Event { name: name.into(), data: data.into() }
    }

    #[test]
    fn names_data_and_comments_are_told_apart() {
        let stream = b"\xef\xbb\xbf: hello\n\nevent: one\ndata: a\ndata:b\ndata\n\nid: 7\nretry: 5\n\nevent: empty\n\ndata:  c\n\n";
        assert_eq!(read(&[stream]), [event("one", "a\nb\n"), event("", " c")]);
    }

    #[test]
    fn every_line_ending_will_do() {
        let expected = [event("x", "1"), event("", "2")];
        for end in ["\n", "\r\n", "\r"] {
            let stream = ["event: x", "data: 1", "", "data: 2", "", ""].join(end);
            assert_eq!(read(&[stream.as_bytes()]), expected, "{end:?}");
        }
    }

    #[test]
    fn the_last_blank_line_may_be_missing() {
        assert_eq!(read(&[b"data: [DONE]"]), [event("", "[DONE]")]);
    }

    #[test]
    fn an_event_over_the_limit_is_an_error_and_the_ones_before_it_are_kept() {
        let mut decoder = Decoder::new(100);
        let stream = format!("data: ok\n\ndata: {}", "x".repeat(200));
        assert_eq!(decoder.push(stream.as_bytes()), Err(TooLarge { limit: 100 }));
        assert_eq!(decoder.pull(), Some(event("", "ok")));
        assert_eq!(decoder.push(b"\n\ndata: more\n\n"), Err(TooLarge { limit: 100 }));
        assert_eq!(decoder.finish(), None);
    }

    #[test]
    fn many_small_lines_of_one_event_count_together() {
        let mut decoder = Decoder::new(100);
        let pushed = (0..100).try_for_each(|_| decoder.push(b"data: 12345678\n"));
        assert_eq!(pushed, Err(TooLarge { limit: 100 }));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_however_the_bytes_are_cut(
            written in prop::collection::vec(("[a-z_]{0,8}", "[a-zé👋 :\n]{0,30}"), 0..8),
            crlf: bool,
            cuts in prop::collection::vec(1usize..7, 0..400),
        ) {
            let mut stream: String = written.iter().map(|(n, d)| encode(n, d) + &comment("alive")).collect();
            if crlf {
                stream = stream.replace('\n', "\r\n");
            }
            let mut pieces = Vec::new();
            let mut rest = stream.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            let expected: Vec<Event> = written.iter().map(|(n, d)| event(n, d)).collect();
            prop_assert_eq!(read(&pieces), expected);
        }

        #[test]
        fn any_bytes_cut_anywhere_give_the_same_events(
            bytes in prop::collection::vec(prop::sample::select(b"data: ev\n\r\xf0\x9f\x91\x8b:".to_vec()), 0..200),
            at in 0usize..200,
        ) {
            let at = at.min(bytes.len());
            prop_assert_eq!(read(&[&bytes[..at], &bytes[at..]]), read(&[&bytes]));
        }
    }
}
