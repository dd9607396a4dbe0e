//! The floor: a bot that polls, asks the model and sends what it said. It keeps nothing, shows nothing
//! meanwhile and tries nothing again.

use sb_testkit::bench::bridge::http;
use serde_json::{Value, json};

use super::Failure;

/// Runs until the platform is gone. `bot`: the address of its calls; `model`: where completions are.
pub async fn run(bot: &str, model: &str) -> Result<(), Failure> {
    let http = http()?;
    let mut from = 0;
    loop {
        let ask = json!({"offset": from, "timeout": 50, "allowed_updates": ["message"]});
        let came: Value = http.post(format!("{bot}/getUpdates")).json(&ask).send().await?.json().await?;
        for update in came["result"].as_array().into_iter().flatten() {
            from = from.max(update["update_id"].as_i64().unwrap_or_default() + 1);
            let (http, message) = (http.clone(), update["message"].clone());
            let (bot, model) = (bot.to_owned(), model.to_owned());
            tokio::spawn(async move {
                if let Err(why) = answer(&http, &bot, &model, &message).await {
                    eprintln!("the plain bot: {why}");
                }
            });
        }
    }
}

async fn answer(http: &reqwest::Client, bot: &str, model: &str, message: &Value) -> Result<(), Failure> {
    let ask = json!({"model": "small", "messages": [{"role": "user", "content": message["text"]}]});
    let answer = http.post(format!("{model}/chat/completions")).bearer_auth("bench-key").json(&ask).send();
    let answer: Value = answer.await?.json().await?;
    let text = &answer["choices"][0]["message"]["content"];
    let say = json!({"chat_id": message["chat"]["id"], "text": text});
    http.post(format!("{bot}/sendMessage")).json(&say).send().await?.error_for_status()?;
    Ok(())
}
