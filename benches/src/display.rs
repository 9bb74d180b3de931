//! (e) What the live display costs: Terca's own processor time with it, less the time without it, as a share of the
//! time that the run took.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::measure::{Cost, measure as cost_of, side_by_side};
use crate::place::Place;
use crate::table::{Row, Table, Target, time};
use crate::trials;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let seconds = if place.quick { 5 } else { 20 };
    let talking = talking_suite(place, seconds)?;
    let what = format!("live display: 64 agents that talk for {seconds} s");
    share(place, table, &what, &talking, 64)?;
    let nothing = trials::suite(place)?;
    let count = if place.quick { 300 } else { 1000 };
    share(
        place,
        table,
        &format!("live display: {count} no-op trials, 64 at once"),
        &nothing,
        count,
    )
}

fn share(
    place: &Place,
    table: &mut Table,
    what: &str,
    suite: &Utf8Path,
    trials: usize,
) -> io::Result<()> {
    let trials = trials.to_string();
    let args =
        |format: &'static str| ["-n", &trials, "-c", "64", "--format", format].map(str::to_owned);
    let (with, without) = side_by_side(
        place.repeats(4),
        || {
            place.clear(&suite.join(".terca"))?;
            in_terminal(place, suite, &args("tty"))
        },
        || {
            place.clear(&suite.join(".terca"))?;
            let args = args("plain");
            cost_of(&mut place.terca(suite, &args.each_ref().map(String::as_str))?)
        },
    )?;
    let spent = with.own_cpu.saturating_sub(without.own_cpu);
    table.add(&Row {
        what: format!("{what}: of a core"),
        figure: 100.0 * spent.as_secs_f64() / with.wall.as_secs_f64(),
        unit: " %",
        target: Target::AtMost(3.0),
        detail: format!(
            "{} − {} in {}",
            time(with.own_cpu),
            time(without.own_cpu),
            time(with.wall)
        ),
    })
}

fn talking_suite(place: &Place, seconds: u64) -> io::Result<Utf8PathBuf> {
    let suite = place.dir("talking")?;
    let talker = place.program("bench-talker");
    fs_err::write(
        suite.join("terca.yaml"),
        format!(
            "environments: [{{name: e, agent: {{name: command, command: '{talker} {seconds}'}}}}]\n\
             evals: [{{name: talk, prompt: x, allowWarnings: no-tests}}]\n"
        ),
    )?;
    Ok(suite)
}

/// Runs Terca with its standard error on a terminal of 160 × 50.
fn in_terminal(place: &Place, suite: &Utf8Path, args: &[String; 6]) -> io::Result<Cost> {
    let (ours, theirs) = open_terminal()?;
    // Somebody must look at the screen, or it fills up and Terca waits.
    let watcher = std::thread::spawn(move || {
        let (mut screen, mut seen) = (File::from(ours), [0; 64 * 1024]);
        while screen.read(&mut seen).is_ok_and(|length| length > 0) {}
    });
    let mut command = place.terca(suite, &args.each_ref().map(String::as_str))?;
    let cost = cost_of(
        command
            .env("TERM", "xterm-256color")
            .stderr(Stdio::from(theirs)),
    );
    // The last handle of the terminal's other end goes with it, which ends the watcher.
    drop(command);
    let _ = watcher.join();
    cost
}

fn open_terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(
        name.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    tcsetwinsize(
        &theirs,
        Winsize {
            ws_row: 50,
            ws_col: 160,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    )?;
    Ok((ours, theirs))
}
