//! `terca completions`: the lines that make a shell ask Terca for completions.

use clap::Args;
use clap_complete::env::{Bash, Shells};
use terca_core::text::Code;

use crate::cli_error::{CliError, Outcome};
use crate::screen;

/// Set by a shell that asks for completions.
pub const COMPLETION_VARIABLE: &str = "TERCA_COMPLETE";

#[derive(Debug, Clone, Args)]
#[command(after_help = "bash:        source <(terca completions bash)\n\
                        zsh:         source <(terca completions zsh)      (after compinit)\n\
                        fish:        terca completions fish | source\n\
                        powershell:  terca completions powershell | Out-String | Invoke-Expression\n\n\
                        Add this line to your shell's startup file.")]
pub struct CompletionsArgs {
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell"])]
    shell: String,
}

pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    let shells = Shells::builtins();
    // No other names come through the parser.
    let shell = shells.completer(&args.shell).unwrap_or(&Bash);
    let mut script = Vec::new();
    let written =
        shell.write_registration(COMPLETION_VARIABLE, "terca", "terca", "terca", &mut script);
    written.map_err(|error| CliError::trouble(Code::Internal, error))?;
    screen::out(&String::from_utf8_lossy(&script));
    Ok(0)
}
