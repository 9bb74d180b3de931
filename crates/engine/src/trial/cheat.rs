//! Lays what the built-in cheat has thought of.

use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::cheat::{Does, Seen, SeenFile, Target, Trick, tricks};

use super::bench::Bench;
use crate::workspace::tree;

/// More than an agent would look at.
const MOST_FILES: usize = 5_000;
const LARGEST_TEXT: u64 = 256 * 1024;

pub(super) fn cheat(bench: &mut Bench<'_>) -> io::Result<()> {
    let files = look_around(&bench.room.workspace)?;
    for trick in tricks(&Seen {
        prompt: &bench.trial.case.prompt,
        files: &files,
    }) {
        let (root, path) = match &trick.target {
            Target::Workspace(path) => (&bench.room.workspace, path),
            Target::Home(path) => (&bench.room.agent_home, path),
        };
        // What cannot be done is left: a cheat is content with what works.
        if carry_out(root, path, &trick).is_ok() {
            let what = if trick.does == Does::Remove {
                "removed"
            } else {
                "wrote"
            };
            bench
                .log
                .line(&format!("{what} {path}: {}", trick.purpose))?;
        }
    }
    Ok(())
}

fn look_around(workspace: &Utf8Path) -> io::Result<Vec<SeenFile>> {
    let mut seen = Vec::new();
    for (path, meta) in tree::walk(workspace)?.into_iter().take(MOST_FILES) {
        let Ok(path) = Utf8PathBuf::from_path_buf(path) else {
            continue;
        };
        let installed = path
            .components()
            .any(|part| part.as_str() == "node_modules");
        let small = meta.is_file() && meta.len() <= LARGEST_TEXT && !installed;
        let text = if small {
            std::fs::read_to_string(workspace.join(&path)).ok()
        } else {
            None
        };
        seen.push(SeenFile { path, text });
    }
    Ok(seen)
}

fn carry_out(root: &Utf8Path, path: &Utf8Path, trick: &Trick) -> io::Result<()> {
    if !tree::stays_inside(root, path) {
        return Err(io::Error::other("outside"));
    }
    let target = root.join(path);
    match &trick.does {
        Does::Remove => std::fs::remove_file(&target),
        Does::Write {
            content,
            executable,
        } => {
            std::fs::create_dir_all(target.parent().unwrap_or(root))?;
            std::fs::write(&target, content)?;
            let mode = if *executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(mode))
        }
    }
}
