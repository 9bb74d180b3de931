//! One file per command: its arguments, and what it does with them.
//!
//! A new command is a file, and its lines here.

mod check;
mod clean;
mod compare;
mod completions;
mod create_eval;
mod doctor;
mod explain;
mod health;
mod import;
mod init;
mod list;
mod logs;
mod man;
mod merge;
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
mod watch;
mod worker;

use clap::Subcommand;

use crate::args::Common;
use crate::cli_error::Outcome;
use crate::place::{self, Need};

pub use self::completions::COMPLETION_VARIABLE;
pub use self::run::RunArgs;

/// A command, with its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the suite in this directory (what `terca` alone does)
    Run(run::RunArgs),
    /// Make a new suite, about the library in this directory where there is one
    #[command(visible_alias = "create")]
    Init(init::InitArgs),
    /// Add an eval to the suite around this directory
    CreateEval(create_eval::CreateEvalArgs),
    /// Validate the configuration and print the plan; run nothing
    Check(check::CheckArgs),
    /// Prove the evals: the solution must pass, doing nothing and cheating must not
    Validate(validate::ValidateArgs),
    /// Show the results of a run, or of one trial
    Show(show::ShowArgs),
    /// Print the session of a trial's agent; -f follows it while it runs
    Logs(logs::LogsArgs),
    /// Compare the experiments of a run, its environments, or two runs: is it better, worse, or noise?
    Compare(compare::CompareArgs),
    /// Say what a run would cost and which differences it could see; run nothing
    Plan(plan::PlanArgs),
    /// Say which evals tell something, which do not, and what each costs
    Health(health::HealthArgs),
    /// Write a run as a page, as JUnit, Markdown, CSV or JSON Lines
    Report(report::ReportArgs),
    /// Show a run in the browser, live while it goes on
    View(view::ViewArgs),
    /// Watch the suite: grade again when tests are saved, offer to run what else has changed
    Watch(watch::WatchArgs),
    /// Finish an interrupted run
    Resume(resume::ResumeArgs),
    /// Run the tests again on the saved workspaces, without the agents
    Regrade(regrade::RegradeArgs),
    /// Run the suite with the answers that a run has recorded: free, offline, without a key
    Replay(replay::ReplayArgs),
    /// Join the runs of the parts of a plan (--shard) into one
    Merge(merge::MergeArgs),
    /// Check that a run is as Terca wrote it: no line was changed, removed or added since
    Verify(verify::VerifyArgs),
    /// List the runs so far
    List(list::ListArgs),
    /// Remove layers made by `prepare`, and old runs; asks first
    Clean(clean::CleanArgs),
    /// Make evals of tasks that were written for another program
    Import(import::ImportArgs),
    /// Say which agents are installed, their versions, and whether they look signed in
    Doctor(doctor::DoctorArgs),
    /// Explain an error: what it means, what it comes from, what to do next
    Explain(explain::ExplainArgs),
    /// Print the JSON Schema of a configuration file, for editors
    Schema(schema::SchemaArgs),
    /// Print what makes a shell complete commands, flags, and the names of the suite at hand
    Completions(completions::CompletionsArgs),
    /// Print the man page, in roff
    Man(man::ManArgs),
    /// Run trials for another Terca, which talks to it over standard input and output
    #[command(hide = true)]
    Worker,
}

impl Command {
    /// Returns what it needs around it.
    fn need(&self) -> Need {
        match self {
            Command::Run(_)
            | Command::Check(_)
            | Command::Validate(_)
            | Command::Plan(_)
            | Command::Watch(_) => Need::Suite,
            Command::Resume(_)
            | Command::Regrade(_)
            | Command::Replay(_)
            | Command::Show(_)
            | Command::Logs(_)
            | Command::Compare(_)
            | Command::Health(_)
            | Command::Report(_)
            | Command::View(_)
            | Command::Merge(_)
            | Command::Verify(_)
            | Command::List(_)
            | Command::Clean(_) => Need::Runs,
            Command::Doctor(_) => Need::Maybe,
            Command::Init(_)
            | Command::CreateEval(_)
            | Command::Import(_)
            | Command::Explain(_)
            | Command::Schema(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Worker => Need::Nothing,
        }
    }

    /// Does it, and returns the exit status. `program` describes the whole command line.
    pub fn run(&self, common: &Common, program: fn() -> clap::Command) -> Outcome {
        let common = &place::found(common, self.need())?;
        match self {
            Command::Run(args) => run::run(args, common, &program()),
            Command::Init(args) => init::init(args, common),
            Command::CreateEval(args) => create_eval::create_eval(args, common),
            Command::Check(args) => check::check(args, common),
            Command::Validate(args) => validate::validate(args, common),
            Command::Show(args) => show::show(args, common),
            Command::Logs(args) => logs::logs(args, common),
            Command::Compare(args) => compare::compare(args, common),
            Command::Plan(args) => plan::plan(args, common),
            Command::Health(args) => health::health(args, common),
            Command::Report(args) => report::report(args, common),
            Command::View(args) => view::view(args, common),
            Command::Watch(args) => watch::watch(args, common),
            Command::Resume(args) => resume::resume(args, common),
            Command::Regrade(args) => regrade::regrade(args, common),
            Command::Replay(args) => replay::replay(args, common),
            Command::Merge(args) => merge::merge(args, common),
            Command::Verify(args) => verify::verify(args, common),
            Command::List(args) => list::list(args, common),
            Command::Clean(args) => clean::clean(args, common),
            Command::Import(args) => import::import(args, common),
            Command::Doctor(args) => doctor::doctor(args, common),
            Command::Explain(args) => explain::explain(args),
            Command::Schema(args) => schema::schema(args),
            Command::Completions(args) => completions::completions(args),
            Command::Man(args) => man::man(args, program()),
            Command::Worker => worker::worker(),
        }
    }
}
