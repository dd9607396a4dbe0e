//! What apps ask beside the talk: titles, tags, what to ask next, what to search for. Told by rule, answered
//! by rule, in no session.
//!
//! A request is such a one if its model is the profile's model for them, if a header says so, or if it is
//! one message, streamed to nobody, that is written as apps write them ([`KINDS`]). Anything else is
//! somebody's message, whatever it begins with. What is answered is made of the words that were sent.

use axum::http::HeaderMap;
use serde_json::json;

use super::request::Request;
use crate::model::ProfileName;
use crate::model::text::one_line;

/// What the name of a profile's model for side requests ends with.
pub(super) const SUFFIX: &str = ":task";
/// The header by which an app can be set up to say what a request is for.
const TASK: &str = "x-switchboard-task";
/// Longest title, in characters.
const LONGEST_TITLE: usize = 60;
/// Longest answer that the tersest of apps asks for when it wants a title.
const TERSE: u64 = 32;

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Title,
    Tags,
    FollowUps,
    Queries,
    /// How words that are being typed go on: as they are.
    Completion,
    /// Something else of the sort: nothing to say.
    Other,
}

/// Words by which the kinds of task are told apart, in a message that is known to be one: the first that is
/// in it counts.
const KINDS: &[(&str, Kind)] = &[
    ("\"follow_ups\"", Kind::FollowUps),
    ("\"queries\"", Kind::Queries),
    ("\"tags\"", Kind::Tags),
    ("\"title\"", Kind::Title),
    ("\"text\"", Kind::Completion),
];

/// The model for side requests to a profile.
pub(super) fn model_of(profile: &ProfileName) -> String {
    format!("{profile}{SUFFIX}")
}

/// The answer to a side request; none if it is no such.
pub(super) fn answer(request: &Request<'_>, headers: &HeaderMap, is_aside: bool) -> Option<String> {
    let text = request.talk.last.text.as_str();
    let kind = match (is_aside, named(headers)) {
        (_, Some(kind)) => kind,
        (true, None) => kind(text).unwrap_or(Kind::Title),
        (false, None) => alone(request)?,
    };
    let subject = subject(text, request);
    Some(match kind {
        // Asked for in so many words, else as it is.
        Kind::Title if text.contains("\"title\"") => json!({"title": title(&subject)}).to_string(),
        Kind::Title => title(&subject),
        Kind::Tags => json!({"tags": ["General"]}).to_string(),
        Kind::FollowUps => json!({"follow_ups": []}).to_string(),
        Kind::Queries => json!({"queries": [one_line(&subject, 200)]}).to_string(),
        Kind::Completion => json!({"text": ""}).to_string(),
        Kind::Other => String::new(),
    })
}

fn named(headers: &HeaderMap) -> Option<Kind> {
    match headers.get(TASK)?.to_str().ok()?.trim() {
        "title_generation" => Some(Kind::Title),
        "tags_generation" => Some(Kind::Tags),
        "follow_up_generation" => Some(Kind::FollowUps),
        "query_generation" => Some(Kind::Queries),
        "autocomplete_generation" => Some(Kind::Completion),
        "emoji_generation" | "image_prompt_generation" | "function_calling" => Some(Kind::Other),
        // Whatever else an app puts there, somebody may wait for the answer.
        _ => None,
    }
}

/// The kind of a request that says what it is by nothing but how it is written.
fn alone(request: &Request<'_>) -> Option<Kind> {
    let talk = &request.talk;
    if request.streams || talk.messages != 1 || !talk.last.marks.is_empty() {
        return None;
    }
    let text = talk.last.text.trim_start();
    // A question that an app wraps in documents begins alike.
    let wraps = text.contains("<context>") && !text.contains("<chat_history>");
    if text.starts_with("### Task:") && text.contains("### Output:") && !wraps {
        return Some(kind(text).unwrap_or(Kind::Other));
    }
    let terse = request.most_tokens.is_some_and(|most| most <= TERSE);
    (terse && text.starts_with("Given the following") && text.contains("title for the chat"))
        .then_some(Kind::Title)
}

fn kind(text: &str) -> Option<Kind> {
    KINDS.iter().find(|(word, _)| text.contains(word)).map(|(_, kind)| *kind)
}

/// What the talk is about: the first thing said in it, as far as it can be seen.
fn subject(text: &str, request: &Request<'_>) -> String {
    if let Some(history) = between(text, "<chat_history>", "</chat_history>") {
        let first = history.split("USER:").nth(1).unwrap_or(history);
        return first.split("ASSISTANT:").next().unwrap_or(first).trim().to_owned();
    }
    let said = request.talk.before.first().map(|(_, said)| said.as_str());
    said.unwrap_or(text).trim().to_owned()
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// A title out of the first words, cut between two of them.
fn title(subject: &str) -> String {
    let line = one_line(subject, LONGEST_TITLE);
    if line.is_empty() { "Chat".to_owned() } else { line }
}
