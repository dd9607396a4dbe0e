//! Which folder is the home, and where things are in it.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::environment::Environment;

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
        let named = flag.filter(|path| !path.as_os_str().is_empty()).or_else(|| environment.home.clone());
        let folder = named.or_else(|| usual.clone()).ok_or_else(|| {
            anyhow!("No home is known: neither HOME nor SWITCHBOARD_HOME is set. Name a folder with --home.")
        })?;
        let folder = std::path::absolute(&folder)
            .map_err(|why| anyhow!("{} cannot be a home: {why}.", folder.display()))?;
        Ok(Self { usual: usual.as_ref() == Some(&folder), folder })
    }

    /// Where commands reach the server.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }
    /// Settings of the server.
    pub fn settings(&self) -> PathBuf {
        self.folder.join("switchboard.toml")
    }
    /// What was typed in `talk`.
    pub fn history(&self) -> PathBuf {
        self.folder.join("history")
    }
    /// The workspace of a profile that was given none of its own.
    pub fn workspace(&self, profile: &str) -> PathBuf {
        self.folder.join("workspaces").join(profile)
    }
    /// Whether there is anything yet.
    pub fn exists(&self) -> bool {
        self.folder.is_dir()
    }
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
    }

    #[test]
    fn no_agent_works_in_the_home_itself() {
        let unfit = |path| unfit_workspace(Path::new("/h/sb"), Path::new(path)).is_some();
        assert!(
            unfit("/") && unfit("/h") && unfit("/h/sb") && unfit("/h/sb/blobs") && unfit("/h/sb/workspaces2")
        );
        assert!(!unfit("/h/sb/workspaces/a") && !unfit("/h/sb2") && !unfit("/g"));
    }
}
