//! The command line. Only what works is here.

pub mod colour;
mod compare;
#[cfg(test)]
mod documented;
mod help;
mod past;
mod report;
mod run;
mod values;

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use terca_core::text::explain::Code;

use crate::screen;

pub use colour::Colour;
pub use compare::*;
pub use help::*;
pub use past::*;
pub use report::*;
pub use run::*;

/// The arguments of this process; wrong ones end it with a message and exit status 2.
pub fn parse() -> Cli {
    read(std::env::args_os()).unwrap_or_else(|error| refuse(&error))
}

fn read(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches_from(words)?;
    if let Some((flag, command)) = flag_before_command(&matches) {
        let message = format!(
            "`--{flag}` stands before `{command}`; options come after the command: `terca {command} --{flag} …`"
        );
        return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
    }
    Cli::from_arg_matches(&matches)
}

/// Says what is wrong, under the code that every error has. Help that was asked for is no error.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit()
    }
    let said = error.render();
    let coloured = screen::colour(Colour::Auto, &std::io::stderr());
    let said = if coloured {
        said.ansi().to_string()
    } else {
        said.to_string()
    };
    let code = format!("error[{}]:", Code::Usage.word());
    screen::remark(&said.replacen("error:", &code, 1));
    std::process::exit(error.exit_code())
}

/// `terca -t fib check` would otherwise check everything, with the selection silently ignored.
fn flag_before_command(matches: &ArgMatches) -> Option<(String, &str)> {
    let (command, _) = matches.subcommand()?;
    let run = RunArgs::augment_args(clap::Command::new("run"));
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let flag = run
        .get_arguments()
        .find(|argument| given(argument.get_id().as_str()))?
        .get_long()?
        .to_owned();
    Some((flag, command))
}

/// Runs coding tasks against command-line coding agents and says how rules, MCP servers and models change what
/// they get done.
#[derive(Debug, Parser)]
#[command(
    name = "terca",
    disable_version_flag = true,
    after_help = "Exit status: 0 every trial passed, 1 some did not, 2 wrong usage or configuration,\n\
                  3 some trials ended in an error, 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub common: Common,
    /// Print the version number
    #[arg(short = 'v', long = "version")]
    pub version: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the suite in this directory (what `terca` alone does)
    Run(RunArgs),
    /// Make a new suite; asks, or takes flags
    Create(CreateArgs),
    /// Add an eval to the suite around this directory
    CreateEval(CreateEvalArgs),
    /// Validate the configuration and print the plan; run nothing
    Check(CheckArgs),
    /// Prove the evals: the solution must pass, doing nothing and cheating must not
    Validate(ValidateArgs),
    /// Show the results of a run
    Show(ShowArgs),
    /// Compare the experiments of a run, its environments, or two runs: is it better, worse, or noise?
    Compare(CompareArgs),
    /// Say what a run would cost and which differences it could see; run nothing
    Plan(PlanArgs),
    /// Say which evals tell something, which do not, and what each costs
    Health(HealthArgs),
    /// Write a run as a page, as JUnit, Markdown, CSV or JSON Lines
    Report(ReportArgs),
    /// Show a run in the browser, live while it goes on
    View(ViewArgs),
    /// Finish an interrupted run
    Resume(ResumeArgs),
    /// Run the tests again on the saved workspaces, without the agents
    Regrade(RegradeArgs),
    /// Join the runs of the parts of a plan (--shard) into one
    Merge(MergeArgs),
    /// List the runs so far
    List,
    /// Remove layers made by `prepare`, and old runs; asks first
    Clean(CleanArgs),
    /// Make evals of tasks that were written for another program
    Import(ImportArgs),
    /// Say which agents are installed, their versions, and whether they look signed in
    Doctor,
    /// Explain an error: what it means, what it comes from, what to do next
    Explain(ExplainArgs),
    /// Print the JSON Schema of a configuration file, for editors
    Schema(SchemaArgs),
    /// Print what makes a shell complete commands, flags, and the names of the suite at hand
    Completions(CompletionsArgs),
    /// Print the man page, in roff
    Man(ManArgs),
}

/// Where the suite is, and how to write to the terminal.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The suite's directory
    #[arg(
        short = 'C',
        long = "dir",
        value_name = "DIR",
        default_value = ".",
        global = true
    )]
    pub dir: Utf8PathBuf,
    /// When to use colour (also: NO_COLOR)
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", global = true)]
    pub color: Colour,
}

impl RunArgs {
    /// What `terca` alone means.
    pub fn usual() -> Self {
        Cli::parse_from(["terca"]).run
    }
}

/// Whether a line, of words without spaces, can be typed.
#[cfg(test)]
pub fn is_understood(line: &str) -> bool {
    read(line.split_whitespace().map(OsString::from)).is_ok()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
