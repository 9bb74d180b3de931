//! `terca man`: the manual, as `man` reads it.

use clap::{Args, Command};
use clap_mangen::Man;
use terca_core::text::{Code, prose};

use crate::cli_error::{CliError, MISUSE, Outcome};
use crate::{VERSION, screen};

#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// Print the page of this command instead of the program's
    command: Option<String>,
}

pub(super) fn man(args: &ManArgs, program: Command) -> Outcome {
    let mut program = program.version(VERSION);
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => match command(&program, name) {
            Some(page) => page,
            None => {
                let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
                let names: Vec<&str> = shown.map(Command::get_name).collect();
                let text = format!(
                    "no command `{name}`; there are {}",
                    prose::quoted_list(&names, "and")
                );
                let meant = prose::meant(name, names).unwrap_or_default();
                return Err(CliError::told(text, (MISUSE, Code::Usage, meant)));
            }
        },
    };
    let mut roff = Vec::new();
    Man::new(page)
        .render(&mut roff)
        .map_err(|error| CliError::trouble(Code::Internal, error))?;
    screen::out(&String::from_utf8_lossy(&roff));
    Ok(0)
}

/// A command under the name that its page has: `terca-run`.
fn command(program: &Command, name: &str) -> Option<Command> {
    let command = program.find_subcommand(name)?.clone();
    Some(
        command
            .display_name(format!("terca-{name}"))
            .version(VERSION),
    )
}
