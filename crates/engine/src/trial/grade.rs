//! The third stage: the tests, on a copy of what the agent left.
//!
//! Gather, then judge: `gather` runs commands and reads files; what they are worth is decided in
//! `terca_core::grade`.

use std::time::Instant;

use terca_core::grade::{Evidence, Grade, NoVerdict, judge, score};
use terca_core::outcome::ErrorKind;
use terca_core::scorecard::Scorecard;

use super::agent::AgentRun;
use super::bench::Bench;
use super::gather::gather;
use super::{Stop, rounded};
use crate::tree;
use crate::work::Room;

/// What the work is worth.
#[derive(Debug)]
pub(super) struct Graded {
    pub(super) tests: Scorecard,
    pub(super) score: f64,
}

pub(super) fn grade(bench: &mut Bench<'_>, agent: &AgentRun) -> Result<Graded, Stop> {
    let eval = bench.trial.case.eval.clone();
    if eval.tests.is_empty() {
        let score = if agent.completed() { 1.0 } else { 0.0 };
        return Ok(Graded { tests: Scorecard::default(), score });
    }
    lay_out_copy(bench)?;
    let mut tests = Scorecard::default();
    let mut weighted = Vec::new();
    for test in &eval.tests {
        let started = Instant::now();
        bench.log.section(&format!("test: {}", test.name))?;
        let evidence = gather(bench, test, agent)?;
        // A test that cannot tell is no failure of the agent's: the trial was not judged.
        let verdict = judge(test, &evidence).map_err(|NoVerdict(reason)| {
            Stop::error(ErrorKind::Setup, format!("test `{}`: {reason}", test.name))
        })?;
        bench.log.line(&format!("score {}: {}", verdict.score, verdict.message))?;
        weighted.push((test.weight, verdict.score));
        let message = bench.context.mask.text(&verdict.message);
        let duration_seconds = rounded(started.elapsed().as_secs_f64());
        let judge = match &evidence {
            Evidence::Judgement(judgement) => judgement.record(),
            _ => None,
        };
        tests.push(&test.name, Grade { score: verdict.score, message, duration_seconds, judge });
    }
    Ok(Graded { tests, score: score(&weighted).unwrap_or(0.0) })
}

/// Puts what the agent left aside, and a copy with the hidden tests laid over it in its place: absolute paths
/// that were written into files and links while the agent worked still lead to the same things.
fn lay_out_copy(bench: &Bench<'_>) -> Result<(), Stop> {
    let Room { workspace, left, .. } = &bench.room;
    fs_err::rename(workspace, left)?;
    fs_err::create_dir(workspace)?;
    tree::lay_over(left, workspace)?;
    if let Some(hidden) = &bench.trial.case.eval.tests_layer {
        tree::lay_over(hidden, workspace)?;
    }
    Ok(())
}
