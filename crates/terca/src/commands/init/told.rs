//! The words of `terca init`: what it found, what to edit, and what to type next.

use camino::Utf8Path;
use terca_core::scaffold::library::Library;
use terca_core::scaffold::{LibrarySuite, NewFile};
use terca_engine::suite::discover;

use crate::screen;

/// Shows what was found in and around the library.
pub(super) fn found(library: &Library, agents: &[&str]) {
    let guidance = &library.guidance;
    let list = |paths: &[camino::Utf8PathBuf]| {
        let names: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
        names.join(", ")
    };
    let servers: Vec<&str> = guidance.mcp_servers.keys().map(String::as_str).collect();
    let manifest = library.dir.join(library.manifest);
    let rows = [
        (
            "library",
            format!("{} ({})", library.title(), screen::short(&manifest)),
        ),
        (
            "language",
            format!("{}, with {}", library.language_name, library.manager),
        ),
        ("tests", library.runner.unwrap_or_default().to_owned()),
        ("rules", list(&guidance.rules)),
        ("skills", list(&guidance.skills)),
        ("servers", servers.join(", ")),
        ("agents", agents.join(", ")),
    ];
    let rows = rows.iter().map(|(title, text)| {
        let text = if text.is_empty() { "none" } else { text };
        format!("\n  {title:<9} {text}")
    });
    screen::err(&format!("found:{}\n", rows.collect::<String>()));
}

/// Shows which files are to be made one's own.
pub(super) fn what_to_edit(new: &LibrarySuite<'_>, files: &[NewFile]) {
    let shown = |path: &str| screen::short(&new.dir.join(path)).to_string();
    let evals = files
        .iter()
        .filter(|file| file.path.file_name() == Some(discover::EVAL_FILE));
    let mut rows: Vec<(String, String)> = evals
        .map(|file| {
            let text = format!("a task that users of {} have", new.library.name);
            (shown(file.path.as_str()), text)
        })
        .collect();
    if let Some(rules) = new.new_rules() {
        let text = "the rules that agents get: write what they have to know";
        rows.push((shown(rules), text.to_owned()));
    }
    let remark = new.library.remark.as_ref();
    let text = match remark {
        Some(remark) => format!("`prepare`: {remark}"),
        None => "`prepare`: the build of the library".to_owned(),
    };
    rows.push((shown(discover::SUITE_FILE), text));
    let width = rows.iter().map(|(path, _)| path.len()).max().unwrap_or(0);
    let rows = rows
        .iter()
        .map(|(path, text)| format!("\n  {path:<width$}  {text}"));
    screen::err(&format!("\nedit:{}", rows.collect::<String>()));
}

/// Shows the next commands.
pub(super) fn next(dir: &Utf8Path) {
    let is_here = discover::canonical(Utf8Path::new(".")).is_ok_and(|here| here == dir);
    let cd = match screen::short(dir).as_str() {
        _ if is_here => String::new(),
        dir if dir.contains(|c: char| c.is_whitespace() || c == '\'') => {
            format!("  cd '{}'\n", dir.replace('\'', "'\\''"))
        }
        dir => format!("  cd {dir}\n"),
    };
    screen::err(&format!(
        "\nnext:\n{cd}  terca check       # check the files and print the plan\n  \
         terca validate    # prove the evals: free, no agent runs\n  \
         terca             # run the agents"
    ));
}
