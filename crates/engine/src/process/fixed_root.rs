//! The one path at which the commands of every trial find its directory.
//!
//! A trial's directory has a name that nobody can foresee. Programs write the path of the workspace down, in a virtual
//! environment for one, and such files are kept for other trials. So commands see the directory at a path that is the same
//! in all trials of all runs. A sandbox mounts it there; without one, `process::confine` does. Terca itself stays with the
//! real path.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

/// The directory of a trial, and the path at which its commands find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedRoot {
    /// Its own path.
    pub real: Utf8PathBuf,
    /// The path for commands.
    pub shown: Utf8PathBuf,
    /// The workspace in it and the path for that, where an image has a place for it.
    pub workspace: Option<(Utf8PathBuf, Utf8PathBuf)>,
}

impl FixedRoot {
    /// Returns a text with the paths that commands find.
    pub fn text(&self, text: &str) -> String {
        let text = match &self.workspace {
            Some((real, shown)) => &text.replace(real.as_str(), shown.as_str()),
            None => text,
        };
        text.replace(self.real.as_str(), self.shown.as_str())
    }

    /// Returns the path that commands find.
    pub fn path(&self, path: &Utf8Path) -> Utf8PathBuf {
        let whole = Some((&self.real, &self.shown));
        let workspace = self.workspace.as_ref().map(|(real, shown)| (real, shown));
        for (real, shown) in workspace.into_iter().chain(whole) {
            match path.strip_prefix(real) {
                Ok(relative) if relative == "" => return shown.clone(),
                Ok(relative) => return shown.join(relative),
                Err(_) => {}
            }
        }
        path.to_owned()
    }
}

/// Returns a text as the commands of a trial read it.
pub fn shown(fixed_root: Option<&FixedRoot>, text: &str) -> String {
    fixed_root.map_or_else(|| text.to_owned(), |fixed_root| fixed_root.text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_trial_are_shown_elsewhere_and_others_stay() {
        let root = FixedRoot {
            real: "/work/run-1/t/secret".into(),
            shown: "/work/trial".into(),
            workspace: None,
        };
        let text = "PATH=/bin:/work/run-1/t/secret/workspace/bin:/work/run-2";
        assert_eq!(
            root.text(text),
            "PATH=/bin:/work/trial/workspace/bin:/work/run-2"
        );
        let shown = |path: &str| root.path(path.into()).into_string();
        assert_eq!(shown("/work/run-1/t/secret/home"), "/work/trial/home");
        assert_eq!(
            shown("/work/run-1/t/secret-too"),
            "/work/run-1/t/secret-too"
        );
        assert_eq!(shown("/bin/sh"), "/bin/sh");
    }

    #[test]
    fn an_image_may_have_a_place_for_the_workspace() {
        let root = FixedRoot {
            real: "/run/t/1".into(),
            shown: "/trial".into(),
            workspace: Some(("/run/t/1/workspace".into(), "/app".into())),
        };
        assert_eq!(
            root.text("/run/t/1/home:/run/t/1/workspace/bin"),
            "/trial/home:/app/bin"
        );
        assert_eq!(root.path("/run/t/1/workspace".into()), "/app");
        assert_eq!(root.path("/run/t/1/workspace/a".into()), "/app/a");
        assert_eq!(root.path("/run/t/1/io/a".into()), "/trial/io/a");
    }
}
