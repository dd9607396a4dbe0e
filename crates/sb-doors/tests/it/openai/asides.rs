//! What apps ask beside the talk enters no session; what merely looks like it does.

use serde_json::{Value, json};

use super::{Answered, Chunks, Talk, post, sessions, words};
use crate::server::{MACHINE, Server, reply};

/// As Open WebUI writes it.
const TITLE: &str = "### Task:\nGenerate a concise title.\n### Guidelines:\n- short\n### Output:\nJSON format: { \"title\": \"your title\" }\n### Chat History:\n<chat_history>\nUSER: How do I bake bread?\nASSISTANT: With flour.\n</chat_history>";

fn task(output: &str) -> String {
    format!(
        "### Task:\nDo it.\n### Guidelines:\n- x\n### Output:\n{output}\n<chat_history>\nUSER: How do I bake bread?\nASSISTANT: x\n</chat_history>"
    )
}

/// Holds: O-19.
#[tokio::test]
async fn side_requests_are_answered_in_the_form_they_ask_for_and_enter_no_session() {
    let server = Server::start().await;
    for (text, answer) in [
        (TITLE.to_owned(), json!({"title": "How do I bake bread?"})),
        (task("{ \"tags\": [\"tag1\"] }"), json!({"tags": ["General"]})),
        (task("{ \"follow_ups\": [\"?\"] }"), json!({"follow_ups": []})),
        (task("{ \"queries\": [\"query1\"] }"), json!({"queries": ["How do I bake bread?"]})),
    ] {
        let found =
            Answered(reply(post(&server, MACHINE, &Talk::new().with(text).body())).await.succeeded().json);
        assert_eq!(serde_json::from_str::<Value>(found.text()).unwrap(), answer);
    }
    assert_eq!(sessions(&server).await, 0);
}

#[tokio::test]
async fn the_model_for_tasks_and_the_header_say_what_a_request_is() {
    let server = Server::start().await;
    let mut body = Talk::new().with("Give this a title: bread").body();
    body["model"] = json!("assistant:task");
    let plain = Answered(reply(post(&server, MACHINE, &body)).await.succeeded().json);
    assert_eq!(plain.text(), "Give this a title: bread");
    let streamed = words(&Chunks::of(&server, MACHINE, body).await.rest().await);
    assert_eq!(streamed, plain.text());
    let named = post(&server, MACHINE, &Talk::new().with("anything").body());
    let named = named.header("x-switchboard-task", "tags_generation");
    let named = Answered(reply(named).await.succeeded().json);
    assert_eq!(named.text(), "{\"tags\":[\"General\"]}");
    assert_eq!(sessions(&server).await, 0);
    // What the app did not fill in says nothing.
    let unfilled = post(&server, MACHINE, &Talk::new().with("anything").body());
    let unfilled = reply(unfilled.header("x-switchboard-task", "{{TASK}}")).await.succeeded();
    assert_eq!(Answered(unfilled.json).text(), "You said: anything");
}

#[tokio::test]
async fn a_persons_message_that_begins_alike_is_one() {
    let server = Server::start().await;
    let streamed = Chunks::of(&server, MACHINE, Talk::new().with(TITLE).body()).await.rest().await;
    assert!(words(&streamed).starts_with("You said: ### Task:"));
    let history = Talk::new().with("one").answered("two").with(TITLE);
    for talk in [history, Talk::new().with("### Task:\nwash up"), Talk::new().system("x").with(TITLE)] {
        let found = Answered(reply(post(&server, MACHINE, &talk.body())).await.succeeded().json);
        assert!(found.text().starts_with("You said: ### Task:"), "{}", found.text());
    }
    assert_eq!(sessions(&server).await, 4);
}
