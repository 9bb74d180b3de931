//! How many workers the scheduler bears: stand-ins speak the protocol and run no trials.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_engine::tree::Dir;
use terca_engine::tree::parcel::Packer;

use crate::measure::measure as cost_of;
use crate::place::Place;
use crate::table::{Row, Table, Target, mib, time};
use crate::trials;
use crate::workers::{add_workers, folders};

/// The seconds that a trial takes, and the events in it.
const SECONDS: u32 = 30;
const EVENTS: u32 = 20;
/// The trials of each worker, one after another.
const TURNS: usize = 4;

pub fn measure(place: &Place, table: &mut Table) -> io::Result<()> {
    let workers: usize = if place.quick { 500 } else { 5000 };
    let suite = trials::suite(place)?;
    let parcel = parcel_of_a_trial(place, &suite)?;
    let start = place.program("bench-stand-in");
    let slots = workers.to_string();
    let start = format!("{start} {SECONDS} {EVENTS} {parcel}");
    // The stand-in does not mind the words that would start Terca.
    add_workers(&suite, &start, &slots, Utf8Path::new("terca"))?;
    let trials = (workers * TURNS).to_string();
    let args = [
        "-n", &trials, "-c", &slots, "--format", "plain", "--on", "here",
    ];
    let cost = cost_of(&mut place.terca(&suite, &args)?)?;
    let rate = (workers * TURNS) as f64 / cost.wall.as_secs_f64();
    table.add(&Row {
        what: format!("{workers} workers: the coordinator's share of a core"),
        figure: cost.own_cpu.as_secs_f64() / cost.wall.as_secs_f64(),
        unit: "",
        target: Target::AtMost(1.0),
        detail: format!(
            "{} in {}, {rate:.0} trials/s, {EVENTS} events each; {:.0} MiB at most",
            time(cost.own_cpu),
            time(cost.wall),
            mib(cost.peak_bytes)
        ),
    })
}

/// Packs the folder of a real trial, for all stand-ins to send.
fn parcel_of_a_trial(place: &Place, suite: &Utf8Path) -> io::Result<Utf8PathBuf> {
    cost_of(&mut place.terca(suite, &["-n", "1", "--format", "plain"])?)?;
    let folders = folders(suite)?;
    let folder = folders
        .first()
        .ok_or_else(|| io::Error::other("no trial"))?;
    let parcel = place.dir("parcel")?.join("files");
    let mut packer = Packer::new(fs_err::File::create(&parcel)?);
    packer.add_tree(&Dir::open(folder)?, Utf8Path::new(""))?;
    packer.finish()?;
    place.clear(&suite.join(".terca"))?;
    Ok(parcel)
}
