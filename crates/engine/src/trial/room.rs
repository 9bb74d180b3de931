//! The room on the disk of a trial, by which an agent that has filled the disk is told from a disk that is too small.

use camino::{Utf8Path, Utf8PathBuf};

use super::agent_work::AgentWork;
use super::grading;
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::tree::{Dir, Options, Visit, walk};
use crate::workspace::changes::Snapshot;

/// The reason why the work of such an agent fails every test.
const FILLED: &str = "the agent filled the disk";

/// Bytes, and entries of directories.
type Size = [u64; 2];

/// The room on the disk of a trial when its agent started.
pub(super) struct Room {
    free: Size,
    /// The size of what was there already.
    held: Size,
}

impl Room {
    /// Measures the room for an agent that is about to start. `None` if the system does not tell.
    pub(super) fn before(run: &TrialRun<'_>, snapshot: &Snapshot) -> Option<Self> {
        let system = rustix::fs::statvfs(run.dirs.root.as_std_path()).ok()?;
        Some(Room {
            free: [
                system.f_bavail.saturating_mul(system.f_frsize),
                system.f_favail,
            ],
            held: snapshot.size(),
        })
    }

    /// Judges a trial that could not go on, if its agent has taken half of the room or more: an error would be a free attempt.
    pub(super) fn judge(self, run: &mut TrialRun<'_>, error: StageError) -> Result<(), StageError> {
        if !error.is_of_machine() || !self.is_filled(&run.dirs.places_of_agent()) {
            return Err(error);
        }
        run.supervisor.sweep()?;
        // There is no room to write down what happened.
        let _left = run.dirs.remove();
        run.is_keepable = false;
        run.is_breach = true;
        run.report.tests.clear();
        let note = format!("{FILLED}: the tests did not run, and the workspace was not kept");
        run.report.notes.push(note);
        let work = AgentWork {
            is_reference: false,
            changed: Vec::new(),
            usage: run.report.stats.usage,
            seconds: run.report.stats.duration_seconds.unwrap_or_default(),
            tapped_servers: Vec::new(),
            breach: Some(FILLED.to_owned()),
        };
        grading::grade(run, None, &work)
    }

    fn is_filled(&self, places: &[Utf8PathBuf]) -> bool {
        let mut taken = [0, 0];
        for place in places {
            taken = sum(taken, size(place));
        }
        let own = taken.into_iter().zip(self.held);
        let mut own = own.map(|(taken, held)| taken.saturating_sub(held));
        // Some file systems have no number of entries.
        let mut shares = self
            .free
            .into_iter()
            .filter_map(|free| Some((own.next()?, free)));
        shares.any(|(own, free)| free > 0 && own >= free / 2)
    }
}

fn sum(one: Size, other: Size) -> Size {
    [
        one[0].saturating_add(other[0]),
        one[1].saturating_add(other[1]),
    ]
}

/// Returns the size of what can be looked at in a directory.
fn size(place: &Utf8Path) -> Size {
    let mut size = [0, 0];
    let Ok(dir) = Dir::open_no_link(place) else {
        return size;
    };
    let _ = walk(&dir, &Options::default(), &mut |entry, meta| {
        if !entry.is_mount {
            size = sum(size, [meta.allocated, 1]);
        }
        Ok(Visit::Continue)
    });
    size
}
