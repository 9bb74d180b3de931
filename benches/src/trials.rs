//! (b) Trials that do nothing: Terca against the least program that starts the same processes and copies the same
//! files, and how the cost grows with their number.

use std::io;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::measure::{Cost, measure as cost_of, ratio, side_by_side};
use crate::place::Place;
use crate::table::{Row, Table, Target, mib, time};

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let (few, many) = if place.quick {
        (200, 1000)
    } else {
        (1000, 5000)
    };
    let suite = suite(place)?;
    for concurrency in [2, 8, 64] {
        // Promised for 2 and 8; with 64 at once the processes themselves get in each other's way.
        let promised = |most| {
            if concurrency < 64 {
                Target::AtMost(most)
            } else {
                Target::None
            }
        };
        let at_few = compare(place, &suite, few, concurrency, place.repeats(5))?;
        rows(table, at_few, few, concurrency, promised)?;
        let at_many = compare(place, &suite, many, concurrency, place.repeats(2))?;
        rows(table, at_many, many, concurrency, promised)?;
        growth(table, (at_few.0, few), (at_many.0, many), concurrency)?;
    }
    Ok(())
}

/// A suite whose trials do nothing: a handful of files, an agent and a test that are `true`.
pub fn suite(place: &Place) -> io::Result<Utf8PathBuf> {
    suite_of(place, "true")
}

/// The same suite with another command as the agent.
pub fn suite_of(place: &Place, agent: &str) -> io::Result<Utf8PathBuf> {
    let suite = place.dir("trials")?;
    fs_err::create_dir_all(suite.join("_base/src"))?;
    for (file, size) in [
        ("README.md", 300),
        ("package.json", 400),
        ("src/main.js", 2000),
    ] {
        fs_err::write(suite.join("_base").join(file), "x".repeat(size))?;
    }
    fs_err::write(
        suite.join("terca.yaml"),
        format!(
            "environments: [{{name: e, agent: {{name: command, command: '{agent}'}}}}]\n\
             evals:\n  - {{name: nothing, prompt: x, tests: [{{fileExists: README.md}}, {{commandSuccess: 'true'}}]}}\n"
        ),
    )?;
    Ok(suite)
}

fn compare(
    place: &Place,
    suite: &Utf8Path,
    trials: usize,
    concurrency: usize,
    repeats: usize,
) -> io::Result<(Cost, Cost)> {
    let (trials, concurrency) = (trials.to_string(), concurrency.to_string());
    side_by_side(
        repeats,
        || {
            place.clear(&suite.join(".terca"))?;
            cost_of(&mut place.terca(
                suite,
                &["-n", &trials, "-c", &concurrency, "--format", "plain"],
            )?)
        },
        || {
            let out = place.dir("minimal")?;
            let mut command = Command::new(place.program("bench-minimal"));
            command
                .arg(suite.join("_base"))
                .arg(&out)
                .args([&trials, &concurrency])
                .stdin(Stdio::null());
            let cost = cost_of(&mut command);
            place.clear(&out)?;
            cost
        },
    )
}

fn rows(
    table: &mut Table,
    (terca, minimal): (Cost, Cost),
    trials: usize,
    concurrency: usize,
    promised: impl Fn(f64) -> Target,
) -> io::Result<()> {
    for (what, one, other, most) in [
        ("wall", terca.wall, minimal.wall, 2.0),
        ("CPU", terca.cpu, minimal.cpu, 2.0),
    ] {
        table.add(&Row {
            what: format!(
                "{trials} no-op trials, {concurrency} at once: {what} / the least program's"
            ),
            figure: ratio(one, other),
            unit: " ×",
            target: promised(most),
            detail: format!("{} / {}", time(one), time(other)),
        })?;
    }
    table.add(&Row {
        what: format!("{trials} no-op trials, {concurrency} at once: peak memory"),
        figure: mib(terca.peak_bytes),
        unit: " MiB",
        target: Target::AtMost(64.0),
        detail: String::new(),
    })
}

fn growth(
    table: &mut Table,
    (few_cost, few): (Cost, usize),
    (many_cost, many): (Cost, usize),
    concurrency: usize,
) -> io::Result<()> {
    let what =
        |figure: &str| format!("{many} trials / {few} trials, {concurrency} at once: {figure}");
    table.add(&Row {
        what: what("wall"),
        figure: ratio(many_cost.wall, few_cost.wall),
        unit: " ×",
        target: Target::AtMost(5.5),
        detail: format!("{} / {}", time(many_cost.wall), time(few_cost.wall)),
    })?;
    let (many_bytes, few_bytes) = (many_cost.written_bytes, few_cost.written_bytes);
    table.add(&Row {
        what: what("bytes written"),
        figure: many_bytes as f64 / few_bytes as f64,
        unit: " ×",
        target: Target::AtMost(5.5),
        detail: format!("{:.1} MiB / {:.1} MiB", mib(many_bytes), mib(few_bytes)),
    })
}
