//! A large tree: copying it against `cp -a`, and removing it against `rm -rf`.

use std::io;
use std::process::Command;
use std::time::Duration;

use camino::Utf8Path;

use crate::measure::{Cost, least, measure as cost_of, ratio};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};

/// More than most projects have with everything they depend on.
const FILES: usize = 200_000;
const QUICK: usize = 20_000;
const FILES_IN_DIRECTORY: usize = 100;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let files = if place.quick { QUICK } else { FILES };
    let dir = place.dir("tree")?;
    make(&dir.join("from"), files)?;
    let (mut copies, mut removals) = (Vec::new(), Vec::new());
    let (mut by_cp, mut by_rm) = (Vec::new(), Vec::new());
    for _ in 0..place.repeats(3) {
        let own = place.program("bench-tree");
        copies.push(run(&dir, own.as_str(), &["copy", "from", "to"])?);
        removals.push(run(&dir, own.as_str(), &["remove", "to"])?);
        by_cp.push(run(&dir, "cp", &["-a", "from", "to"])?);
        by_rm.push(run(&dir, "rm", &["-rf", "to"])?);
    }
    let copies = [least(&copies)?, least(&by_cp)?];
    let removals = [least(&removals)?, least(&by_rm)?];
    for (what, [ours, theirs]) in [("copy / cp -a", copies), ("remove / rm -rf", removals)] {
        add(
            table,
            &format!("{files} files: {what}: wall"),
            [ours.wall, theirs.wall],
        )?;
        add(
            table,
            &format!("{files} files: {what}: CPU"),
            [ours.cpu, theirs.cpu],
        )?;
    }
    Ok(())
}

fn add(table: &mut Table, what: &str, [ours, theirs]: [Duration; 2]) -> io::Result<()> {
    table.add(&Row {
        what: what.to_owned(),
        figure: ratio(ours, theirs),
        unit: " ×",
        target: Target::AtMost(1.5),
        detail: format!("{} / {}", time(ours), time(theirs)),
    })
}

fn make(root: &Utf8Path, files: usize) -> io::Result<()> {
    for index in 0..files {
        let number = index / FILES_IN_DIRECTORY;
        let dir = root.join(format!("{}/{number}", number % 20));
        if index % FILES_IN_DIRECTORY == 0 {
            fs_err::create_dir_all(&dir)?;
        }
        let content = format!("file {index}\n").repeat(index % 50);
        fs_err::write(dir.join(format!("{index}.txt")), content)?;
    }
    Ok(())
}

fn run(dir: &Utf8Path, program: &str, args: &[&str]) -> io::Result<Cost> {
    cost_of(Command::new(program).args(args).current_dir(dir))
}
