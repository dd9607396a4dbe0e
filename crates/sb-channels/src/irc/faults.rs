//! What a server's refusals mean: numeric answers, `FAIL`, and its last words.

use sb_channel::model::{Fault, FaultKind};

use super::line::Line;

/// How long we keep away after we were too fast.
const FLOOD_MS: u64 = 60_000;
/// How long we keep away from a server that does not want us.
const BANNED_MS: u64 = 15 * 60 * 1000;

/// A fault of something we did.
pub fn fault(kind: FaultKind, detail: impl Into<String>) -> Fault {
    Fault::new(kind, "talking to the IRC server", detail)
}

/// The connection is not there, so nothing was said.
pub fn away() -> Fault {
    // Of one chat only: that we are away is seen to by the feed, and pausing longer than it does helps nobody.
    fault(FaultKind::ChatBusy { wait_ms: None }, "there is no connection at the moment")
}

/// The connection is over.
pub fn lost(why: &str) -> Fault {
    fault(FaultKind::Passing { wait_ms: None }, format!("the connection is lost: {why}"))
}

/// What a refusal of something said means; none if the line is no refusal.
pub fn of_line(line: &Line) -> Option<Fault> {
    let said = line.words();
    let kind = match line.number() {
        None if line.command == "FAIL" && line.param(1).contains("RATE") => {
            FaultKind::ChatBusy { wait_ms: seconds(said) }
        }
        None if line.command == "FAIL" => FaultKind::Refused,
        None => return None,
        Some(263 | 437) => FaultKind::Passing { wait_ms: seconds(said) },
        Some(439) => FaultKind::ChatBusy { wait_ms: seconds(said) },
        // Quirk: colours_refused. The same number refuses colours and styles where a channel has mode +c or +S.
        Some(404) if is_of_format(said) => FaultKind::Format,
        Some(401 | 403 | 404 | 442 | 471 | 473 | 474 | 475 | 476 | 477 | 486 | 489 | 531 | 716) => {
            FaultKind::ChatGone
        }
        Some(464 | 904) => FaultKind::Auth,
        Some(465) => FaultKind::Passing { wait_ms: Some(BANNED_MS) },
        Some(400..=599) => FaultKind::Refused,
        Some(_) => return None,
    };
    Some(fault(kind, format!("the server says: {said} ({})", line.command)))
}

/// What the end of a connection means, by the server's last words.
pub fn of_ending(said: &str) -> Fault {
    let low = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    let (kind, more) = match () {
        () if has(&["flood", "max sendq", "recvq"]) => {
            (FaultKind::Passing { wait_ms: Some(FLOOD_MS) }, "; a larger `pace_ms` makes us slower")
        }
        () if has(&["k-lined", "g-lined", "z-lined", "banned", "k:line", "g:line", "not welcome"]) => {
            (FaultKind::Passing { wait_ms: Some(BANNED_MS) }, "; only the network's operators can change that")
        }
        () => (FaultKind::Passing { wait_ms: None }, ""),
    };
    fault(kind, format!("the server closed the connection: {said}{more}"))
}

fn is_of_format(said: &str) -> bool {
    let low = said.to_ascii_lowercase();
    ["color", "colour", "(+c", "(+s)", "formatting"].iter().any(|word| low.contains(word))
}

/// The wait that is asked for: the first number that stands before a word for seconds.
fn seconds(said: &str) -> Option<u64> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| pair[1].to_ascii_lowercase().starts_with("sec"));
    pairs.filter_map(|pair| pair[0].parse::<u64>().ok()).next().map(|s| s.min(86_400) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> Option<FaultKind> {
        of_line(&Line::parse(line).expect("a line")).map(|fault| fault.kind)
    }

    #[test]
    fn a_number_says_how_a_refusal_is_treated() {
        let wait = |s: u64| Some(FaultKind::ChatBusy { wait_ms: Some(s * 1000) });
        assert_eq!(kind(":s 439 robo ann :Message target change too fast. Please wait 30 seconds"), wait(30));
        assert_eq!(kind(":s 263 robo :Try again"), Some(FaultKind::Passing { wait_ms: None }));
        assert_eq!(kind(":s 401 robo ann :No such nick"), Some(FaultKind::ChatGone));
        assert_eq!(kind(":s 404 robo #c :Cannot send to channel (+m)"), Some(FaultKind::ChatGone));
        assert_eq!(kind(":s 404 robo #c :Can't send colors to channel (+c is set)"), Some(FaultKind::Format));
        assert_eq!(kind(":s 417 robo :Input line was too long"), Some(FaultKind::Refused));
        assert_eq!(kind(":s 301 robo ann :Gone to lunch"), None);
        assert_eq!(kind("FAIL PRIVMSG MESSAGE_RATE #c :Slow down"), Some(FaultKind::ChatBusy { wait_ms: None }));
    }

    #[test]
    fn a_servers_last_words_say_how_long_we_stay_away() {
        let wait = |said: &str| match of_ending(said).kind {
            FaultKind::Passing { wait_ms } => wait_ms,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait("Closing Link: robo (Excess Flood)"), Some(FLOOD_MS));
        assert_eq!(wait("Closing Link: robo (K-Lined: bots)"), Some(BANNED_MS));
        assert_eq!(wait("Closing Link: robo (Ping timeout)"), None);
    }
}
