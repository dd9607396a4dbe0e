//! The outbox as it should be, kept beside the store by the random law.

use sb_store::model::{Change, ConversationId, Post, PostKey, Timestamp};
use sb_store::{PostState, Sending, Store};

use super::samples::{NOON, Seeded, address, posted, question};

/// One post as it should stand.
#[derive(Debug, PartialEq)]
struct Stands {
    post: Post,
    state: PostState,
    due: Timestamp,
    tries: u32,
    why: Option<String>,
    revised: u32,
}

/// All posts in the order of writing.
#[derive(Default)]
pub struct Outbox(Vec<Stands>);

impl Outbox {
    /// A new post, one that is known, or other words for one that may be.
    pub fn next(dice: &Seeded) -> Change {
        let (key, text) = (format!("turn:{}", dice.below(30)), format!("words {}", dice.below(9)));
        match dice.once_in(3) {
            true => Change::Reposted { key: PostKey(key), text },
            false => posted(question(&key, address("tg", &dice.below(3).to_string()), &text)),
        }
    }

    /// What such a change should do.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Posted(post) if self.find(&post.key).is_none() => self.0.push(Stands {
                post: post.as_ref().clone(),
                state: PostState::Open,
                due: Timestamp(0),
                tries: 0,
                why: None,
                revised: 0,
            }),
            Change::Reposted { key, text } => {
                let Some(at) = self.find(key) else { return };
                let stands = &mut self.0[at];
                stands.post.text.clone_from(text);
                stands.post.choices.clear();
                stands.revised += 1;
                if stands.state != PostState::Dropped {
                    (stands.state, stands.due, stands.tries) = (PostState::Open, Timestamp(0), 0);
                    stands.why = None;
                }
            }
            _ => {}
        }
    }

    /// Something becomes of a post; now and then said of an older wording, or of none that is there.
    pub async fn send(&mut self, store: &Store, dice: &Seeded) {
        const STATES: [PostState; 5] =
            [PostState::Open, PostState::Done, PostState::Refused, PostState::Perhaps, PostState::Dropped];
        let key = PostKey(format!("turn:{}", dice.below(30)));
        let (state, due, tries) =
            (STATES[dice.below(5)], NOON.plus_ms(dice.below(99) as i64), dice.below(4) as u32);
        let why = dice.once_in(2).then(|| "the answer was lost".to_owned());
        let at = self.find(&key);
        let seen = at.map_or(0, |at| self.0[at].revised).saturating_sub(u32::from(dice.once_in(3)));
        let note = Sending::Post { key, state, due, tries, why: why.clone(), revised: seen };
        store.note_sending(vec![note]).await.unwrap();
        let Some(stands) = at.map(|at| &mut self.0[at]) else { return };
        let of_another_wording = seen != stands.revised && state != PostState::Open;
        let stays_dropped =
            stands.state == PostState::Dropped && !matches!(state, PostState::Done | PostState::Dropped);
        if !of_another_wording && !stays_dropped {
            (stands.state, stands.due, stands.tries, stands.why) = (state, due, tries, why);
        }
    }

    /// Fails if the store holds anything else.
    pub async fn compare(&self, store: &Store, of: &ConversationId, when: &str) {
        let mut found = store.outbox(None, true, usize::MAX).await.unwrap();
        found.reverse();
        assert!(found.iter().all(|p| &p.conversation == of && p.at == NOON), "{when}");
        let open = found.iter().filter(|p| p.state == PostState::Open).count();
        assert_eq!(store.count_unsent().await.unwrap(), open as u64, "{when}");
        let found: Vec<_> = found
            .into_iter()
            .map(|p| Stands {
                post: p.post,
                state: p.state,
                due: p.due,
                tries: p.tries,
                why: p.why,
                revised: p.revised,
            })
            .collect();
        assert_eq!(found, self.0, "{when}");
    }

    fn find(&self, key: &PostKey) -> Option<usize> {
        self.0.iter().position(|s| &s.post.key == key)
    }
}
