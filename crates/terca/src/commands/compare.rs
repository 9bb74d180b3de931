//! `terca compare`: the experiments or environments of a run, or two runs.

use terca_core::analysis::compare::{Arm, Compared, between, within};
use terca_core::analysis::summary::By;
use terca_core::text::explain::Code;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_report::{Palette, compared, compared_markdown};

use super::refusal::{Outcome, Refusal};
use super::suite_runs::{open, say_json};
use crate::args::{ByChoice, Common, CompareArgs, CompareFormat};
use crate::screen;

pub(super) fn compare(args: &CompareArgs, common: &Common) -> Outcome {
    let found = find(args, common)?;
    show(&found, args, common)?;
    Ok(found.exit_status(args.require_conclusive))
}

fn find(args: &CompareArgs, common: &Common) -> Result<Compared, Refusal> {
    let first = open(args.run.as_deref(), common)?;
    match args.other.as_deref() {
        None => in_one(&first, args),
        Some(other) => of_two(&first, &open(Some(other), common)?, args),
    }
}

fn in_one(run: &PastRun, args: &CompareArgs) -> Result<Compared, Refusal> {
    if args.only_unchanged {
        let text = "`--only-unchanged` is for two runs: name a second one";
        return Err(Refusal::misuse(Code::Usage, text).help("`terca compare A B --only-unchanged`"));
    }
    let by = match args.by {
        ByChoice::Experiment => By::Experiment,
        ByChoice::Environment => By::Environment,
    };
    Ok(within(
        &run.state,
        by,
        args.baseline.as_deref(),
        args.margin,
    )?)
}

fn of_two(one: &PastRun, other: &PastRun, args: &CompareArgs) -> Result<Compared, Refusal> {
    if args.by == ByChoice::Environment {
        let text = "`--by environment` is for one run: two runs are compared in each variant";
        return Err(Refusal::misuse(Code::Usage, text).help("leave `--by` out, or name one run"));
    }
    if one.dir.canonicalize_utf8().ok() == other.dir.canonicalize_utf8().ok() {
        let text = format!("{} cannot be compared with itself", one.state.run());
        return Err(
            Refusal::misuse(Code::NothingToCompare, text).help("`terca list` lists the runs")
        );
    }
    let names = names(one, other);
    let prints = [
        past_runs::fingerprints(&one.dir),
        past_runs::fingerprints(&other.dir),
    ];
    let first = Arm {
        name: &names[0],
        state: &one.state,
        prints: prints[0].as_deref(),
    };
    let second = Arm {
        name: &names[1],
        state: &other.state,
        prints: prints[1].as_deref(),
    };
    let is_called =
        |arm: &Arm<'_>, given: Option<&str>, name: &str| name == arm.name || Some(name) == given;
    let (baseline, other) = match args.baseline.as_deref() {
        None => (first, second),
        Some(name) if is_called(&first, args.run.as_deref(), name) => (first, second),
        Some(name) if is_called(&second, args.other.as_deref(), name) => (second, first),
        Some(name) => {
            let text = format!(
                "--baseline {name}: the runs are {} and {}",
                first.name, second.name
            );
            let refusal = Refusal::misuse(Code::UnknownBaseline, text);
            return Err(
                refusal.help("between two runs, the baseline is one of them (default: the first)")
            );
        }
    };
    Ok(between(baseline, other, args.margin, args.only_unchanged)?)
}

/// By their folders where two suites have runs of the same name.
fn names(one: &PastRun, other: &PastRun) -> [String; 2] {
    let runs = [one, other];
    if one.state.run() == other.state.run() {
        runs.map(|run| screen::short(&run.dir).to_string())
    } else {
        runs.map(|run| run.state.run().to_owned())
    }
}

fn show(found: &Compared, args: &CompareArgs, common: &Common) -> Result<(), Refusal> {
    let palette = Palette {
        colour: screen::colour(common.color, &std::io::stdout()),
    };
    match args.format {
        CompareFormat::Table => screen::say(&compared(found, screen::columns(), palette)),
        CompareFormat::Markdown => screen::say(&compared_markdown(found)),
        CompareFormat::Json => say_json(found)?,
    }
    Ok(())
}
