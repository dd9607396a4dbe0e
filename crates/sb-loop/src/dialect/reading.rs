//! An answer as its bytes come, read into pieces. Pure: [`source`](crate::source) brings the bytes.
//!
//! Invariant: what is read does not depend on where the network cuts the bytes. So a failure is told
//! after the pieces before it, and nothing is read beyond it, nor beyond the answer's end.

use std::collections::VecDeque;
use std::fmt::Write as _;

use sb_harness::model::{Fault, Usage};
use sb_wire::sse::Decoder;

use super::anthropic::AnthropicReader;
use super::openai::OpenaiReader;
use super::{Reader, garbled};
use crate::answer::{Answer, Piece};
use crate::providers::Dialect;

/// The largest single event of a stream, and the largest answer that is not streamed.
const LARGEST: usize = 8 * 1024 * 1024;

/// An answer being read.
pub(crate) struct Reading {
    decoder: Decoder,
    reader: Box<dyn Reader>,
    /// The answer comes as one document; what has come of it.
    whole: Option<Vec<u8>>,
    pieces: VecDeque<Piece>,
    fault: Option<Fault>,
    ended: bool,
}

impl Reading {
    /// `streamed`: it comes as events, not as one document.
    pub fn new(dialect: Dialect, streamed: bool) -> Self {
        let reader = match dialect {
            Dialect::Anthropic => Box::<AnthropicReader>::default() as Box<dyn Reader>,
            _ => Box::<OpenaiReader>::default(),
        };
        Self {
            decoder: Decoder::new(LARGEST),
            reader,
            whole: (!streamed).then(Vec::new),
            pieces: VecDeque::new(),
            fault: None,
            ended: false,
        }
    }

    /// More bytes came.
    pub fn take(&mut self, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(bytes);
            if whole.len() > LARGEST {
                self.fail(garbled("its answer is too large"));
            }
            return;
        }
        let pushed = self.decoder.push(bytes);
        while !self.is_over()
            && let Some(event) = self.decoder.pull()
        {
            let read = self.reader.take(&event);
            self.keep(read);
        }
        if let (Err(why), false) = (pushed, self.is_over()) {
            self.fail(garbled(&why.to_string()));
        }
    }

    /// No more bytes will come.
    pub fn end(&mut self) {
        if self.is_over() {
            return;
        }
        let read = match self.whole.take() {
            Some(whole) => serde_json::from_slice(&whole)
                .map_err(|_| garbled("its answer is not JSON"))
                .and_then(|document| self.reader.take_whole(&document)),
            None => self.decoder.finish().map_or(Ok(Vec::new()), |event| self.reader.take(&event)),
        };
        self.keep(read);
        self.ended = true;
    }

    /// It broke off.
    pub fn fail(&mut self, fault: Fault) {
        self.fault = Some(fault);
        self.ended = true;
    }

    fn keep(&mut self, read: Result<Vec<Piece>, Fault>) {
        match read {
            Ok(pieces) => self.pieces.extend(pieces),
            Err(fault) => self.fail(fault),
        }
    }

    /// The next of what was read, in order; a failure once, and last.
    pub fn pull(&mut self) -> Option<Result<Piece, Fault>> {
        self.pieces.pop_front().map(Ok).or_else(|| self.fault.take().map(Err))
    }

    /// Nothing more is read.
    pub fn is_over(&self) -> bool {
        self.ended || self.reader.is_over()
    }

    /// The bytes came to their end, or broke off.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// The answer, once nothing more is read.
    ///
    /// # Errors
    /// If the bytes ended before the answer did.
    pub fn finish(&mut self) -> Result<Answer, Fault> {
        self.reader.finish()
    }

    /// What was used so far, as far as it was told.
    pub fn usage(&self) -> Usage {
        self.reader.usage()
    }
}

/// For checks: reads a provider's answer from bytes cut so, and writes down all that was read of it.
pub fn read_stream(dialect: Dialect, streamed: bool, bytes: &[&[u8]]) -> String {
    let mut reading = Reading::new(dialect, streamed);
    let mut all = String::new();
    let mut fault = false;
    for next in bytes.iter().copied().map(Some).chain([None]) {
        match next {
            Some(bytes) => reading.take(bytes),
            None => reading.end(),
        }
        while let Some(read) = reading.pull() {
            fault = fault || read.is_err();
            // A string takes everything.
            let _ = writeln!(all, "{read:?}");
        }
    }
    let _ = writeln!(all, "{:?}", reading.usage());
    if !fault {
        let _ = writeln!(all, "{:?}", reading.finish());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_failure_are_read_wherever_the_bytes_are_cut() {
        let words = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
            data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n";
        let failure = "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
        let bytes = format!("{words}{failure}").into_bytes();
        let whole = read_stream(Dialect::Anthropic, true, &[&bytes]);
        assert!(whole.starts_with("Ok(Text(\"Hi\"))\nErr("), "{whole}");
        for cut in 0..bytes.len() {
            let (before, after) = bytes.split_at(cut);
            assert_eq!(read_stream(Dialect::Anthropic, true, &[before, after]), whole, "cut at {cut}");
        }
    }
}
