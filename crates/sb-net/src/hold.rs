//! A program is held before it begins, until whoever watches over us has been told of its group.
//!
//! What is started first is the plainest shell, which reads one line and then becomes the program. We write that
//! line once the group is named; if we are killed before, the pipe closes and the shell ends. So at no moment is
//! there a program of ours that nobody would end. Invariant: the program never sees that line.

use std::io::{self, PipeWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// It is let go by the first line of what then is its input.
pub(crate) const BY_INPUT: &str = r#"read -r go && exec "$0" "$@""#;
/// It is let go by its input, which then is what was its error output; and that is then its output.
pub(crate) const BESIDE_INPUT: &str = r#"read -r go && exec "$0" "$@" <&2 2>&1"#;

/// The end of the pipe by which a program is let go. Dropped before, the program never begins.
#[derive(Debug)]
pub(crate) struct Hold(PipeWriter);

impl Hold {
    pub fn new(writer: PipeWriter) -> Self {
        Self(writer)
    }

    /// Lets it begin, and gives the pipe back, which goes on as its input.
    ///
    /// # Errors
    /// If it is gone already.
    pub fn let_go(mut self) -> io::Result<PipeWriter> {
        self.0.write_all(b"\n")?;
        Ok(self.0)
    }
}

/// Whether a program could be started in a folder: found out before, since a shell would tell it by its exit only.
///
/// # Errors
/// `NotFound` if there is none of this name, `PermissionDenied` if it may not be run.
#[expect(clippy::disallowed_methods, reason = "this room is the one that starts programs")]
pub(crate) fn check(program: &str, dir: &Path) -> io::Result<()> {
    if program.contains('/') {
        return runs(&dir.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut why = io::Error::from(io::ErrorKind::NotFound);
    for folder in std::env::split_paths(&path) {
        match runs(&dir.join(folder).join(program)) {
            Ok(()) => return Ok(()),
            Err(other) if other.kind() == io::ErrorKind::PermissionDenied => why = other,
            Err(_) => {}
        }
    }
    Err(why)
}

fn runs(file: &Path) -> io::Result<()> {
    let facts = file.metadata()?;
    match facts.is_file() && facts.permissions().mode() & 0o111 != 0 {
        true => Ok(()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;
    use crate::child;

    #[tokio::test]
    async fn one_that_is_never_let_go_never_begins() {
        let dir = tempfile::tempdir().expect("a folder");
        for let_go in [false, true] {
            let (reader, writer) = io::pipe().expect("a pipe");
            let mut command =
                child::held(BY_INPUT, "touch", &["begun".to_owned()], dir.path()).expect("there");
            let mut program = command.stdin(Stdio::from(reader)).spawn().expect("starts");
            drop(command);
            let hold = Hold::new(writer);
            match let_go {
                true => drop(hold.let_go().expect("it waits")),
                false => drop(hold),
            }
            let ended = program.wait().await.expect("ends");
            assert_eq!((ended.success(), dir.path().join("begun").exists()), (let_go, let_go));
        }
    }

    #[test]
    fn what_cannot_be_started_is_told_before() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("plain"), "").expect("a file");
        let kind = |program: &str| check(program, dir.path()).map_err(|why| why.kind());
        assert_eq!(kind("sh"), Ok(()));
        assert_eq!(kind("/bin/sh"), Ok(()));
        assert_eq!(kind("no-such-program-at-all"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("./none"), Err(io::ErrorKind::NotFound));
        assert_eq!(kind("./plain"), Err(io::ErrorKind::PermissionDenied));
    }
}
