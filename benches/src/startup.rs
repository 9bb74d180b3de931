//! (a) Starting up: `terca -v` against a program that does nothing at all.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::measure::{Cost, measure as cost_of, ratio};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let (mut terca, mut empty) = (Vec::new(), Vec::new());
    for _ in 0..place.repeats(300) {
        terca.push(start(place, "terca", &["-v"])?);
        empty.push(start(place, "bench-empty", &[])?);
    }
    let (terca, empty) = (median(terca), median(empty));
    table.add(&Row {
        what: "start-up: terca -v / an empty program, wall".into(),
        figure: ratio(terca, empty),
        unit: " ×",
        target: Target::AtMost(3.0),
        detail: format!("{} / {}, medians", time(terca), time(empty)),
    })
}

fn start(place: &Place, program: &str, args: &[&str]) -> io::Result<Cost> {
    let mut command = Command::new(place.program(program));
    cost_of(
        command
            .args(args)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null()),
    )
}

/// Of something that takes a millisecond, the middle says more than the least.
fn median(costs: Vec<Cost>) -> Duration {
    let mut walls: Vec<Duration> = costs.into_iter().map(|cost| cost.wall).collect();
    walls.sort_unstable();
    walls[walls.len() / 2]
}
