//! Grades the trials of a run again, several at a time.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use terca_core::plan::TrialSpec;
use terca_core::run::outcome::TrialReport;

use crate::trial::{Context, regrade};

/// A trial to be graded, and what it came to before.
#[derive(Debug)]
pub struct Task {
    pub trial: TrialSpec,
    pub old: TrialReport,
}

/// The new reports by trial, in the order of the tasks; `None` when it was interrupted: a run is graded as a
/// whole or not at all. `told` is called after each trial with the number done.
pub fn run(
    tasks: &[Task],
    grading: u32,
    context: &Context,
    at_once: usize,
    told: &(dyn Fn(usize) + Sync),
) -> Option<Vec<(u32, TrialReport)>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, TrialReport)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((index, task)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            tasks.get(index).map(|task| (index, task))
        } {
            let Some(report) = regrade(&task.trial, &task.old, grading, context) else {
                return;
            };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((index, report));
            told(done.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.clamp(1, tasks.len().max(1)) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if done.len() < tasks.len() {
        return None;
    }
    done.sort_by_key(|(index, _)| *index);
    Some(
        done.into_iter()
            .map(|(index, report)| (tasks[index].trial.id, report))
            .collect(),
    )
}
