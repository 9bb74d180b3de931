//! Flags of other programs, and what Terca has instead.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// Flags that people try, by Terca's flag.
const SAME: [(&str, &[&str]); 12] = [
    (
        "repetitions",
        &[
            "reps", "rep", "repeat", "repeats", "runs", "trials", "samples", "count", "n", "k",
            "times", "iterations",
        ],
    ),
    (
        "concurrency",
        &[
            "parallel", "jobs", "j", "threads", "max-concurrency", "n-concurrent", "num-workers",
            "workers",
        ],
    ),
    (
        "eval",
        &[
            "evals", "task", "tasks", "task-id", "filter", "only", "grep", "tests", "case", "name",
        ],
    ),
    ("experiment", &["experiments", "variant", "variants"]),
    ("environment", &["environments", "env"]),
    (
        "budget-usd",
        &["budget", "max-cost", "cost-limit", "max-budget-usd"],
    ),
    ("timeout", &["time-limit", "timeout-seconds", "max-time"]),
    (
        "fail-under",
        &["threshold", "min-score", "pass-rate", "fail-threshold"],
    ),
    ("fail-fast", &["bail", "exitfirst"]),
    ("dry-run", &["plan", "dryrun", "noop"]),
    ("dir", &["cwd", "suite", "path", "config", "directory"]),
    ("quiet", &["silent"]),
];

/// Flags that Terca has no like of.
const ELSEWHERE: [(&str, &str); 5] = [
    (
        "verbose",
        "`terca logs` shows what an agent does, `terca show` a run and its trials",
    ),
    (
        "debug",
        "`terca logs` shows what an agent does, `terca show` a run and its trials",
    ),
    (
        "output",
        "a run is kept in .terca/runs; `terca report` writes it as HTML, CSV, JUnit or Markdown",
    ),
    ("html", "`terca report --html FILE` makes a page of a run"),
    ("resume", "`terca resume` goes on with a run"),
];

/// Puts the right advice in the place of the parser's guess.
pub(super) fn advise(error: &mut Error, program: &Command) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let typed = typed.split('=').next().unwrap_or_default();
    let word = typed.trim_start_matches('-').to_owned();
    if error.kind() != ErrorKind::UnknownArgument || !typed.starts_with("--") {
        return;
    }
    let same = SAME
        .iter()
        .find(|(_, others)| others.contains(&word.as_str()));
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == word);
    let advice = match (same, elsewhere) {
        (Some((flag, _)), _) => format!("use {}", named(flag, program)),
        (_, Some((_, advice))) => (*advice).to_owned(),
        _ => return,
    };
    for kind in [
        ContextKind::SuggestedArg,
        ContextKind::Suggested,
        ContextKind::Usage,
    ] {
        error.remove(kind);
    }
    let advice = ContextValue::StyledStrs(vec![StyledStr::from(advice)]);
    error.insert(ContextKind::Suggested, advice);
}

/// Names a flag with its letter.
fn named(flag: &str, program: &Command) -> String {
    let mut all = program.get_arguments();
    let letter = all
        .find(|one| one.get_long() == Some(flag))
        .and_then(Arg::get_short);
    match letter {
        Some(letter) => format!("'--{flag}' (-{letter})"),
        None => format!("'--{flag}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_flags_that_are_advised_exist_and_the_others_do_not() {
        let program = Cli::command();
        let has = |flag: &str| {
            program
                .get_arguments()
                .any(|one| one.get_long() == Some(flag))
        };
        for (flag, others) in SAME {
            assert!(has(flag), "{flag}");
            assert!(!others.iter().any(|other| has(other)), "{others:?}");
        }
        assert!(!ELSEWHERE.iter().any(|(flag, _)| has(flag)));
    }
}
