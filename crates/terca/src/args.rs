//! The command line. Only what works is here.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use terca_core::shard::Shard;

/// The arguments of this process; wrong ones end it with a message and exit status 2.
pub fn parse() -> Cli {
    let matches = Cli::command().get_matches();
    if let Some((flag, command)) = flag_before_command(&matches) {
        let message = format!("`--{flag}` stands before `{command}`; options come after the command");
        Cli::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// `terca -t fib check` would otherwise check everything, with the selection silently ignored.
fn flag_before_command(matches: &ArgMatches) -> Option<(String, &str)> {
    let (command, _) = matches.subcommand()?;
    let run = RunArgs::augment_args(clap::Command::new("run"));
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let flag = run.get_arguments().find(|argument| given(argument.get_id().as_str()))?.get_long()?.to_owned();
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
    #[arg(short = 'C', long = "dir", value_name = "DIR", default_value = ".", global = true)]
    pub dir: Utf8PathBuf,
    /// When to use colour (also: NO_COLOR)
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", global = true)]
    pub color: Colour,
}

#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SelectionArgs {
    /// Only these evals (repeatable, comma-separated, globs, tag:NAME)
    #[arg(short = 't', long = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// Only these experiments
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// Only these environments
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
    /// How often each eval is run in each variant, whatever the suite says
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repetitions: Option<u32>,
    /// Run every variant with this agent instead (`terca validate` checks the evals themselves)
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The agent's time limit, whatever the suite says
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// The seed of the order in which trials run (default: random, recorded)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Also kept in `run.json`: a run is resumed as it was started.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Run only the I-th of N equal parts of the plan; `terca merge` joins their runs
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Run the baseline against itself, under two names: what is found is chance, or a fault of the set-up
    #[arg(long)]
    #[serde(default)]
    pub aa: bool,
    /// Start no further trial when those that ended have cost so much, as far as agents report it
    #[arg(long, value_name = "USD", value_parser = usd)]
    #[serde(default)]
    pub budget_usd: Option<f64>,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Start no further trial after the first that does not pass
    #[arg(long)]
    pub fail_fast: bool,
    /// Try a trial again, up to N times, when it ended in an error (never when it failed its tests)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub retries: Option<u32>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    #[serde(skip)]
    pub format: Format,
    /// Which workspaces stay on disk
    #[arg(long, value_enum, default_value_t = KeepChoice::All)]
    pub keep: KeepChoice,
    /// Make the layers of `prepare` anew, whatever was made before
    #[arg(long)]
    #[serde(skip)]
    pub no_cache: bool,
    /// Print the trials that would run, in order, and stop
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,
    #[command(flatten)]
    #[serde(skip)]
    pub ci: CiArgs,
}

/// What a CI system gets of a run beside its exit status.
#[derive(Debug, Clone, Default, Args)]
pub struct CiArgs {
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// On GitHub Actions, add nothing to the job's summary and annotations
    #[arg(long)]
    pub no_github: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ResumeArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// Go on even though the suite has changed since: the rest runs as the suite is now
    #[arg(long)]
    pub accept_changes: bool,
    /// Run the trials that ended in an error again, too
    #[arg(long)]
    pub errors: bool,
    /// What the whole run may cost, whatever it was started with
    #[arg(long, value_name = "USD", value_parser = usd)]
    pub budget_usd: Option<f64>,
    /// Trials in flight at once, whatever the run was started with
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    #[command(flatten)]
    pub ci: CiArgs,
}

#[derive(Debug, Clone, Args)]
pub struct RegradeArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// Only these evals (repeatable, comma-separated, globs, tag:NAME)
    #[arg(short = 't', long = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// Only these experiments
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// Only these environments
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
    /// Trials graded at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
}

#[derive(Debug, Clone, Args)]
pub struct CleanArgs {
    /// Remove the runs whose last trial ended longer ago than this: 12h, 30d, 8w; 0d removes all
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = age)]
    pub older_than: Duration,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub yes: bool,
}

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

#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// The runs of all parts: names or numbers of runs of this suite, or paths of their folders
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
}

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
}

impl RunArgs {
    /// What `terca` alone means.
    pub fn usual() -> Self {
        Cli::parse_from(["terca"]).run
    }
}

#[derive(Debug, Clone, Args)]
pub struct ValidateArgs {
    /// Only these evals (repeatable, comma-separated, globs, tag:NAME)
    #[arg(short = 't', long = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// The experiment to build on (default: the baseline)
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// The environment to build on (default: the first)
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    /// Which workspaces stay on disk
    #[arg(long, value_enum, default_value_t = KeepChoice::All)]
    pub keep: KeepChoice,
}

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit status: 0 nothing is worse, 1 something is, 2 wrong usage, 3 something is inconclusive\n\
                        (with --require-conclusive) or a run cannot be read."
)]
pub struct CompareArgs {
    /// A run: its name, its number, or the path of its folder (default: the latest)
    #[arg(value_name = "A")]
    pub run: Option<String>,
    /// A second run, compared with the first: the same evals, in the same variants
    #[arg(value_name = "B")]
    pub other: Option<String>,
    /// What to compare within one run
    #[arg(long, value_enum, default_value_t = ByChoice::Experiment, value_name = "WHAT")]
    pub by: ByChoice,
    /// What the others are compared with (default: the suite's baseline, the first environment, or the run A)
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Differences in pass rate that are smaller make no difference, in points
    #[arg(long, value_name = "POINTS", default_value = "5", value_parser = points)]
    pub margin: f64,
    /// Leave out the evals that changed between two runs
    #[arg(long)]
    pub only_unchanged: bool,
    /// Exit with 3 when something is inconclusive (and nothing is worse)
    #[arg(long)]
    pub require_conclusive: bool,
    /// How to write it
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByChoice {
    Experiment,
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    Table,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Say what it takes to see a difference of so many points in four of five cases
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub detect: Option<f64>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub format: TableFormat,
}

#[derive(Debug, Clone, Args)]
pub struct HealthArgs {
    /// Runs: names, numbers, or paths of their folders (default: all of the suite)
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub format: TableFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Table,
    Json,
}

#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// One file with everything in it, for a browser (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub export: ExportArgs,
}

#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// Only print the address; open no browser
    #[arg(long)]
    pub no_open: bool,
    /// The port to listen on (default: one that is free)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
}

/// The formats that other programs read.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportArgs {
    /// JUnit XML, for CI systems
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// A summary in Markdown, for a pull request (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Utf8PathBuf>,
    /// One row per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<Utf8PathBuf>,
    /// One JSON object per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub jsonl: Option<Utf8PathBuf>,
}

impl ExportArgs {
    pub fn is_empty(&self) -> bool {
        [&self.junit, &self.markdown, &self.csv, &self.jsonl].iter().all(|file| file.is_none())
    }
}

#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    pub from: ImportFrom,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ImportFrom {
    /// Tasks in the format of Harbor and Terminal-Bench 2 (task.toml, instruction.md, tests/test.sh)
    Harbor(HarborArgs),
}

#[derive(Debug, Clone, Args)]
pub struct HarborArgs {
    /// A task's directory, or one that has tasks below it
    #[arg(value_name = "TASKS")]
    pub tasks: Utf8PathBuf,
    /// Where the evals go, each into a directory of its own (default: the suite's directory)
    #[arg(long, value_name = "DIR")]
    pub to: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Auto,
    Tty,
    Plain,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepChoice {
    All,
    Failed,
    None,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

fn age(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and a unit, such as 12h, 30d or 8w".to_owned();
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| expected())?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return Err(expected()),
    };
    Ok(Duration::from_secs(number.saturating_mul(hours * 3600)))
}

/// A difference in pass rate, as a share.
fn points(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=100.0).contains(&value) => Ok(value / 100.0),
        _ => Err("expected points from 0.1 to 100, such as 5".into()),
    }
}

fn usd(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected a sum above 0, such as 5 or 0.50".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a share from 0 to 1, such as 0.9".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
