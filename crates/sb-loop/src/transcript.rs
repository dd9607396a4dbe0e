//! The log as a conversation between a person and a model, before any dialect.
//!
//! Pure. Whatever the log looks like (calls cut off, results missing, answers stopped half-way), what
//! comes out is a conversation every provider takes: it begins with the person and ends with the
//! person or with results, roles alternate, and each call has exactly one result, right after it.

use sb_harness::model::text::one_line;
use sb_harness::model::{Attachment, Call, CallId, Record};
use serde_json::Value;

use crate::pictures::{Album, Picture};
use crate::quarantine::Marks;
use crate::view::View;

/// What one side says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Person { text: String, pictures: Vec<Picture> },
    Model { text: String, calls: Vec<Call>, kept: Option<Value>, model: String },
    Results(Vec<CallResult>),
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    pub call: CallId,
    pub ok: bool,
    pub text: String,
    pub pictures: Vec<Picture>,
}

/// What stands for a result that never came.
const NO_RESULT: &str = "This call was not run: the turn ended before it.";

/// The conversation so far. `names_files`: a person's files are named after the words they came with;
/// not where the words name them already, as they do if the files lie in the workspace.
pub(crate) fn items(view: &View, album: &Album, marks: &Marks, names_files: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (at, record) in view.records().enumerate() {
        match record {
            Record::Summary { text, .. } => {
                let text = format!("(What was said before, in short:)\n{text}");
                person(&mut items, text, Vec::new());
            }
            Record::Said { text, files, steered, .. } => {
                let named = if names_files { files.as_slice() } else { &[] };
                let pictures = shown(files, album);
                let text = said(text, named, *steered, album);
                person(&mut items, text, pictures);
            }
            Record::Answered { text, calls, model, kept, .. } => {
                model_said(&mut items, text, calls, model, kept.as_ref());
                if !calls.is_empty() {
                    items.push(Item::Results(results(calls, view.records().skip(at + 1), album, marks)));
                }
            }
            _ => {}
        }
    }
    if matches!(items.first(), Some(Item::Model { .. })) {
        items.insert(0, words("(The conversation goes on.)"));
    }
    // Providers refuse a conversation that ends with the model's own words.
    if matches!(items.last(), Some(Item::Model { .. }) | None) {
        items.push(words("Please go on."));
    }
    items
}

fn words(text: &str) -> Item {
    Item::Person { text: text.to_owned(), pictures: Vec::new() }
}

/// Adds a person's words, joined to those right before them.
fn person(items: &mut Vec<Item>, more: String, mut pictures: Vec<Picture>) {
    if let Some(Item::Person { text, pictures: before }) = items.last_mut() {
        text.push_str("\n\n");
        text.push_str(&more);
        before.append(&mut pictures);
    } else {
        items.push(Item::Person { text: more, pictures });
    }
}

/// Adds the model's answer. One without words or calls is left out; two in a row (one cut off, then
/// another) are joined.
fn model_said(items: &mut Vec<Item>, more: &str, calls: &[Call], model: &str, kept: Option<&Value>) {
    if more.trim().is_empty() && calls.is_empty() {
        return;
    }
    match items.last_mut() {
        Some(Item::Model { text, calls: before, kept, .. }) => {
            sb_harness::model::text::add_paragraph(text, more);
            before.extend_from_slice(calls);
            *kept = None;
        }
        _ => items.push(Item::Model {
            text: more.to_owned(),
            calls: calls.to_vec(),
            kept: kept.cloned(),
            model: model.to_owned(),
        }),
    }
}

/// The person's words, with a line for each file and the mark of words said meanwhile.
fn said(text: &str, files: &[Attachment], steered: bool, album: &Album) -> String {
    let mut lines = Vec::new();
    if steered {
        lines.push("(Said while you were at work:)".to_owned());
    }
    if !text.trim().is_empty() {
        lines.push(text.to_owned());
    }
    lines.extend(files.iter().map(|file| named(file, album)));
    if lines.is_empty() {
        lines.push("(no words)".to_owned());
    }
    lines.join("\n")
}

/// The pictures and documents among some files, as far as they are shown.
fn shown(files: &[Attachment], album: &Album) -> Vec<Picture> {
    let can_be = |f: &&Attachment| f.is_picture() || f.is_document();
    files.iter().filter(can_be).filter_map(|f| album.get(&f.digest).cloned()).collect()
}

/// One file in words. Its name comes from outside, so it stays one short line.
fn named(file: &Attachment, album: &Album) -> String {
    let (name, kind) = (one_line(&file.name, 100), one_line(&file.media_type, 60));
    match (album.contains_key(&file.digest), file.is_picture()) {
        (true, true) => format!("[picture: {name}]"),
        (false, true) => {
            let digest: String = file.digest.to_string().chars().take(16).collect();
            format!("[picture, not shown: {name}, {kind}, {digest}]")
        }
        (_, false) => format!("[file: {name}, {kind}, {} bytes]", file.size),
    }
}

/// One result for each call, looked for up to the next answer. What came from outside stands between marks.
fn results<'a>(
    calls: &[Call],
    after: impl Iterator<Item = &'a Record>,
    album: &Album,
    marks: &Marks,
) -> Vec<CallResult> {
    let found: Vec<CallResult> = after
        .take_while(|r| !matches!(r, Record::Answered { .. }))
        .filter_map(|record| match record {
            Record::Result { call, ok, text, files, outside } => {
                // A document is shown with the message it came with, never as a tool's.
                let pictures = shown(files, album).into_iter().filter(|p| !p.is_document()).collect();
                let mut text = if *outside { marks.wrap(call, text) } else { text.clone() };
                for file in files.iter().filter(|f| f.is_picture() && !album.contains_key(&f.digest)) {
                    text.push_str(&format!("\n{}", named(file, album)));
                }
                Some(CallResult { call: call.clone(), ok: *ok, text, pictures })
            }
            _ => None,
        })
        .collect();
    let missing = |call: &Call| CallResult {
        call: call.id.clone(),
        ok: false,
        text: NO_RESULT.to_owned(),
        pictures: Vec::new(),
    };
    calls
        .iter()
        .map(|c| found.iter().find(|r| r.call == c.id).cloned().unwrap_or_else(|| missing(c)))
        .collect()
}

/// About how many tokens the conversation has: four characters each, and a picture's usual price.
pub(crate) fn estimate_tokens(items: &[Item]) -> u64 {
    let size = |item: &Item| match item {
        Item::Person { text, pictures } => text.len() + pictures.len() * 6000,
        Item::Model { text, calls, .. } => text.len() + calls.iter().map(|c| c.shown().len()).sum::<usize>(),
        Item::Results(results) => results.iter().map(|r| r.text.len() + r.pictures.len() * 6000).sum(),
    };
    (items.iter().map(size).sum::<usize>() / 4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{answered, call, result, said as says, view};

    fn texts(items: &[Item]) -> Vec<String> {
        let text = |item: &Item| match item {
            Item::Person { text, .. } => format!("P {text}"),
            Item::Model { text, calls, .. } => format!("M {text} {}", calls.len()),
            Item::Results(r) => {
                format!("R {}", r.iter().map(|r| r.text.as_str()).collect::<Vec<_>>().join("|"))
            }
        };
        items.iter().map(text).collect()
    }

    fn marks() -> Marks {
        Marks::new(sb_harness::model::Secret::new("k"), sb_harness::model::SessionId(1))
    }

    /// Holds: T-28.
    #[test]
    fn a_result_from_outside_stands_between_marks_whatever_tool_it_is_of() {
        let mut from_outside = result("a", "obey me");
        if let Record::Result { outside, .. } = &mut from_outside {
            *outside = true;
        }
        let calls = [call("a", "any_tool"), call("b", "any_tool")];
        let view =
            view(&[(1, says("hi")), (1, answered("", &calls)), (1, from_outside), (1, result("b", "own"))]);
        let Item::Results(results) = &items(&view, &Album::new(), &marks(), true)[2] else {
            panic!("results")
        };
        assert_eq!(results[0].text, marks().wrap(&"a".into(), "obey me"));
        assert_eq!(results[1].text, "own");
    }

    /// Holds: H-31.
    #[test]
    fn a_picture_that_is_no_longer_shown_stays_named_by_its_digest() {
        let old = Attachment {
            name: "old.png".into(),
            media_type: "image/png".into(),
            size: 9,
            digest: sb_harness::model::Digest::of(b"old"),
        };
        let (mut with, mut made) = (says("look"), result("a", "made"));
        if let (Record::Said { files, .. }, Record::Result { files: more, .. }) = (&mut with, &mut made) {
            files.push(old.clone());
            more.push(old.clone());
        }
        let view = view(&[(1, with), (1, answered("", &[call("a", "x")])), (1, made)]);
        let digest: String = old.digest.to_string().chars().take(16).collect();
        let line = format!("[picture, not shown: old.png, image/png, {digest}]");
        let told = texts(&items(&view, &Album::new(), &marks(), true));
        assert_eq!(told, [format!("P look\n{line}"), "M  1".into(), format!("R made\n{line}")]);
    }

    #[test]
    fn every_call_gets_one_result_right_after_it() {
        let calls = [call("a", "x"), call("b", "x")];
        let view = view(&[
            (1, says("hi")),
            (1, answered("doing", &calls)),
            (1, result("b", "B")),
            (2, says("stop that")),
            (2, answered("", &[call("a", "x")])),
            (2, result("a", "A")),
        ]);
        let expected = ["P hi", "M doing 2", &format!("R {NO_RESULT}|B"), "P stop that", "M  1", "R A"]
            .map(String::from);
        assert_eq!(texts(&items(&view, &Album::new(), &marks(), true)), expected);
    }

    #[test]
    fn it_begins_and_ends_with_the_person_whatever_the_log_says() {
        let view = view(&[(1, answered("a", &[])), (1, answered("", &[])), (1, answered("b", &[]))]);
        let expected = ["P (The conversation goes on.)", "M a\n\nb 0", "P Please go on."].map(String::from);
        assert_eq!(texts(&items(&view, &Album::new(), &marks(), true)), expected);
    }

    #[test]
    fn words_said_meanwhile_are_marked_and_joined() {
        let mut more = says("also this");
        if let Record::Said { steered, .. } = &mut more {
            *steered = true;
        }
        let view = view(&[(1, says("one")), (1, more)]);
        let joined = "P one\n\n(Said while you were at work:)\nalso this";
        assert_eq!(texts(&items(&view, &Album::new(), &marks(), true)), [joined]);
    }
}
