//! One chat, as a test speaks to it.

use sb_engine::model::*;
use sb_engine::{Engine, EngineError, Follow};
use sb_testkit::app::TestApp;

/// A conversation of profile `assistant`.
pub struct Chat {
    pub engine: Engine,
    name: String,
}

pub fn manner() -> Manner {
    Manner {
        busy: Busy::Queue,
        debounce_ms: 0,
        commands_wait: false,
        stop_words: true,
        names_writers: false,
        ask_expiry_ms: None,
    }
}

impl Chat {
    pub fn of(app: &TestApp, name: &str) -> Self {
        Self { engine: app.engine.clone(), name: name.to_owned() }
    }

    pub fn inbound(&self, text: &str) -> Inbound {
        let profile: ProfileName = "assistant".into();
        Inbound {
            conversation: ConversationId::new("http", &profile, &self.name),
            profile,
            session: None,
            key: None,
            from: Principal("http:token 3046d92e".into()),
            rights: Rights::ALL,
            text: text.to_owned(),
            files: Vec::new(),
            manner: manner(),
            origin: None,
        }
    }

    pub async fn try_send(&self, inbound: Inbound) -> Result<Follow, EngineError> {
        let submitted = self.engine.submit(inbound).await?;
        Ok(self.engine.follow(submitted.receipt))
    }

    pub async fn send(&self, text: &str) -> Follow {
        self.try_send(self.inbound(text)).await.expect("it is taken")
    }

    /// Says it and waits for its ending.
    pub async fn say(&self, text: &str) -> Ending {
        self.send(text).await.ending().await.expect("an ending")
    }

    /// What is said back to it.
    pub async fn said(&self, text: &str) -> String {
        self.say(text).await.said
    }

    pub async fn log(&self, session: SessionId) -> Vec<Record> {
        let view = self.engine.session(session).await.expect("a session");
        view.log.into_iter().map(|e| e.record).collect()
    }
}
