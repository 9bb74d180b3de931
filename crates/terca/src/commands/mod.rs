//! One file per command. Each returns an exit status.

mod check;
mod clean;
mod compare;
mod completions;
mod create;
mod create_eval;
mod doctor;
mod execute;
mod explain;
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
mod refusal;
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
use terca_engine::run::past_runs;
use terca_engine::suite::discover;

use self::refusal::Refusal;
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
    let outcome = match cli.command {
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
        Some(Command::Explain(args)) => explain::explain(&args),
        Some(Command::Schema(args)) => Ok(schema::schema(&args)),
        Some(Command::Completions(args)) => completions::completions(&args),
        Some(Command::Man(args)) => man::man(&args),
    };
    ExitCode::from(outcome.unwrap_or_else(|refusal| refusal.say(&cli.common)))
}

/// The suite's directory and the folder of a run in it.
fn find_run(run: Option<&str>, common: &Common) -> Result<(Utf8PathBuf, Utf8PathBuf), Refusal> {
    let dir = discover::canonical(&common.dir)?;
    let run = past_runs::find(&dir, run)?;
    Ok((dir, run))
}
