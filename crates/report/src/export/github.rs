//! Annotations for GitHub Actions, which it shows beside the job.

mod defuse;

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::text::stripped::stripped;

pub use defuse::{Defused, Printed, defused};

use crate::names::Names;
use crate::outcome::reasons;
use crate::term::width::{clean, truncate};
use crate::text::failures::is_failure;

/// GitHub shows no more than ten errors of a step.
const MOST: usize = 10;
const LONGEST: usize = 1_000;

/// A line of a file in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// One `::error` line for each trial that did not pass, and a note when there are more than GitHub shows. `place` finds the
/// line that a trial's error is shown beside.
pub fn annotations(results: &Results, place: &dyn Fn(&TrialResult) -> Option<FilePlace>) -> String {
    let names = Names::of(results.trials.iter().map(|trial| &*trial.head));
    let failed: Vec<&TrialResult> = results
        .trials
        .iter()
        .filter(|trial| is_failure(trial.report.status))
        .collect();
    let mut text: String = failed
        .iter()
        .take(MOST)
        .map(|trial| annotation(trial, &names, place(trial)))
        .collect();
    if failed.len() > MOST {
        let said = format!(
            "{} more trials did not pass; the job's summary has them",
            failed.len() - MOST
        );
        text += &format!("::notice title=Terca::{said}\n");
    }
    text
}

fn annotation(trial: &TrialResult, names: &Names, place: Option<FilePlace>) -> String {
    let title = format!(
        "{}: {}",
        names.trial(&trial.head),
        trial.report.status.as_str()
    );
    let said = reasons(&trial.report).join("; ");
    let place = place.map_or_else(String::new, |FilePlace { file, line }| {
        format!(",file={},line={line}", property(&file))
    });
    format!(
        "::error title={}{place}::{}\n",
        property(&title),
        data(&one_line(&said))
    )
}

fn one_line(text: &str) -> String {
    truncate(&clean(&stripped(text)), LONGEST).into_owned()
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&one_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!(
            "annotations",
            annotations(&fixture::mixed_run().results(), &|_| None)
        );
    }

    #[test]
    fn ten_and_a_note() {
        let mut script = Script::new(fixture::heads(13, 1, 1), 1);
        for id in 1..=13 {
            script.finish(
                id,
                &fixture::failed(1.0, "t", "100% wrong\n::set-env name=X::y"),
            );
        }
        let place = |trial: &TrialResult| {
            let file = format!("{}/a, b: c.yaml", trial.head.eval);
            (trial.head.id > 1).then_some(FilePlace { file, line: 7 })
        };
        let text = annotations(&script.results(), &place);
        assert_eq!(text.matches("::error ").count(), 10);
        assert_eq!(text.lines().count(), 11);
        assert!(text.ends_with(
            "::notice title=Terca::3 more trials did not pass; the job's summary has them\n"
        ));
        let second = text.lines().nth(1).unwrap();
        assert!(
            second.contains("%3A failed,file=fib-recursive/a%2C b%3A c.yaml,line=7::t: "),
            "{second}"
        );
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "::error title=fib gemini.base%3A failed::t: 100%25 wrong ::set-env name=X::y"
        );
    }
}
