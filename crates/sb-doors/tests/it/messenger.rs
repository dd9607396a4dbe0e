//! A home with messengers: an imitated Telegram, reached in process, and people on it.

use std::sync::Arc;

use sb_channels::telegram::standin::{SECRET, TOKEN, TelegramStandIn};
use sb_doors::engine::channel::AnyKind;
use sb_doors::engine::harness::net::{SystemClock, SystemDice};
use sb_doors::engine::store::{Durability, Store};
use sb_doors::engine::{Engine, Parts};
use sb_testkit::app::{ScriptedAgents, TestApp};
use serde_json::{Value, json};

pub fn standin() -> TelegramStandIn {
    TelegramStandIn::new(Arc::new(SystemClock), TOKEN)
}

/// A home whose channels run on this platform; with an address, by webhook where they can.
pub async fn app(standin: &TelegramStandIn, public_url: Option<&str>) -> TestApp {
    let mut app = TestApp::new().await;
    app.engine.close().await.unwrap();
    app.engine = Engine::open(Parts {
        store: Store::open(app.home(), Durability::Process).await.unwrap(),
        agents: Arc::new(ScriptedAgents),
        clock: Arc::new(SystemClock),
        dice: Arc::new(SystemDice),
        parallel: 16,
        kinds: sb_channels::kinds().into_iter().map(|kind| Arc::new(kind) as Arc<dyn AnyKind>).collect(),
        http: standin.http(),
        public_url: public_url.map(str::to_owned),
    })
    .await
    .unwrap();
    app.engine.take_up().await.unwrap();
    app.engine.start_channels().await.unwrap();
    app
}

/// A channel that runs on the stand-in, as a desk takes it.
pub fn channel(slug: &str, options: Value) -> Value {
    json!({
        "channel": {
            "slug": slug, "kind": "telegram", "profile": "assistant", "enabled": true,
            "settings": {"api_url": "http://telegram.invalid"}, "options": options,
        },
        "secrets": {"token": TOKEN, "secret_token": SECRET},
        "new": true,
    })
}
