//! Laws of the outbox: a post is written once, goes out once, and nothing said of it is lost.

use sb_store::model::{Change, Chat, ChatFacts, ChatSort, MessageRef, Post, PostKey, SessionId, Timestamp};
use sb_store::{MOST_UNSENT, PartState, PostState, Sending, Store, StoredPart, StoredPost};

use super::Ground;
use super::samples::{
    NOON, address, attachment, batch, bridged, chat_of, commit, entry, logged, part, post, posted, question,
    said, slug,
};

const DAY: i64 = 86_400_000;

fn key(text: &str) -> PostKey {
    PostKey(text.into())
}

/// Takes a message in for chat `chat` of channel `tg`, so that its conversation exists, and posts there.
async fn write(store: &Store, chat: &str, posts: Vec<Post>) {
    let channel = posts[0].to.channel.clone();
    let said = bridged(channel.as_str(), chat, chat, "hello");
    store.take_batch(batch(channel.as_str(), "1", vec![said]), vec![], NOON).await.unwrap();
    commit(store, &chat_of(channel.as_str(), chat), posts.into_iter().map(posted).collect()).await;
}

async fn open(store: &Store, chat: &str) -> Vec<StoredPost> {
    store.open_posts(&slug("tg"), &Chat::direct(chat), 999).await.unwrap()
}

async fn one(store: &Store) -> StoredPost {
    let mut all = store.outbox(None, true, 9).await.unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn keys(posts: &[StoredPost]) -> Vec<&str> {
    posts.iter().map(|p| p.post.key.0.as_str()).collect()
}

fn noted(of: &str, state: PostState, revised: u32) -> Sending {
    Sending::Post { key: key(of), state, due: NOON.plus_ms(5), tries: 1, why: None, revised }
}

fn reposted(of: &str, text: &str) -> Change {
    Change::Reposted { key: key(of), text: text.into() }
}

pub async fn a_post_is_written_once_under_its_key(ground: &impl Ground) {
    let store = ground.open().await;
    let mut first = question("request:1", address("tg", "7"), "May I?");
    first.to.chat = Chat { id: "7".into(), thread: Some("t".into()), sort: ChatSort::Group };
    first.files = vec![attachment(sb_store::model::Digest::of(b"x"))];
    first.failed = true;
    write(&store, "7", vec![first.clone(), post("request:1", address("tg", "8"), "another")]).await;
    commit(&store, &chat_of("tg", "7"), vec![posted(post("request:1", address("tg", "7"), "again"))]).await;
    let store = ground.reopen(store).await;
    let found = one(&store).await;
    assert_eq!((&found.post, &found.conversation), (&first, &chat_of("tg", "7")));
    assert_eq!((found.state, found.due, found.tries), (PostState::Open, Timestamp(0), 0));
    assert_eq!((found.at, found.revised, &found.why, found.parts.len()), (NOON, 0, &None, 0));
    assert_eq!(store.open_posts(&slug("tg"), &first.to.chat, 9).await.unwrap(), [found]);
    for other in [
        Chat::direct("7"),
        Chat { thread: None, ..first.to.chat.clone() },
        Chat { thread: Some(String::new()), ..first.to.chat.clone() },
        Chat { sort: ChatSort::Direct, ..first.to.chat.clone() },
    ] {
        assert_eq!(store.open_posts(&slug("tg"), &other, 9).await.unwrap(), [], "another place: {other:?}");
    }
}

pub async fn a_post_is_dated_by_what_it_is_decided_with(ground: &impl Ground) {
    let store = ground.open().await;
    let (of, session) = (chat_of("tg", "7"), SessionId(0xa1));
    write(&store, "7", vec![post("message:1", address("tg", "7"), "by the message")]).await;
    let message = store.load(&of).await.unwrap().unwrap().0.waiting.remove(0);
    let mut late = entry(1, None, said(&message));
    late.at = NOON.plus_ms(70);
    let began = Change::SessionBegan { id: session, at: NOON.plus_ms(50) };
    let reply = posted(post("turn:1", address("tg", "7"), "by the log"));
    commit(&store, &of, vec![reply, began, logged(session, late)]).await;
    let found = open(&store, "7").await;
    assert_eq!(found.iter().map(|p| p.at).collect::<Vec<_>>(), [NOON, NOON.plus_ms(70)]);
}

pub async fn what_is_to_be_sent_and_the_cursor_survive_a_restart(ground: &impl Ground) {
    let store = ground.open().await;
    write(&store, "7", vec![post("a", address("tg", "7"), "one"), post("b", address("tg", "7"), "two")])
        .await;
    write(&store, "8", vec![post("c", address("tg", "8"), "three")]).await;
    write(&store, "7", vec![post("d", address("tg", "7"), "four")]).await;
    let store = ground.reopen(store).await;
    assert_eq!(store.cursor(&slug("tg"), "updates").await.unwrap().as_deref(), Some("1"));
    assert_eq!(keys(&open(&store, "7").await), ["a", "b", "d"], "in the order of writing");
    assert_eq!(keys(&open(&store, "8").await), ["c"]);
    let first = store.open_posts(&slug("tg"), &Chat::direct("7"), 1).await.unwrap();
    assert_eq!(keys(&first), ["a"]);
    assert_eq!(store.count_unsent().await.unwrap(), 4);
    let all = store.outbox(Some(&slug("tg")), false, 3).await.unwrap();
    assert_eq!(keys(&all), ["d", "c", "b"], "the newest first");
    assert_eq!(store.outbox(Some(&slug("dc")), true, 9).await.unwrap(), []);
}

pub async fn a_revised_post_is_open_again(ground: &impl Ground) {
    let store = ground.open().await;
    let (of, asked) = (chat_of("tg", "7"), question("request:1", address("tg", "7"), "May I?"));
    write(&store, "7", vec![asked.clone()]).await;
    let sent = part(0, "May I?", PartState::Sent);
    let notes = vec![
        Sending::Part { key: key("request:1"), part: sent.clone() },
        noted("request:1", PostState::Done, 0),
    ];
    store.note_sending(notes).await.unwrap();
    assert_eq!((open(&store, "7").await.len(), store.count_unsent().await.unwrap()), (0, 0));
    commit(&store, &of, vec![reposted("request:1", "Ada allowed it."), reposted("request:9", "nobody")])
        .await;
    let store = ground.reopen(store).await;
    let [found] = &open(&store, "7").await[..] else { panic!("not open again") };
    let revised = Post { text: "Ada allowed it.".into(), choices: Vec::new(), ..asked };
    assert_eq!((&found.post, found.revised, &found.parts), (&revised, 1, &vec![sent]));
    assert_eq!((found.due, found.tries, &found.why), (Timestamp(0), 0, &None));
    commit(&store, &chat_of("tg", "7"), vec![reposted("request:1", "Bob undid it.")]).await;
    for late in [PostState::Done, PostState::Refused, PostState::Perhaps] {
        store.note_sending(vec![noted("request:1", late, 1)]).await.unwrap();
        assert_eq!(one(&store).await.state, PostState::Open, "{late:?} was said of an older wording");
    }
    store.note_sending(vec![noted("request:1", PostState::Open, 1)]).await.unwrap();
    let waits = one(&store).await;
    assert_eq!(
        (waits.state, waits.due, waits.tries),
        (PostState::Open, NOON.plus_ms(5), 1),
        "its pause holds"
    );
    store.note_sending(vec![noted("request:1", PostState::Done, 2)]).await.unwrap();
    assert_eq!(one(&store).await.state, PostState::Done);
}

pub async fn what_another_conversation_posted_is_not_revised(ground: &impl Ground) {
    let store = ground.open().await;
    write(&store, "7", vec![post("a", address("tg", "7"), "one")]).await;
    write(&store, "8", vec![post("b", address("tg", "8"), "two")]).await;
    commit(&store, &chat_of("tg", "8"), vec![reposted("a", "not ours")]).await;
    let [found] = &open(&store, "7").await[..] else { panic!("it is open") };
    assert_eq!((found.post.text.as_str(), found.revised), ("one", 0));
}

pub async fn parts_live_before_their_post(ground: &impl Ground) {
    let store = ground.open().await;
    let turn = key("turn:1");
    let shown = |n, text: &str, state| Sending::Part { key: turn.clone(), part: part(n, text, state) };
    let begun = StoredPart { message: None, ..part(1, "and", PartState::Trying) };
    store
        .note_sending(vec![
            shown(0, "It", PartState::Live),
            Sending::Part { key: turn.clone(), part: begun.clone() },
            shown(0, "It is", PartState::Sent),
            noted("turn:1", PostState::Done, 0),
        ])
        .await
        .unwrap();
    let store = ground.reopen(store).await;
    let parts = vec![part(0, "It is", PartState::Sent), begun];
    assert_eq!(store.parts(&turn).await.unwrap(), parts, "written over, in their order");
    assert_eq!(store.parts(&key("turn:10")).await.unwrap(), []);
    assert_eq!(store.outbox(None, true, 9).await.unwrap(), [], "there is no post yet");
    write(&store, "7", vec![post("turn:1", address("tg", "7"), "It is and was")]).await;
    let found = one(&store).await;
    assert_eq!(
        (found.state, &found.parts),
        (PostState::Open, &parts),
        "what was said too early closed nothing"
    );
}

pub async fn the_backlog_keeps_the_last_two_hundred(ground: &impl Ground) {
    let store = ground.open().await;
    let most = usize::try_from(MOST_UNSENT).unwrap();
    write(&store, "x", vec![post("other", address("dc", "x"), "another channel's")]).await;
    for n in 0..most + 3 {
        let chat = (n % 3).to_string();
        write(&store, &chat, vec![post(&format!("k{n}"), address("tg", &chat), "x")]).await;
        if n == 10 {
            store.note_sending(vec![noted("k10", PostState::Done, 0)]).await.unwrap();
        }
    }
    let all = store.outbox(Some(&slug("tg")), true, 999).await.unwrap();
    let dropped: Vec<_> = all.iter().filter(|p| p.state == PostState::Dropped).collect();
    assert_eq!(dropped.iter().map(|p| p.post.key.0.as_str()).collect::<Vec<_>>(), ["k1", "k0"]);
    assert!(dropped[0].why.as_deref().unwrap().contains("200"), "{:?}", dropped[0].why);
    assert_eq!(all[0].post.key.0, format!("k{}", most + 2), "the newest is there");
    assert_eq!(store.count_unsent().await.unwrap(), MOST_UNSENT.unsigned_abs() + 1, "of each channel");
    assert_eq!(store.outbox(Some(&slug("tg")), false, 999).await.unwrap().len(), most);
}

pub async fn our_own_answers_leave_the_backlog_before_replies_do(ground: &impl Ground) {
    let store = ground.open().await;
    write(&store, "x", vec![post("turn:1", address("tg", "x"), "what somebody waits for")]).await;
    for n in 0..MOST_UNSENT + 10 {
        write(&store, "x", vec![post(&format!("message:{n}"), address("tg", "x"), "no longer open")]).await;
    }
    let all = store.outbox(Some(&slug("tg")), true, 999).await.unwrap();
    let dropped = |p: &&StoredPost| p.state == PostState::Dropped;
    assert_eq!(all.iter().filter(dropped).count(), 11);
    assert!(all.iter().filter(dropped).all(|p| p.post.key.0.starts_with("message:")), "{all:#?}");
}

pub async fn a_moved_chat_takes_its_posts_along(ground: &impl Ground) {
    let store = ground.open().await;
    let tg = slug("tg");
    write(&store, "7", vec![post("a", address("tg", "7"), "one"), post("b", address("tg", "8"), "other")])
        .await;
    write(&store, "7", vec![post("c", address("dc", "7"), "another channel's")]).await;
    store.chat_moved(&tg, "7", "-100").await.unwrap();
    store.chat_moved(&tg, "7", "-100").await.unwrap();
    let store = ground.reopen(store).await;
    write(&store, "7", vec![post("d", address("tg", "7"), "decided before, written after")]).await;
    assert_eq!(keys(&open(&store, "-100").await), ["a", "d"]);
    assert_eq!((open(&store, "7").await.len(), keys(&open(&store, "8").await)), (0, vec!["b"]));
    let known = async |chat| store.chat_facts(&tg, chat).await.unwrap().known_as;
    assert_eq!((known("-100").await.as_deref(), known("7").await), (Some("7"), None));
    store.chat_moved(&tg, "-100", "-200").await.unwrap();
    write(&store, "7", vec![post("e", address("tg", "7"), "much later")]).await;
    assert_eq!(keys(&open(&store, "-200").await), ["a", "d", "e"]);
    assert_eq!(known("-200").await.as_deref(), Some("7"), "as it was known first");
    store.chat_moved(&tg, "-200", "7").await.unwrap();
    write(&store, "7", vec![post("f", address("tg", "7"), "back again")]).await;
    assert_eq!(keys(&open(&store, "7").await), ["a", "d", "e", "f"]);
    assert_eq!(known("7").await, None, "it has its own name again");
    let elsewhere = store.open_posts(&slug("dc"), &Chat::direct("7"), 9).await.unwrap();
    assert_eq!(keys(&elsewhere), ["c"]);
}

pub async fn a_gone_chat_is_not_among_the_places_to_send(ground: &impl Ground) {
    let store = ground.open().await;
    let tg = slug("tg");
    let mut in_thread = post("b", address("tg", "8"), "two");
    in_thread.to.chat = Chat { id: "8".into(), thread: Some("t".into()), sort: ChatSort::Group };
    let thread = in_thread.to.chat.clone();
    write(&store, "7", vec![post("a", address("tg", "7"), "one"), post("c", address("tg", "7"), "three")])
        .await;
    write(&store, "8", vec![in_thread, post("d", address("tg", "9"), "four")]).await;
    store.note_sending(vec![noted("a", PostState::Open, 0), noted("d", PostState::Open, 0)]).await.unwrap();
    let places = async || store.places_to_send(&tg).await.unwrap();
    let later = (Chat::direct("9"), NOON.plus_ms(5));
    let all = [(Chat::direct("7"), Timestamp(0)), (thread.clone(), Timestamp(0)), later.clone()];
    assert_eq!(places().await, all, "with the earliest due of each");
    store.chat_gone(&tg, "8", Some("blocked")).await.unwrap();
    store.chat_gone(&slug("dc"), "9", Some("another channel's")).await.unwrap();
    let there = store.open_posts(&tg, &thread, 9).await.unwrap();
    assert_eq!(there, [], "what is unsent there is not tried");
    assert_eq!(places().await, [all[0].clone(), later.clone()]);
    let facts = ChatFacts { known_as: None, gone: Some("blocked".into()) };
    assert_eq!(store.chat_facts(&tg, "8").await.unwrap(), facts);
    assert_eq!(store.count_unsent().await.unwrap(), 4, "they wait");
    store.chat_gone(&tg, "8", None).await.unwrap();
    assert_eq!(store.chat_facts(&tg, "8").await.unwrap(), ChatFacts::default());
    store
        .note_sending(vec![noted("a", PostState::Done, 0), noted("c", PostState::Refused, 0)])
        .await
        .unwrap();
    assert_eq!(places().await, [(thread, Timestamp(0)), later], "nothing is open there");
    assert_eq!(store.places_to_send(&slug("dc")).await.unwrap(), []);
}

pub async fn an_operator_tries_a_post_again_or_drops_it(ground: &impl Ground) {
    let store = ground.open().await;
    write(&store, "7", vec![post("a", address("tg", "7"), "one")]).await;
    let number = one(&store).await.number;
    let failed = |n, state| {
        let part = StoredPart { tries: 3, ..part(n, "x", state) };
        Sending::Part { key: key("a"), part }
    };
    let why = Some("they blocked us".to_owned());
    let perhaps = Sending::Post {
        key: key("a"),
        state: PostState::Perhaps,
        due: NOON,
        tries: 4,
        why: why.clone(),
        revised: 0,
    };
    let parts = [PartState::Sent, PartState::Refused, PartState::Perhaps];
    let mut notes: Vec<_> = (0..).zip(parts).map(|(n, state)| failed(n, state)).collect();
    notes.push(perhaps);
    store.note_sending(notes).await.unwrap();
    let found = one(&store).await;
    assert_eq!((found.state, found.tries, found.why), (PostState::Perhaps, 4, why));
    assert_eq!(store.outbox(None, false, 9).await.unwrap().len(), 1, "it is listed");
    assert!(store.retry_post(number, NOON.plus_ms(9)).await.unwrap());
    let found = one(&store).await;
    assert_eq!((found.state, found.due, found.tries, found.why), (PostState::Open, NOON.plus_ms(9), 0, None));
    let parts: Vec<_> = found.parts.iter().map(|p| (p.state, p.tries)).collect();
    assert_eq!(parts, [(PartState::Sent, 3), (PartState::Trying, 0), (PartState::Trying, 0)]);
    assert_eq!(found.parts[1].message, Some(MessageRef("m11".into())), "where it may be is not forgotten");

    assert!(store.drop_post(number).await.unwrap());
    assert!(!store.drop_post(number).await.unwrap());
    store.note_sending(vec![noted("a", PostState::Open, 0)]).await.unwrap();
    commit(&store, &chat_of("tg", "7"), vec![reposted("a", "two")]).await;
    assert_eq!(one(&store).await.state, PostState::Dropped, "whoever was sending it does not bring it back");
    assert_eq!(store.outbox(None, false, 9).await.unwrap(), []);
    assert!(store.retry_post(number, NOON).await.unwrap());
    assert_eq!(one(&store).await.post.text, "two");
    store.note_sending(vec![noted("a", PostState::Done, 1)]).await.unwrap();
    for refused in [store.retry_post(number, NOON), store.retry_post(999, NOON)].map(Box::pin) {
        assert!(!refused.await.unwrap(), "what is out is not sent again");
    }
    assert!(!store.drop_post(number).await.unwrap());
}

pub async fn what_a_clock_put_off_that_was_set_back_is_due_again(ground: &impl Ground) {
    let store = ground.open().await;
    let to = || address("tg", "7");
    write(&store, "7", ["soon", "never", "out"].map(|key| post(key, to(), "x")).into()).await;
    let put_off = |of: &str, state, ms| {
        let (due, why) = (NOON.plus_ms(ms), Some("it was busy".to_owned()));
        Sending::Post { key: key(of), state, due, tries: 1, why, revised: 0 }
    };
    let notes = vec![
        put_off("soon", PostState::Open, 5_000),
        put_off("never", PostState::Open, DAY),
        put_off("out", PostState::Done, DAY),
    ];
    store.note_sending(notes).await.unwrap();
    store.hurry(&slug("other"), NOON.plus_ms(60_000), NOON).await.unwrap();
    assert_eq!(open(&store, "7").await[1].due, NOON.plus_ms(DAY), "another channel's");
    store.hurry(&slug("tg"), NOON.plus_ms(60_000), NOON).await.unwrap();
    let dues: Vec<_> = open(&store, "7").await.iter().map(|p| p.due.ms_since(NOON)).collect();
    assert_eq!(dues, [5_000, 0]);
}

pub async fn what_is_long_out_is_cleared_away(ground: &impl Ground) {
    let store = ground.open().await;
    let to = || address("tg", "7");
    let posts = ["done", "dropped", "late", "open", "refused"].map(|key| post(key, to(), "x"));
    write(&store, "7", posts.to_vec()).await;
    write(&store, "7", vec![question("request:asks", to(), "May I?")]).await;
    let shown = |of: &str| Sending::Part { key: key(of), part: part(0, "x", PartState::Sent) };
    let fresh = StoredPart { at: NOON.plus_ms(DAY), ..part(0, "x", PartState::Live) };
    let late = Sending::Post {
        key: key("late"),
        state: PostState::Done,
        due: NOON.plus_ms(DAY),
        tries: 0,
        why: None,
        revised: 0,
    };
    let mut notes = vec![
        noted("done", PostState::Done, 0),
        noted("dropped", PostState::Dropped, 0),
        noted("refused", PostState::Refused, 0),
        noted("request:asks", PostState::Done, 0),
        late,
        Sending::Part { key: key("fresh"), part: fresh },
    ];
    notes.extend(["done", "late", "open", "request:asks", "orphan"].map(shown));
    // More than are removed at once.
    notes.extend((0..600).map(|n| shown(&format!("orphan {n}"))));
    store.note_sending(notes).await.unwrap();
    assert_eq!(store.purge(NOON.plus_ms(7 * DAY - 1)).await.unwrap().posts, 0);
    let purged = store.purge(NOON.plus_ms(7 * DAY + 5)).await.unwrap().posts;
    assert_eq!(purged, 2 + 601, "what is done, what is dropped, and parts whose post never came");
    let left = store.outbox(None, true, 99).await.unwrap();
    assert_eq!(keys(&left), ["request:asks", "refused", "open", "late"]);
    for (of, parts) in
        [("done", 0), ("orphan", 0), ("late", 1), ("open", 1), ("request:asks", 1), ("fresh", 1)]
    {
        assert_eq!(store.parts(&key(of)).await.unwrap().len(), parts, "{of}");
    }
    commit(&store, &chat_of("tg", "7"), vec![reposted("request:asks", "Yes.")]).await;
    store.note_sending(vec![noted("request:asks", PostState::Done, 1)]).await.unwrap();
    assert_eq!(
        store.purge(NOON.plus_ms(9 * DAY)).await.unwrap().posts,
        3,
        "answered, it is a post like others"
    );
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}
