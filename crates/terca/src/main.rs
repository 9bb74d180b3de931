//! `terca`: arguments in, a library call, something shown, an exit status out.

mod agent_offer;
mod args;
mod ask;
mod cli;
mod cli_error;
mod commands;
mod complete;
mod export;
mod load;
mod past;
mod run_output;
mod screen;
mod shell;
mod suggest;
mod viewer;

use std::process::ExitCode;

use terca_core::text::explain::Code;

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
    if let Some(status) = terca_engine::process::confine::run_if_asked() {
        return status;
    }
    // Agents start it in the place of an MCP server.
    if let Some(status) = terca_engine::mcp_tap::run_if_asked() {
        return status;
    }
    report_panics_as_bugs();
    if let Err(error) = terca_engine::process::own_process::prepare() {
        let text = format!("signals cannot be handled: {error}");
        screen::error(Code::Internal, &text, args::Colour::Auto);
        return ExitCode::FAILURE;
    }
    if complete::answer_the_shell() {
        return ExitCode::SUCCESS;
    }
    cli::run()
}

/// A panic is never the user's fault.
fn report_panics_as_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        let text = format!("this is a bug in Terca, please report it: {panic}\n{backtrace}");
        screen::error(Code::Internal, &text, args::Colour::Auto);
    }));
}
