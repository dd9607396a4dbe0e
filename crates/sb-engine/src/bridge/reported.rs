//! What a platform tells later of something we sent: that it was taken, or that it came to nothing after
//! all. Written down by the chat's lane, which alone knows what it is sending meanwhile.
//!
//! Invariant: a report moves only the part it names and only while that still says what the report is of;
//! told twice, or out of order, it changes nothing.

use sb_channel::{Mark, Report};
use sb_core::model::{Fault, FaultKind, PostKey};
use sb_store::{PartState, PostState, Sending, StoredPart};

use super::feed::of_store;
use super::lane::Lane;
use super::send::{HELD, UNTIL_SPOKEN_MS};

/// How long before something that came to nothing, but may pass, is tried again; and how often at most.
const AGAIN_MS: i64 = 60_000;
const MOST_TRIES: u32 = 5;

/// The post, the number of its part and its revision that an attempt's key names.
pub(super) fn read_key(key: &str) -> Option<(PostKey, u32, u32)> {
    let mut words = key.rsplitn(3, ':');
    let revised = words.next()?.parse().ok()?;
    let number = words.next()?.parse().ok()?;
    Some((PostKey(words.next()?.to_owned()), number, revised))
}

/// Writes down what became of a part; the lane then looks at what is open.
pub(super) async fn take(lane: &mut Lane, report: Report) -> Result<(), Fault> {
    let Some((key, number, revised)) = read_key(&report.key) else { return Ok(()) };
    let store = lane.engine.store();
    let Some(post) = store.post(&key).await.map_err(of_store)? else { return Ok(()) };
    let Some(part) = post.parts.iter().find(|part| part.part == number && part.revised == revised) else {
        return Ok(());
    };
    let now = lane.now();
    let is_it = part.message.as_ref().is_none_or(|known| *known == report.message);
    let noted = |state, message, tries| Sending::Part {
        key: key.clone(),
        part: StoredPart { state, message, tries, at: now, ..part.clone() },
    };
    let stands = |state, due, tries, why: Option<String>| Sending::Post {
        key: key.clone(),
        state,
        due,
        tries,
        why,
        revised: post.revised,
    };
    let unknown = matches!(part.state, PartState::Trying | PartState::Perhaps);
    let notes = match report.fate {
        // Its answer was lost, and here it is after all.
        Ok(()) if unknown => {
            vec![
                noted(PartState::Sent, Some(report.message), 0),
                stands(PostState::Open, now, post.tries, None),
            ]
        }
        Err(why) if is_it && (unknown || part.state == PartState::Sent) => {
            let may_pass = matches!(why.kind, FaultKind::Passing { .. } | FaultKind::ChatBusy { .. });
            match why.kind {
                FaultKind::Expired => {
                    let said = "the platform took a message and then told that the person has to write first";
                    lane.bridge.log.say(now, said);
                    let due = now.plus_ms(UNTIL_SPOKEN_MS);
                    vec![
                        noted(PartState::Trying, None, 0),
                        stands(PostState::Open, due, post.tries, Some(HELD.to_owned())),
                    ]
                }
                _ if may_pass && post.tries < MOST_TRIES => {
                    let due = now.plus_ms(AGAIN_MS);
                    let why = Some(why.to_string());
                    vec![noted(PartState::Trying, None, 0), stands(PostState::Open, due, post.tries + 1, why)]
                }
                _ => {
                    lane.bridge.log.say(now, &format!("a message did not arrive: {why}"));
                    let why = Some(why.to_string());
                    vec![
                        noted(PartState::Refused, part.message.clone(), 0),
                        stands(PostState::Refused, now, post.tries, why),
                    ]
                }
            }
        }
        _ => return Ok(()),
    };
    let refused = notes.iter().any(|n| matches!(n, Sending::Post { state: PostState::Refused, .. }));
    store.note_sending(notes).await.map_err(of_store)?;
    if refused {
        post.post.answers.iter().for_each(|message| lane.mark(message.clone(), Some(Mark::Failed)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempts_key_names_its_post_its_part_and_its_revision_and_nothing_else_does() {
        let key = PostKey("request:17:a".to_owned());
        assert_eq!(read_key("request:17:a:2:0"), Some((key, 2, 0)));
        for other in ["", "notice:00ff", "turn:1:x:0", "1:2", ":"] {
            assert_eq!(read_key(other), None, "{other}");
        }
    }
}
