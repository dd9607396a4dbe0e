//! Whatever is sent as a message's body, it is judged: taken, or refused with a code and a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_doors::http::judge;

fuzz_target!(|bytes: &[u8]| {
    if let Err(refused) = judge(bytes) {
        assert!((400..500).contains(&refused.code.status()), "{refused:?}");
        assert!(refused.said.len() > 10 && refused.said.len() < 4096, "{refused:?}");
    }
});
