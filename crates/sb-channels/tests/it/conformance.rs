//! Every built-in messenger is held to the shared laws.

mod telegram {
    use std::sync::Arc;

    use sb_channels::telegram::{KIND, standin::TelegramStandIn};
    use sb_testkit::messenger::Subject;

    fn subject() -> Subject {
        Subject {
            kind: Arc::new(KIND),
            standin: |clock| Arc::new(TelegramStandIn::new(clock, "123456:stand-in_token")),
        }
    }

    sb_testkit::conformance!(subject());
}

mod whatsapp {
    use std::sync::Arc;

    use sb_channels::whatsapp::{KIND, standin};
    use sb_testkit::messenger::Subject;

    fn subject() -> Subject {
        Subject { kind: Arc::new(KIND), standin: |clock| standin::open(clock, None) }
    }

    sb_testkit::conformance!(subject());
}

mod irc {
    use std::sync::Arc;

    use sb_channels::irc::{KIND, standin};
    use sb_testkit::messenger::Subject;

    fn subject() -> Subject {
        Subject { kind: Arc::new(KIND), standin: |clock| standin::open(clock, None) }
    }

    sb_testkit::conformance!(subject());
}

mod discord {
    use std::sync::Arc;

    use sb_channels::discord::{KIND, standin::DiscordStandIn};
    use sb_testkit::messenger::Subject;

    fn subject() -> Subject {
        Subject { kind: Arc::new(KIND), standin: |clock| Arc::new(DiscordStandIn::new(clock)) }
    }

    sb_testkit::conformance!(subject());
}

mod email {
    use std::sync::Arc;

    use sb_channels::email::{KIND, standin};
    use sb_testkit::messenger::Subject;

    fn subject() -> Subject {
        Subject { kind: Arc::new(KIND), standin: |clock| standin::open(clock, None) }
    }

    sb_testkit::conformance!(subject());
}
