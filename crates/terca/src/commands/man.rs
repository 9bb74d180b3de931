//! `terca man`: the manual, as `man` reads it.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use terca_core::text::explain::Code;
use terca_core::text::prose;

use super::refusal::{Outcome, Refusal};
use crate::args::{Cli, ManArgs};
use crate::screen;

pub(super) fn man(args: &ManArgs) -> Outcome {
    let mut program = Cli::command().version(super::VERSION);
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => match command(&program, name) {
            Some(page) => page,
            None => {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                let text = format!(
                    "no command `{name}`; there are {}",
                    prose::quoted_list(&names, "and")
                );
                let refusal = Refusal::misuse(Code::Usage, text);
                return Err(match prose::did_you_mean(name, names) {
                    Some(meant) => refusal.help(format!("did you mean `{meant}`?")),
                    None => refusal,
                });
            }
        },
    };
    let mut roff = Vec::new();
    Man::new(page)
        .render(&mut roff)
        .map_err(|error| Refusal::trouble(Code::Internal, error))?;
    screen::say(&String::from_utf8_lossy(&roff));
    Ok(0)
}

/// A command under the name that its page has: `terca-run`.
fn command(program: &Command, name: &str) -> Option<Command> {
    let command = program.find_subcommand(name)?.clone();
    Some(
        command
            .display_name(format!("terca-{name}"))
            .version(super::VERSION),
    )
}
