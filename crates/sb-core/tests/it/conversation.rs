//! The promises of the conversation, over millions of random steps with crashes at any of them, and
//! single stories told step by step.

use sb_core::model::*;

use crate::world::World;

const TEXTS: &[&str] = &[
    "hello",
    "how are you",
    "please go on",
    "stop",
    "hold on",
    "/stop",
    "/approve",
    "/approve always",
    "/decline not now",
    "/new",
    "/status",
    "/retry",
    "/undo",
    "/compact",
    "/usage",
    "/sessions",
    "/resume abcd",
    "/title x",
    "/model 2",
    "/model",
    "/system be brief",
    "/tools read_file",
    "/tools all",
    "/whoami",
    "/help",
    "/allowed",
    "/allowed off",
    "/nonsense",
    "/approve 12345678",
    "/approve always write_file(0.txt)",
    "/etc/hosts is odd",
    "1",
    "decline",
    "3",
];

fn manner(world: &mut World) -> Manner {
    Manner {
        busy: *world.chance.pick(&[Busy::Steer, Busy::Queue, Busy::Collect, Busy::Interrupt, Busy::Refuse]),
        debounce_ms: *world.chance.pick(&[0, 0, 500]),
        commands_wait: world.chance.one_in(2),
        stop_words: world.chance.one_in(2),
        names_writers: world.chance.one_in(4),
        ask_expiry_ms: world.chance.one_in(3).then_some(60_000),
    }
}

pub const PLAIN: Manner = Manner {
    busy: Busy::Queue,
    debounce_ms: 0,
    commands_wait: false,
    stop_words: false,
    names_writers: false,
    ask_expiry_ms: None,
};

fn some_message(world: &mut World) {
    let text = *world.chance.pick(TEXTS);
    let rights = if world.chance.one_in(3) { Rights::TALK } else { Rights::ALL };
    let (manner, file) = (manner(world), world.chance.one_in(8));
    world.take(text, rights, manner, file);
}

/// Decisions, `/stop` and the like never wait for anything.
fn acts_at_once(message: &Message) -> bool {
    let command = sb_core::commands::read(message).ok().flatten();
    command.is_some_and(|(entry, _)| entry.when == sb_core::commands::When::Always)
}

/// Lets everything that is due happen, deciding what waits, until nothing is left to do.
fn settle(world: &mut World) {
    for _ in 0..20_000 {
        if world.advance(false) {
            continue;
        }
        let stuck = world.disk.waiting.iter().find(|m| acts_at_once(m));
        assert!(stuck.is_none(), "at rest, with {stuck:?} never acted on");
        if world.disk.turn.as_ref().is_some_and(|t| t.pending.is_some()) {
            world.take("/decline enough", Rights::ALL, PLAIN, false);
            continue;
        }
        return;
    }
    panic!("it never comes to rest: {:?}", world.disk);
}

fn run(seed: u64, steps: u64) -> (u64, u64) {
    let mut world = World::new(seed);
    for _ in 0..steps {
        if world.chance.one_in(12) {
            some_message(&mut world);
        } else if world.chance.one_in(500) {
            world.crash();
        } else if world.chance.one_in(800) {
            world.close();
        } else {
            world.advance(true);
        }
        if world.chance.one_in(300) {
            world.same_in_memory_and_on_disk();
        }
    }
    // A decision on disk that nobody was told of yet.
    world.take("/status", Rights::ALL, PLAIN, false);
    world.crash();
    settle(&mut world);
    assert!(world.disk.turn.is_none(), "a turn that never ended");
    for id in &world.taken {
        let ending = world.endings.get(id).unwrap_or_else(|| panic!("{id:?} was taken and has no ending"));
        let posts = world.posts_answering(*id);
        assert!(posts.len() <= 1, "{id:?} is answered in several posts: {posts:?}");
        let told = world.bridged && ending.kind != EndKind::Dropped;
        assert_eq!(posts.len() == 1, told, "{id:?} ended so: {ending:?}, and is answered by {posts:?}");
    }
    (world.crashes, world.turns)
}

/// Every message taken has exactly one ending; turns never overlap; what acts is committed first and
/// goes once; nothing is shown before it is committed; it never spins. A crash may fall on any step.
///
/// Holds: C-03, C-60, C-61, B-02.
#[test]
fn every_message_taken_ends_exactly_once_whatever_crashes() {
    let only = option_env!("SB_SEED").and_then(|s| s.parse().ok());
    let (mut crashes, mut turns) = (0, 0);
    for seed in only.map_or(1..=250_u64, |s: u64| s..=s) {
        let done = std::panic::catch_unwind(|| run(seed, 4_000));
        match done {
            Ok((c, t)) => (crashes, turns) = (crashes + c, turns + t),
            Err(e) => {
                eprintln!("seed {seed}");
                std::panic::resume_unwind(e);
            }
        }
    }
    assert!(
        only.is_some() || (crashes > 1_000 && turns > 10_000),
        "it tried too little: {crashes} crashes, {turns} turns"
    );
}
