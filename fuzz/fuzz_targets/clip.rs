//! A clipped text is never longer than asked for, and one that fits stays as it is.
//!
//! The first byte says how many visible characters may stay.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let (most, text) = (usize::from(input.0), input.1);
    let cut = sb_text::clip(text, most);
    if cut != text {
        assert!(cut.ends_with('…'));
        assert!(text.starts_with(cut.trim_end_matches('…')) || text.contains('…'));
    }
    let line = sb_text::one_line(text, most);
    assert!(!line.chars().any(char::is_control), "one line holds no control character");
});
