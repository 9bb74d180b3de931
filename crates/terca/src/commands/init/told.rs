//! The words of `terca init`: what it found, what to edit, and what to type next.

use camino::Utf8Path;
use terca_core::new_suite::scaffold::library::Library;
use terca_core::new_suite::scaffold::{NewFile, NewSuite};
use terca_core::text::Code;
use terca_core::text::prose;
use terca_core::text::shell::quoted;
use terca_engine::suite::discover;
use terca_report::wrap;

use crate::cli_error::CliError;
use crate::screen;

/// Shows what was found in and around the library.
pub(super) fn found(library: &Library, agents: &[&str]) {
    let guidance = &library.guidance;
    let list =
        |paths: &[camino::Utf8PathBuf]| prose::joined(paths.iter().map(|path| path.as_str()), ", ");
    let manifest = library.dir.join(library.manifest);
    let rows = [
        (
            "library",
            format!("{} ({})", library.title(), screen::short(&manifest)),
        ),
        ("language", library.language.title().to_owned()),
        ("tests", library.runner.title().to_owned()),
        ("rules", list(&guidance.rules)),
        ("skills", list(&guidance.skills)),
        (
            "servers",
            prose::joined(guidance.mcp_servers.keys().map(String::as_str), ", "),
        ),
        ("agents", agents.join(", ")),
    ];
    let rows = rows.iter().map(|(title, text)| {
        let text = if text.is_empty() { "none" } else { text };
        format!("\n  {title:<9} {text}")
    });
    screen::err(&format!("found:{}\n", rows.collect::<String>()));
}

/// Shows which files are to be made one's own.
pub(super) fn what_to_edit(new: &NewSuite, library: &Library, files: &[NewFile]) {
    let shown = |path: &str| screen::short(&new.dir.join(path)).to_string();
    let evals = files
        .iter()
        .filter(|file| file.path.file_name() == Some(discover::EVAL_FILE));
    let mut rows: Vec<(String, String)> = evals
        .map(|file| {
            let text = format!("a task that users of {} have", library.name);
            (shown(file.path.as_str()), text)
        })
        .collect();
    if let Some(rules) = new.new_rules() {
        let text = "the rules that agents get: write what they have to know";
        rows.push((shown(rules), text.to_owned()));
    }
    let text = "`prepare` installs your local build into every workspace";
    rows.push((shown(discover::SUITE_FILE), text.to_owned()));
    for remark in &library.remarks {
        rows.push((shown(discover::SUITE_FILE), (*remark).to_owned()));
    }
    let mut agents = new.agents.iter();
    if agents.any(|agent| agent.profile().is_built_in()) {
        let text =
            "`environments`: `oracle` only copies the solutions; name your agent in its place";
        rows.push((shown(discover::SUITE_FILE), text.to_owned()));
    }
    screen::err(&format!("\nedit:{}", table(&rows, screen::columns())));
}

/// Returns rows in two columns; the right one is broken into lines that fit.
fn table(rows: &[(String, String)], columns: usize) -> String {
    let width = rows.iter().map(|(path, _)| path.len()).max().unwrap_or(0);
    let room = columns.saturating_sub(width + 4).max(30);
    let lines = rows.iter().flat_map(|(path, text)| {
        let lines = wrap(text, room).into_iter().enumerate();
        lines.map(move |(at, line)| {
            let path = if at == 0 { path.as_str() } else { "" };
            format!("\n  {path:<width$}  {line}")
        })
    });
    lines.collect()
}

/// Returns the error of a suite that does not hold, and was removed.
pub(super) fn not_proven(new: &NewSuite) -> CliError {
    let dir = screen::short(&new.dir);
    let text =
        format!("the new evals do not hold, so nothing was made but the log in {dir}/.terca");
    let help = "the log has the output of the setup; make it work, then run `terca init` again";
    let error = CliError::told(text, (1, Code::NotProven, help));
    error.help(format!(
        "`--no-validate` keeps the files: change `prepare` in {dir}/terca.yaml, then run `terca validate`"
    ))
}

/// Shows the next commands.
pub(super) fn next(dir: &Utf8Path, is_proven: bool) {
    let is_here = discover::canonical(Utf8Path::new(".")).is_ok_and(|here| here == dir);
    let cd = match is_here {
        true => String::new(),
        false => format!("  cd {}\n", quoted(screen::short(dir).as_str())),
    };
    let validate = match is_proven {
        true => "",
        false => "  terca validate    # check the evals: free, no agent runs\n",
    };
    screen::err(&format!(
        "\nnext:\n{cd}  terca check       # check the files and print the plan\n{validate}  \
         terca             # run the agents"
    ));
}
