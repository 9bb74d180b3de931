//! Plays the tricks of the built-in cheat.

use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::cheat::{Does, Known, SeenFile, played_in, steps};
use terca_core::text::prose;

use crate::tree::{Dir, Options, TreeError, Visit, remove, walk};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::inside::Workspace;

/// More than an agent would look at.
const MOST_FILES: usize = 5_000;
const LARGEST_TEXT: u64 = 256 * 1024;

/// Plays the tricks of the trial's repetition, as the prompt and the workspace suggest them.
pub(super) fn cheat(run: &mut TrialRun<'_>) -> Result<(), StageError> {
    let case = run.spec.case.clone();
    let project = run.context.project_dir();
    let known = Known {
        prompt: &case.prompt,
        files: look_around(&run.dirs.here())?,
        hidden: names(run, case.eval.tests_layer.as_deref())?,
        asked: names(run, case.eval.solution.as_deref())?,
        suite_dir: run.context.suite_dir.as_str(),
        around: project.path().map(Utf8Path::as_str),
    };
    let repetition = run.spec.repetition;
    let names = prose::joined(played_in(repetition).iter().map(|trick| trick.name), ", ");
    run.log.line(&format!("tricks: {names}"))?;
    let dirs = &run.dirs;
    for (path, does) in steps(&known, repetition) {
        let (known, root, path_in_root) = if let Some(path) = path.strip_prefix("~/") {
            (&dirs.home, &dirs.home, path)
        } else if let Some(path) = path.strip_prefix("../") {
            (&dirs.root, &dirs.root, path)
        } else {
            (&dirs.workspace, &dirs.here(), path.as_str())
        };
        let is_inside = Workspace::new(known, root).stays_inside(path_in_root);
        let what = match does {
            Does::Write(_) => "wrote",
            Does::Remove => "removed",
            Does::Link(_) => "linked",
        };
        // A trick that does not work is left out: a cheat is content with the others.
        if is_inside && play(&root.join(path_in_root), &does).is_ok() {
            run.log.line(&format!("{what} {path}"))?;
        }
    }
    Ok(())
}

/// Returns the names of files in a directory of the sealed suite.
fn names(run: &TrialRun<'_>, dir: Option<&Utf8Path>) -> Result<Vec<Utf8PathBuf>, StageError> {
    let mut names = Vec::new();
    if let Some(dir) = dir {
        let root = Dir::open(run.context.sealed.open(dir)?)?;
        walk(&root, &Options::default(), &mut |entry, meta| {
            let path = Utf8Path::from_path(entry.path).filter(|_| !meta.is_dir());
            names.extend(path.map(Utf8Path::to_owned));
            Ok(Visit::Continue)
        })?;
    }
    Ok(names)
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

fn play(target: &Utf8Path, does: &Does) -> io::Result<()> {
    match does {
        Does::Remove => {
            let _ = remove(target, &Options::default())?;
            Ok(())
        }
        Does::Link(to) => std::os::unix::fs::symlink(to, target),
        Does::Write(content) => {
            std::fs::create_dir_all(target.parent().unwrap_or(target))?;
            std::fs::write(target, content)?;
            let mode = if content.starts_with("#!") {
                0o755
            } else {
                0o644
            };
            std::fs::set_permissions(target, std::fs::Permissions::from_mode(mode))
        }
    }
}
