//! `video_frames {path, from, to, count}`: pictures out of a video, evenly spread, by the machine's ffmpeg.
//!
//! A video may come from anybody, so the kind is told to ffmpeg instead of guessed by it: no playlist is read as one,
//! and nothing is opened but the file itself, which it gets already opened.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use sb_harness::model::Attachment;
use sb_harness::net::child::{self, Exit, Program};
use sb_harness::net::media;
use serde_json::Value;

use super::workspace::{blocking, open_file, plain, told};
use super::{Bench, Done, Outcome, text};

/// How long one look may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The most pictures of one call: as many as a model is shown of one message.
const MOST: u64 = 10;
const COUNT: u64 = 6;
/// The longer side of a picture.
const SIDE: u32 = 768;

/// What ffmpeg calls the form of a video of this kind.
fn form(media_type: &str) -> Option<&'static str> {
    Some(match media_type {
        "video/mp4" | "video/x-m4v" | "video/quicktime" => "mov",
        "video/x-matroska" | "video/webm" => "matroska",
        "video/x-msvideo" => "avi",
        "video/mpeg" => "mpeg",
        "video/x-flv" => "flv",
        "video/x-ms-wmv" => "asf",
        _ => return None,
    })
}

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let path = text(input, "path").to_owned();
    let (workspace, looked_at) = (bench.workspace().to_owned(), path.clone());
    let (file, form) = blocking(move || open(&workspace, &looked_at)).await?;
    let folder =
        tempfile::tempdir().map_err(|why| format!("There is no room to work in: {}.", plain(&why)))?;
    let length = length(&file, form, folder.path()).await.map_err(|why| format!("{path}: {why}"))?;
    let (from, to) = span(input, length)?;
    let count = input["count"].as_u64().unwrap_or(COUNT).clamp(1, MOST);
    let (mut files, mut moments) = (Vec::new(), Vec::new());
    for n in 0..count {
        // The middle of each part, since a video often begins and ends in black.
        let at = from + (to - from) * (n as f64 + 0.5) / count as f64;
        let name = format!("frame-{}.jpg", n + 1);
        let shown = frame(&file, form, folder.path(), at, &name).await;
        if let Err(why) = shown.map_err(|why| format!("{path} at {at:.1} s: {why}")) {
            if files.is_empty() {
                return Err(why);
            }
            break;
        }
        let opened = tokio::fs::File::open(folder.path().join(&name)).await;
        let Ok(opened) = opened else { continue };
        let (digest, size) = bench.blobs.keep(opened).await.map_err(|why| told(&path, &why))?;
        files.push(Attachment { name, media_type: "image/jpeg".to_owned(), size, digest });
        moments.push(format!("{at:.1}"));
    }
    if files.is_empty() {
        return Err(format!("{path} has no picture in that part."));
    }
    let text = format!(
        "{path} is {length:.1} seconds long. Its pictures at {} seconds are shown to you with this result.",
        moments.join(", ")
    );
    Ok(Done { text, files, ..Done::default() })
}

fn open(workspace: &Path, path: &str) -> Result<(File, &'static str), String> {
    use std::io::{Read, Seek};
    let mut file = open_file(workspace, path)?.into_std();
    let mut beginning = Vec::new();
    (&mut file).take(media::LOOKED_AT as u64).read_to_end(&mut beginning).map_err(|why| told(path, &why))?;
    file.rewind().map_err(|why| told(path, &why))?;
    let kind = media::by_bytes(&beginning).and_then(|kind| form(kind.mime_type()));
    kind.map(|form| (file, form)).ok_or_else(|| format!("{path} is no video that is known here."))
}

/// The part to look at, in seconds.
fn span(input: &Value, length: f64) -> Result<(f64, f64), String> {
    let from = input["from"].as_f64().unwrap_or(0.0).max(0.0);
    let to = input["to"].as_f64().unwrap_or(length).min(length);
    if from < to {
        return Ok((from, to));
    }
    Err(format!("The video is {length:.1} seconds long, and the part must begin before it ends."))
}

async fn length(file: &File, form: &str, folder: &Path) -> Result<f64, String> {
    let asked = ["-show_entries", "format=duration", "-of", "csv=p=0", "-i", "/dev/stdin"];
    let said = ask("ffprobe", file, folder, &[&opening(form)[..], &asked].concat()).await?;
    let length = said.trim().parse::<f64>().ok().filter(|s| s.is_finite() && *s > 0.0);
    length.ok_or_else(|| "it does not say how long it is.".to_owned())
}

async fn frame(file: &File, form: &str, folder: &Path, at: f64, name: &str) -> Result<(), String> {
    let at = format!("{at:.3}");
    let scale = format!("scale=w={SIDE}:h={SIDE}:force_original_aspect_ratio=decrease");
    let seek = ["-nostdin", "-ss", &at];
    let take = [
        "-i",
        "/dev/stdin",
        "-frames:v",
        "1",
        "-an",
        "-vf",
        &scale,
        "-q:v",
        "4",
        "-f",
        "image2",
        "-update",
        "1",
    ];
    ask("ffmpeg", file, folder, &[&seek[..], &opening(form)[..], &take, &[name]].concat()).await.map(drop)
}

fn opening(form: &str) -> [&str; 6] {
    ["-v", "error", "-protocol_whitelist", "file", "-f", form]
}

/// Runs one of ffmpeg's programs with the video as its input, and gives what it printed.
async fn ask(program: &str, file: &File, folder: &Path, args: &[&str]) -> Result<String, String> {
    let input = file.try_clone().map_err(|why| format!("{}.", plain(&why)))?;
    let done = child::run(Program {
        program: program.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        dir: folder.to_owned(),
        input: Some(input),
        limit: LIMIT,
        keep: 2_000,
    });
    let done = done.await.map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => {
            format!("this machine has no {program}; the operator can install ffmpeg.")
        }
        _ => format!("{program} could not be run: {}.", plain(&why)),
    })?;
    match done.exit {
        Exit::Code(0) => Ok(done.output),
        Exit::TimedOut => Err(format!("{program} took longer than {} seconds.", LIMIT.as_secs())),
        _ => Err(format!("{program} cannot read it: {}", done.output.trim())),
    }
}
