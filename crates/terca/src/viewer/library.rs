//! The pages of a suite's runs, by address.
//!
//! ```text
//! /                             all runs
//! /runs/RUN/                    a run
//! /runs/RUN/events              told when it has changed
//! /runs/RUN/trials/17           a trial of it
//! /runs/RUN/trials/17/run.log   a file of that trial
//! /compare/RUN/RUN              two runs
//! ```
//!
//! A run is one of those that `terca list` lists, and a file one of four names, so that no address leads elsewhere.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::summary::{Summary, summarise_figures};
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::watch::{Change, Watch};
use terca_engine::run::{files, trial_files};
use terca_report::html::matrix::Matrix;
use terca_report::html::shell::document;
use terca_report::html::{
    Bound, Files, Kind, TrialPage, compare_page, run_page, runs_page, trial_page,
};
use terca_report::serve::{Refusal, Response};

use crate::cli_error::CliError;
use crate::past;
use crate::two_runs::{self, Choices};

/// The bytes of a trial that are shown at once. The files themselves are a click away.
const ROOM: usize = 2_000_000;

/// The runs of a suite.
#[derive(Debug)]
pub struct Library {
    suite_dir: Utf8PathBuf,
}

type Answer = Result<Response, Refusal>;

impl Library {
    pub fn new(suite_dir: &Utf8Path) -> Self {
        Library {
            suite_dir: suite_dir.to_owned(),
        }
    }

    pub fn answer(&self, parts: &[&str]) -> Response {
        let answer = match parts {
            [] | [""] => self.all_runs(),
            ["runs", run, ""] => self.run(run),
            ["runs", run, "events"] => self.events(run),
            ["runs", run, "trials", id] => self.trial(run, id),
            ["runs", run, "trials", id, file] => self.file(run, id, file),
            ["compare", first, second] => self.compare(first, second),
            _ => Err(Refusal::NotFound),
        };
        answer.unwrap_or_else(Response::refusal)
    }

    fn all_runs(&self) -> Answer {
        let names = past_runs::names(&self.suite_dir).map_err(|_| Refusal::NotFound)?;
        let runs: Vec<_> = names
            .into_iter()
            .map(|name| past::listed(&self.suite_dir, name))
            .collect();
        Ok(Response::page(runs_page(&runs)))
    }

    fn run(&self, name: &str) -> Answer {
        Ok(match past_runs::read(&self.dir_of(name)?) {
            Ok(run) => Response::page(run_page(&run.state, &Bound::OnDemand)),
            Err(error) => Response::trouble(&CliError::from(error).to_string()),
        })
    }

    fn events(&self, name: &str) -> Answer {
        let mut watch = Watch::new(&self.dir_of(name)?);
        let word = |change| match change {
            Change::Grown => "change",
            Change::Quiet => "",
            Change::Ended => "end",
        };
        // The page may have been made before the watch began, so that it looks once more.
        let first = std::iter::once("change");
        Ok(Response::events(Box::new(first.chain(std::iter::from_fn(
            move || watch.wait().map(word),
        )))))
    }

    fn trial(&self, name: &str, id: &str) -> Answer {
        let run = self.open(name)?;
        let trial = id
            .parse()
            .ok()
            .and_then(|id| run.state.trial(id))
            .ok_or(Refusal::NotFound)?;
        let prompts = past::prompts(&run);
        let summary = variants_of(&run);
        let head = &trial.head;
        let page = TrialPage {
            trial,
            variant: &Matrix::of(&summary).variant_name(&head.environment, &head.experiment),
            prompt: prompts.get(head),
            descriptions: run.state.descriptions(),
            bodies: &trial_files::read(&run.dir, &head.dir, ROOM),
            files: Files::Served,
        };
        Ok(Response::page(document(
            Kind::Served,
            &head.eval,
            &trial_page(&page, ROOM),
        )))
    }

    fn file(&self, name: &str, id: &str, file: &str) -> Answer {
        let run = self.open(name)?;
        let trial = id
            .parse()
            .ok()
            .and_then(|id| run.state.trial(id))
            .ok_or(Refusal::NotFound)?;
        let file = match file {
            trial_files::LOG | trial_files::CHANGES | trial_files::TRANSCRIPT => file,
            "trajectory.json" => trial_files::TRAJECTORY,
            _ => return Err(Refusal::NotFound),
        };
        trial_files::open(&run.dir, &trial.head.dir, file)
            .map(Response::file)
            .map_err(|_| Refusal::NotFound)
    }

    fn compare(&self, first: &str, second: &str) -> Answer {
        let (first, second) = (self.open(first)?, self.open(second)?);
        let found = two_runs::compare(&first, &second, Choices::default());
        let found = found.map_err(|error| error.to_string());
        Ok(Response::page(compare_page(
            &first.results(),
            &second.results(),
            found.as_ref().map_err(String::as_str),
        )))
    }

    fn open(&self, name: &str) -> Result<PastRun, Refusal> {
        past_runs::read(&self.dir_of(name)?).map_err(|_| Refusal::NotFound)
    }

    /// Only a name that is in the list is a run.
    fn dir_of(&self, name: &str) -> Result<Utf8PathBuf, Refusal> {
        let names = past_runs::names(&self.suite_dir).map_err(|_| Refusal::NotFound)?;
        let known = names.iter().any(|known| known == name);
        known
            .then(|| files::runs_dir(&self.suite_dir).join(name))
            .ok_or(Refusal::NotFound)
    }
}

/// Without the comparisons, which take a moment.
fn variants_of(run: &PastRun) -> Summary {
    summarise_figures(&run.state)
}
