//! `terca completions`: the lines that make a shell ask Terca what may come next.

use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use super::TROUBLE;
use crate::args::{CompletionsArgs, Shell};
use crate::complete::VARIABLE;
use crate::screen;

pub(super) fn completions(args: &CompletionsArgs) -> u8 {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    if let Err(error) = shell.write_registration(VARIABLE, "terca", "terca", "terca", &mut script) {
        screen::complain(&error.to_string());
        return TROUBLE;
    }
    screen::say(&String::from_utf8_lossy(&script));
    0
}
