//! The pages of a suite's runs, by address.
//!
//! ```text
//! /                             all runs
//! /runs/RUN/                    a run
//! /runs/RUN/events/117          told what is new since that event
//! /runs/RUN/rows                the rows of its list
//! /runs/RUN/tools               the tools that its trials used
//! /runs/RUN/search/6669/0       trials with these words, from a place on
//! /runs/RUN/trials/17           a trial of it
//! /runs/RUN/trials/17/run.log   a file of that trial
//! /runs/RUN/trials/17/events    told when its session has grown
//! /runs/RUN/trials/17/remark    takes a remark about it (POST)
//! /compare/RUN/RUN              two runs
//! ```
//!
//! A run is one of those that `terca list` lists, and a file one of four names, so that no address leads elsewhere.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;
use terca_core::analysis::summary::summarise_figures;
use terca_core::run::remark::Remark;
use terca_core::run::state::Trial;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::{PastRun, RunsError};
use terca_engine::run::{files, remarks, trial_files};
use terca_report::html::{
    Bound, Matrix, TrialPage, compare_page, rows_json, run_page, runs_page, tools_of,
    trial_document,
};
use terca_report::serve::{Asked, Refusal, Response};

use super::search;
use crate::cli_error::CliError;
use crate::suite::past;
use crate::viewer::changes::{Changes, Growth};

/// The bytes of a trial that are shown at once. The files themselves are a click away.
const ROOM: usize = 2_000_000;

/// The runs of a suite.
#[derive(Debug)]
pub struct Library {
    /// The suite's directory.
    pub suite_dir: Utf8PathBuf,
}

type PageAnswer = Result<Response, Missing>;

/// What there is nothing of at an address.
#[derive(Debug, thiserror::Error)]
enum Missing {
    #[error("There is no page at this address.")]
    Page,
    #[error("There is no run {0} in this suite any more.")]
    Run(String),
    #[error("There is no trial {0} in this run.")]
    Trial(String),
    #[error("The trial has no such file.")]
    File,
    #[error("The run {0} cannot be read: {1}")]
    Unreadable(String, RunsError),
}

/// A remark as a page sends it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    text: String,
    tags: Vec<String>,
}

/// Returns the way from an address up to the list of runs.
fn up(parts: &[&str]) -> String {
    match parts.len() {
        0 | 1 => "./".to_owned(),
        length => "../".repeat(length - 1),
    }
}

impl Library {
    /// Answers a request.
    pub fn answer(&self, asked: &Asked<'_>) -> Response {
        let parts = asked.parts;
        let answer = match asked.posted {
            Some(posted) => self.keep(parts, posted),
            None => self.find(parts),
        };
        answer.unwrap_or_else(|missing| Response::missing(&missing.to_string(), &up(parts)))
    }

    /// Keeps what a page sends.
    fn keep(&self, parts: &[&str], posted: &[u8]) -> PageAnswer {
        match parts {
            ["runs", run, "trials", id, "remark"] => self.remark(run, id, posted),
            _ => Ok(Response::refusal(Refusal::Method)),
        }
    }

    fn find(&self, parts: &[&str]) -> PageAnswer {
        match parts {
            [] | [""] => self.all_runs(),
            ["runs"] | ["runs", ""] => Ok(Response::redirect(up(parts))),
            ["runs", run] => Ok(Response::redirect(format!("{run}/"))),
            ["runs", run, ""] => self.run(run),
            ["runs", run, "events", seen] => self.events(run, seen),
            ["runs", run, "trials", id, "events"] => self.growth(run, id),
            ["runs", run, "rows"] => self.rows(run),
            ["runs", run, "tools"] => self.tools(run),
            ["runs", run, "search", words, from] => self.search(run, words, from),
            ["runs", run, "trials", id] => self.trial(run, id),
            ["runs", run, "trials", id, file] => self.file(run, id, file),
            ["compare", first, second] => self.compare(first, second),
            _ => Err(Missing::Page),
        }
    }

    fn all_runs(&self) -> PageAnswer {
        let names = past_runs::names(&self.suite_dir).map_err(|_| Missing::Page)?;
        let runs: Vec<_> = names
            .into_iter()
            .map(|name| past::listed(&self.suite_dir, name))
            .collect();
        Ok(Response::page(runs_page(&runs)))
    }

    fn run(&self, name: &str) -> PageAnswer {
        Ok(match past_runs::read(&self.dir_of(name)?) {
            Ok(run) => {
                let seen = run.next_sequence();
                Response::page(run_page(&run.state, &Bound::OnDemand { seen }))
            }
            Err(error) => Response::trouble(&CliError::from(error).to_string()),
        })
    }

    fn events(&self, name: &str, seen: &str) -> PageAnswer {
        let seen = seen.parse().map_err(|_| Missing::Page)?;
        let changes = Changes::of(&self.suite_dir, &self.dir_of(name)?, seen);
        Ok(Response::events(changes))
    }

    fn growth(&self, name: &str, id: &str) -> PageAnswer {
        let run = self.open(name)?;
        let growth = Growth::of(&run.dir, &trial_of(&run, id)?.head.dir);
        Ok(Response::events(growth))
    }

    /// Keeps a remark about a trial.
    fn remark(&self, name: &str, id: &str, posted: &[u8]) -> PageAnswer {
        let run = self.open(name)?;
        let trial = trial_of(&run, id)?.head.id;
        let Ok(said) = serde_json::from_slice::<Said>(posted) else {
            return Ok(Response::refusal(Refusal::Malformed));
        };
        let remark = Remark {
            text: said.text,
            tags: said.tags,
            at: Timestamp::now(),
        };
        Ok(match remarks::add(&run.dir, trial, &remark) {
            Ok(()) => Response::text("kept"),
            Err(error) => Response::trouble(&format!("the remark could not be kept: {error}")),
        })
    }

    fn rows(&self, name: &str) -> PageAnswer {
        let run = self.open(name)?;
        Ok(Response::json(rows_json(&run.state, &past::prompts(&run))))
    }

    fn tools(&self, name: &str) -> PageAnswer {
        let run = self.open(name)?;
        let of = |trial: &Trial| {
            let files = trial_files::read(&run.dir, &trial.head.dir, ROOM);
            (trial.head.id, tools_of(&files.transcript))
        };
        let tools: HashMap<u32, Vec<String>> = run.state.trials().iter().map(of).collect();
        Ok(Response::json(json!(tools).to_string()))
    }

    fn search(&self, name: &str, words: &str, from: &str) -> PageAnswer {
        let words = search::words(words).ok_or(Missing::Page)?;
        let from = from.parse().map_err(|_| Missing::Page)?;
        let found = search::search(&self.open(name)?, &words, from);
        Ok(Response::json(found.to_string()))
    }

    fn trial(&self, name: &str, id: &str) -> PageAnswer {
        let run = self.open(name)?;
        let trial = trial_of(&run, id)?;
        // Without the comparisons, which take a moment.
        let summary = summarise_figures(&run.state);
        let head = &trial.head;
        let page = TrialPage {
            trial,
            state: &run.state,
            matrix: &Matrix::of(&summary),
            prompts: &past::prompts(&run),
            bodies: &trial_files::read(&run.dir, &head.dir, ROOM),
            run_dir: None,
        };
        Ok(Response::page(trial_document(&page, ROOM)))
    }

    fn file(&self, name: &str, id: &str, file: &str) -> PageAnswer {
        let run = self.open(name)?;
        let trial = trial_of(&run, id)?;
        let file = match file {
            trial_files::LOG | trial_files::CHANGES | trial_files::TRANSCRIPT => file,
            "trajectory.json" => trial_files::TRAJECTORY,
            _ => return Err(Missing::File),
        };
        trial_files::open(&run.dir, &trial.head.dir, file)
            .map(Response::file)
            .map_err(|_| Missing::File)
    }

    fn compare(&self, first: &str, second: &str) -> PageAnswer {
        let (first, second) = (self.open(first)?, self.open(second)?);
        let found = past::compare(&first, &second, None, false);
        let found = found.map_err(|error| error.to_string());
        Ok(Response::page(compare_page(
            &first.results(),
            &second.results(),
            found.as_ref().map_err(String::as_str),
        )))
    }

    fn open(&self, name: &str) -> Result<PastRun, Missing> {
        past_runs::read(&self.dir_of(name)?)
            .map_err(|error| Missing::Unreadable(name.to_owned(), error))
    }

    /// Only a name that is in the list is a run.
    fn dir_of(&self, name: &str) -> Result<Utf8PathBuf, Missing> {
        let missing = || Missing::Run(name.to_owned());
        let names = past_runs::names(&self.suite_dir).map_err(|_| missing())?;
        let known = names.iter().any(|known| known == name);
        known
            .then(|| files::runs_dir(&self.suite_dir).join(name))
            .ok_or_else(missing)
    }
}

/// Returns a trial by the number in its address.
fn trial_of<'r>(run: &'r PastRun, id: &str) -> Result<&'r Trial, Missing> {
    let found = id.parse().ok().and_then(|id| run.state.trial(id));
    found.ok_or_else(|| Missing::Trial(id.to_owned()))
}
