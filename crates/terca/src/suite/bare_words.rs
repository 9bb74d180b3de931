//! `terca WORD`: an eval, or a command that does not exist?
//!
//! A run costs money, so a word that looks like a command is not taken for a part of an eval's name.

use clap::Command;
use terca_core::config::Suite;
use terca_core::text::{Code, prose};
use terca_engine::host::environment::Host;
use terca_engine::suite::discover;

use crate::args::Common;
use crate::cli_error::CliError;

/// Commands of other programs, and what Terca has instead.
const ELSEWHERE: [(&str, &str); 5] = [
    (
        "new",
        "`terca create-eval` adds an eval, `terca init` makes a suite",
    ),
    ("add", "`terca create-eval` adds an eval"),
    (
        "test",
        "`terca` alone runs the suite, `terca validate` checks its evals",
    ),
    ("version", "`terca --version` prints the version"),
    ("start", "`terca` alone runs the suite"),
];

/// Refuses words that are probably commands, unless an eval has that very name.
pub fn check(
    words: &[String],
    program: &Command,
    common: &Common,
    host: &Host,
) -> Result<(), CliError> {
    let Some((word, help)) = words
        .iter()
        .find_map(|word| Some((word, meant(word, program)?)))
    else {
        return Ok(());
    };
    let loaded = discover::load(&common.dir, &|name| host.get(name).map(str::to_owned));
    let suite = loaded.ok().and_then(|loaded| loaded.suite);
    if suite.is_some_and(|suite| has_eval(&suite, word)) {
        return Ok(());
    }
    let text = format!("`{word}` is neither a command nor the name of an eval");
    Err(CliError::misuse(Code::Usage, text).help(help).help(format!(
        "`terca run {word}` runs the evals that have it in their names"
    )))
}

/// Returns what a word was probably meant to be.
fn meant(word: &str, program: &Command) -> Option<String> {
    let commands: Vec<&str> = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(Command::get_name)
        .collect();
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == word);
    if let Some((_, help)) = elsewhere {
        return Some((*help).to_owned());
    }
    let command = prose::did_you_mean(word, commands)?;
    Some(format!("did you mean `terca {command}`?"))
}

fn has_eval(suite: &Suite, word: &str) -> bool {
    suite.evals.iter().any(|eval| {
        let path = eval.path.as_deref();
        eval.name == word || path.is_some_and(|path| path == word || path.file_name() == Some(word))
    })
}
