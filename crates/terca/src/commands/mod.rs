//! One file per command: its arguments, and what it does with them.
//!
//! A new command is a file, and its lines here.

mod ablate;
mod check;
mod clean;
mod compare;
mod completions;
mod create_eval;
mod doctor;
mod explain;
mod import;
mod init;
mod list;
mod logs;
mod man;
mod merge;
mod mine;
mod plan;
mod regrade;
mod replay;
mod report;
mod resume;
mod run;
mod schema;
mod show;
mod validate;
mod verify;
mod view;
mod worker;
mod workspace;

use clap::Subcommand;

use crate::args::Common;
use crate::cli_error::Outcome;
use crate::suite::place::{self, Need};

pub use self::completions::COMPLETION_VARIABLE;
pub use self::run::RunArgs;

/// A command, with its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the suite in this directory (the same as `terca` alone)
    Run(run::RunArgs),
    /// Make a new suite, for the library in this directory if there is one
    #[command(visible_alias = "create")]
    Init(init::InitArgs),
    /// Add an eval to the current suite
    CreateEval(create_eval::CreateEvalArgs),
    /// Check the configuration and print the plan, without running it
    Check(check::CheckArgs),
    /// Check the evals: the solution must pass, and doing nothing or cheating must not
    Validate(validate::ValidateArgs),
    /// Find which part of an experiment earns its effect: of its rules, its MCP servers and their tools, or its skills
    Ablate(Box<ablate::AblateArgs>),
    /// Show the results of a run, or of one trial
    Show(show::ShowArgs),
    /// Print the session of a trial's agent; -f follows it as it runs
    Logs(logs::LogsArgs),
    /// Make the workspace of a trial again, as its agent left it, and print its path
    Workspace(workspace::WorkspaceArgs),
    /// Compare the experiments or environments of a run, or two runs: better, worse, equivalent or inconclusive
    Compare(compare::CompareArgs),
    /// Estimate the cost of a run and the differences it can detect, without running it
    Plan(plan::PlanArgs),
    /// Export a run as an HTML page, JUnit XML, Markdown, CSV or JSON Lines
    Report(report::ReportArgs),
    /// Show a run in the browser, with live updates while it runs
    View(view::ViewArgs),
    /// Finish an interrupted run
    Resume(resume::ResumeArgs),
    /// Run the tests again on the saved workspaces, without the agents
    Regrade(regrade::RegradeArgs),
    /// Run the suite with the recorded answers of an earlier run: free, offline, no key needed
    Replay(replay::ReplayArgs),
    /// Merge the runs of all shards (--shard) into one
    Merge(merge::MergeArgs),
    /// Check that the files of a run were not changed after Terca wrote them
    Verify(verify::VerifyArgs),
    /// List all runs
    List(list::ListArgs),
    /// Remove cached steps of `prepare`, old runs, and files that no run uses; asks first
    Clean(clean::CleanArgs),
    /// Convert tasks of another program into evals
    Import(import::ImportArgs),
    /// Make evals from the history of a git repository: commits with tests, each tried in a sandbox
    Mine(mine::MineArgs),
    /// Show which agents are installed, their versions, and whether they look signed in
    Doctor(doctor::DoctorArgs),
    /// Explain an error: its meaning, usual causes and the next step
    Explain(explain::ExplainArgs),
    /// Print the JSON Schema of a configuration file, for editors
    Schema(schema::SchemaArgs),
    /// Print a shell completion script: it completes commands, flags and the names in your suite
    Completions(completions::CompletionsArgs),
    /// Print the man page in roff format
    Man(man::ManArgs),
    /// Run trials for another Terca, over standard input and output
    #[command(hide = true)]
    Worker,
}

impl Command {
    /// Does it, and returns the exit status. `program` describes the whole command line.
    pub fn run(&self, common: &Common, program: fn() -> clap::Command) -> Outcome {
        let suite = || place::found(common, Need::Suite);
        let runs = || place::found(common, Need::Runs);
        match self {
            Command::Run(args) => run::run(args, &suite()?, &program()),
            Command::Init(args) => init::init(args, common),
            Command::CreateEval(args) => create_eval::create_eval(args, common),
            Command::Check(args) => check::check(args, &suite()?),
            Command::Validate(args) => validate::validate(args, &suite()?),
            Command::Ablate(args) => ablate::ablate(args, &suite()?),
            Command::Show(args) => show::show(args, &runs()?),
            Command::Logs(args) => logs::logs(args, &runs()?),
            Command::Workspace(args) => workspace::workspace(args, &runs()?),
            Command::Compare(args) => compare::compare(args, &runs()?),
            Command::Plan(args) => plan::plan(args, &suite()?),
            Command::Report(args) => report::report(args, &runs()?),
            Command::View(args) => view::view(args, &runs()?),
            Command::Resume(args) => resume::resume(args, &runs()?),
            Command::Regrade(args) => regrade::regrade(args, &runs()?),
            Command::Replay(args) => replay::replay(args, &runs()?),
            Command::Merge(args) => merge::merge(args, &runs()?),
            Command::Verify(args) => verify::verify(args, &runs()?),
            Command::List(args) => list::list(args, &runs()?),
            Command::Clean(args) => clean::clean(args, &runs()?),
            Command::Import(args) => import::import(args, common),
            Command::Mine(args) => mine::mine(args, common),
            Command::Doctor(args) => doctor::doctor(args, &place::found(common, Need::Maybe)?),
            Command::Explain(args) => explain::explain(args),
            Command::Schema(args) => schema::schema(args),
            Command::Completions(args) => completions::completions(args),
            Command::Man(args) => man::man(args, program()),
            Command::Worker => worker::worker(),
        }
    }
}
