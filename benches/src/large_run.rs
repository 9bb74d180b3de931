//! (k) A large run: the memory and the time of each command that reads or writes all of it, and how both grow.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::measure::{Cost, measure as cost_of, ratio};
use crate::place::Place;
use crate::table::{Row, Table, Target, mib, time};

/// The evals of the suite. Each has two variants.
const EVALS: usize = 50;
const VARIANTS: usize = 2;
/// The sizes differ by this factor.
const GROWTH: usize = 4;
/// The most memory that any command takes.
const MOST_MIB: f64 = 150.0;

/// The commands that are measured, in this order.
const COMMANDS: [(&str, &[&str]); 10] = [
    ("plan", &["plan"]),
    ("run", &["run"]),
    ("show", &["show"]),
    ("show --format json", &["show", "--format", "json"]),
    ("list", &["list"]),
    ("verify", &["verify"]),
    ("compare", &["compare"]),
    ("report --html", &["report", "--html", "page.html"]),
    ("report --csv", &["report", "--csv", "trials.csv"]),
    ("report --junit", &["report", "--junit", "junit.xml"]),
];

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let many = if place.quick { 4_000 } else { 20_000 };
    let few = many / GROWTH;
    let (small, large) = (costs(place, few)?, costs(place, many)?);
    for (((name, _), few_cost), many_cost) in COMMANDS.iter().zip(small).zip(large) {
        table.add(&Row {
            what: format!("{many} trials, `terca {name}`: peak memory"),
            figure: mib(many_cost.peak_bytes),
            unit: " MiB",
            target: Target::AtMost(MOST_MIB),
            detail: format!("{:.0} MiB at {few}", mib(few_cost.peak_bytes)),
        })?;
        table.add(&Row {
            what: format!("{many} / {few} trials, `terca {name}`: CPU"),
            figure: ratio(many_cost.cpu, few_cost.cpu),
            unit: " ×",
            target: Target::AtMost(GROWTH as f64 * 1.3),
            detail: format!("{} / {}", time(many_cost.cpu), time(few_cost.cpu)),
        })?;
    }
    Ok(())
}

fn costs(place: &Place, trials: usize) -> io::Result<Vec<Cost>> {
    let suite = suite(place)?;
    let repetitions = (trials / EVALS / VARIANTS).to_string();
    let cost = |(_, args): &(&str, &[&str])| command(place, &suite, args, &repetitions);
    let costs = COMMANDS.iter().map(cost).collect();
    place.clear(&suite)?;
    costs
}

fn command(place: &Place, suite: &Utf8Path, args: &[&str], repetitions: &str) -> io::Result<Cost> {
    let mut args = args.to_vec();
    match args[0] {
        "plan" => args.extend(["-n", repetitions]),
        "run" => args.extend(["-n", repetitions, "-c", "8", "--format", "plain"]),
        _ => {}
    }
    cost_of(&mut place.terca(suite, &args)?)
}

/// A suite with many evals whose trials do nothing.
fn suite(place: &Place) -> io::Result<Utf8PathBuf> {
    let suite = place.dir("large")?;
    let mut text = "environments: [{name: e, agent: {name: command, command: 'true'}}]\n\
                    experiments: [{name: control}, {name: other, env: {A: b}}]\nevals:\n"
        .to_owned();
    for number in 0..EVALS {
        text += &format!(
            "  - {{name: eval-{number}, prompt: x, tests: [{{commandSuccess: 'true'}}]}}\n"
        );
    }
    fs_err::write(suite.join("terca.yaml"), text)?;
    Ok(suite)
}
