//! `share_file {path}`: a file of the workspace for the person, sent after the reply.

use std::io::{Read, Seek};

use cap_std::fs::File;
use sb_harness::model::Attachment;
use sb_harness::model::text::counted;
use sb_harness::net::media::{LOOKED_AT, media_type};
use serde_json::Value;

use super::workspace::{blocking, open_file, told};
use super::{Bench, Done, Outcome, text};

/// The largest file that is shared.
const MOST: u64 = 25 * 1024 * 1024;

pub(super) async fn run(bench: &Bench, input: &Value) -> Outcome {
    let path = text(input, "path").to_owned();
    let workspace = bench.workspace().to_owned();
    let opened = path.clone();
    let (file, media_type) = blocking(move || fit_to_share(open_file(&workspace, &opened)?, &opened)).await?;
    let file = tokio::fs::File::from_std(file.into_std());
    let (digest, size) = bench.blobs.keep(file).await.map_err(|why| told(&path, &why))?;
    if size > MOST {
        return Err(too_large(&path, size));
    }
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let shared = Attachment { name, media_type, size, digest };
    let text = format!("{path} ({}) is sent to the person after your reply.", counted(size, "byte"));
    Ok(Done { text, shared: Some(shared), ..Done::default() })
}

/// The file from its beginning, and its media type.
fn fit_to_share(mut file: File, path: &str) -> Result<(File, String), String> {
    let size = file.metadata().map_err(|why| told(path, &why))?.len();
    if size > MOST {
        return Err(too_large(path, size));
    }
    let mut first = Vec::new();
    (&mut file).take(LOOKED_AT as u64).read_to_end(&mut first).map_err(|why| told(path, &why))?;
    file.rewind().map_err(|why| told(path, &why))?;
    Ok((file, media_type(&first, path, None)))
}

fn too_large(path: &str, size: u64) -> String {
    format!("{path} is too large to share: {size} bytes, and {MOST} is the most.")
}
