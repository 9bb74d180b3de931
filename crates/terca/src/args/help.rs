//! What helps people to write suites and to type.

use clap::{ArgAction, Args, ValueEnum};

#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// The suite's directory, which also names it; `.` is this one
    pub name: Option<String>,
    /// Run the evals with this agent (repeatable, comma-separated; default: one that is on this machine)
    #[arg(long = "agent", value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub agents: Vec<String>,
    /// What the first eval is called
    #[arg(long, value_name = "NAME")]
    pub eval: Option<String>,
    /// No example, only the smallest suite that runs
    #[arg(long)]
    pub empty: bool,
    /// Ask nothing: what no flag says is the default
    #[arg(short = 'y', long)]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub struct CreateEvalArgs {
    /// The eval's directory, relative to the suite's, which also names it
    pub name: Option<String>,
    /// Ask nothing: without a name, the eval gets the next number
    #[arg(short = 'y', long)]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// What stands in brackets beside an error's message, or the kind of a trial's error (default: list them all)
    #[arg(value_name = "CODE")]
    pub codes: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Of which file: `terca` for terca.yaml, `eval` for eval.terca.yaml
    #[arg(value_enum, default_value_t = ConfigFile::Terca)]
    pub file: ConfigFile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFile {
    Terca,
    Eval,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "bash:        source <(terca completions bash)\n\
                        zsh:         source <(terca completions zsh)      (after compinit)\n\
                        fish:        terca completions fish | source\n\
                        powershell:  terca completions powershell | Out-String | Invoke-Expression\n\n\
                        Such a line belongs into the shell's start-up file.")]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// The page of a command, instead of that of the program
    pub command: Option<String>,
}
