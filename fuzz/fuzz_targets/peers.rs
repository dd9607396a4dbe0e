//! Whatever another agent sends, its parameters are read or refused with a field and a reason, and what was read is
//! read again from how either version writes it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sb_wire::a2a::{ListTasks, Push, Query, Send, Version};

fuzz_target!(|bytes: &[u8]| {
    let Ok(params) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    for version in [Version::V0_3, Version::V1_0] {
        match Send::read(&params) {
            Ok(send) => assert!(Send::read(&send.write(version)).is_ok(), "{send:?}"),
            Err(why) => assert!(!why.field.is_empty() && !why.why.is_empty()),
        }
        if let Ok((task, push)) = Push::read_set(&params) {
            assert!(Push::read_set(&push.write(&task, version)).is_ok(), "{push:?}");
        }
        let _ = Push::read_named(&params, version);
    }
    if let Ok(query) = Query::read(&params) {
        assert_eq!(Query::read(&query.write()).as_ref(), Ok(&query));
    }
    let _ = ListTasks::read(&params);
});
