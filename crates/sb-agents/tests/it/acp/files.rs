//! Pictures and files, to the agent and from it.

use super::*;

async fn picture(app: &sb_testkit::app::TestApp) -> Attachment {
    let bytes = b"\x89PNG\r\n\x1a\nlooks like one";
    let digest = app.engine.keep_blob(bytes).await.expect("it is kept");
    Attachment { name: "my cat.png".into(), media_type: "image/png".into(), size: bytes.len() as u64, digest }
}

#[tokio::test]
async fn a_picture_is_shown_to_an_agent_that_can_see_and_linked_for_one_that_cannot() {
    let app = app().await;
    let files = vec![picture(&app).await];
    let said = send_with(&app, "look", files).await.ending().await.unwrap().said;
    assert!(said.starts_with("prompt 1, 1 pictures: look") && said.contains("inbox/my cat.png"), "{said}");
    let app = app_with(|p| p.harness = agent("--blind")).await;
    let files = vec![picture(&app).await];
    let said = send_with(&app, "look", files).await.ending().await.unwrap().said;
    assert!(said.contains("prompt 1, 0 pictures: look"), "{said}");
    assert!(said.starts_with("linked file:///") && said.contains("/inbox/my%20cat.png. "), "{said}");
    assert!(app.workspace().join("inbox/my cat.png").is_file());
}

#[tokio::test]
async fn what_it_gives_is_a_file_for_the_person_if_it_is_in_its_folder() {
    let app = app().await;
    let done = say(&app, "!say Here.\n!tool fault {\"kind\":\"picture\"}").await;
    assert_eq!((done.kind, done.said.as_str()), (EndKind::Replied, "Here."));
    let given: Vec<(&str, &str)> =
        done.files.iter().map(|f| (f.name.as_str(), f.media_type.as_str())).collect();
    let expected = [
        ("picture.png", "image/png"),
        ("notes.md", "text/markdown"),
        ("made.txt", "application/octet-stream"),
    ];
    assert_eq!(given, expected, "nothing of outside its folder, and nothing that cannot be read");
    assert_eq!(done.files[1].digest, Digest::of(b"# Notes"));
}
