//! Answers the shell when somebody presses Tab.
//!
//! The lines of `terca completions` start Terca with what was typed so far and a variable that names the shell.
//! Commands, flags and their values are those of `cli`. Names of evals, environments, experiments, workers and runs are read
//! from the suite at hand wherever a command takes one. The argument's name decides, so that a new command needs
//! nothing here.

use camino::Utf8PathBuf;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use terca_core::agent;
use terca_core::config::Suite;
use terca_core::text::Code;
use terca_core::worker_pool::LOCAL;
use terca_engine::host::environment::Host;
use terca_engine::run::past_runs;
use terca_engine::suite::discover;
use terca_engine::suite::locate::locate;
use terca_report::shown;

use crate::cli::Cli;
use crate::commands::COMPLETION_VARIABLE;

/// Answers, if it is a shell that asks.
pub fn answer_the_shell() -> bool {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| with_names(Cli::command())).var(COMPLETION_VARIABLE);
    // A shell has no use for an error in the middle of a line.
    asked
        .try_complete(std::env::args_os(), here.as_deref())
        .unwrap_or(true)
}

fn with_names(command: Command) -> Command {
    command
        .mut_args(with_candidates)
        .mut_subcommands(with_names)
}

fn with_candidates(argument: Arg) -> Arg {
    let candidates: fn() -> Vec<String> = match argument.get_id().as_str() {
        "evals" | "words" => || of_suite(|suite| named(&suite.evals, |eval| &eval.name)),
        "experiment" | "experiments" => {
            || of_suite(|suite| named(&suite.experiments, |it| &it.name))
        }
        "environments" => || of_suite(|suite| named(&suite.environments, |it| &it.name)),
        "on" => || {
            let mut pools = of_suite(|suite| named(&suite.workers, |pool| &pool.name));
            pools.push(LOCAL.to_owned());
            pools
        },
        "agent" | "agents" | "describe_with" => {
            || agent::names().into_iter().map(str::to_owned).collect()
        }
        "codes" => || {
            Code::ALL
                .iter()
                .map(|code| code.as_str().to_owned())
                .collect()
        },
        "trial" => return argument.add(ArgValueCandidates::new(|| offered(of_trials()))),
        "dir" => return argument.value_hint(ValueHint::DirPath),
        _ if is_run(&argument) => of_runs,
        _ => return argument,
    };
    argument
        .value_delimiter(',')
        .add(ArgValueCandidates::new(move || offered(candidates())))
}

fn offered(names: Vec<String>) -> Vec<CompletionCandidate> {
    names
        .into_iter()
        // A shell shows them as they are.
        .filter(|name| shown(name) == name.as_str())
        .map(CompletionCandidate::new)
        .collect()
}

fn is_run(argument: &Arg) -> bool {
    let called = argument.get_value_names().and_then(|names| names.first());
    argument.is_positional()
        && (argument.get_id() == "run" || called.is_some_and(|name| name.as_str() == "RUN"))
}

fn named<T>(all: &[T], name: fn(&T) -> &String) -> Vec<String> {
    all.iter().map(|one| name(one).clone()).collect()
}

/// Names of a suite that can be read; a broken one is `terca check`'s to explain.
fn of_suite(names: fn(&Suite) -> Vec<String>) -> Vec<String> {
    let host = Host::of_this_process();
    let loaded = discover::load(&dir(), &|name| host.get(name).map(str::to_owned));
    let suite = loaded.ok().and_then(|loaded| loaded.suite);
    suite.as_ref().map(names).unwrap_or_default()
}

/// The latest first.
fn of_runs() -> Vec<String> {
    let suite = discover::canonical(&dir()).ok();
    let names = suite
        .and_then(|suite| past_runs::names(&suite).ok())
        .unwrap_or_default();
    names.into_iter().rev().collect()
}

/// The directories of the trials of the run on the line, or of the latest one.
fn of_trials() -> Vec<String> {
    let Ok(suite) = discover::canonical(&dir()) else {
        return Vec::new();
    };
    let words: Vec<String> = std::env::args().collect();
    let named = words
        .iter()
        .rev()
        .find_map(|word| past_runs::find(&suite, Some(word)).ok());
    let run = named.or_else(|| past_runs::find(&suite, None).ok());
    let Some((run, _)) = run.and_then(|dir| past_runs::read_sound_part(&dir).ok()) else {
        return Vec::new();
    };
    let trials = run.state.trials().iter();
    trials.map(|trial| trial.head.dir.to_string()).collect()
}

/// The directory of the suite around that of `-C`, or around the working directory.
fn dir() -> Utf8PathBuf {
    let words: Vec<String> = std::env::args().collect();
    let after = words
        .windows(2)
        .find(|pair| matches!(pair[0].as_str(), "-C" | "--dir"))
        .map(|pair| pair[1].as_str());
    let joined = words.iter().find_map(|word| word.strip_prefix("--dir="));
    let typed = Utf8PathBuf::from(after.or(joined).unwrap_or("."));
    locate(&typed).unwrap_or(typed)
}
