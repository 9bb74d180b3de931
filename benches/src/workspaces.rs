//! (j) Workspaces that are mounted: trials on a large base, with their tests and their saved work, against the same trials
//! with copies, and against the copies alone.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::Utf8Path;

use crate::copy::suite;
use crate::measure::{Cost, least, measure as cost_of, ratio};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};

type Figure = fn(&Cost) -> Duration;

const SIZES: [usize; 2] = [2_000, 23_000];
const TRIALS: usize = 40;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let trials = if place.quick { 5 } else { TRIALS };
    for files in SIZES {
        measure_size(place, table, files, trials)?;
    }
    Ok(())
}

fn measure_size(place: &Place, table: &mut Table, files: usize, trials: usize) -> io::Result<()> {
    let suite = suite(place, &format!("mounted-{files}"), files)?;
    let base = allocated(&suite.join("_base"))?;
    let (mut mounted, mut copied, mut by_cp) = (Vec::new(), Vec::new(), Vec::new());
    let mut kept = 0;
    for _ in 0..place.repeats(3) {
        copied.push(run(place, &suite, "copy", trials)?);
        mounted.push(run(place, &suite, "overlay", trials)?);
        kept = allocated(&suite.join(".terca"))?;
        by_cp.push(copies(place, &suite.join("_base"), trials)?);
    }
    let (mounted, copied, by_cp) = (least(&mounted)?, least(&copied)?, least(&by_cp)?);
    let what = format!("{trials} trials on {files} files, mounted");
    for (kind, figure) in [
        ("wall", (|cost| cost.wall) as Figure),
        ("CPU", |cost| cost.cpu),
    ] {
        for (beside, cost) in [("copied", &copied), ("`cp -a` twice", &by_cp)] {
            table.add(&Row {
                what: format!("{what}: {kind} / {beside}"),
                figure: ratio(figure(&mounted), figure(cost)),
                unit: " ×",
                target: Target::AtMost(1.0),
                detail: format!("{} / {}", time(figure(&mounted)), time(figure(cost))),
            })?;
        }
    }
    table.add(&Row {
        what: format!("{what}: disk of the run / the base"),
        figure: kept as f64 / base.max(1) as f64,
        unit: " ×",
        target: Target::AtMost(1.1 + trials as f64 * PER_TRIAL / base.max(1) as f64),
        detail: format!("{} / {} KiB", kept / 1024, base / 1024),
    })
}

/// The bytes that a trial which changes nothing keeps: its log, its transcript and the like.
const PER_TRIAL: f64 = 64.0 * 1024.0;

fn run(place: &Place, suite: &Utf8Path, way: &str, trials: usize) -> io::Result<Cost> {
    place.clear(&suite.join(".terca"))?;
    let trials = trials.to_string();
    let mut terca = place.terca(suite, &["-n", &trials, "-c", "2", "--format", "plain"])?;
    cost_of(terca.env("TERCA_WORKSPACES", way))
}

/// Two copies for each trial, both of which are removed: none is kept.
fn copies(place: &Place, base: &Utf8Path, trials: usize) -> io::Result<Cost> {
    let out = place.dir("copies")?;
    let script = "for n in $(seq \"$1\"); do cp -a \"$0\" one && cp -a one two && rm -r one two || exit 1; done";
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .arg(base)
        .arg(trials.to_string())
        .current_dir(&out)
        .stdin(Stdio::null());
    cost_of(&mut command)
}

/// Returns the disk space of a tree. A file with several names counts once.
fn allocated(dir: &Utf8Path) -> io::Result<u64> {
    let mut seen = std::collections::HashSet::new();
    let mut sum = 0;
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        let meta = fs_err::symlink_metadata(&path)?;
        if seen.insert((meta.dev(), meta.ino())) {
            sum += meta.blocks() * 512;
        }
        if meta.is_dir() {
            for entry in path.read_dir_utf8()? {
                open.push(entry?.into_path());
            }
        }
    }
    Ok(sum)
}
