//! The loop against stand-ins of Anthropic's and OpenAI's servers, over loopback, in real time.

use std::time::Duration;

use sb_harness::model::*;
use sb_harness::{HarnessEvent, HarnessInput};
use sb_testkit::models::{FailKind, Models, Quirks, WRONG_KEY};

use crate::world::{KEY, Ran, Ring, Says, World};

const BOTH: [&str; 2] = ["anthropic:claude-x", "openai:gpt-x"];

/// A world whose providers are one set of stand-ins.
async fn world(models: &[&str]) -> (World, Models) {
    let standins = Models::default();
    let address = standins.serve().await.expect("a port");
    let ring = Ring {
        anthropic: Some(format!("http://{address}")),
        openai: Some(format!("http://{address}/v1")),
        ..Ring::default()
    };
    (World::new(models, ring), standins)
}

fn done(ran: &Ran) -> &Ran {
    assert_eq!(ran.ended, Ok(StopReason::Done), "{ran:?}");
    ran
}

fn texts(ran: &Ran) -> usize {
    ran.events.iter().filter(|e| matches!(e, HarnessEvent::Text(_))).count()
}

/// Holds: H-03.
#[tokio::test]
async fn words_are_streamed_and_usage_is_told() {
    for model in BOTH {
        let (mut world, _) = world(&[model]).await;
        world.choices.system = Some("Speak plainly.".into());
        let ran = world.ask("!stream 5 1").await;
        assert_eq!(done(&ran).reply(), "word1 word2 word3 word4 word5", "{model}");
        assert_eq!(texts(&ran), 5, "{model}");
        // Two words of the operator, two of the chat, three of the message.
        assert_eq!((ran.usage().input, ran.usage().output), (7, 5), "{model}");
        let again = world.ask("héllo 👋").await;
        assert_eq!(done(&again).reply(), "You said: \"héllo 👋\"", "{model}");
    }
}

#[tokio::test]
async fn an_agent_behind_an_address_is_asked_there_whatever_else_is_set() {
    let (mut world, standins) = world(&["openai:gpt-x"]).await;
    let address = standins.serve().await.expect("a port");
    world.profile.base_url = Some("http://127.0.0.1:1/v1".into());
    world.profile.harness = HarnessRef::OpenAi(format!("http://{address}/v1"));
    world.profile.tools = ToolSet::Only(vec![]);
    assert_eq!(done(&world.ask("!say From there.").await).reply(), "From there.");
    let asked = &standins.requests()[0].body;
    assert!(asked["tools"].is_null() && asked["stream"] == true, "{asked}");
}

/// Holds: C-38.
#[tokio::test]
async fn what_a_chat_asks_comes_after_the_operators_instructions_and_replaces_nothing() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        world.choices.system = Some("Speak plainly.".into());
        done(&world.ask("hello").await);
        let asked = serde_json::to_string(&standins.requests()[0].body).expect("JSON");
        let place = |words: &str| asked.find(words).unwrap_or_else(|| panic!("{words} is not in {asked}"));
        assert!(place(&world.profile.instructions) < place("Speak plainly."), "{model}");
    }
}

#[tokio::test]
async fn a_tool_is_used_and_the_talk_goes_on_after_it() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        let script = "!say making\n!tool write_file {\"path\":\"é.txt\",\"content\":\"hí\"}\n!tool read_file {\"path\":\"é.txt\"}\n!tool dance {}\n!say made";
        let ran = world.ask(script).await;
        assert_eq!(done(&ran).reply(), "making\n\nmade", "{model}");
        assert_eq!(std::fs::read_to_string(world.path().join("é.txt")).expect("made"), "hí");
        assert_eq!(standins.requests().len(), 4, "{model}");
        let ran = world.ask("!tool list_files {\"path\":\".\"}").await;
        assert_eq!(done(&ran).reply(), "é.txt (3 bytes)", "{model}");
    }
}

#[tokio::test]
async fn a_call_waits_for_a_person_and_the_turn_goes_on_from_its_log() {
    for model in BOTH {
        let (mut world, _) = world(&[model]).await;
        world.says = [Says::Wait].into();
        let ran = world.ask("!tool shell {\"command\":\"echo ran\"}").await;
        assert_eq!(ran.ended, Ok(StopReason::Parked), "{model}");
        world.says = [Says::No("Declined by ada.")].into();
        let ran = world.go_on().await;
        let expected =
            if model.starts_with("openai") { "Error: Declined by ada." } else { "Declined by ada." };
        assert_eq!(done(&ran).reply(), expected, "{model}");
    }
}

/// Holds: H-34.
#[tokio::test]
async fn words_said_meanwhile_are_put_before_the_next_answer() {
    for model in BOTH {
        let (mut world, _) = world(&[model]).await;
        let mut running = world.begin("!tool shell {\"command\":\"sleep 0.1\"}\n!say old");
        world.until(&mut running, |e| matches!(e, HarnessEvent::Tool(_))).await;
        let steer = HarnessInput::Steer(MessageId(7), World::said("new", vec![]));
        running.tell.send(steer).expect("running");
        let ran = world.finish(running).await;
        assert_eq!(done(&ran).reply(), "You said: \"(Said while you were at work:)\nnew\"", "{model}");
        done(&world.ask("and on").await);
    }
}

/// Holds: C-06, C-07.
#[tokio::test]
async fn stopping_closes_the_connection() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        let mut running = world.begin("!stream 3 1\n!wait 600");
        world.until(&mut running, |e| matches!(e, HarnessEvent::Text(t) if t.contains("word3"))).await;
        running.tell.send(HarnessInput::Stop).expect("running");
        let ran = world.finish(running).await;
        assert_eq!(ran.ended, Ok(StopReason::Stopped), "{model}");
        tokio::time::timeout(Duration::from_secs(20), standins.hung_up(1)).await.expect("the server sees it");
        let Some(Record::Answered { text, cut: true, .. }) = world.log.last().map(|e| &e.record) else {
            panic!("{model}: {:?}", world.log)
        };
        assert_eq!(text, "word1 word2 word3");
        done(&world.ask("again").await);
    }
}

#[tokio::test]
async fn dropping_a_turn_closes_its_connection() {
    let (mut world, standins) = world(&["anthropic:claude-x"]).await;
    let mut running = world.begin("!say one\n!wait 600");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Text(_))).await;
    running.drop_turn();
    tokio::time::timeout(Duration::from_secs(20), standins.hung_up(1)).await.expect("the server sees it");
}

#[tokio::test]
async fn a_busy_server_is_asked_again_as_it_asks() {
    for model in BOTH {
        for header in [("retry-after-ms", "20"), ("retry-after", "0.02")] {
            let (mut world, standins) = world(&[model]).await;
            standins.fail_next(FailKind::Overloaded, 2, &[header]);
            done(&world.ask("hi").await);
            assert_eq!(standins.requests().len(), 3, "{model}");
        }
        let (mut world, standins) = world(&[model]).await;
        standins.fail_next(FailKind::RateLimit, 1, &[("retry-after", "3600")]);
        let ran = world.ask("hi").await;
        assert_eq!((ran.fault().kind, ran.fault().wait_ms), (TurnFaultKind::RateLimited, Some(3_600_000)));
        assert_eq!(standins.requests().len(), 1, "an hour is not sat out");
    }
}

/// Holds: H-05.
#[tokio::test]
async fn the_next_model_answers_for_one_that_broke_off() {
    let (mut world, standins) = world(&["anthropic:claude-x", "openai:gpt-x"]).await;
    standins.break_next(FailKind::Overloaded);
    let ran = world.ask("hi").await;
    assert_eq!(done(&ran).reply(), "You said: \"hi\"", "the half answer is void");
    assert_eq!(texts(&ran), 2);
    standins.forget();
    // The stand-ins obey the same script, so what fails the first fails the second in its turn.
    let ran = world.ask("!say half\n!fail overloaded").await;
    assert_eq!(ran.fault().kind, TurnFaultKind::Overloaded);
    assert_eq!(ran.events.iter().filter(|e| **e == HarnessEvent::Void).count(), 1);
    let paths: Vec<String> = standins.requests().into_iter().map(|r| r.path).collect();
    assert_eq!(paths, ["/v1/messages", "/v1/chat/completions"], "neither is asked again");
    standins.forget();
    standins.fail_next(FailKind::Credit, 1, &[]);
    assert_eq!(done(&world.ask("hi").await).reply(), "You said: \"hi\"");
    assert!(
        matches!(world.log.last().map(|e| &e.record), Some(Record::Answered { model, .. }) if model == "openai:gpt-x")
    );
}

#[tokio::test]
async fn a_connection_that_breaks_off_before_any_word_is_tried_again() {
    let (mut world, standins) = world(&["openai:gpt-x"]).await;
    let ran = world.ask("!fail network").await;
    assert_eq!((ran.fault().kind, standins.requests().len()), (TurnFaultKind::Network, 3));
}

#[tokio::test]
async fn failures_are_told_by_kind_and_without_the_key() {
    let cases = [
        (FailKind::Credit, TurnFaultKind::Credit),
        (FailKind::Auth, TurnFaultKind::Auth),
        (FailKind::Refused, TurnFaultKind::Refused),
        (FailKind::ContextFull, TurnFaultKind::ContextFull),
    ];
    for model in BOTH {
        for (fails, expected) in cases {
            let (mut world, standins) = world(&[model]).await;
            standins.fail_next(fails, 1, &[]);
            let ran = world.ask("hi").await;
            assert_eq!((ran.fault().kind, standins.requests().len()), (expected, 1), "{model}");
            let said = format!("{:?}", ran.fault());
            assert!(!said.contains(KEY) && !said.contains("http://"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_wrong_key_or_none_is_told_plainly() {
    let standins = Models::default();
    let address = standins.serve().await.expect("a port");
    let mut world = World::new(&["openai:gpt-x"], Ring { no_key: true, ..Ring::default() });
    let ran = world.ask("hi").await;
    assert_eq!(ran.fault().kind, TurnFaultKind::Auth);
    assert!(ran.fault().detail.contains("OPENAI_API_KEY"), "{}", ran.fault().detail);
    // Elsewhere than at the provider's own host it may go without: there the server decides.
    world.profile.base_url = Some(format!("http://{address}/v1"));
    let ran = world.ask("hi").await;
    assert!(ran.fault().detail.contains("answered 401"), "{}", ran.fault().detail);
    assert!(!WRONG_KEY.is_empty() && standins.requests().len() == 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_by_its_host_only() {
    let ring = Ring { openai: Some("http://127.0.0.1:9/v1/secret-path".into()), ..Ring::default() };
    let ran = World::new(&["openai:gpt-x"], ring).ask("hi").await;
    assert_eq!(ran.fault().kind, TurnFaultKind::Network);
    assert!(ran.fault().detail.contains("127.0.0.1:9") && !ran.fault().detail.contains("secret-path"));
}

/// Holds: B-45.
#[tokio::test]
async fn pictures_of_people_and_of_tools_are_shown() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        let bytes = b"\x89PNG\r\n\x1a\n0000";
        let digest = world.blobs.put(bytes);
        let file = Attachment { name: "p.png".into(), media_type: "image/png".into(), size: 12, digest };
        let ran = world.ask_with("look", vec![file]).await;
        assert!(done(&ran).reply().ends_with("I see 1 picture(s)."), "{model}: {}", ran.reply());
        std::fs::write(world.path().join("q.png"), [&bytes[..], b"1"].concat()).expect("written");
        done(&world.ask("!tool read_file {\"path\":\"q.png\"}\n!say seen").await);
        let last = standins.requests().pop().expect("asked").body.to_string();
        assert_eq!(last.matches("iVBOR").count(), 2, "{model}: both are shown");
    }
}

/// Holds: H-02.
/// Holds: H-32.
#[tokio::test]
async fn a_pdf_is_shown_as_it_is_where_the_model_takes_documents() {
    for (model, shows) in [(BOTH[0], true), (BOTH[1], false)] {
        let (mut world, standins) = world(&[model]).await;
        let digest = world.blobs.put(b"%PDF-1.7 a letter");
        let letter =
            Attachment { name: "letter.pdf".into(), media_type: "application/pdf".into(), size: 17, digest };
        done(&world.ask_with("Read it", vec![letter]).await);
        let body = standins.requests().remove(0).body;
        let told = body["messages"][0]["content"].to_string();
        assert_eq!(told.contains("JVBERi0xLjc"), shows, "{model}: {told}");
        if shows {
            assert_eq!(body["messages"][0]["content"][0]["type"], "document", "{model}: {told}");
        }
        // What was sent earlier is not sent again once another message brings documents.
        let other = world.blobs.put(b"%PDF-1.7 another");
        let other = Attachment {
            name: "other.pdf".into(),
            media_type: "application/pdf".into(),
            size: 16,
            digest: other,
        };
        done(&world.ask_with("And this", vec![other]).await);
        let body = standins.requests().remove(1).body.to_string();
        assert_eq!(body.matches("JVBERi0xLjc").count(), usize::from(shows), "{model}");
    }
}

/// Holds: B-49.
#[tokio::test]
async fn without_a_workspace_pictures_are_shown_and_files_are_named() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        world.profile.workspace = None;
        let digest = world.blobs.put(b"\x89PNG\r\n\x1a\n0000");
        let picture = Attachment { name: "p.png".into(), media_type: "image/png".into(), size: 12, digest };
        let paper = Attachment {
            name: "a\nb.pdf".into(),
            media_type: "application/pdf".into(),
            digest: world.blobs.put(b"%PDF 1.7 ..."),
            size: 12,
        };
        done(&world.ask_with("look", vec![picture, paper]).await);
        let body = standins.requests().remove(0).body;
        assert!(!body["tools"].to_string().contains("file"), "{model}: no tool needs a folder");
        let body = body.to_string();
        assert_eq!(body.matches("iVBOR").count(), 1, "{model}");
        assert!(
            body.contains("look\\n[picture: p.png]\\n[file: a b.pdf, application/pdf, 12 bytes]"),
            "{model}: {body}"
        );
    }
}

#[tokio::test]
async fn a_full_context_is_shortened_and_the_answer_comes() {
    for model in ["anthropic:tiny-2000", "openai:tiny-2000"] {
        let (mut world, standins) = world(&[model]).await;
        let many = "many words ".repeat(600);
        done(&world.ask(&many).await);
        let ran = world.ask(&format!("short {}", "more ".repeat(10))).await;
        assert!(done(&ran).reply().ends_with("more more\""), "{model}");
        let summary = world.log.iter().find(|e| matches!(e.record, Record::Summary { covers: Seq(2), .. }));
        assert!(summary.is_some(), "{model}: {:?}", world.log);
        assert_eq!(standins.requests().len(), 4, "{model}: asked, too long, summed up, asked again");
    }
}

#[tokio::test]
async fn a_filling_context_is_shortened_before_the_next_turn() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        done(&world.ask("one").await);
        done(&world.ask(&"w ".repeat(105_000)).await);
        standins.forget();
        done(&world.ask("three").await);
        assert_eq!(standins.requests().len(), 2, "{model}: summed up, then asked");
        assert!(
            world.log.iter().any(|e| matches!(e.record, Record::Summary { covers: Seq(4), .. })),
            "{model}"
        );
        done(&world.ask("four").await);
        assert_eq!(standins.requests().len(), 3, "{model}: and not again");
    }
}

#[tokio::test]
async fn compacting_when_asked_is_one_plain_question() {
    for model in BOTH {
        let (mut world, standins) = world(&[model]).await;
        done(&world.ask("!tool list_files {\"path\":\".\"}").await);
        done(&world.ask("second").await);
        standins.forget();
        assert!(done(&world.compact().await).reply().contains("1 earlier exchange is"), "{model}");
        assert!(standins.requests()[0].body.get("tools").is_none());
        let ran = world.ask("third").await;
        assert!(done(&ran).reply().contains("third"), "{model}");
        let body = standins.requests().pop().expect("asked").body.to_string();
        assert!(body.contains("What was said before, in short"), "{model}");
        assert!(!body.contains("tool_use") && !body.contains("tool_calls"), "{model}");
    }
}

#[tokio::test]
async fn thoughts_are_apart_and_go_back_unchanged() {
    let (mut world, _) = world(&["anthropic:thinking-x"]).await;
    let ran = world.ask("!say first\n!tool list_files {\"path\":\".\"}\n!say done").await;
    assert_eq!(done(&ran).reply(), "first\n\ndone");
    assert!(ran.events.contains(&HarnessEvent::Thought("Let me think.".into())));
    assert_eq!(done(&world.ask("more").await).reply(), "You said: \"more\"");
}

#[tokio::test]
async fn odd_compatible_servers_are_understood() {
    let plain = Quirks::default();
    let oddities = [
        Quirks { refuses_stream_options: true, usage_with_choice: true, ..plain },
        Quirks { odd_calls: true, ..plain },
        Quirks { no_done: true, ..plain },
        Quirks { never_streams: true, ..plain },
        Quirks { piece: 1, crlf: true, ..plain },
        Quirks { piece: 7, ..plain },
    ];
    for quirks in oddities {
        let (mut world, standins) = world(&["openai:local"]).await;
        standins.set_quirks(quirks);
        for _ in 0..2 {
            let ran = world.ask("!say é👋\n!tool list_files {\"path\":\".\"}\n!tool list_files {\"path\":\".\"}\n!say end").await;
            assert_eq!(done(&ran).reply(), "é👋\n\nend", "{quirks:?}");
            assert!(ran.usage().output > 0, "{quirks:?}");
        }
        let refused = usize::from(quirks.refuses_stream_options);
        assert_eq!(
            standins.requests().len(),
            6 + refused,
            "{quirks:?}: what was refused once is not sent again"
        );
        let ids: std::collections::HashSet<_> = world
            .log
            .iter()
            .filter_map(|e| match &e.record {
                Record::Result { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(ids.len(), 4, "{quirks:?}: every call has an id of its own");
    }
}

#[tokio::test]
async fn the_limit_is_named_as_the_server_knows_it_and_prompts_are_marked_for_the_cache() {
    let (mut world, standins) = world(&BOTH).await;
    done(&world.ask("hi").await);
    let body = standins.requests().remove(0).body;
    assert_eq!(body["max_tokens"], 16_000);
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
    world.choices.model = Some("openai:gpt-x".into());
    done(&world.ask("hi").await);
    let body = standins.requests().remove(1).body;
    assert!(body.get("max_completion_tokens").is_none());
    assert_eq!(body["stream_options"]["include_usage"], true);
}
