//! Plays the tricks of the built-in cheat.

use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use terca_core::agent::cheat::{Does, Seen, SeenFile, Target, Trick, tricks};

use crate::tree::{Dir, Options, TreeError, Visit, remove, walk};
use crate::trial::log::RunLog;
use crate::workspace::inside::Workspace;
use crate::workspace::trial_dirs::TrialDirs;

/// More than an agent would look at.
const MOST_FILES: usize = 5_000;
const LARGEST_TEXT: u64 = 256 * 1024;

/// Plays every trick that the prompt and the workspace suggest.
pub(super) fn cheat(prompt: &str, dirs: &TrialDirs, log: &mut RunLog) -> io::Result<()> {
    let files = look_around(&dirs.here())?;
    for trick in tricks(&Seen {
        prompt,
        files: &files,
    }) {
        let (known, root, path) = match &trick.target {
            Target::Workspace(path) => (&dirs.workspace, &dirs.here(), path),
            Target::Home(path) => (&dirs.home, &dirs.home, path),
            Target::Beside(path) => (&dirs.root, &dirs.root, path),
        };
        let is_inside = Workspace::new(known, root).stays_inside(path);
        // A trick that does not work is left out: a cheat is content with the others.
        if is_inside && play(root, path, &trick).is_ok() {
            let what = match trick.does {
                Does::Write { .. } => "wrote",
                Does::Remove | Does::RemoveDirectory => "removed",
                Does::Link { .. } => "linked",
            };
            let place = match trick.target {
                Target::Workspace(_) => "",
                Target::Home(_) => "~/",
                Target::Beside(_) => "../",
            };
            log.line(&format!("{what} {place}{path}: {}", trick.purpose))?;
        }
    }
    Ok(())
}

fn look_around(workspace: &Utf8Path) -> Result<Vec<SeenFile>, TreeError> {
    let mut seen = Vec::new();
    let root = Dir::open_no_link(workspace)?;
    let options = Options::default();
    walk(&root, &options, &mut |entry, meta| {
        let Some(path) = Utf8Path::from_path(entry.path).filter(|_| !meta.is_dir()) else {
            return Ok(Visit::Continue);
        };
        let installed = path
            .components()
            .any(|part| part.as_str() == "node_modules");
        let small = meta.is_file() && meta.size <= LARGEST_TEXT && !installed;
        let text = if small {
            entry
                .open()
                .ok()
                .and_then(|file| io::read_to_string(file).ok())
        } else {
            None
        };
        let path = path.to_owned();
        seen.push(SeenFile { path, text });
        Ok(if seen.len() < MOST_FILES {
            Visit::Continue
        } else {
            Visit::End
        })
    })?;
    Ok(seen)
}

fn play(root: &Utf8Path, path: &Utf8Path, trick: &Trick) -> io::Result<()> {
    let target = root.join(path);
    match &trick.does {
        Does::Remove => std::fs::remove_file(&target),
        Does::RemoveDirectory => {
            let _ = remove(&target, &Options::default())?;
            Ok(())
        }
        Does::Link { to } => std::os::unix::fs::symlink(to, &target),
        Does::Write { content } => {
            std::fs::create_dir_all(target.parent().unwrap_or(root))?;
            std::fs::write(&target, content)?;
            let mode = if content.starts_with("#!") {
                0o755
            } else {
                0o644
            };
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode))
        }
    }
}
