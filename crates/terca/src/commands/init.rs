//! `terca init`: makes a new suite, about the library around it where there is one, from answers or from flags.

mod agent_offer;
mod package;
mod told;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgAction, Args};
use terca_core::agent::AgentRef;
use terca_core::agent::cheat::TRICKS;
use terca_core::new_suite::scaffold::library::Found;
use terca_core::new_suite::scaffold::{self, About, NewFile, NewSuite};
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::load;
use terca_engine::suite::{create as engine, discover};

use self::agent_offer::AgentOffer;
use super::validate;
use crate::args::{Common, DisplayArgs};
use crate::ask::{self, Asker};
use crate::cli_error::{CliError, INTERRUPTED, Outcome};
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// The suite's directory, which also names it; `.` is this one (default: `evals`)
    name: Option<String>,
    /// Run the evals with this agent (repeatable, comma-separated; default: one that is on this machine)
    #[arg(long = "agent", value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    agents: Vec<String>,
    /// The name of the first eval
    #[arg(long, value_name = "NAME")]
    eval: Option<String>,
    /// The package of a workspace that the evals are about: its name, or its directory
    #[arg(long, value_name = "NAME", conflicts_with_all = ["no_library", "empty"])]
    package: Option<String>,
    /// Make an example with shell scripts, although there is a library
    #[arg(long)]
    no_library: bool,
    /// Make the smallest suite that runs, without an example
    #[arg(long)]
    empty: bool,
    /// Do not check the evals; keep the files also where they do not work
    #[arg(long)]
    no_validate: bool,
    /// Ask nothing, and use the defaults
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(super) fn init(args: &InitArgs, common: &Common) -> Outcome {
    if !args.yes && !ask::is_possible() {
        return Err(nobody_to_ask("terca init").help(
            "`terca init NAME --agent AGENT --yes` asks nothing; --eval NAME names the first eval, --empty and \
             --no-library leave examples out",
        ));
    }
    let offer = AgentOffer::new(&Host::of_this_process());
    let new = answers(args, common, &offer)?;
    if let About::Library(library) = &new.about {
        told::found(library, &offer.installed());
    }
    let files = new.files();
    write(&new.dir, engine::parts(&new.dir, &files), &files)?;
    if !args.no_validate {
        check(&new, &files, common)?;
    }
    if let About::Library(library) = &new.about {
        told::what_to_edit(&new, library, &files);
    }
    told::next(&new.dir, !args.no_validate);
    Ok(0)
}

/// Checks the new evals. Where one does not hold, nothing is left of the suite but the log.
fn check(new: &NewSuite, files: &[NewFile], common: &Common) -> Result<(), CliError> {
    screen::err("\nchecking the evals, as `terca validate` does: free, no agent runs …");
    let settings = RunSettings {
        selection: SelectionSettings {
            repetitions: Some(1),
            ..SelectionSettings::default()
        },
        validate: true,
        ..RunSettings::default()
    };
    let within = Common {
        dir: new.dir.clone(),
        ..common.clone()
    };
    let display = DisplayArgs {
        quiet: !screen::is_lively(),
        ..DisplayArgs::default()
    };
    let status = match validate::check(&settings, &display, &within) {
        Ok(0) => {
            let tricks = TRICKS.len();
            screen::err(&format!(
                "the solutions pass, doing nothing does not, and the evals withstood {tricks} tricks"
            ));
            return Ok(());
        }
        Ok(status) => status,
        Err(error) => error.show(common),
    };
    if status == INTERRUPTED {
        screen::err("the suite is made and not checked: `terca validate` does that later");
        return Err(CliError::shown(INTERRUPTED));
    }
    let removed = engine::remove_made(&new.dir, files);
    removed.map_err(|error| CliError::trouble(Code::CannotWrite, error))?;
    Err(told::not_proven(new))
}

/// Returns the error of a command that cannot ask its questions.
pub(super) fn nobody_to_ask(command: &str) -> CliError {
    CliError::misuse(
        Code::NobodyToAsk,
        format!("not a terminal, so `{command}` cannot ask questions; nothing was made"),
    )
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
pub(super) fn no_answer(error: io::Error) -> CliError {
    if error.kind() == io::ErrorKind::Interrupted {
        screen::err("nothing was made");
        return CliError::shown(INTERRUPTED);
    }
    CliError::misuse(Code::NobodyToAsk, "nothing was made: no answer")
        .help("`--yes` asks nothing, and uses the defaults")
}

/// Returns the error of a wrong value, given as a flag or typed.
pub(super) fn misuse(reason: String) -> CliError {
    CliError::misuse(Code::Usage, reason)
}

/// Takes the flags, and asks for what they leave open. Mistakes are refused before anybody has to answer.
fn answers(args: &InitArgs, common: &Common, offer: &AgentOffer) -> Result<NewSuite, CliError> {
    let around = discover::canonical(&common.dir)?;
    outside_of_suites(&around)?;
    if args.name.is_none() && is_too_large(&around) {
        let text = format!("{around} is no project: everything in it would be around the suite");
        return Err(misuse(text).help(
            "go to the directory of your library; `terca init NAME` makes a suite in a new directory here",
        ));
    }
    let agents = named_agents(&args.agents)?;
    if let Some(problem) = args.eval.as_deref().and_then(scaffold::eval_name_problem) {
        return Err(misuse(format!("--eval: {problem}")));
    }
    let asker = (!args.yes).then(|| Asker::new(screen::colour(common.color, &std::io::stderr())));
    let around = package::dir(args, &around, asker.as_ref())?.unwrap_or(around);
    let dir = directory(args, &around, asker.as_ref())?;
    outside_of_suites(&dir)?;
    let about = about(args, &dir, asker.as_ref())?;
    let at_hand = offer.at_hand(screen::columns());
    let agents = match &asker {
        _ if !agents.is_empty() => agents,
        Some(asker) => asked_agents(asker, &at_hand)?,
        None => at_hand.iter().map(|(agent, _)| *agent).take(1).collect(),
    };
    let eval = match (&args.eval, &asker, &about) {
        (None, Some(asker), About::Example | About::Small) => {
            let question = "Name of the first eval";
            let answer = asker.value(question, about.usual_eval(), eval_name);
            Some(answer.map_err(no_answer)?)
        }
        (given, ..) => given.clone(),
    };
    Ok(NewSuite {
        dir,
        agents,
        eval,
        about,
    })
}

/// Returns a variable of this process.
pub(super) fn variable(name: &str) -> Option<String> {
    Host::of_this_process().get(name).map(str::to_owned)
}

fn named_agents(names: &[String]) -> Result<Vec<AgentRef>, CliError> {
    let mut agents: Vec<AgentRef> = Vec::new();
    for name in names {
        let agent = load::named_agent("--agent", name)?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

/// Returns the directory of the new suite.
fn directory(
    args: &InitArgs,
    around: &Utf8Path,
    asker: Option<&Asker>,
) -> Result<Utf8PathBuf, CliError> {
    if let Some(name) = &args.name {
        return place(around, name).map_err(misuse);
    }
    // A suite in the usual place is told before anything is asked.
    outside_of_suites(&around.join(USUAL_NAME))?;
    match asker {
        Some(asker) => {
            let question = "Directory of the suite (. is this one)";
            asker
                .value(question, USUAL_NAME, |name| place(around, name))
                .map_err(no_answer)
        }
        None => place(around, USUAL_NAME).map_err(misuse),
    }
}

/// Returns the subject of the suite.
fn about(args: &InitArgs, dir: &Utf8Path, asker: Option<&Asker>) -> Result<About, CliError> {
    if args.empty {
        return Ok(About::Small);
    }
    let library = match discover::library_around(dir, &variable) {
        Some(Found::Library(library)) if !args.no_library => Some(library),
        _ => None,
    };
    let Some(asker) = asker else {
        return Ok(library.map_or(About::Example, About::Library));
    };
    let mut items: Vec<String> = Vec::new();
    if let Some(library) = &library {
        items.push(format!("Evals of {}", library.title()));
    }
    items.push("An example with shell scripts".to_owned());
    items.push("The smallest suite that runs".to_owned());
    let chosen = asker.choice("Begin with", &items).map_err(no_answer)?;
    let last = items.len() - 1;
    Ok(match library {
        Some(library) if chosen == 0 => About::Library(library),
        _ if chosen == last => About::Small,
        _ => About::Example,
    })
}

fn asked_agents(asker: &Asker, at_hand: &[(AgentRef, String)]) -> Result<Vec<AgentRef>, CliError> {
    let items: Vec<String> = at_hand.iter().map(|(_, line)| line.clone()).collect();
    let question = "Agents; `--agent NAME` takes others";
    let chosen = asker.choices(question, &items).map_err(no_answer)?;
    let agents = chosen.into_iter().filter_map(|at| at_hand.get(at));
    Ok(agents.map(|(agent, _)| *agent).collect())
}

pub(super) fn eval_name(answer: &str) -> Result<String, String> {
    match scaffold::eval_name_problem(answer) {
        None => Ok(answer.to_owned()),
        Some(problem) => Err(problem),
    }
}

/// Writes files, none of which may exist, and shows which were made.
pub(super) fn write(
    dir: &Utf8Path,
    parts: Vec<Utf8PathBuf>,
    files: &[NewFile],
) -> Result<(), CliError> {
    let present = engine::in_the_way(parts);
    if !present.is_empty() {
        let present: Vec<&Utf8Path> = present.iter().map(|path| screen::short(path)).collect();
        let list = screen::listed(&present, 20);
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

/// The default name of a suite's directory.
const USUAL_NAME: &str = "evals";

/// Refuses a suite within a suite: its evals would be in both.
fn outside_of_suites(dir: &Utf8Path) -> Result<(), CliError> {
    let Some(suite) = engine::suite_around(dir) else {
        return Ok(());
    };
    let file = suite.join(discover::SUITE_FILE);
    let text = format!("there is a suite already: {}", screen::short(&file));
    Err(CliError::misuse(Code::AlreadyThere, text)
        .help("`terca create-eval` adds an eval to it; `-C DIR` makes the suite elsewhere"))
}

/// Returns the new suite's directory.
fn place(around: &Utf8Path, name: &str) -> Result<Utf8PathBuf, String> {
    let name = Utf8Path::new(name.trim());
    if name.as_str().is_empty() {
        return Err("the name is empty".into());
    }
    let dir = around.join(name);
    if let Some(link) = link_on_the_way(around, &dir) {
        return Err(format!(
            "{} is a link, and a suite is not made behind one\nhelp: name the directory that it leads to",
            screen::short(&link)
        ));
    }
    // A suite needs a name: the directories that `.` and `..` mean have one.
    let dir = match dir.canonicalize_utf8() {
        Ok(real) if real.is_dir() => real,
        Ok(real) => {
            return Err(format!(
                "{} is a file; a suite is a directory",
                screen::short(&real)
            ));
        }
        Err(_) if dir.file_name().is_some() => dir,
        Err(error) => return Err(format!("{name}: {error}")),
    };
    if is_too_large(&dir) {
        return Err(format!(
            "a suite is not made in {dir} itself: everything in it would belong to the suite\n\
             help: name a new directory, such as `{USUAL_NAME}`"
        ));
    }
    Ok(dir)
}

/// Returns the first link on the way to a directory, below the one that was given with `-C`. For a path that leads
/// elsewhere, its last part counts.
fn link_on_the_way(around: &Utf8Path, dir: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut parts: Vec<&Utf8Path> = dir
        .ancestors()
        .take_while(|part| part.starts_with(around) && *part != around)
        .collect();
    if parts.is_empty() {
        parts.push(dir);
    }
    let link = parts.into_iter().rev().find(|part| part.is_symlink());
    link.map(Utf8Path::to_owned)
}

/// Returns whether a directory is the root or the user's home.
fn is_too_large(dir: &Utf8Path) -> bool {
    let host = Host::of_this_process();
    let home = host.get("HOME").filter(|home| !home.is_empty());
    let home = home.and_then(|home| Utf8Path::new(home).canonicalize_utf8().ok());
    dir.parent().is_none() || home.as_deref() == Some(dir)
}
