//! Which folder is the home, and where things are in it.
//!
//! A workspace under `<home>/workspaces` is kept as `<home>/./workspaces/…`: to everybody the same path,
//! and the dot marks where the home ends. So a home that was moved, or came back from a backup in
//! another folder, finds its own workspaces again and not those of the home it was copied from.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Result, anyhow};
use nix::unistd::Uid;
use sb_engine::model::Digest;

use crate::environment::Environment;
use crate::usage::usage;

/// Between a home and what is in it, in a path that goes with the home.
const MARK: &str = "/./";
/// The longest path of a socket that every system takes, less the room for its first name.
const LONGEST_SOCKET: usize = 92;

/// The home of this run.
#[derive(Debug, Clone)]
pub struct Home {
    /// Absolute.
    pub folder: PathBuf,
    /// It is the one meant where none is named.
    pub usual: bool,
}

impl Home {
    /// The folder named by the flag, else by the environment, else the platform's.
    pub fn find(flag: Option<PathBuf>, environment: &Environment) -> Result<Self> {
        let usual = environment.data.as_ref().map(|data| data.join("switchboard"));
        if flag.as_ref().is_some_and(|path| path.as_os_str().is_empty()) {
            return Err(usage("--home names no folder; name one, or leave --home out."));
        }
        let named = flag.or_else(|| environment.home.clone());
        let folder = named.or_else(|| usual.clone()).ok_or_else(|| {
            anyhow!("No home is known: neither HOME nor SWITCHBOARD_HOME is set. Name a folder with --home.")
        })?;
        let folder = std::path::absolute(&folder)
            .map_err(|why| anyhow!("{} cannot be a home: {why}.", folder.display()))?;
        Ok(Self { usual: usual.as_ref() == Some(&folder), folder })
    }

    /// The folder of the socket: the home itself, or where its path is too long for one, a folder of
    /// this user's own under `/tmp`. It follows from the home alone, so that everybody finds it.
    pub fn socket_folder(&self) -> PathBuf {
        let real = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        if real.join("socket").as_os_str().len() <= LONGEST_SOCKET {
            return self.folder.clone();
        }
        let digest = Digest::of(real.as_os_str().as_bytes()).to_string();
        short_folder().join(digest.get(..16).unwrap_or_default())
    }
    /// Where commands reach the server.
    pub fn socket(&self) -> PathBuf {
        self.socket_folder().join("socket")
    }
    /// Settings of the server.
    pub fn settings(&self) -> PathBuf {
        self.folder.join("switchboard.toml")
    }
    /// What was typed in `talk`.
    pub fn history(&self) -> PathBuf {
        self.folder.join("history")
    }
    /// The workspace of a profile that was given none of its own, as it is kept.
    pub fn workspace(&self, profile: &str) -> String {
        self.kept(&self.folder.join("workspaces").join(profile)).display().to_string()
    }
    /// A workspace as it is kept: marked, if it goes with the home.
    pub fn kept(&self, workspace: &Path) -> PathBuf {
        let own = workspace.strip_prefix(self.folder.join("workspaces")).ok();
        let own = own.filter(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))));
        own.map_or_else(
            || workspace.to_path_buf(),
            |rest| {
                let mut kept = self.folder.clone().into_os_string();
                kept.push(MARK);
                kept.push(Path::new("workspaces").join(rest));
                kept.into()
            },
        )
    }
    /// The workspace as it is to be kept in this home, if it is kept in another way: it went with a
    /// home that was elsewhere, or is not marked yet.
    pub fn moved(&self, workspace: &str) -> Option<String> {
        let here = match workspace.split_once(MARK) {
            Some((there, rest)) if !is_same(Path::new(there), &self.folder) => self.folder.join(rest),
            Some(_) => return None,
            None => PathBuf::from(workspace),
        };
        let kept = self.kept(&here).to_str()?.to_owned();
        (kept != workspace).then_some(kept)
    }
    /// Whether there is anything yet.
    pub fn exists(&self) -> bool {
        self.folder.is_dir()
    }
}

/// Where the sockets of this user's homes are whose paths are too long.
pub fn short_folder() -> PathBuf {
    PathBuf::from(format!("/tmp/switchboard-{}", Uid::current()))
}

/// A workspace as people are shown it: without the mark.
pub fn shown(workspace: &str) -> String {
    workspace.replacen(MARK, "/", 1)
}

/// Whether two paths lead to the same folder, also where one is spelled through a link.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Why an agent may not work in a folder: its file tools would reach what only the program may.
pub fn unfit_workspace(home: &Path, workspace: &Path) -> Option<String> {
    if home.starts_with(workspace) {
        return Some(format!(
            "The workspace {} holds Switchboard's own home; name another folder.",
            workspace.display()
        ));
    }
    let inside = workspace.starts_with(home) && !workspace.starts_with(home.join("workspaces"));
    inside.then(|| {
        format!(
            "The workspace {} is within Switchboard's own home; name a folder elsewhere, or one under {}.",
            workspace.display(),
            home.join("workspaces").display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_the_environment_and_that_before_the_platform() {
        let mut environment = Environment { data: Some("/data".into()), ..Environment::default() };
        let find = |flag: Option<&str>, env: &Environment| {
            let home = Home::find(flag.map(PathBuf::from), env).expect("a home");
            (home.folder.display().to_string(), home.usual)
        };
        assert_eq!(find(None, &environment), ("/data/switchboard".into(), true));
        environment.home = Some("/env".into());
        assert_eq!(find(None, &environment), ("/env".into(), false));
        assert_eq!(find(Some("/flag"), &environment), ("/flag".into(), false));
        assert!(Home::find(None, &Environment::default()).is_err());
        // Nothing where a folder is meant is a slip, which must not lead to another home.
        let slip = Home::find(Some(PathBuf::new()), &environment).expect_err("no folder").to_string();
        assert!(slip.contains("--home names no folder"), "{slip}");
    }

    #[test]
    fn no_agent_works_in_the_home_itself() {
        let unfit = |path| unfit_workspace(Path::new("/h/sb"), Path::new(path)).is_some();
        assert!(
            unfit("/") && unfit("/h") && unfit("/h/sb") && unfit("/h/sb/blobs") && unfit("/h/sb/workspaces2")
        );
        assert!(!unfit("/h/sb/workspaces/a") && !unfit("/h/sb2") && !unfit("/g"));
    }

    fn at(folder: &str) -> Home {
        Home { folder: folder.into(), usual: false }
    }

    #[test]
    fn a_workspace_of_the_homes_own_goes_with_the_home() {
        let (old, new) = (at("/nowhere/old"), at("/nowhere/new"));
        let kept = old.workspace("assistant");
        assert_eq!(kept, "/nowhere/old/./workspaces/assistant");
        assert_eq!(Path::new(&kept), Path::new("/nowhere/old/workspaces/assistant"));
        assert_eq!(shown(&kept), "/nowhere/old/workspaces/assistant");
        assert_eq!((old.moved(&kept), new.moved(&kept)), (None, Some(new.workspace("assistant"))));
        // One that was kept before there were marks gets its mark, and others stay what they are.
        assert_eq!(old.moved("/nowhere/old/workspaces/assistant"), Some(kept));
        assert_eq!((new.moved("/nowhere/old/workspaces/a"), new.moved("/srv/garden")), (None, None));
        assert_eq!(
            new.moved("/nowhere/old/./workspaces/../../x"),
            Some("/nowhere/new/workspaces/../../x".into())
        );
    }

    #[test]
    fn a_home_with_a_long_path_has_its_socket_elsewhere() {
        assert_eq!(at("/nowhere/sb").socket(), Path::new("/nowhere/sb/socket"));
        let long = at(&format!("/nowhere/{}", "long".repeat(30)));
        assert!(long.socket().starts_with(short_folder()), "{:?}", long.socket());
        assert!(long.socket().as_os_str().len() <= LONGEST_SOCKET);
        assert_eq!(long.socket(), long.socket());
        assert_ne!(long.socket(), at(&format!("/nowhere/{}", "long".repeat(31))).socket());
    }
}
