//! `terca man`: the manual, as `man` reads it.

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use terca_core::prose;

use super::{MISUSE, TROUBLE};
use crate::args::{Cli, ManArgs};
use crate::screen;

pub(super) fn man(args: &ManArgs) -> u8 {
    let mut program = Cli::command().version(super::VERSION);
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => match command(&program, name) {
            Some(page) => page,
            None => {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                screen::complain(&format!(
                    "no command `{name}`; there are {}",
                    prose::quoted_list(&names, "and")
                ));
                return MISUSE;
            }
        },
    };
    let mut roff = Vec::new();
    if let Err(error) = Man::new(page).render(&mut roff) {
        screen::complain(&error.to_string());
        return TROUBLE;
    }
    screen::say(&String::from_utf8_lossy(&roff));
    0
}

/// A command under the name that its page has: `terca-run`.
fn command(program: &Command, name: &str) -> Option<Command> {
    let command = program.find_subcommand(name)?.clone();
    Some(command.display_name(format!("terca-{name}")).version(super::VERSION))
}
