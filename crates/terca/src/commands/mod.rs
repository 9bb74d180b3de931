//! One file per command. Each returns an exit status.

mod check;
mod clean;
mod compare;
mod completions;
mod create;
mod create_eval;
mod doctor;
mod execute;
mod export;
mod forecast;
mod github;
mod health;
mod import;
mod list;
mod man;
mod merge;
mod past;
mod plan;
mod regrade;
mod report;
mod resume;
mod run;
mod schema;
mod show;
mod suggest;
mod suite_runs;
mod validate;
mod view;

use std::process::ExitCode;

use camino::Utf8PathBuf;
use terca_engine::{discover, runs};

use crate::args::{Cli, Command, Common};
use crate::screen;

/// Wrong usage or configuration: nothing was run.
pub(crate) const MISUSE: u8 = 2;
/// Some trials, or Terca itself, could not do their work.
pub(crate) const TROUBLE: u8 = 3;
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    if cli.version {
        screen::say(VERSION);
        return ExitCode::SUCCESS;
    }
    let status = match cli.command {
        None => run::run(&cli.run, &cli.common),
        Some(Command::Run(args)) => run::run(&args, &cli.common),
        Some(Command::Create(args)) => create::create(&args, &cli.common),
        Some(Command::CreateEval(args)) => create_eval::create_eval(&args, &cli.common),
        Some(Command::Check(args)) => check::check(&args, &cli.common),
        Some(Command::Validate(args)) => validate::validate(&args, &cli.common),
        Some(Command::Show(args)) => show::show(&args, &cli.common),
        Some(Command::Compare(args)) => compare::compare(&args, &cli.common),
        Some(Command::Plan(args)) => forecast::plan(&args, &cli.common),
        Some(Command::Health(args)) => health::health(&args, &cli.common),
        Some(Command::Report(args)) => report::report(&args, &cli.common),
        Some(Command::View(args)) => view::view(&args, &cli.common),
        Some(Command::Resume(args)) => resume::resume(&args, &cli.common),
        Some(Command::Regrade(args)) => regrade::regrade(&args, &cli.common),
        Some(Command::Merge(args)) => merge::merge(&args, &cli.common),
        Some(Command::Import(args)) => import::import(&args, &cli.common),
        Some(Command::List) => list::list(&cli.common),
        Some(Command::Clean(args)) => clean::clean(&args, &cli.common),
        Some(Command::Doctor) => doctor::doctor(&cli.common),
        Some(Command::Schema(args)) => schema::schema(&args),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => man::man(&args),
    };
    ExitCode::from(status)
}

/// The suite's directory and the folder of a run in it, or the exit status when the reason why not has been said.
fn find_run(run: Option<&str>, common: &Common) -> Result<(Utf8PathBuf, Utf8PathBuf), u8> {
    let dir = discover::canonical(&common.dir).map_err(|error| misuse(&error))?;
    match runs::find(&dir, run) {
        Ok(run) => Ok((dir, run)),
        Err(error @ (runs::RunsError::None(_) | runs::RunsError::Unknown { .. })) => Err(misuse(&error)),
        Err(error) => Err(trouble(&error)),
    }
}

fn misuse(error: &dyn std::fmt::Display) -> u8 {
    screen::complain(&error.to_string());
    MISUSE
}

fn trouble(error: &dyn std::fmt::Display) -> u8 {
    screen::complain(&error.to_string());
    TROUBLE
}
