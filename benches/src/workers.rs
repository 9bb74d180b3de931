//! (i) Trials on workers: beside local ones, and what goes over the wire.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::measure::{Cost, measure as cost_of, ratio, side_by_side};
use crate::place::Place;
use crate::table::{Row, Table, Target, mib, time};
use crate::trials;

/// The workers, and the local trials at once.
const WORKERS: &str = "8";
/// The bytes that an agent leaves.
const NOISE: usize = 64 * 1024;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let trials = if place.quick { 100 } else { 1000 };
    beside_local(place, table, trials)?;
    on_the_wire(place, table, trials)
}

/// Adds a pool called `here`, whose workers are started by a command on this machine.
fn add_workers(suite: &Utf8Path, start: &str, slots: &str, program: &Utf8Path) -> io::Result<()> {
    fs_err::write(
        suite.join("workers.yaml"),
        format!("here: {{start: '{start}', slots: {slots}, terca: '{program}'}}\n"),
    )
}

fn run(place: &Place, suite: &Utf8Path, trials: usize, args: &[&str]) -> io::Result<Cost> {
    place.clear(&suite.join(".terca"))?;
    let trials = trials.to_string();
    let usual = ["-n", &trials, "-c", WORKERS, "--format", "plain"];
    cost_of(&mut place.terca(suite, &[&usual, args].concat())?)
}

fn beside_local(place: &Place, table: &mut Table, trials: usize) -> io::Result<()> {
    let suite = trials::suite(place)?;
    add_workers(&suite, "env", WORKERS, &place.program("terca"))?;
    let (on_workers, local) = side_by_side(
        place.repeats(4),
        || run(place, &suite, trials, &["--on", "here"]),
        || run(place, &suite, trials, &[]),
    )?;
    for (what, one, other, target) in [
        ("wall", on_workers.wall, local.wall, Target::AtMost(2.0)),
        ("CPU", on_workers.cpu, local.cpu, Target::None),
    ] {
        table.add(&Row {
            what: format!("{trials} no-op trials on 8 workers / local: {what}"),
            figure: ratio(one, other),
            unit: " ×",
            target,
            detail: format!("{} / {}", time(one), time(other)),
        })?;
    }
    Ok(())
}

/// Runs trials on workers whose bytes are counted. Returns those to the workers and those from them.
fn counted(place: &Place, suite: &Utf8Path, trials: usize) -> io::Result<(u64, u64)> {
    let counts = place.dir("wire")?;
    let start = format!("{} {counts}", place.program("bench-wire"));
    add_workers(suite, &start, WORKERS, &place.program("terca"))?;
    run(place, suite, trials, &["--on", "here"])?;
    let (mut to, mut from) = (0, 0);
    for entry in counts.read_dir_utf8()? {
        let text = fs_err::read_to_string(entry?.path())?;
        let mut numbers = text.split(' ').filter_map(|number| number.parse().ok());
        to += numbers.next().unwrap_or(0);
        from += numbers.next().unwrap_or(0);
    }
    Ok((to, from))
}

fn on_the_wire(place: &Place, table: &mut Table, trials: usize) -> io::Result<()> {
    let agent = format!("head -c {NOISE} /dev/urandom > noise");
    let suite = trials::suite_of(place, &agent)?;
    let (to, from) = counted(place, &suite, trials)?;
    let kept: u64 = folders(&suite)?
        .iter()
        .map(|folder| size_of(folder))
        .sum::<io::Result<u64>>()?;
    let each = |bytes: u64| bytes as f64 / trials as f64 / 1024.0;
    table.add(&Row {
        what: format!("{trials} trials that leave 64 KiB: bytes on the wire / in folders"),
        figure: (to + from) as f64 / kept as f64,
        unit: " ×",
        target: Target::AtMost(1.5),
        detail: format!(
            "each {:.1} KiB there, {:.1} KiB back, {:.1} KiB kept",
            each(to),
            each(from),
            each(kept)
        ),
    })
}

/// Returns the folders of trials in the only run of a suite.
fn folders(suite: &Utf8Path) -> io::Result<Vec<Utf8PathBuf>> {
    let runs = suite.join(".terca/runs");
    let mut folders = Vec::new();
    for run in runs.read_dir_utf8()? {
        for entry in run?.path().join("nothing").read_dir_utf8()? {
            folders.push(entry?.into_path());
        }
    }
    Ok(folders)
}

/// Returns the bytes of all files below a directory.
fn size_of(dir: &Utf8Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.read_dir_utf8()? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => size_of(entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(bytes)
}
