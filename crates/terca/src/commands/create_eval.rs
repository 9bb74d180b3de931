//! `terca create-eval`: adds an eval to the current suite.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use terca_core::new_suite::scaffold::library::Found;
use terca_core::new_suite::scaffold::{About, EVAL_SCHEMA, NewSuite, SCHEMAS};
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::suite::{create as engine, discover};

use super::init::{eval_name, misuse, no_answer, nobody_to_ask, variable, write};
use crate::args::Common;
use crate::ask::{self, Asker};
use crate::cli_error::{CliError, Outcome};
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct CreateEvalArgs {
    /// The directory of the eval, relative to the suite; it is also the eval's name
    name: Option<String>,
    /// Ask nothing; without a name, the eval gets the next number
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(super) fn create_eval(args: &CreateEvalArgs, common: &Common) -> Outcome {
    make(args, common)?;
    Ok(0)
}

fn make(args: &CreateEvalArgs, common: &Common) -> Result<(), CliError> {
    let here = discover::canonical(&common.dir)?;
    let Some(suite) = engine::suite_around(&here) else {
        let file = discover::SUITE_FILE;
        let text = format!("no suite here: neither {here} nor a directory above it has a {file}");
        return Err(CliError::misuse(Code::NoSuite, text).help("`terca init` makes a suite"));
    };
    let taken = names(suite);
    let name = name(args, &taken, common)?;
    let dir = Utf8Path::new(&name);
    let given = args
        .name
        .as_deref()
        .and_then(|name| Utf8Path::new(name).file_name());
    let is_same = |known: &&String| {
        let unnumbered = known.split_once('-').map(|(_, own)| own);
        dir.file_name() == Some(known) || (given.is_some() && unnumbered == given)
    };
    if let Some(known) = taken.iter().find(is_same) {
        let text = format!("there is already an eval `{known}`; nothing was made");
        return Err(CliError::misuse(Code::AlreadyThere, text).help("choose another name"));
    }
    let has_schemas = suite.join(SCHEMAS).join(EVAL_SCHEMA).is_file();
    let new = NewSuite {
        dir: suite.to_owned(),
        agents: Vec::new(),
        eval: None,
        about: subject(suite),
    };
    let files = new.one_more(&name, has_schemas);
    write(suite, vec![suite.join(dir)], &files)?;
    screen::err(&format!(
        "\nnext: write the prompt, the hidden tests and the solution, then\n  \
         terca validate -t '{}'    # check that the eval works",
        dir.file_name().unwrap_or(&name)
    ));
    Ok(())
}

/// Returns the subject of a suite: the library that it puts into the workspaces, if it is about one.
fn subject(suite: &Utf8Path) -> About {
    let text = std::fs::read_to_string(suite.join(discover::SUITE_FILE)).unwrap_or_default();
    let library = |dir| match discover::library_around(dir, &variable) {
        Some(Found::Library(library)) => Some(library),
        _ => None,
    };
    // Without a repository around it, the suite's parent is the library.
    let library = library(suite).or_else(|| library(suite.parent()?));
    match library.filter(|library| library.is_delivered_by(&text, suite)) {
        Some(library) => About::Library(library),
        None => About::Small,
    }
}

/// Returns the name that was given, or an answer.
fn name(args: &CreateEvalArgs, taken: &[String], common: &Common) -> Result<String, CliError> {
    let next = format!("{}eval", next_number(taken));
    match &args.name {
        Some(name) => Ok(numbered(&eval_name(name).map_err(misuse)?, taken)),
        None if args.yes => Ok(next),
        None if ask::is_possible() => {
            let colour = screen::colour(common.color, &std::io::stderr());
            let asker = Asker::new(colour);
            asker
                .value("Name of the eval", &next, eval_name)
                .map_err(no_answer)
        }
        None => {
            let help = "`terca create-eval NAME` asks nothing; with --yes it gets the next number";
            Err(nobody_to_ask("terca create-eval").help(help))
        }
    }
}

/// Returns the names of the evals so far; if the suite cannot be read, those of the directories with an eval.
fn names(suite: &Utf8Path) -> Vec<String> {
    let host = Host::of_this_process();
    let loaded = discover::load(suite, &|name| host.get(name).map(str::to_owned));
    match loaded.ok().and_then(|loaded| loaded.suite) {
        Some(suite) => suite.evals.iter().map(|eval| eval.name.clone()).collect(),
        None => {
            let entries = suite.read_dir_utf8().into_iter().flatten().flatten();
            let dirs: Vec<Utf8PathBuf> = entries.map(|entry| entry.path().to_owned()).collect();
            let evals = dirs
                .iter()
                .filter(|dir| dir.join(discover::EVAL_FILE).is_file());
            evals
                .filter_map(|dir| dir.file_name().map(str::to_owned))
                .collect()
        }
    }
}

/// Returns a name with the next number before it, where all others have one.
fn numbered(name: &str, taken: &[String]) -> String {
    let has_number = |name: &str| number(name).is_some();
    let path = Utf8Path::new(name);
    let own = path.file_name().unwrap_or(name);
    if has_number(own) || taken.is_empty() || !taken.iter().all(|name| has_number(name)) {
        return name.to_owned();
    }
    let own = format!("{}{own}", next_number(taken));
    path.with_file_name(own).into_string()
}

fn number(name: &str) -> Option<u32> {
    name.split('-').next()?.parse().ok()
}

/// Returns the number after the highest: `004-`.
fn next_number(taken: &[String]) -> String {
    let numbers = taken.iter().filter_map(|name| number(name));
    format!("{:03}-", numbers.max().unwrap_or(0).saturating_add(1))
}
