//! Where a command works: the suite around the directory that it is started in, as `git` and `cargo` find theirs.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use terca_core::run::settings::SelectionSettings;
use terca_core::text::Code;
use terca_engine::run::files::runs_dir;
use terca_engine::run::past_runs;
use terca_engine::suite::discover::{EVAL_FILE, SUITE_FILE};
use terca_engine::suite::locate::{locate, suites_below};

use crate::args::Common;
use crate::cli_error::{self, CliError};
use crate::screen;

/// What a command needs around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A suite.
    Suite,
    /// The runs of a suite.
    Runs,
    /// Nothing, but a suite that is there is looked at.
    Maybe,
}

/// Returns the arguments for a command: `dir` is the directory of the suite. Says which suite it is where it is
/// another directory than the one that was typed.
pub fn found(common: &Common, need: Need) -> Result<Common, CliError> {
    // The directory of a run may be that of another suite.
    let need = match need {
        Need::Runs if names_a_run() => Need::Maybe,
        need => need,
    };
    let root = match (locate(&common.dir), need) {
        (Err(_), Need::Maybe) => return Ok(common.clone()),
        (located, _) => located?,
    };
    if need == Need::Runs && !root.join(SUITE_FILE).is_file() && !runs_dir(&root).is_dir() {
        refuse_above_suites(&root)?;
    }
    let is_here = common
        .dir
        .canonicalize_utf8()
        .is_ok_and(|here| here == root);
    if is_here {
        return Ok(common.clone());
    }
    if need != Need::Maybe {
        screen::err(&format!("note: using the suite in {root}"));
    }
    Ok(Common {
        dir: root,
        typed_dir: Some(common.dir.clone()),
        ..common.clone()
    })
}

/// Tells whether a word of the command line is the directory of a run.
fn names_a_run() -> bool {
    let mut words = std::env::args().skip(1);
    words.any(|word| past_runs::is_run(Utf8Path::new(&word)))
}

/// Refuses a directory that has no runs, where suites below it may have some.
fn refuse_above_suites(dir: &Utf8Path) -> Result<(), CliError> {
    let suites = suites_below(dir);
    if suites.is_empty() {
        return Ok(());
    }
    let text = format!("no suite here: {dir} has no {SUITE_FILE} and no runs");
    let help = cli_error::suites_below(&suites);
    Err(CliError::misuse(Code::NoSuite, text).help(help))
}

/// Makes the paths of a selection relative to the suite. The user typed them relative to the working directory.
pub fn from_here(mut selection: SelectionSettings, common: &Common) -> SelectionSettings {
    let here = std::env::current_dir().ok();
    let here = here.and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    let root = common.dir.canonicalize_utf8().ok();
    if let (Some(here), Some(root)) = (here, root) {
        for pattern in &mut selection.evals {
            *pattern = in_suite(pattern, &here, &root);
        }
    }
    selection
}

/// Returns a pattern whose paths are relative to the suite's directory.
fn in_suite(pattern: &str, here: &Utf8Path, root: &Utf8Path) -> String {
    let whole = path_in_suite(pattern, here, root);
    if whole.is_some() || pattern.contains('{') {
        return whole.unwrap_or_else(|| pattern.to_owned());
    }
    let parts = pattern.split(',').map(|part| {
        let moved = path_in_suite(part.trim(), here, root);
        moved.unwrap_or_else(|| part.to_owned())
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Returns the path below the suite's directory of an eval, or of a directory with evals, that is typed as a path.
fn path_in_suite(written: &str, here: &Utf8Path, root: &Utf8Path) -> Option<String> {
    let (mark, path) = match written.strip_prefix('!') {
        Some(path) => ("!", path),
        None => ("", written),
    };
    if path.is_empty() {
        return None;
    }
    let typed = Utf8Path::new(path);
    // In the suite's directory a plain path means the same to a selection.
    let mut parts = typed.components();
    let is_plain = parts.all(|part| matches!(part, Utf8Component::Normal(_)));
    let is_file = typed.file_name() == Some(EVAL_FILE);
    if here == root && is_plain && !is_file {
        return None;
    }
    let full = here.join(typed).canonicalize_utf8().ok()?;
    let dir = if is_file { full.parent()? } else { &full };
    let inside = dir.strip_prefix(root).ok().filter(|_| dir.is_dir())?;
    Some(if inside.as_str().is_empty() {
        // All of it, and `!` nothing.
        format!("{mark}*")
    } else {
        format!("{mark}./{inside}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_relative_to_the_suite() {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(guard.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        std::fs::create_dir_all(root.join("group/fib")).unwrap();
        std::fs::write(root.join("group/fib").join(EVAL_FILE), "").unwrap();
        let group = root.join("group");
        for (written, here, expected) in [
            ("group/fib", &root, "group/fib"),
            ("./group", &root, "./group"),
            ("fib", &group, "./group/fib"),
            (".", &group, "./group"),
            ("!fib,other*", &group, "!./group/fib,other*"),
            ("fib/eval.terca.yaml", &group, "./group/fib"),
            ("..", &group, "*"),
            ("nothing", &group, "nothing"),
            ("{a,fib}", &group, "{a,fib}"),
            ("tag:slow", &group, "tag:slow"),
        ] {
            assert_eq!(in_suite(written, here, &root), expected, "{written}");
        }
    }
}
