//! `terca compare`: the experiments or environments of a run, or two runs.

use terca_core::compare::{Arm, CompareError, Compared, between, within};
use terca_core::summary::By;
use terca_engine::runs::{self, PastRun};
use terca_report::{Palette, compared, compared_markdown};

use super::MISUSE;
use super::suite_runs::{open, refused, say_json};
use crate::args::{ByChoice, Common, CompareArgs, CompareFormat};
use crate::screen;

pub(super) fn compare(args: &CompareArgs, common: &Common) -> u8 {
    match find(args, common).and_then(|found| show(&found, args, common).map(|()| found)) {
        Ok(found) => found.exit_status(args.require_conclusive),
        Err(status) => status,
    }
}

fn find(args: &CompareArgs, common: &Common) -> Result<Compared, u8> {
    let first = open(args.run.as_deref(), common)?;
    let found = match args.other.as_deref() {
        None => in_one(&first, args)?,
        Some(other) => of_two(&first, &open(Some(other), common)?, args)?,
    };
    found.map_err(|error| refused(&error.to_string(), MISUSE))
}

fn in_one(run: &PastRun, args: &CompareArgs) -> Result<Result<Compared, CompareError>, u8> {
    if args.only_unchanged {
        return Err(refused("`--only-unchanged` is for two runs: name a second one", MISUSE));
    }
    let by = match args.by {
        ByChoice::Experiment => By::Experiment,
        ByChoice::Environment => By::Environment,
    };
    Ok(within(&run.state, by, args.baseline.as_deref(), args.margin))
}

fn of_two(one: &PastRun, other: &PastRun, args: &CompareArgs) -> Result<Result<Compared, CompareError>, u8> {
    if args.by == ByChoice::Environment {
        return Err(refused(
            "`--by environment` is for one run: two runs are compared in each variant",
            MISUSE,
        ));
    }
    if one.dir.canonicalize_utf8().ok() == other.dir.canonicalize_utf8().ok() {
        return Err(refused(&format!("{} cannot be compared with itself", one.state.run), MISUSE));
    }
    let names = names(one, other);
    let prints = [runs::fingerprints(&one.dir), runs::fingerprints(&other.dir)];
    let first = Arm { name: &names[0], state: &one.state, prints: prints[0].as_deref() };
    let second = Arm { name: &names[1], state: &other.state, prints: prints[1].as_deref() };
    let is_called = |arm: &Arm<'_>, given: Option<&str>, name: &str| name == arm.name || Some(name) == given;
    let (baseline, other) = match args.baseline.as_deref() {
        None => (first, second),
        Some(name) if is_called(&first, args.run.as_deref(), name) => (first, second),
        Some(name) if is_called(&second, args.other.as_deref(), name) => (second, first),
        Some(name) => {
            let text = format!("--baseline {name}: the runs are {} and {}", first.name, second.name);
            return Err(refused(&text, MISUSE));
        }
    };
    Ok(between(baseline, other, args.margin, args.only_unchanged))
}

/// By their folders where two suites have runs of the same name.
fn names(one: &PastRun, other: &PastRun) -> [String; 2] {
    let runs = [one, other];
    if one.state.run == other.state.run {
        runs.map(|run| screen::short(&run.dir).to_string())
    } else {
        runs.map(|run| run.state.run.clone())
    }
}

fn show(found: &Compared, args: &CompareArgs, common: &Common) -> Result<(), u8> {
    let palette = Palette { colour: screen::colour(common.color, &std::io::stdout()) };
    match args.format {
        CompareFormat::Table => screen::say(&compared(found, screen::columns(), palette)),
        CompareFormat::Markdown => screen::say(&compared_markdown(found)),
        CompareFormat::Json => say_json(found)?,
    }
    Ok(())
}
