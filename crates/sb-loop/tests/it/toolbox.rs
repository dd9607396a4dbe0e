//! Tools from elsewhere, in a turn.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sb_harness::model::*;
use sb_harness::net::{Away, FixedDice, Http, ManualClock};
use sb_harness::{Blobs, HarnessEvent, HarnessInput};
use sb_loop::{Done, LoopContext, LoopHarness, Offer, Outcome, ToolDef, Toolbox};
use serde_json::json;

use crate::world::{Ring, World};

/// Two tools, one of which cannot be had.
#[derive(Default)]
struct Far {
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Toolbox for Far {
    async fn offer(&self, _: &Profile) -> Offer {
        self.asked.lock().expect("lock").push("offer".into());
        let look = ToolDef {
            name: "far__look".into(),
            class: ToolClass::Outside,
            description: "Looks".into(),
            schema: json!({"type": "object", "properties": {"depth": {"type": "integer"}, "at": {}},
                           "required": ["depth"]}),
        };
        Offer { tools: vec![look], notes: vec!["far__gone is held back.".into()] }
    }
    fn has(&self, _: &Profile, tool: &str) -> bool {
        tool.starts_with("far__")
    }
    async fn run(&self, _: &Profile, call: &Call, _: Arc<dyn Blobs>) -> Outcome {
        self.asked.lock().expect("lock").push(call.shown());
        if call.input["depth"] == 9 {
            return std::future::pending().await;
        }
        let picture = Attachment {
            name: "look-1.png".into(),
            media_type: "image/png".into(),
            size: 1,
            digest: Digest::of(b"p"),
        };
        let failed = call.input["depth"] == 0;
        let files = if failed { vec![] } else { vec![picture] };
        Ok(Done {
            text: "seen".into(),
            files,
            shows_pictures: true,
            outside: true,
            failed,
            ..Done::default()
        })
    }
}

fn world() -> (World, Arc<Far>) {
    let mut world = World::new(&["scripted"], Ring::default());
    let far = Arc::new(Far::default());
    let context = LoopContext {
        http: Http::new().expect("a client"),
        clock: Arc::new(ManualClock::at(Timestamp(1))),
        dice: Arc::new(FixedDice::new(1)),
        keys: Arc::new(Ring::default()),
        away: Away::default(),
        marks: Secret::new("marks"),
        own: "/nonexistent/switchboard".into(),
    };
    world.harness = Arc::new(LoopHarness::new(context).with_toolbox(far.clone()));
    (world, far)
}

fn results(world: &World) -> Vec<(bool, bool, String)> {
    let result = |e: &Entry| match &e.record {
        Record::Result { ok, outside, text, .. } => Some((*ok, *outside, text.clone())),
        _ => None,
    };
    world.log.iter().filter_map(result).collect()
}

#[tokio::test]
async fn a_tool_from_elsewhere_runs_after_go_and_its_result_is_from_outside() {
    let (mut world, far) = world();
    let ran = world.ask("!tool far__look {\"depth\": 1}\n!tool far__look {\"depth\": 0}").await;
    assert_eq!(ran.ended, Ok(StopReason::Done));
    assert!(ran.calls().iter().all(|call| call.class == ToolClass::Outside));
    assert_eq!(results(&world), [(true, true, "seen".into()), (false, true, "seen".into())]);
    let given = ran.events.iter().filter(|e| matches!(e, HarnessEvent::File(_))).count();
    assert_eq!(given, 1, "the person is given the picture too");
    assert_eq!(far.asked.lock().expect("lock").iter().filter(|a| *a == "offer").count(), 1);
}

#[tokio::test]
async fn what_does_not_fit_or_cannot_be_had_is_told_and_the_turn_goes_on() {
    let (mut world, far) = world();
    let ran = world.ask("!tool far__look {}\n!tool far__gone {}\n!say on").await;
    assert_eq!(ran.ended, Ok(StopReason::Done));
    let told = results(&world);
    assert!(told.iter().all(|(ok, ..)| !ok), "{told:?}");
    assert!(told[0].2.contains("depth") && told[0].2.contains("schema"), "{told:?}");
    assert_eq!(told[1].2, "The tool far__gone cannot be had now. far__gone is held back.");
    assert_eq!(far.asked.lock().expect("lock").len(), 1, "no call was made");
}

#[tokio::test]
async fn a_chat_that_wants_none_of_them_has_none_and_a_stop_drops_the_call() {
    let (mut world, far) = world();
    world.choices.tools = Some(vec!["read_file".into()]);
    world.ask("!tool far__look {\"depth\": 1}").await;
    assert!(far.asked.lock().expect("lock").is_empty(), "nobody was even asked");
    world.choices.tools = None;
    let mut running = world.begin("!tool far__look {\"depth\": 9}");
    world.until(&mut running, |e| matches!(e, HarnessEvent::Tool(t) if t.state == "running")).await;
    running.tell.send(HarnessInput::Stop).expect("it listens");
    assert_eq!(world.finish(running).await.ended, Ok(StopReason::Stopped));
}
