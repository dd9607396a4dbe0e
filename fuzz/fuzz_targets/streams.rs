//! Whatever a provider sends, reading it never breaks, and what is read does not depend on the cuts.
//!
//! The first bytes say which dialect it is, whether it comes as events, and where it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_loop::{Dialect, read_stream};

fuzz_target!(|input: (u8, u16, u16, &[u8])| {
    let (how, a, b, bytes) = input;
    let dialect = if how & 1 == 0 { Dialect::Anthropic } else { Dialect::Openai };
    let streamed = how & 2 == 0;
    let a = usize::from(a).min(bytes.len());
    let b = usize::from(b).clamp(a, bytes.len());
    let whole = read_stream(dialect, streamed, &[bytes]);
    assert_eq!(whole, read_stream(dialect, streamed, &[&bytes[..a], &bytes[a..b], &bytes[b..]]));
    if bytes.len() < 512 {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(whole, read_stream(dialect, streamed, &single));
    }
});
