//! (g) Contained trials beside uncontained ones: the cost of sandboxes and of a network of their own.

use std::io;

use crate::measure::{measure as cost_of, ratio, side_by_side};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};
use crate::trials::suite;

/// The commands of a trial that have a sandbox: the agent and one test.
const COMMANDS: f64 = 2.0;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let trials = if place.quick { 20 } else { 100 };
    let suite = suite(place)?;
    let doctor = place
        .terca(&suite, &["doctor"])?
        .stdout(std::process::Stdio::piped())
        .output()?;
    if !String::from_utf8_lossy(&doctor.stdout).contains("✓ sandbox") {
        return table.add(&Row {
            what: "contained trials: no sandbox works on this machine".to_owned(),
            figure: 0.0,
            unit: "",
            target: Target::None,
            detail: String::new(),
        });
    }
    let count = trials.to_string();
    let run = |sandbox: &str| {
        place.clear(&suite.join(".terca"))?;
        cost_of(&mut place.terca(
            &suite,
            &[
                "-n", &count, "-c", "1", "--format", "plain", "--sandbox", sandbox,
            ],
        )?)
    };
    let (contained, open) = side_by_side(place.repeats(5), || run("bwrap"), || run("none"))?;
    table.add(&Row {
        what: format!("{trials} no-op trials, one at a time: contained / uncontained"),
        figure: ratio(contained.wall, open.wall),
        unit: " ×",
        target: Target::None,
        detail: format!("{} / {}", time(contained.wall), time(open.wall)),
    })?;
    let more = contained.wall.saturating_sub(open.wall).as_secs_f64() * 1000.0;
    table.add(&Row {
        what: "a sandbox with a network of its own, for one command".to_owned(),
        figure: more / f64::from(trials) / COMMANDS,
        unit: " ms",
        target: Target::AtMost(25.0),
        detail: format!("{:.1} ms for each trial", more / f64::from(trials)),
    })
}
