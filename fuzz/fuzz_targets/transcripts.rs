//! Whatever an app sends as a talk, it is judged: taken, or refused with a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_doors::openai::judge;

fuzz_target!(|bytes: &[u8]| {
    if let Err((status, said)) = judge(bytes) {
        assert!((400..500).contains(&status), "{status} {said}");
        assert!(said.len() > 10 && said.len() < 4096, "{said}");
    }
});
