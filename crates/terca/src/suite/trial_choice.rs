//! Finds the run and the trial that somebody named.

use camino::Utf8PathBuf;
use terca_core::run::event::TrialHead;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::{Code, prose};
use terca_report::Names;

use crate::args::{Common, TrialArgs};
use crate::cli_error::CliError;
use crate::screen;
use crate::suite::past;

/// More trials than this are not listed in an error.
const MOST_LISTED: usize = 12;

/// A run, and the words for a trial of it.
#[derive(Debug)]
pub struct Choice {
    /// The run's directory.
    pub dir: Utf8PathBuf,
    /// The words for a trial; none asks for the whole run.
    pub words: Option<String>,
    /// The error of a first word that is no run, and so must be a trial of the latest one.
    not_a_run: Option<CliError>,
}

/// Finds the run. A first word that names none is the name of a trial of the latest run.
pub fn choose(args: &TrialArgs, common: &Common) -> Result<Choice, CliError> {
    let (dir, first, not_a_run) = match past::find(args.run.as_deref(), common) {
        Ok((_, dir)) => (dir, None, None),
        Err(error) => match past::find(None, common) {
            Ok((_, dir)) => (dir, args.run.as_ref(), Some(error)),
            Err(_) => return Err(error),
        },
    };
    let words = first.into_iter().chain(&args.trial);
    let words = Vec::from_iter(words.map(String::as_str)).join(" ");
    Ok(Choice {
        dir,
        words: Some(words).filter(|words| !words.trim().is_empty()),
        not_a_run,
    })
}

impl Choice {
    /// Finds the trial that the words name, or the only one of the run.
    pub fn only_trial<'a>(self, state: &'a RunState, command: &str) -> Result<&'a Trial, CliError> {
        match (self.trial(state)?, state.trials()) {
            (Some(trial), _) | (None, [trial]) => Ok(trial),
            (None, trials) => {
                let text = format!("the run {} has {} trials", state.run(), trials.len());
                Err(CliError::misuse(Code::NoMatch, text).help(format!(
                    "name one: `terca {command} EVAL`; `terca show` lists the trials that did not pass"
                )))
            }
        }
    }

    /// Finds the trial that the words name; `None` where there are no words.
    pub fn trial(self, state: &RunState) -> Result<Option<&Trial>, CliError> {
        let Some(words) = &self.words else {
            return Ok(None);
        };
        let names = Names::of_run(state);
        let found = matching(state.trials(), words, &names);
        match (found.as_slice(), self.not_a_run) {
            ([only], _) => Ok(Some(only)),
            ([], Some(not_a_run)) => Err(not_a_run),
            ([], None) => {
                let text = format!("no trial of the run {} matches `{words}`", state.run());
                let all: Vec<&Trial> = state.trials().iter().collect();
                Err(CliError::misuse(Code::NoMatch, text).help(listed(&all, &names)))
            }
            (several, _) => {
                let text = format!(
                    "`{words}` matches {} of the run {}",
                    prose::count(several.len(), "trial"),
                    state.run()
                );
                Err(CliError::misuse(Code::NoMatch, text).help(listed(several, &names)))
            }
        }
    }
}

/// Returns the trials that are called so, or else the one with that id, or else those whose names have all the words.
fn matching<'a>(trials: &'a [Trial], words: &str, names: &Names) -> Vec<&'a Trial> {
    let is_called = |head: &TrialHead| {
        head.dir == words || head.dir.file_name() == Some(words) || names.trial(head) == words
    };
    let exact: Vec<&Trial> = trials
        .iter()
        .filter(|trial| is_called(&trial.head))
        .collect();
    if !exact.is_empty() {
        return exact;
    }
    let has_id = |trial: &&Trial| trial.head.id.to_string() == words;
    if let Some(trial) = trials.iter().find(has_id) {
        return vec![trial];
    }
    let of_eval: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.head.eval == words)
        .collect();
    if of_eval.len() == 1 {
        return of_eval;
    }
    let has_all = |head: &TrialHead| {
        let name = format!(
            "{} {}.{} #{:02} {}",
            head.eval, head.environment, head.experiment, head.repetition, head.dir
        );
        words.split_whitespace().all(|word| name.contains(word))
    };
    trials.iter().filter(|trial| has_all(&trial.head)).collect()
}

fn listed(trials: &[&Trial], names: &Names) -> String {
    let name = |trial: &&Trial| format!("{}  ({})", trial.head.dir, names.trial(&trial.head));
    let lines: Vec<String> = trials.iter().map(name).collect();
    format!("name one of these:{}", screen::listed(&lines, MOST_LISTED))
}
