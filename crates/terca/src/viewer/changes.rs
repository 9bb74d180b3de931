//! The changes of a run, as its page hears of them.

use std::collections::VecDeque;

use camino::{Utf8Path, Utf8PathBuf};
use terca_engine::run::past_runs;
use terca_engine::run::watch::{Change, Watch};
use terca_report::serve::Event;

/// Tells a page that its run has changed, began, ended, or that there is a newer run. It does not end: a run that is over may be
/// resumed, or its tests run again.
#[derive(Debug)]
pub struct Changes {
    suite_dir: Utf8PathBuf,
    watch: Watch,
    newest: Option<String>,
    waiting: VecDeque<Event>,
}

impl Changes {
    /// Watches a run.
    pub fn of(suite_dir: &Utf8Path, run_dir: &Utf8Path) -> Self {
        Changes {
            suite_dir: suite_dir.to_owned(),
            watch: Watch::new(run_dir),
            newest: newest(suite_dir),
            // The page may have been made before the watch began, so that it looks once more.
            waiting: VecDeque::from([changed()]),
        }
    }
}

impl Iterator for Changes {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.waiting.pop_front() {
            return Some(event);
        }
        let event = match self.watch.wait() {
            Change::Grown => changed(),
            Change::Quiet => Event::QUIET,
            Change::Begun => Event::of("begun", "-"),
            Change::Ended => Event::of("end", "-"),
        };
        let newest = newest(&self.suite_dir);
        if newest != self.newest {
            let name = newest.clone().unwrap_or_default();
            self.waiting.push_back(Event::of("newer", name));
            self.newest = newest;
        }
        Some(event)
    }
}

fn changed() -> Event {
    Event::of("change", "-")
}

fn newest(suite_dir: &Utf8Path) -> Option<String> {
    past_runs::names(suite_dir).ok()?.pop()
}
