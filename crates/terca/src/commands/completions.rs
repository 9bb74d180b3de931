//! `terca completions`: the lines that make a shell ask Terca what may come next.

use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};
use terca_core::text::explain::Code;

use super::refusal::{Outcome, Refusal};
use crate::args::{CompletionsArgs, Shell};
use crate::complete::VARIABLE;
use crate::screen;

pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, "terca", "terca", "terca", &mut script);
    written.map_err(|error| Refusal::trouble(Code::Internal, error))?;
    screen::say(&String::from_utf8_lossy(&script));
    Ok(0)
}
