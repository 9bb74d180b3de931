//! On GitHub Actions a run adds itself to the job's summary, and what did not pass to the annotations.

use std::fs::OpenOptions;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::config::Suite;
use terca_core::text::source::Sources;
use terca_engine::host::environment::Host;
use terca_engine::suite::discover;
use terca_report::github::FilePlace;
use terca_report::{github, markdown};

use crate::args::{Common, Format};
use crate::screen;

/// The most that GitHub takes from one step.
const LARGEST_SUMMARY: usize = 1024 * 1024;
/// Less is not worth it.
const SMALLEST_SUMMARY: usize = 4 * 1024;

/// Adds a run to the job. Does nothing outside of GitHub Actions.
pub(super) fn add(results: &Results, format: Format, common: &Common) -> io::Result<()> {
    if !screen::is_on_github() {
        return Ok(());
    }
    let places = Places::of_suite(common);
    let annotations = github::annotations(results, &|trial| places.as_ref()?.find(trial));
    match format {
        _ if annotations.is_empty() => {}
        // Standard output is for one JSON event per line; GitHub reads both streams.
        Format::Json => screen::command(&annotations, &mut io::stderr()),
        _ => screen::command(&annotations, &mut io::stdout()),
    }
    let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) else {
        return Ok(());
    };
    let named = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("the job's summary cannot be written: {error}"),
        )
    };
    let mut summary = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .map_err(named)?;
    // The output of earlier commands of the step counts too.
    let written = summary.metadata().map_err(named)?.len() as usize;
    let room = LARGEST_SUMMARY.saturating_sub(written);
    if room < SMALLEST_SUMMARY {
        screen::err("note: the job's summary is full; nothing was added to it");
        return Ok(());
    }
    let apart = if written > 0 { "\n" } else { "" };
    summary
        .write_all(format!("{apart}{}", markdown(results, room - 1)).as_bytes())
        .map_err(named)
}

/// The places of tests in the files of the suite.
struct Places {
    suite: Suite,
    sources: Sources,
    /// The directory of the repository.
    root: Utf8PathBuf,
}

impl Places {
    /// Reads the suite once more: results do not have its files.
    fn of_suite(common: &Common) -> Option<Self> {
        let host = Host::of_this_process();
        let loaded = discover::load(&common.dir, &|name| host.get(name).map(str::to_owned)).ok()?;
        let root = std::env::var("GITHUB_WORKSPACE").unwrap_or_else(|_| ".".to_owned());
        Some(Places {
            suite: loaded.suite?,
            sources: loaded.sources,
            root: Utf8Path::new(&root).canonicalize_utf8().ok()?,
        })
    }

    /// Returns the place of the test that a trial did not pass, or of its eval's first one.
    fn find(&self, trial: &TrialResult) -> Option<FilePlace> {
        let mut evals = self.suite.evals.iter();
        let eval = evals.find(|eval| eval.name == trial.head.eval)?;
        let lost = trial.report.losses().next().map(|(name, _)| name);
        let test = eval.tests.iter().find(|test| Some(&*test.name) == lost);
        let place = test.or(eval.tests.first())?.place;
        let file = self.sources.get(place.file).path.strip_prefix(&self.root);
        Some(FilePlace {
            file: file.ok()?.to_string(),
            line: self.sources.line_and_column(place).0,
        })
    }
}
