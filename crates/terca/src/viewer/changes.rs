//! The changes of a run and of a trial, as pages hear of them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use terca_engine::run::past_runs;
use terca_engine::run::trial_files;
use terca_engine::run::watch::{Change, Watch};
use terca_report::html::Told;
use terca_report::serve::Event;

use crate::suite::past;

/// The least time between two pieces of news.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the time that may go into making news: a quarter. Those of a large run take a while.
const SHARE: u32 = 4;
/// The time between two looks at the files of a trial, and between two signs of life.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const QUIET: Duration = Duration::from_secs(2);

/// Tells a page what is new in its run, that it began or ended, and that there is a newer run. It does not end: a
/// run that is over may be resumed, or its tests run again.
#[derive(Debug)]
pub struct Changes {
    suite_dir: Utf8PathBuf,
    run_dir: Utf8PathBuf,
    watch: Watch,
    told: Told,
    newest: Option<String>,
    waiting: VecDeque<Event>,
    next_news: Instant,
}

impl Changes {
    /// Watches a run for a page that has seen so many of its events.
    pub fn of(suite_dir: &Utf8Path, run_dir: &Utf8Path, seen: u64) -> Self {
        let mut changes = Changes {
            suite_dir: suite_dir.to_owned(),
            run_dir: run_dir.to_owned(),
            watch: Watch::new(run_dir),
            told: Told::default(),
            newest: newest(suite_dir),
            waiting: VecDeque::new(),
            next_news: Instant::now(),
        };
        if let Some((found, news)) = changes.news()
            && found != seen
        {
            changes.waiting.push_back(news);
        }
        changes
    }

    /// Returns what is new, with the number of events of the run.
    fn news(&mut self) -> Option<(u64, Event)> {
        std::thread::sleep(self.next_news.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        let run = past_runs::read(&self.run_dir).ok()?;
        let seen = (run.next_sequence(), Timestamp::now());
        let news = self.told.news(&run.state, &past::prompts(&run), seen);
        self.next_news = Instant::now() + PAUSE.max(began.elapsed() * SHARE);
        Some((run.next_sequence(), Event::of("news", news?)))
    }
}

impl Iterator for Changes {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.waiting.pop_front() {
            return Some(event);
        }
        let event = match self.watch.wait() {
            Change::Grown => self.news().map_or(Event::QUIET, |(_, news)| news),
            Change::Remarked => {
                let rows = self.news().map(|(_, news)| news);
                self.waiting.extend(rows);
                Event::of("remarks", "-")
            }
            Change::Quiet => Event::QUIET,
            Change::Begun => Event::of("begun", "-"),
            Change::Ended => {
                // A process that was killed tells nothing of its end.
                let last = self.news().map(|(_, news)| news);
                self.waiting.extend(last);
                Event::of("end", "-")
            }
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

fn newest(suite_dir: &Utf8Path) -> Option<String> {
    past_runs::names(suite_dir).ok()?.pop()
}

/// Tells the page of a trial that its session or its log has grown.
#[derive(Debug)]
pub struct Growth {
    run_dir: Utf8PathBuf,
    trial_dir: Utf8PathBuf,
    seen: [u64; 2],
}

impl Growth {
    /// Watches the files of a trial.
    pub fn of(run_dir: &Utf8Path, trial_dir: &Utf8Path) -> Self {
        Growth {
            run_dir: run_dir.to_owned(),
            trial_dir: trial_dir.to_owned(),
            // The page may have been made before: it looks once more.
            seen: [0; 2],
        }
    }

    fn sizes(&self) -> [u64; 2] {
        [trial_files::TRANSCRIPT, trial_files::LOG].map(|name| {
            let file = trial_files::open(&self.run_dir, &self.trial_dir, name);
            let meta = file.ok().and_then(|file| file.metadata().ok());
            meta.map_or(0, |meta| meta.len())
        })
    }
}

impl Iterator for Growth {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let started = Instant::now();
        loop {
            // Not more often than a reader can follow.
            std::thread::sleep(LOOK_EVERY);
            let sizes = self.sizes();
            if sizes != self.seen && started.elapsed() >= PAUSE {
                self.seen = sizes;
                return Some(Event::of("grown", "-"));
            }
            if started.elapsed() >= QUIET {
                return Some(Event::QUIET);
            }
        }
    }
}
