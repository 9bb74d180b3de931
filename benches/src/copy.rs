//! (c) Copying a workspace: a trial's two copies against two of `cp -a`.
//!
//! A trial copies the layer, and copies what the agent left for the tests; beside that it does what every trial does,
//! so that a trial with an empty workspace is taken off.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::Utf8Path;

use crate::measure::{Cost, least, measure as cost_of, ratio};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};

/// As many as `npm ci` makes for a small project, and for a large one.
const SIZES: [usize; 2] = [2_000, 20_000];
const TRIALS: &str = "5";

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    for files in SIZES {
        measure_size(place, table, files)?;
    }
    Ok(())
}

fn measure_size(place: &Place, table: &mut Table, files: usize) -> io::Result<()> {
    let (full, empty) = (
        suite(place, &format!("full-{files}"), files)?,
        suite(place, "empty", 0)?,
    );
    let (mut with, mut without, mut by_cp) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..place.repeats(6) {
        with.push(run(place, &full)?);
        without.push(run(place, &empty)?);
        by_cp.push(copy(place, &full.join("_base"))?);
    }
    let (with, without, by_cp) = (least(&with)?, least(&without)?, least(&by_cp)?);
    let what = format!("{TRIALS} × 2 copies of {files} files, and looking for changes");
    for (kind, most, figure) in [
        (
            "wall",
            3.0,
            (|cost: &Cost| cost.wall) as fn(&Cost) -> Duration,
        ),
        ("CPU", 3.0, |cost: &Cost| cost.cpu),
    ] {
        let copies = figure(&with).saturating_sub(figure(&without));
        table.add(&Row {
            what: format!("{what}: {kind} / cp -a"),
            figure: ratio(copies, figure(&by_cp)),
            unit: " ×",
            target: Target::AtMost(most),
            detail: format!("{} / {}", time(copies), time(figure(&by_cp))),
        })?;
    }
    Ok(())
}

pub fn suite(place: &Place, name: &str, files: usize) -> io::Result<camino::Utf8PathBuf> {
    let suite = place.dir(&format!("copy-{name}"))?;
    for index in 0..files {
        let dir = suite.join(format!("_base/src/part{:02}", index % 40));
        fs_err::create_dir_all(&dir)?;
        fs_err::write(
            dir.join(format!("file{index}.txt")),
            format!("line of text {index}\n").repeat(100),
        )?;
    }
    fs_err::write(
        suite.join("terca.yaml"),
        "environments: [{name: e, agent: {name: command, command: 'true'}}]\n\
         evals: [{name: nothing, prompt: x, tests: [{commandSuccess: 'true'}]}]\n",
    )?;
    Ok(suite)
}

fn run(place: &Place, suite: &Utf8Path) -> io::Result<Cost> {
    place.clear(&suite.join(".terca"))?;
    let mut terca = place.terca(suite, &["-n", TRIALS, "-c", "1", "--format", "plain"])?;
    cost_of(terca.env("TERCA_WORKSPACES", "copy"))
}

/// The same number of copies; the second of each pair is removed, as the copy that is graded is.
fn copy(place: &Place, base: &Utf8Path) -> io::Result<Cost> {
    let out = place.dir("copies")?;
    let script = "for n in $(seq \"$1\"); do cp -a \"$0\" one$n && cp -a one$n two && rm -r two || exit 1; done";
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .arg(base)
        .arg(TRIALS)
        .current_dir(&out)
        .stdin(Stdio::null());
    cost_of(&mut command)
}
