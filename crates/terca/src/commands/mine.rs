//! `terca mine`: evals from the history of a repository.

use std::fmt::Display;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use terca_core::config::sandbox::Sandbox;
use terca_core::new_suite::mine::describe::Writer;
use terca_core::new_suite::mine::draft::Wishes;
use terca_core::new_suite::mine::{Issues, Mined, MinedCommit};
use terca_core::run::settings;
use terca_core::text::{Code, prose, shell};
use terca_engine::host::environment::Host;
use terca_engine::mine::{Describing, MineError, Mining, Request, Stage, mine as dig};
use terca_engine::run::load;
use terca_engine::run::start::StartError;
use terca_engine::sandbox::SandboxError;
use terca_engine::suite::discover;

use crate::args::values::{age, sandbox, seconds, usd, within};
use crate::args::{Common, TableFormat};
use crate::cli_error::{CliError, INTERRUPTED, Outcome};
use crate::run::output;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct MineArgs {
    /// A directory of a git repository
    #[arg(value_name = "PATH")]
    repository: Utf8PathBuf,
    /// Only commits newer than this, such as 90d, 8w or 1y
    #[arg(long, value_name = "AGE", default_value = "1y", value_parser = age)]
    since: Duration,
    /// The most evals to write
    #[arg(long, value_name = "N", default_value = "20", value_parser = within(1..=1_000))]
    limit: u32,
    /// The most drafts to try before the search ends (default: 20 for each eval of `--limit`)
    #[arg(long, value_name = "N", value_parser = within(1..=1_000_000))]
    max_tries: Option<u32>,
    /// Write the evals into this suite, which is new or was made by `terca mine` (default: NAME-evals)
    #[arg(long, value_name = "DIR")]
    into: Option<Utf8PathBuf>,
    /// The command that installs what the project needs, instead of those that Terca knows; '' for none
    #[arg(long, value_name = "COMMAND")]
    setup: Option<String>,
    /// The command that runs the tests, instead of those that Terca knows; {files} are the tests of the commit
    #[arg(long, value_name = "COMMAND")]
    test_command: Option<String>,
    /// Issues and pull requests as JSON, whose texts become prompts: the output of `gh issue list --json number,title,body`
    #[arg(long, value_name = "FILE")]
    issues: Option<Utf8PathBuf>,
    /// The most lines of code that a commit may change
    #[arg(long, value_name = "N", default_value = "400", value_parser = within(1..=100_000))]
    max_lines: u32,
    /// The most files of a commit's tree, which each eval has a copy of
    #[arg(long, value_name = "N", default_value = "20000", value_parser = within(1..=10_000_000))]
    max_files: u32,
    /// The largest tree of a commit, in megabytes
    #[arg(long, value_name = "MB", default_value = "200", value_parser = within(1..=1_000_000))]
    max_size: u32,
    /// The time limit of a commit's tests, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: f64,
    /// The sandbox in which the project's code runs: auto, bwrap, landlock, docker:IMAGE or podman:IMAGE
    #[arg(long, value_name = "SANDBOX", default_value = "auto", value_parser = sandbox)]
    sandbox: Sandbox,
    /// Put bugs into the newest commit, one in each eval, instead of looking at the history; the project's tests must notice them
    #[arg(long, conflicts_with_all = ["describe_with", "issues"])]
    inject: bool,
    /// The number that decides which bugs come first
    #[arg(long, value_name = "N", default_value = "0", requires = "inject")]
    seed: u64,
    /// Trials to run at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    /// Have this agent write each prompt from the message and the diff of the commit, in an empty workspace
    #[arg(long, value_name = "AGENT")]
    describe_with: Option<String>,
    /// The model of the agent that writes the prompts, instead of its own choice
    #[arg(long, value_name = "NAME", requires = "describe_with")]
    model: Option<String>,
    /// The time limit of the agent for a prompt, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds, requires = "describe_with")]
    describe_timeout: f64,
    /// Ask for no further prompt once the known spending reaches this amount; the rest are the commits' messages
    #[arg(long, value_name = "USD", value_parser = usd, requires = "describe_with")]
    budget_usd: Option<f64>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
}

/// Drafts for each eval that is wanted. Real repositories have some dozens of drafts in five years, so this ends only a search in
/// which nearly all are refused.
const TRIES: u32 = 20;
/// No commit became an eval.
const NOTHING: u8 = 1;

/// Reads who is to write the prompts. An agent that cannot is known before anything runs.
fn describing(args: &MineArgs) -> Result<Option<Describing>, CliError> {
    const OPTION: &str = "--describe-with";
    let Some(name) = &args.describe_with else {
        return Ok(None);
    };
    let agent = load::named_agent(OPTION, name)?;
    let profile = agent.profile();
    if profile.is_built_in() {
        let text = format!("{OPTION} {name}: Terca plays this agent itself, and it writes nothing");
        return Err(CliError::misuse(Code::Usage, text).help(
            "name an agent that is installed and signed in (`terca doctor` lists them), or omit the option",
        ));
    }
    Ok(Some(Describing {
        by: Writer {
            agent: profile.name.to_owned(),
            model: args.model.clone(),
        },
        seconds: args.describe_timeout,
        budget_usd: args.budget_usd,
    }))
}

/// Reads the texts of issues.
fn issues(args: &MineArgs) -> Result<Issues, CliError> {
    let Some(path) = &args.issues else {
        return Ok(Issues::NONE);
    };
    let unusable = |error: &dyn Display| {
        CliError::misuse(Code::Usage, format!("--issues {path}: {error}")).help(
            "make the file with `gh issue list --state all --json number,title,body`, and add `gh pr list` likewise",
        )
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable(&error))?;
    Issues::read(&text).map_err(|error| unusable(&error))
}

pub(super) fn mine(args: &MineArgs, common: &Common) -> Outcome {
    if args.sandbox == Sandbox::None {
        let text = "the code of a repository is never run without a sandbox";
        return Err(CliError::misuse(Code::NoSandbox, text).help("omit `--sandbox`"));
    }
    let repository = discover::canonical(&args.repository)?;
    let here = discover::canonical(&common.dir)?;
    let now = jiff::Timestamp::now().as_second();
    let age = i64::try_from(args.since.as_secs()).unwrap_or(now);
    let request = Request {
        repository,
        into: args.into.clone(),
        here,
        since: Some(now.saturating_sub(age).max(0)),
        limit: args.limit as usize,
        max_tries: args.max_tries.unwrap_or(args.limit.saturating_mul(TRIES)) as usize,
        most_lines: args.max_lines as usize,
        most_files: args.max_files as usize,
        most_bytes: u64::from(args.max_size) << 20,
        wishes: Wishes {
            setup: args.setup.clone(),
            test_command: args.test_command.clone(),
            test_seconds: args.timeout,
            issues: issues(args)?,
        },
        sandbox: args.sandbox.clone(),
        concurrency: args.concurrency,
        inject: args.inject.then_some(args.seed),
        describing: describing(args)?,
        host: Host::of_this_process(),
        tell,
    };
    let Mining {
        mined,
        interrupted,
        leaves_files,
        tries_spent,
        not_removed,
    } = dig(request)?;
    output::warn_of_leftovers(&not_removed);
    output::table_or_json(args.format, common, &mined, |_| {
        terca_report::mined(&mined, screen::max_width())
    })?;
    if let Some(tries) = tries_spent {
        let drafts = prose::count(tries, "draft");
        let rest = match args.inject {
            true => "other bugs were not tried",
            false => "older commits were not looked at",
        };
        screen::err(&format!("stopped after {drafts}: --max-tries; {rest}"));
    }
    if mined.written > 0 {
        say_next(&mined, args.inject);
    }
    if interrupted {
        screen::err("interrupted: evals that were written before are whole");
        if leaves_files {
            screen::err("the next run removes the files of the drafts that were not done");
        }
        return Ok(INTERRUPTED);
    }
    Ok(if mined.written == 0 { NOTHING } else { 0 })
}

/// Says what to do with the evals.
fn say_next(mined: &Mined, inject: bool) {
    let suite = screen::short(&mined.suite);
    let suite = shell::quoted(suite.as_str());
    let is_described = |commit: &MinedCommit| {
        let described = commit.described.as_ref();
        described.is_some_and(|described| described.reason.is_none())
    };
    let edit = match mined.commits.iter().any(is_described) {
        true => {
            format!("read each prompt.md in {suite}, and edit those that are the commit's message")
        }
        false if inject => format!("read some prompt.md in {suite}"),
        false => format!("edit each prompt.md in {suite}, which is the commit's message"),
    };
    screen::err(&format!(
        "\nnext: {edit}; then put an agent into terca.yaml, and\n  \
         terca -C {suite} check    # check the suite\n  terca -C {suite}          # run it"
    ));
}

fn tell(stage: Stage<'_>) {
    match stage {
        Stage::Ended(commit) => screen::err(&terca_report::mined_line(commit)),
        Stage::Proving(draft) => screen::err(&format!("trying {draft} in a sandbox")),
        Stage::Describing(draft) => {
            screen::err(&format!("an agent writes the prompt of {draft}"));
        }
    }
}

impl From<MineError> for CliError {
    fn from(error: MineError) -> Self {
        match error {
            MineError::NoRepository(_) => CliError::misuse(Code::NoRepository, error)
                .help("name a directory of a git repository"),
            MineError::NoGit => CliError::misuse(Code::NoRepository, error)
                .help("install git (`apt-get install git`)"),
            MineError::NoTool { tool, .. } => CliError::misuse(Code::Usage, error).help(format!(
                "install `{tool}`, or say with `--setup COMMAND` how the project is set up ('' for not at all)"
            )),
            MineError::NoBugs(_) => CliError::misuse(Code::Usage, error)
                .help("`--setup` and `--test-command` say how the project is set up and tested"),
            MineError::Taken(_) => CliError::misuse(Code::AlreadyThere, error)
                .help("choose another directory with `--into`"),
            MineError::Files(_) => CliError::trouble(Code::CannotWrite, error)
                .help("check the repository (`git fsck`), the disk space and the permissions"),
            MineError::Drafts(_) => CliError::trouble(Code::Internal, error),
            MineError::Describing(_) => CliError::misuse(Code::Usage, error)
                .help("choose another agent or model, or omit `--describe-with`"),
            MineError::Discover(error) => error.into(),
            MineError::Start(StartError::Sandbox(error @ (SandboxError::Neither { .. } | SandboxError::Missing | SandboxError::Refused { .. } | SandboxError::NotLinux))) => {
                CliError::misuse(Code::NoSandbox, error).help(
                    "the code of a repository is never run without one: install bubblewrap (`apt-get install \
                     bubblewrap`) and allow user namespaces, or use a container with `--sandbox docker:IMAGE`",
                )
            }
            MineError::Start(error) => error.into(),
            MineError::Store(error) => error.into(),
        }
    }
}
