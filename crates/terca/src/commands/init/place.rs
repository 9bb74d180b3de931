//! The directory of a new suite, and the places where none is made.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::suite::{create as engine, discover};

use crate::cli_error::CliError;
use crate::screen;

/// The default name of a suite's directory.
pub(super) const USUAL_NAME: &str = "evals";

/// Refuses a suite within a suite: its evals would be in both.
pub(super) fn outside_of_suites(dir: &Utf8Path) -> Result<(), CliError> {
    let Some(suite) = engine::suite_around(dir) else {
        return Ok(());
    };
    let file = suite.join(discover::SUITE_FILE);
    let text = format!("there is a suite already: {}", screen::short(&file));
    Err(CliError::misuse(Code::AlreadyThere, text)
        .help("`terca create-eval` adds an eval to it; `-C DIR` makes the suite elsewhere"))
}

/// Returns the new suite's directory.
pub(super) fn place(around: &Utf8Path, name: &str) -> Result<Utf8PathBuf, String> {
    let name = Utf8Path::new(name.trim());
    if name.as_str().is_empty() {
        return Err("the name is empty".into());
    }
    let dir = around.join(name);
    if let Some(link) = link_on_the_way(around, &dir) {
        return Err(format!(
            "{} is a link, and a suite is not made behind one\nhelp: name the directory that it leads to",
            screen::short(&link)
        ));
    }
    // A suite needs a name: the directories that `.` and `..` mean have one.
    let dir = match dir.canonicalize_utf8() {
        Ok(real) if real.is_dir() => real,
        Ok(real) => {
            return Err(format!(
                "{} is a file; a suite is a directory",
                screen::short(&real)
            ));
        }
        Err(_) if dir.file_name().is_some() => dir,
        Err(error) => return Err(format!("{name}: {error}")),
    };
    if is_too_large(&dir) {
        return Err(format!(
            "a suite is not made in {dir} itself: everything in it would belong to the suite\n\
             help: name a new directory, such as `{USUAL_NAME}`"
        ));
    }
    Ok(dir)
}

/// Returns the first link on the way to a directory, below the one that was given with `-C`. For a path that leads
/// elsewhere, its last part counts.
fn link_on_the_way(around: &Utf8Path, dir: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut parts: Vec<&Utf8Path> = dir
        .ancestors()
        .take_while(|part| part.starts_with(around) && *part != around)
        .collect();
    if parts.is_empty() {
        parts.push(dir);
    }
    let link = parts.into_iter().rev().find(|part| part.is_symlink());
    link.map(Utf8Path::to_owned)
}

/// Returns whether a directory is the root or the user's home.
fn is_too_large(dir: &Utf8Path) -> bool {
    let host = Host::of_this_process();
    let home = host.get("HOME").filter(|home| !home.is_empty());
    let home = home.and_then(|home| Utf8Path::new(home).canonicalize_utf8().ok());
    dir.parent().is_none() || home.as_deref() == Some(dir)
}
