//! However a stream is cut, it is read as the same events; and what is written is read back.
//!
//! The first bytes say where it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_wire::sse::{Decoder, Event, encode};

fn read(pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = Decoder::new(1 << 16);
    let mut events = Vec::new();
    for piece in pieces {
        if decoder.push(piece).is_err() {
            return Vec::new();
        }
        events.extend(std::iter::from_fn(|| decoder.pull()));
    }
    events.extend(decoder.finish());
    events
}

fuzz_target!(|input: (u16, u16, &[u8])| {
    let (a, b, bytes) = input;
    let a = usize::from(a).min(bytes.len());
    let b = usize::from(b).clamp(a, bytes.len().max(a));
    let whole = read(&[bytes]);
    assert_eq!(whole, read(&[&bytes[..a], &bytes[a..b], &bytes[b..]]));
    if let Ok(text) = std::str::from_utf8(bytes) {
        // Carriage returns end lines on this wire, so they do not survive it.
        let data = text.replace('\r', "");
        let events = read(&[encode("delta", &data).as_bytes()]);
        assert_eq!(events, [Event { name: "delta".into(), data }]);
    }
});
