//! What `cargo xtask new-channel` makes, in a copy of the folders it writes to; nothing is built.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::project;
use xtask::task::new_channel::{FOLDER, LAWS, LIST, generate};

/// A folder with the two files that are changed; gone at the end.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("new-channel-{name}-{}", std::process::id()));
        for path in [LIST, LAWS] {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, project::read(path).expect("the project's")).expect("written");
        }
        Self(root)
    }
    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_new_messenger_is_a_folder_and_a_word_in_the_list() {
    let copy = Copy::new("folder");
    let written = generate(&copy.0, "carrier-pigeon").expect("made");
    let folder = format!("{FOLDER}/carrier_pigeon");
    let mut code = 0;
    for name in ["mod.rs", "parse.rs", "standin.rs", "fixtures/hello.json", "README.md"] {
        let path = format!("{folder}/{name}");
        assert!(written.contains(&path), "{path} is not among {written:?}");
        let text = copy.read(&path);
        assert!(!text.contains("__"), "something in {path} is left to fill in");
        if name.ends_with(".rs") {
            let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
            code += text[..tests].lines().filter(|line| !line.trim().is_empty()).count();
        }
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{path} has a long line");
    }
    assert!(
        code < 200,
        "adapter and stand-in have {code} lines: what every kind needs belongs in sb-channel"
    );
    let adapter = copy.read(&format!("{folder}/mod.rs"));
    assert!(adapter.contains("id: \"carrier-pigeon\"") && adapter.contains("label: \"Carrier Pigeon\""));
    assert!(copy.read(&format!("{folder}/README.md")).contains("SWITCHBOARD_CARRIER_PIGEON_TOKEN"));
    assert!(copy.read(LIST).contains("channels![carrier_pigeon, "), "the list is in order");
    let laws = copy.read(LAWS);
    assert!(
        laws.contains("mod carrier_pigeon {")
            && laws.contains("sb_channels::carrier_pigeon::{KIND, standin}")
    );
    assert!(laws.starts_with(&project::read(LAWS).expect("the project's")), "what was there stays");
}

#[test]
fn many_messengers_are_listed_one_a_line() {
    let copy = Copy::new("many");
    for n in 0..15 {
        generate(&copy.0, &format!("messenger{n}")).expect("made");
    }
    let list = copy.read(LIST);
    assert!(list.contains("\n    messenger14,\n"), "{list}");
    assert!(list.lines().all(|line| line.len() <= 110), "{list}");
}

#[test]
fn nothing_is_written_for_an_id_that_is_none_or_is_there() {
    let copy = Copy::new("refused");
    let before = (copy.read(LIST), copy.read(LAWS));
    for bad in ["", "Zulip", "9gag", "-x", "x-", "a--b", "a_b", "a b", "../x", "type", "standins", "é"] {
        assert!(generate(&copy.0, bad).is_err(), "{bad:?} was taken");
    }
    fs::create_dir_all(copy.0.join(FOLDER).join("telegram")).expect("made");
    let why = generate(&copy.0, "telegram").expect_err("there is one").to_string();
    assert!(why.contains("is there already"), "{why}");
    assert_eq!(before, (copy.read(LIST), copy.read(LAWS)));
    fs::write(copy.0.join(LIST), "//! No list.\n").expect("written");
    assert!(generate(&copy.0, "carrier").is_err(), "there is no list");
    assert!(!Path::new(&copy.0.join(FOLDER).join("carrier")).exists());
}
