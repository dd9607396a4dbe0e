//! What a platform tells later of something we sent: that it was taken, or that it came to nothing after
//! all. Written down by the chat's lane, which alone knows what it is sending meanwhile.
//!
//! Invariant: a report moves only the part it names and only while that still says what the report is of;
//! told twice, or out of order, it changes nothing.

use sb_channel::{Mark, Report};
use sb_core::model::{Fault, PostKey, Timestamp};
use sb_core::sending::{self, Next, Try, Twice};
use sb_store::{PartState, PostState, Sending, StoredPart, StoredPost};

use super::feed::of_store;
use super::lane::Lane;
use super::send::{self, HELD, UNTIL_SPOKEN_MS};

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
    let post = lane.engine.store().post(&key).await.map_err(of_store)?;
    let part = post.as_ref().and_then(|post| {
        let part = post.parts.iter().find(|part| part.part == number && part.revised == revised);
        part.filter(|part| part.message.as_ref().is_none_or(|known| *known == report.message)).cloned()
    });
    let Some((post, part)) = post.zip(part) else { return Ok(()) };
    let unknown = matches!(part.state, PartState::Trying | PartState::Perhaps);
    match report.fate {
        // Its answer was lost, and here it is after all.
        Ok(()) if unknown => {
            let there = StoredPart { state: PartState::Sent, message: Some(report.message), ..part };
            note(lane, &post, there, PostState::Open, (lane.now(), post.tries), None).await
        }
        Err(why) if unknown || part.state == PartState::Sent => fail(lane, &post, part, &why).await,
        _ => Ok(()),
    }
}

/// What follows from a message that was taken and came to nothing: the same as if it had been refused at once, only
/// more slowly, and not for ever.
async fn fail(lane: &mut Lane, post: &StoredPost, part: StoredPart, why: &Fault) -> Result<(), Fault> {
    let now = lane.now();
    let of = Try {
        tries: post.tries + 1,
        is_edit: false,
        // Taken once, its form is not what it is about.
        plain: true,
        threadless: true,
        twice: Twice::Harmless,
        maybe_before: false,
    };
    let unsent = StoredPart { state: PartState::Trying, message: None, ..part.clone() };
    let said = Some(why.to_string());
    match sending::next(why, of, now) {
        Next::Again { at } if post.tries < MOST_TRIES => {
            let due = (at.max(now.plus_ms(AGAIN_MS)), post.tries + 1);
            note(lane, post, unsent, PostState::Open, due, said).await
        }
        Next::Expired => {
            lane.bridge
                .log
                .say(now, &format!("an answer is kept until the person writes again: {}", why.detail));
            let due = (now.plus_ms(UNTIL_SPOKEN_MS), post.tries);
            note(lane, post, unsent, PostState::Open, due, Some(HELD.to_owned())).await
        }
        Next::Gone => {
            note(lane, post, unsent, PostState::Open, (now, post.tries), said).await?;
            send::close(lane, &why.detail).await
        }
        _ => {
            lane.bridge.log.say(now, &format!("a message did not arrive: {why}"));
            let refused = StoredPart { state: PartState::Refused, ..part };
            note(lane, post, refused, PostState::Refused, (now, post.tries), said).await?;
            post.post.answers.iter().for_each(|message| lane.mark(message.clone(), Some(Mark::Failed)));
            Ok(())
        }
    }
}

/// Writes down how a part and its post stand: when it is due, after so many tries, and why.
async fn note(
    lane: &Lane,
    post: &StoredPost,
    part: StoredPart,
    state: PostState,
    (due, tries): (Timestamp, u32),
    why: Option<String>,
) -> Result<(), Fault> {
    let key = post.post.key.clone();
    let part = Sending::Part { key: key.clone(), part: StoredPart { tries: 0, at: lane.now(), ..part } };
    let post = Sending::Post { key, state, due, tries, why, revised: post.revised };
    lane.engine.store().note_sending(vec![part, post]).await.map_err(of_store)
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
