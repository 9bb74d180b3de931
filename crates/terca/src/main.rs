//! `terca`: arguments in, a library call, something shown, an exit status out.

mod args;
mod ask;
mod commands;
mod complete;
mod screen;
mod shell;

use std::process::ExitCode;

use terca_core::text::explain::Code;

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
    say_that_a_panic_is_a_bug();
    if complete::answer_the_shell() {
        return ExitCode::SUCCESS;
    }
    commands::dispatch(args::parse())
}

/// A panic is never the user's fault.
fn say_that_a_panic_is_a_bug() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        let text = format!("this is a bug in Terca, please report it: {panic}\n{backtrace}");
        screen::complain(Code::Internal, &text, args::Colour::Auto);
    }));
}
