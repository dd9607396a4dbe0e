//! What flags come to, as they are typed.

use clap::Parser;
use sb_engine::model::{Busy, Isolation, Limit, Streaming};

use super::*;

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    flags: ChannelFlags,
}

fn typed(words: &[&str]) -> ChannelFlags {
    let words = std::iter::once("x").chain(words.iter().copied());
    Typed::try_parse_from(words).expect("well formed").flags
}

fn telegram() -> KindInfo {
    let kinds = sb_channels::kinds();
    let all: Vec<KindInfo> = kinds.iter().map(|k| KindInfo::of(&(k.manifest)())).collect();
    all.into_iter().find(|k| k.id == "telegram").expect("a kind")
}

fn changed(channel: &mut ChannelConfig, words: &[&str]) -> BTreeMap<String, String> {
    apply(&typed(words), &telegram(), false, &|_| None, channel).expect("well formed")
}

fn channel() -> ChannelConfig {
    fresh("telegram", None, "assistant".into())
}

#[test]
fn every_flag_changes_what_it_names_and_nothing_else() {
    let (mut one, before) = (channel(), channel());
    assert!(typed(&[]).is_empty());
    changed(&mut one, &[]);
    assert_eq!(one, before);
    let words = [
        "--profile",
        "garden",
        "--route",
        "-1001=coder",
        "--route",
        "id=with=equals=cook",
        "--debounce",
        "2s",
        "--busy",
        "collect",
        "--stream",
        "off",
        "--no-typing",
        "--no-reactions",
        "--approvers",
        "1,2",
        "--approvers",
        "3",
        "--allow",
        "*",
        "--require-mention",
        "--fresh-final",
        "10m",
        "--catch-up",
        "2h",
        "--isolate",
        "chat+sender",
        "--ask-expiry",
        "30m",
        "--limit",
        "20/10m",
    ];
    assert!(!typed(&words).is_empty());
    changed(&mut one, &words);
    let options = &one.options;
    assert_eq!((one.profile.as_str(), options.debounce_ms, options.busy), ("garden", 2000, Busy::Collect));
    let routes: Vec<_> = options.routes.iter().map(|(c, p)| (c.as_str(), p.as_str())).collect();
    assert_eq!(routes, [("-1001", "coder"), ("id=with=equals", "cook")]);
    assert_eq!((options.stream, options.typing, options.reactions), (Streaming::Off, false, false));
    assert_eq!((options.approvers.join(" "), options.allow.join(" ")), ("1 2 3".into(), "*".into()));
    assert_eq!((options.fresh_final_s, options.catch_up_s), (Some(600), Some(7200)));
    assert_eq!((options.isolate, options.ask_expiry_s), (Isolation::ChatAndSender, Some(1800)));
    assert!(options.require_mention);
    assert_eq!(options.limit, Some(Limit { messages: 20, per_s: 600 }));
}

#[test]
fn lists_are_replaced_and_taken_back_and_switches_turned_again() {
    let mut one = channel();
    changed(
        &mut one,
        &["--allow", "1", "--approvers", "2", "--route", "3=p", "--no-typing", "--ask-expiry", "1m"],
    );
    changed(&mut one, &["--allow", "4, 5", "--typing", "--require-mention=true"]);
    assert_eq!((one.options.allow.join(" "), one.options.approvers.join(" ")), ("4 5".into(), "2".into()));
    let back = [
        "--allow",
        "",
        "--approvers=",
        "--route",
        "",
        "--ask-expiry",
        "off",
        "--require-mention=false",
        "--typing=true",
    ];
    changed(&mut one, &back);
    assert_eq!(one, channel());
    assert!(Typed::try_parse_from(["x", "--typing", "--no-typing"]).is_err());
}

#[test]
fn what_is_secret_goes_apart_and_an_empty_value_takes_a_setting_back() {
    let mut one = channel();
    let secrets = changed(&mut one, &["--set", "token=1:a=b", "--set", "api_url=http://x"]);
    assert_eq!(secrets.get("token").map(String::as_str), Some("1:a=b"));
    assert_eq!(one.settings.get("api_url").map(String::as_str), Some("http://x"));
    assert_eq!((secrets.len(), one.settings.len()), (1, 1));
    let secrets = changed(&mut one, &["--set", "api_url=", "--set", "token="]);
    assert_eq!((secrets.get("token").map(String::as_str), one.settings.len()), (Some(""), 0));
}

#[test]
fn values_come_from_the_environment_and_the_command_line_goes_before_it() {
    let variables = |name: &str| (name == "SWITCHBOARD_TELEGRAM_TOKEN").then(|| "2:env".to_owned());
    let token = |words: &[&str], all| {
        let given = apply(&typed(words), &telegram(), all, &variables, &mut channel()).expect("well formed");
        given.get("token").cloned()
    };
    assert_eq!(token(&[], true).as_deref(), Some("2:env"));
    assert_eq!(token(&[], false), None);
    assert_eq!(token(&["--set", "token"], false).as_deref(), Some("2:env"));
    assert_eq!(token(&["--set", "token=1:a"], true).as_deref(), Some("1:a"));
    assert_eq!(variable("google-chat", "api_url"), "SWITCHBOARD_GOOGLE_CHAT_API_URL");
    let refused = |words: &[&str]| {
        let refused = apply(&typed(words), &telegram(), false, &variables, &mut channel());
        refused.expect_err("refused").to_string()
    };
    assert!(refused(&["--set", "secret_token"]).contains("SWITCHBOARD_TELEGRAM_SECRET_TOKEN"));
    assert!(refused(&["--set", "tokn"]).contains("token, secret_token, api_url"));
    assert!(refused(&["--route", "-100"]).contains("CHAT=PROFILE"));
}

#[test]
fn the_words_to_paste_are_the_same_flags_and_show_no_secret() {
    let given = [
        "--profile",
        "assistant",
        "--allow",
        "*",
        "--approvers",
        "1,2",
        "--set",
        "token=1:a",
        "--set",
        "tokn=1:a",
        "--set",
        "api_url=http://x",
        "--set",
        "secret_token",
        "--isolate",
        "chat+sender",
        "--no-typing",
        "--catch-up",
        "off",
    ];
    let words = words(&typed(&given), &telegram());
    assert_eq!(
        words,
        "--profile assistant --allow '*' --approvers 1,2 --catch-up off --isolate chat+sender --no-typing --set token=… --set tokn=… --set api_url='http://x'"
            .replace("api_url='http://x'", "'api_url=http://x'")
            + " --set secret_token"
    );
}
