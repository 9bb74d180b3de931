//! What is done about a change: another grading, or the offer of a run.

use std::collections::BTreeSet;
use std::io::{BufRead, stdin};
use std::process::Command;
use std::sync::atomic::Ordering;

use clap::ValueEnum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_core::text::shell::quoted;
use terca_engine::run::load::RunPlan;
use terca_engine::run::{files, past_runs};

use super::Watcher;
use super::changed::{CaseName, Changed, distinct, name};
use crate::args::NameArgs;
use crate::cli_error::{CliError, INTERRUPTED};
use crate::{ask, screen, shell};

/// The time between two looks for Ctrl+C while somebody thinks.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

impl Watcher<'_> {
    /// Grades the latest run again, as far as it has the cases whose tests have changed.
    pub(super) fn regrade(&self, changed: &Changed) -> Result<(), CliError> {
        let evals = distinct(&changed.tests, |case| &case.0);
        let evals: Vec<String> = evals.iter().map(|eval| format!("`{eval}`")).collect();
        let of = prose::list(&evals, "and");
        let graded = self.cases_of_latest_run();
        let both: BTreeSet<CaseName> = changed.tests.intersection(&graded).cloned().collect();
        if both.is_empty() {
            screen::err(&format!(
                "tests of {of} changed; the latest run does not have it, so there is nothing to grade"
            ));
            return Ok(());
        }
        screen::err(&format!(
            "tests of {of} changed: grading the latest run again"
        ));
        let mut words = vec!["regrade".to_owned()];
        words.extend(flags("-t", &distinct(&both, |case| &case.0)));
        self.terca(&words)
    }

    fn cases_of_latest_run(&self) -> BTreeSet<CaseName> {
        let latest = past_runs::latest(&self.suite_dir);
        let dir = latest.map(|run| files::runs_dir(&self.suite_dir).join(run));
        let cases = dir.and_then(|dir| past_runs::fingerprints(&dir));
        cases.unwrap_or_default().iter().map(name).collect()
    }

    /// Runs what has changed, if that is wanted.
    pub(super) fn offer(&self, changed: &Changed, plan: &RunPlan) -> Result<(), CliError> {
        let evals = distinct(&changed.inputs, |case| &case.0);
        let environments = distinct(&changed.inputs, |case| &case.1);
        let experiments = distinct(&changed.inputs, |case| &case.2);
        let heads = plan.heads();
        let chosen: BTreeSet<(CaseName, u32)> = heads
            .iter()
            .filter(|head| {
                evals.contains(&*head.eval)
                    && environments.contains(&*head.environment)
                    && experiments.contains(&*head.experiment)
            })
            .map(|head| {
                let names = [&head.eval, &head.environment, &head.experiment];
                let [eval, environment, experiment] = names.map(String::clone);
                ((eval, environment, experiment), head.repetition)
            })
            .collect();
        let cases: BTreeSet<CaseName> = chosen.iter().map(|(case, _)| case.clone()).collect();
        let cost = match self.last_cost(&cases) {
            Some(cost) => format!("last time {}", prose::dollars(cost)),
            None => "cost not known".to_owned(),
        };
        let trials = prose::count(chosen.len(), "trial");
        let what = format!("{trials} of {}, {cost}", prose::count(evals.len(), "eval"));
        let mut words = vec!["run".to_owned()];
        words.extend(flags("-t", &evals));
        words.extend(flags("-x", &experiments));
        words.extend(self.environments(&environments));
        words.extend(self.args.selection.words_without::<NameArgs>());
        words.extend(self.args.conduct.words());
        if self.args.yes {
            screen::err(&format!("{what}: running"));
        } else if !ask::is_possible() {
            let typed: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            screen::err(&format!(
                "{what}: `{} {}` runs them",
                shell::terca(self.common),
                typed.join(" ")
            ));
            return Ok(());
        } else if !self.is_wanted(&format!("{what}: run? [y/N] ")) {
            return Ok(());
        }
        self.terca(&words)
    }

    /// Environments that another agent runs have names that depend on the selection, so that is typed again.
    fn environments(&self, names: &BTreeSet<&str>) -> Vec<String> {
        let typed = &self.args.selection.args;
        if typed.instead.agent.is_some() {
            let typed = typed.names.environments.iter();
            return flags("-e", &typed.map(String::as_str).collect());
        }
        flags("-e", names)
    }

    /// Returns what the cases have cost in the latest run, where that is known of each trial.
    fn last_cost(&self, cases: &BTreeSet<CaseName>) -> Option<f64> {
        let run = past_runs::open(&self.suite_dir, None).ok()?;
        let results = run.results();
        let costs: Option<Vec<f64>> = results
            .trials
            .iter()
            .filter(|trial| {
                let head = &trial.head;
                cases.iter().any(|(eval, environment, experiment)| {
                    (eval, environment, experiment)
                        == (&head.eval, &head.environment, &head.experiment)
                })
            })
            .map(|trial| trial.spent.cost_usd)
            .collect();
        costs
            .filter(|costs| !costs.is_empty())
            .map(|costs| costs.iter().sum())
    }

    /// Asks. Ctrl+C is no answer, but the end.
    fn is_wanted(&self, question: &str) -> bool {
        screen::ask(question);
        let input = stdin();
        while !self.is_ended.load(Ordering::Acquire) {
            let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&LOOK));
            if !ready.is_ok_and(|ready| ready > 0) {
                continue;
            }
            let mut line = String::new();
            let read = input.lock().read_line(&mut line);
            return read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes");
        }
        false
    }

    /// Runs this program in the suite's directory, and waits for its end. It has shown how it went.
    fn terca(&self, words: &[String]) -> Result<(), CliError> {
        let trouble = |error: std::io::Error| CliError::trouble(Code::Internal, error);
        let colour = self.common.color.to_possible_value();
        let colour = colour.map(|value| value.get_name().to_owned());
        let status = Command::new(std::env::current_exe().map_err(trouble)?)
            .args(words)
            .args([
                "--color".to_owned(),
                colour.unwrap_or_else(|| "auto".to_owned()),
            ])
            .current_dir(&self.suite_dir)
            .status()
            .map_err(trouble)?;
        if status.code() == Some(i32::from(INTERRUPTED)) {
            self.is_ended.store(true, Ordering::Release);
        }
        Ok(())
    }
}

fn flags(flag: &str, names: &BTreeSet<&str>) -> Vec<String> {
    names
        .iter()
        .flat_map(|name| [flag.to_owned(), (*name).to_owned()])
        .collect()
}
