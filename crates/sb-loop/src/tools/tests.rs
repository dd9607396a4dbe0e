//! What each tool does, and that none leads out of the workspace.

use std::os::unix::fs::symlink;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use sb_harness::model::{Digest, Level, Memo, ProfileName, Secret, ToolClass, ToolSet};
use sb_harness::net::{FixedDice, child};
use serde_json::json;
use tokio::io::AsyncReadExt;

use super::*;

/// Keeps what it is given in memory.
#[derive(Default)]
struct Kept(Mutex<Vec<Bytes>>);

#[async_trait]
impl Blobs for Kept {
    async fn read(&self, digest: &Digest) -> std::io::Result<Bytes> {
        let all = self.0.lock().expect("lock");
        all.iter()
            .find(|b| Digest::of(b) == *digest)
            .cloned()
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
    async fn keep(&self, mut file: tokio::fs::File) -> std::io::Result<(Digest, u64)> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).await?;
        let found = (Digest::of(&bytes), bytes.len() as u64);
        self.0.lock().expect("lock").push(bytes.into());
        Ok(found)
    }
    async fn open(&self, _: &Digest) -> std::io::Result<tokio::fs::File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[async_trait]
impl sb_harness::Memory for Kept {
    async fn remember(&self, _: &ProfileName, _: &str, _: bool) -> Result<Memo, String> {
        Err("no notes here".to_owned())
    }
    async fn recall(&self, _: &ProfileName, _: &str, _: usize) -> Result<Vec<Memo>, String> {
        Ok(Vec::new())
    }
}

struct NoKeys;

impl Keys for NoKeys {
    fn key(&self, _: &ProfileName, _: &str) -> Option<Secret> {
        None
    }
    fn base_url(&self, _: &str) -> Option<String> {
        None
    }
}

/// A workspace in a folder that also holds what must stay out of reach.
struct Place {
    outside: tempfile::TempDir,
    bench: Bench,
}

impl Place {
    fn new() -> Self {
        let outside = tempfile::tempdir().expect("a folder");
        let workspace = outside.path().join("work");
        std::fs::create_dir(&workspace).expect("a workspace");
        std::fs::write(outside.path().join("secret.txt"), "secret").expect("a secret");
        let mut profile = Profile::gone("p".into());
        (profile.workspace, profile.tools) = (Some(workspace.display().to_string()), ToolSet::All);
        let bench = Bench {
            profile: Arc::new(profile),
            blobs: Arc::new(Kept::default()),
            memory: Arc::new(Kept::default()),
            dice: Arc::new(FixedDice::new(1)),
            away: Away::default(),
            http: Http::new().expect("a client"),
            keys: Arc::new(NoKeys),
            own: "/nonexistent/switchboard".into(),
            tainted: false,
        };
        Self { outside, bench }
    }
    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.bench.workspace().join(name), bytes).expect("written");
    }
    async fn run(&self, tool: &str, input: Value) -> Outcome {
        let call = Call { id: "c".into(), tool: tool.into(), input, class: ToolClass::Read };
        run(&self.bench, &call).await
    }
    async fn says(&self, tool: &str, path: &str) -> String {
        self.run(tool, json!({"path": path, "content": "overwritten"}))
            .await
            .map_or_else(|why| why, |done| done.text)
    }
}

#[tokio::test]
async fn a_file_is_written_whole_and_read_again() {
    let place = Place::new();
    assert_eq!(place.says("write_file", "a/b/c.txt").await, "Made a/b/c.txt (11 bytes).");
    assert_eq!(place.says("write_file", "a/b/c.txt").await, "Replaced a/b/c.txt (11 bytes).");
    assert_eq!(place.says("read_file", "a/./b/../b/c.txt").await, "overwritten");
    place.put("big.bin", b"12345");
    symlink("a", place.bench.workspace().join("link")).expect("a link");
    assert_eq!(place.says("list_files", ".").await, "a/\nbig.bin (5 bytes)\nlink@");
    assert_eq!(place.says("list_files", "a/b").await, "c.txt (11 bytes)", "nothing is left beside it");
}

#[tokio::test]
async fn a_links_own_target_inside_the_workspace_may_be_reached() {
    let place = Place::new();
    place.put("real.txt", b"inside");
    symlink("real.txt", place.bench.workspace().join("link.txt")).expect("a link");
    assert_eq!(place.says("read_file", "link.txt").await, "inside");
}

/// What a person allowed is the path they were shown, so a write follows no link on its way.
#[tokio::test]
async fn a_write_follows_no_link_on_its_way_not_even_inside() {
    let place = Place::new();
    std::fs::create_dir_all(place.bench.workspace().join("private")).expect("a folder");
    std::fs::create_dir_all(place.bench.workspace().join("notes")).expect("a folder");
    symlink("../private", place.bench.workspace().join("notes/l")).expect("a link");
    let said =
        place.run("write_file", json!({"path": "notes/l/keys", "content": "x"})).await.expect_err("refused");
    assert!(said.contains("link"), "{said}");
    assert!(!place.bench.workspace().join("private/keys").exists());
    place.run("write_file", json!({"path": "notes/new/deep/a.txt", "content": "x"})).await.expect("made");
}

#[tokio::test]
async fn no_path_and_no_link_leads_outside() {
    let place = Place::new();
    let (outside, work) = (place.outside.path().to_owned(), place.bench.workspace().to_owned());
    symlink(&outside, work.join("up")).expect("a link");
    symlink("../secret.txt", work.join("file")).expect("a link");
    symlink("up", work.join("twice")).expect("a link");
    let absolute = outside.join("secret.txt").display().to_string();
    let paths =
        ["../secret.txt", "up/secret.txt", "file", "twice/secret.txt", "a/../../secret.txt", &absolute];
    for tool in ["read_file", "share_file"] {
        for path in paths {
            let said = place.run(tool, json!({"path": path})).await.expect_err(path);
            assert!(
                !said.contains("secret\n") && said.contains("outside") || said.contains("There is no"),
                "{said}"
            );
        }
    }
    for path in ["..", "up", "twice", "/", "up/work"] {
        assert!(place.run("list_files", json!({"path": path})).await.is_err(), "{path}");
    }
    for path in [
        "../new.txt",
        "up/new.txt",
        "twice/new.txt",
        "../secret.txt",
        "up/secret.txt",
        &absolute,
        "..",
        "",
        "up/deep/er.txt",
    ] {
        let written = place.run("write_file", json!({"path": path, "content": "x"})).await;
        assert!(written.is_err(), "{path}: {written:?}");
    }
    // A link of the file's own name is replaced, not followed.
    place.run("write_file", json!({"path": "file", "content": "mine"})).await.expect("written");
    assert_eq!(place.says("read_file", "file").await, "mine");
    assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).expect("still there"), "secret");
    let left: Vec<_> = std::fs::read_dir(&outside).expect("readable").collect();
    assert_eq!(left.len(), 2, "only the secret and the workspace: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_swapped_in_meanwhile_leads_nowhere() {
    let place = Place::new();
    let work = place.bench.workspace().to_owned();
    let (dir, link, name) = (work.join("d1"), work.join("d2"), work.join("d"));
    std::fs::create_dir(&dir).expect("a folder");
    std::fs::write(dir.join("secret.txt"), "harmless").expect("a file");
    symlink(place.outside.path(), &link).expect("a link");
    std::fs::rename(&dir, &name).expect("moved");
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = std::fs::rename(&name, &dir).and_then(|()| std::fs::rename(&link, &name));
                let _ = std::fs::rename(&name, &link).and_then(|()| std::fs::rename(&dir, &name));
            }
        }
    });
    for _ in 0..200 {
        assert_ne!(place.says("read_file", "d/secret.txt").await, "secret");
        let _ = place.run("write_file", json!({"path": "d/planted.txt", "content": "x"})).await;
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().expect("ended");
    assert!(!place.outside.path().join("planted.txt").exists());
}

#[tokio::test]
async fn what_is_no_plain_text_is_said_so() {
    let place = Place::new();
    place.put("bin", b"\x7fELF\0\0");
    place.put("latin", b"caf\xe9");
    assert_eq!(place.says("read_file", "bin").await, "bin is no text (6 bytes).");
    assert_eq!(place.says("read_file", "latin").await, "latin is no text (4 bytes).");
    assert_eq!(place.says("read_file", "absent").await, "There is no absent.");
    assert_eq!(place.says("read_file", ".").await, ". is a folder, not a file.");
    nix::sys::stat::mknod(
        &place.bench.workspace().join("pipe"),
        nix::sys::stat::SFlag::S_IFIFO,
        nix::sys::stat::Mode::S_IRWXU,
        0,
    )
    .expect("a named pipe");
    assert_eq!(place.says("read_file", "pipe").await, "pipe is no ordinary file.");
}

#[tokio::test]
async fn a_long_text_is_cut_between_two_characters_and_says_so() {
    let place = Place::new();
    place.put("long.txt", format!("x{}", "é".repeat(200_000)).as_bytes());
    let said = place.says("read_file", "long.txt").await;
    assert!(said.ends_with("é\n[cut: the first 262143 of 400001 bytes]"), "{}", &said[said.len() - 60..]);
}

#[tokio::test]
async fn a_picture_is_given_to_be_looked_at() {
    let place = Place::new();
    place.put("p.png", b"\x89PNG\r\n\x1a\n0000");
    let done = place.run("read_file", json!({"path": "p.png"})).await.expect("read");
    assert_eq!((done.files[0].name.as_str(), done.files[0].media_type.as_str()), ("p.png", "image/png"));
    assert!(place.bench.blobs.read(&done.files[0].digest).await.is_ok());
}

/// A video of four seconds, made by ffmpeg itself.
async fn video(place: &Place, name: &str) {
    let args = [
        "-v",
        "error",
        "-f",
        "lavfi",
        "-i",
        "testsrc=duration=4:size=320x240:rate=10",
        "-c:v",
        "mpeg4",
        name,
    ];
    let made = child::run(child::Program {
        program: "ffmpeg".to_owned(),
        args: args.map(str::to_owned).to_vec(),
        dir: place.bench.workspace().to_owned(),
        input: None,
        limit: std::time::Duration::from_secs(60),
        keep: 2_000,
    });
    let made = made.await.expect("ffmpeg is there");
    assert_eq!(made.exit, child::Exit::Code(0), "{}", made.output);
}

/// Holds: H-33.
#[tokio::test]
async fn a_video_is_looked_at_in_pictures_spread_over_it() {
    let place = Place::new();
    for name in ["clip.mp4", "clip.mkv", "clip.avi", "clip.mov"] {
        video(&place, name).await;
        let done = place.run("video_frames", json!({"path": name})).await.expect(name);
        assert_eq!(done.files.len(), 6, "{name}");
        assert!(
            done.text.contains("4.0 seconds long") && done.text.contains("0.3, 1.0, 1.7"),
            "{}",
            done.text
        );
        let digests: std::collections::BTreeSet<_> = done.files.iter().map(|f| f.digest).collect();
        assert_eq!(digests.len(), 6, "each is another picture");
        for frame in &done.files {
            let bytes = place.bench.blobs.read(&frame.digest).await.expect("kept");
            assert_eq!(sb_harness::net::media::media_type(&bytes, "", None), "image/jpeg");
        }
    }
    let part = json!({"path": "clip.mp4", "from": 2, "to": 3, "count": 2});
    let done = place.run("video_frames", part).await.expect("a part");
    assert!(done.files.len() == 2 && done.text.contains("2.2, 2.8"), "{}", done.text);
    let late = place.run("video_frames", json!({"path": "clip.mp4", "from": 9})).await;
    assert!(late.expect_err("too late").contains("begin before it ends"));
    assert!(place.says("read_file", "clip.mp4").await.contains("video_frames"));
}

#[tokio::test]
async fn what_only_calls_itself_a_video_makes_ffmpeg_open_nothing() {
    let place = Place::new();
    let playlist = format!("#EXTM3U\n#EXTINF:1,\nfile://{}/secret.txt\n", place.outside.path().display());
    place.put("list.mp4", playlist.as_bytes());
    // It begins as a video does, and goes on as a list of files.
    place.put("both.mp4", &[b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", playlist.as_bytes()].concat());
    assert!(place.says("video_frames", "list.mp4").await.contains("no video that is known"));
    assert!(place.says("video_frames", "both.mp4").await.contains("cannot read it"));
}

#[tokio::test]
async fn a_shared_file_is_kept_with_its_type() {
    let place = Place::new();
    place.put("r.csv", b"a,b\n");
    let shared =
        place.run("share_file", json!({"path": "r.csv"})).await.expect("shared").shared.expect("a file");
    assert_eq!((shared.name.as_str(), shared.media_type.as_str(), shared.size), ("r.csv", "text/csv", 4));
    let huge = std::fs::File::create(place.bench.workspace().join("huge")).expect("made");
    huge.set_len(26 * 1024 * 1024).expect("sparse");
    assert!(place.says("share_file", "huge").await.contains("too large"));
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_its_code_is_told() {
    let place = Place::new();
    let done = place.run("shell", json!({"command": "pwd; echo hi > made"})).await.expect("ran");
    assert_eq!(done.text, format!("{}\n[exit code 0]", place.bench.workspace().display()));
    assert_eq!(place.says("read_file", "made").await, "hi\n");
    let failed = place.run("shell", json!({"command": "echo no >&2; exit 4"})).await.expect_err("failed");
    assert_eq!(failed, "no\n[exit code 4]");
}

#[test]
fn calls_that_cannot_be_run_are_told_why() {
    let mut profile = Profile {
        name: "p".into(),
        harness: Default::default(),
        harness_mode: None,
        models: vec![],
        base_url: None,
        instructions: String::new(),
        workspace: Some("/tmp".into()),
        tools: ToolSet::Only(vec!["read_file".into(), "shell".into()]),
        autonomy: Level::L3,
        allowed: vec![],
        mcp: vec![],
        image_model: None,
        web_hosts: Vec::new(),
        budgets: Default::default(),
        deadline_s: 600,
        agent: None,
    };
    let choices = Choices { tools: Some(vec!["read_file".into()]), ..Choices::default() };
    let offered = offered(&profile, &choices);
    let call = |tool: &str, input| Call { id: "c".into(), tool: tool.into(), input, class: ToolClass::Read };
    assert_eq!(check(&offered, &call("read_file", json!({"path": "a"}))), Ok(()));
    let unknown = check(&offered, &call("shell", json!({"command": "ls"}))).expect_err("not chosen");
    assert_eq!(unknown, "There is no such tool as \"shell\". You have: read_file.");
    for input in [json!({}), json!({"path": 7}), json!({UNREADABLE: "{\"path"})] {
        let why = check(&offered, &call("read_file", input)).expect_err("bad input");
        assert!(why.contains("schema") && why.contains("\"path\""), "{why}");
    }
    profile.workspace = None;
    assert!(tool_defs(&profile).is_empty());
    profile.tools = ToolSet::All;
    let names =
        |profile: &Profile| -> Vec<String> { tool_defs(profile).into_iter().map(|t| t.name).collect() };
    assert_eq!(
        names(&profile),
        ["web_fetch", "remember", "recall", "send_message"],
        "these need no workspace"
    );
    profile.image_model = Some("openai:m".parse().expect("a model"));
    assert_eq!(names(&profile).len(), 4);
    profile.workspace = Some("/tmp".into());
    assert!(names(&profile).iter().any(|name| name == "image_generate"));
}

#[test]
fn a_result_of_any_length_is_cut_to_what_a_model_can_use_and_says_so() {
    let long = cut("é".repeat(25_000_000));
    assert!(long.len() < LONGEST_RESULT + 100);
    assert!(long.ends_with("\n[cut: the first 307200 of 50000000 bytes]"), "{}", &long[long.len() - 60..]);
    assert_eq!(cut("short".into()), "short");
}
