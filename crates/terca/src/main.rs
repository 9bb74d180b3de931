//! `terca`: arguments in, a library call, something shown, an exit status out.

mod args;
mod ask;
mod cli;
mod cli_error;
mod commands;
mod complete;
mod export;
mod run;
mod screen;
mod shell;
mod suite;
mod viewer;

use std::process::ExitCode;

use terca_core::text::Code;

/// The version of Terca.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    // Before anything else is looked at: a supervisor is started for every trial.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == terca_engine::process::supervise::ARGUMENT)
    {
        return match terca_engine::process::supervise::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    // Holds a container, and outlives this program for a moment when it is killed.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == terca_engine::process::supervise::KEEPER)
    {
        return terca_engine::process::supervise::keep().unwrap_or(ExitCode::FAILURE);
    }
    let others = [
        terca_engine::process::confine::run_if_asked,
        terca_engine::process::mount_holder::run_if_asked,
        // Tests start the agent's work with it.
        terca_engine::process::work_command::run_if_asked,
        // Agents start it in the place of an MCP server.
        terca_engine::mcp_tap::run_if_asked,
        // It runs in a trial in the place of an agent that speaks a protocol.
        terca_engine::trial::acp_client::run_if_asked,
    ];
    if let Some(status) = others.iter().find_map(|run_if_asked| run_if_asked()) {
        return status;
    }
    report_panics_as_bugs();
    terca_engine::run::signals::before_leaving(run::keyboard::restore);
    if let Err(error) = terca_engine::process::own_process::prepare() {
        let text = format!("signals cannot be handled: {error}");
        screen::error(Code::Internal, &text, args::Colour::Auto);
        return ExitCode::FAILURE;
    }
    if let Some(words) = started_in_place_of_a_worker() {
        screen::err(&words);
        return ExitCode::FAILURE;
    }
    if complete::answer_the_shell() {
        return ExitCode::SUCCESS;
    }
    cli::run()
}

/// Returns why this program ends, where a command line that starts a worker has lost the last word: it would run the
/// whole suite in the worker's place.
fn started_in_place_of_a_worker() -> Option<String> {
    let variable = terca_engine::workers::STARTS_WORKER;
    let is_worker = std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "worker");
    let is_refused = std::env::var_os(variable).is_some() && !is_worker;
    is_refused.then(|| {
        "`start` loses the word `worker` after `terca`; it must pass on all words that follow it, as in `sh -c 'exec \"$@\"' sh`"
            .to_owned()
    })
}

/// A panic is never the user's fault.
fn report_panics_as_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        run::live_screen::erase();
        let backtrace = std::backtrace::Backtrace::capture();
        let text = format!("this is a bug in Terca, please report it: {panic}\n{backtrace}");
        screen::error(Code::Internal, &text, args::Colour::Auto);
    }));
}
