//! `terca create`: makes a new suite, from answers or from flags.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgAction, Args};
use terca_core::scaffold::{self, NewFile, NewSuite, Sample};
use terca_core::text::explain::Code;
use terca_engine::host::environment::Host;
use terca_engine::suite::{create as engine, discover};

use crate::agent_offer::{self, AgentOffer};
use crate::args::Common;
use crate::cli_error::{CliError, Outcome};
use crate::{ask, screen};

#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// The suite's directory, which also names it; `.` is this one
    name: Option<String>,
    /// Run the evals with this agent (repeatable, comma-separated; default: one that is on this machine)
    #[arg(long = "agent", value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    agents: Vec<String>,
    /// What the first eval is called
    #[arg(long, value_name = "NAME")]
    eval: Option<String>,
    /// No example, only the smallest suite that runs
    #[arg(long)]
    empty: bool,
    /// Ask nothing: what no flag says is the default
    #[arg(short = 'y', long)]
    yes: bool,
}

/// The default name of a suite's directory.
const USUAL_NAME: &str = "evals";

pub(super) fn create(args: &CreateArgs, common: &Common) -> Outcome {
    if !args.yes && !ask::is_possible() {
        return Err(nobody_to_ask().help(
            "`terca create NAME --agent AGENT --yes` asks nothing; --eval NAME calls the first eval so, \
             --empty leaves the example out",
        ));
    }
    make(&answers(args, common)?)?;
    Ok(0)
}

pub(super) fn nobody_to_ask() -> CliError {
    CliError::misuse(
        Code::NobodyToAsk,
        "nothing was made: there is nobody to ask",
    )
}

pub(super) fn no_answer() -> CliError {
    let error = CliError::misuse(Code::NobodyToAsk, "nothing was made: no answer");
    error.help("`--yes` asks nothing, and takes the default for what no flag says")
}

/// Returns the error of a wrong value, given as a flag or typed.
pub(super) fn misuse(reason: String) -> CliError {
    CliError::misuse(Code::Usage, reason)
}

/// A suite that is to be made.
struct Plan {
    dir: Utf8PathBuf,
    new: NewSuite,
}

/// Takes the flags, and asks for what they leave open. Mistakes are refused before anybody has to answer.
fn answers(args: &CreateArgs, common: &Common) -> Result<Plan, CliError> {
    let around = discover::canonical(&common.dir)?;
    outside_of_suites(&around)?;
    let offer = AgentOffer::new(&Host::of_this_process());
    let agents = args
        .agents
        .iter()
        .map(|name| agent_offer::find(name))
        .collect::<Result<Vec<_>, _>>();
    let mut agents = agents
        .map_err(|reason| CliError::misuse(Code::UnknownAgent, format!("--agent {reason}")))?;
    if let Some(problem) = args.eval.as_deref().and_then(scaffold::eval_name_problem) {
        return Err(misuse(format!("--eval: {problem}")));
    }
    let asks = !args.yes;
    let dir = match &args.name {
        Some(name) => place(&around, name).map_err(misuse)?,
        None if asks => {
            let question = "The suite's directory, which also names it (. is this one)";
            ask::for_value(question, USUAL_NAME, |name| place(&around, name))
                .ok_or_else(no_answer)?
        }
        None => place(&around, USUAL_NAME).map_err(misuse)?,
    };
    if agents.is_empty() && asks {
        screen::err(&offer.within(screen::columns()));
        let question = "Agents, by number or name, with commas between";
        agents = ask::for_value(question, offer.usual(), |text| offer.read(text))
            .ok_or_else(no_answer)?;
    } else if agents.is_empty() {
        agents = offer.read(offer.usual()).map_err(misuse)?;
    }
    let sample = match (args.empty, asks) {
        (true, _) => Sample::Small,
        (false, false) => Sample::Example,
        (false, true) => ask::for_value("Begin with an `example`, or `empty`", "example", sample)
            .ok_or_else(no_answer)?,
    };
    let eval = match &args.eval {
        Some(eval) => eval.clone(),
        None if asks => ask::for_value("The first eval", sample.usual_name(), eval_name)
            .ok_or_else(no_answer)?,
        None => sample.usual_name().to_owned(),
    };
    let name = dir.file_name().unwrap_or(USUAL_NAME).to_owned();
    Ok(Plan {
        dir,
        new: NewSuite {
            name,
            agents,
            eval,
            sample,
        },
    })
}

/// Refuses a suite within a suite: its evals would be in both.
fn outside_of_suites(dir: &Utf8Path) -> Result<(), CliError> {
    match engine::suite_around(dir) {
        None => Ok(()),
        Some(suite) => {
            let file = suite.join(discover::SUITE_FILE);
            let text = format!("there is a suite already: {}", screen::short(&file));
            let error = CliError::misuse(Code::AlreadyThere, text);
            Err(error
                .help("`terca create-eval` adds an eval to it; `-C DIR` makes the suite elsewhere"))
        }
    }
}

/// Returns the new suite's directory.
fn place(around: &Utf8Path, name: &str) -> Result<Utf8PathBuf, String> {
    let name = Utf8Path::new(name.trim());
    if name.as_str().is_empty() {
        return Err("the name is empty".into());
    }
    let dir = around.join(name);
    // A suite needs a name: the directories that `.` and `..` mean have one.
    match dir.canonicalize_utf8() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(real) => Err(format!(
            "{} is a file; a suite is a directory",
            screen::short(&real)
        )),
        Err(_) if dir.file_name().is_some() => Ok(dir),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn sample(answer: &str) -> Result<Sample, String> {
    match answer.to_lowercase().as_str() {
        "example" | "e" => Ok(Sample::Example),
        "empty" => Ok(Sample::Small),
        _ => Err("expected `example` or `empty`".into()),
    }
}

pub(super) fn eval_name(answer: &str) -> Result<String, String> {
    match scaffold::eval_name_problem(answer) {
        None => Ok(answer.to_owned()),
        Some(problem) => Err(problem),
    }
}

fn make(plan: &Plan) -> Result<(), CliError> {
    outside_of_suites(&plan.dir)?;
    let files = scaffold::suite(&plan.new);
    write(&plan.dir, engine::parts(&plan.dir, &files), &files)?;
    let cd = match screen::short(&plan.dir).as_str() {
        "" => String::new(),
        _ if discover::canonical(Utf8Path::new(".")).is_ok_and(|here| here == plan.dir) => {
            String::new()
        }
        dir if dir.contains(char::is_whitespace) => format!("  cd '{dir}'\n"),
        dir => format!("  cd {dir}\n"),
    };
    screen::err(&format!(
        "\nnext:\n{cd}  terca check             # the plan: what would be run\n  \
         terca --agent oracle    # free: the eval's own solution in the agent's place\n  \
         terca validate          # do the evals prove anything?\n  \
         terca                   # run it\n  terca create-eval       # add an eval"
    ));
    Ok(())
}

/// Writes files, none of which may exist, and shows which were made.
pub(super) fn write(
    dir: &Utf8Path,
    parts: Vec<Utf8PathBuf>,
    files: &[NewFile],
) -> Result<(), CliError> {
    let present = engine::in_the_way(parts);
    if !present.is_empty() {
        let list: String = present
            .iter()
            .map(|path| format!("\n  {}", screen::short(path)))
            .collect();
        let text = format!("nothing was made: this is there already{list}");
        return Err(
            CliError::misuse(Code::AlreadyThere, text).help("choose another name, or move it away")
        );
    }
    engine::write(dir, files).map_err(|error| CliError::trouble(Code::CannotWrite, error))?;
    for file in files {
        screen::out(&format!("made {}", screen::short(&dir.join(&file.path))));
    }
    Ok(())
}
