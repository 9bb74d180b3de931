use terca_core::analysis::compare::{Arm, between, within};
use terca_core::plan::fingerprint::CasePrint;
use terca_core::run::event::{RunStatus, TrialHead};
use terca_core::run::state::RunState;

use super::*;
use crate::fixture::{self, Script};
use crate::width::width;

const PALETTE: Palette = Palette { colour: false };

/// Eight evals, five times each, in so many variants; `passes` says which trials do.
fn played(run: &str, variants: usize, passes: impl Fn(u32, &str) -> bool) -> RunState {
    played_of(run, fixture::heads(8, variants, 5), passes)
}

fn played_of(run: &str, heads: Vec<TrialHead>, passes: impl Fn(u32, &str) -> bool) -> RunState {
    let mut script = Script::named(run, heads.clone(), 4);
    for head in heads {
        let report = match (head.id, passes(head.id, &head.experiment)) {
            (3 | 17, _) if run.ends_with('2') => fixture::error("429"),
            (_, true) => fixture::passed(40.0),
            (_, false) => fixture::failed(48.0, "check", "no"),
        };
        script.start(head.id).finish(head.id, &report);
    }
    script.end(RunStatus::Complete);
    script.state
}

fn prints(state: &RunState, tests_of_fib: &str) -> Vec<CasePrint> {
    let print = |trial: &terca_core::run::state::Trial| {
        let head = &trial.head;
        let hash = if head.eval == "fib" {
            tests_of_fib
        } else {
            "1"
        };
        CasePrint {
            eval: head.eval.clone(),
            environment: head.environment.clone(),
            experiment: head.experiment.clone(),
            fingerprint: [("tests".to_owned(), hash.to_owned())].into(),
        }
    };
    state.trials().iter().map(print).collect()
}

fn two_runs() -> Compared {
    let before = played("2026-11-14-001", 4, |id, _| id % 5 != 0);
    let mut heads = fixture::heads(8, 2, 5);
    heads.retain(|head| head.eval != "日本語");
    let after = played_of("2026-11-14-002", heads, |id, _| id % 5 == 0 || id % 7 == 0);
    let (first, second) = (prints(&before, "1"), prints(&after, "2"));
    between(
        Arm {
            name: before.run(),
            state: &before,
            prints: Some(&first),
        },
        Arm {
            name: after.run(),
            state: &after,
            prints: Some(&second),
        },
        0.05,
        false,
    )
    .unwrap()
}

#[test]
fn two_runs_in_eighty_columns() {
    let text = compared(&two_runs(), 80, PALETTE);
    insta::assert_snapshot!("compared_runs", text);
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
}

#[test]
fn environments_of_a_run() {
    let state = played("2026-11-14-001", 4, |id, experiment| {
        id % 3 == 0 || experiment == "with-rules" && id % 7 < 3
    });
    let found = within(&state, By::Environment, None, 0.1).unwrap();
    insta::assert_snapshot!("compared_environments", compared(&found, 80, PALETTE));
}

#[test]
fn experiments_of_a_run_wherever_there_is_room() {
    let state = played("2026-11-14-001", 2, |id, experiment| {
        id % 3 == 0 || experiment == "with-rules"
    });
    let found = within(&state, By::Experiment, None, 0.05).unwrap();
    insta::assert_snapshot!("compared_experiments", compared(&found, 100, PALETTE));
    for columns in [30, 40, 60, 79] {
        let text = compared(&found, columns, PALETTE);
        assert!(
            text.lines().all(|line| width(line) <= columns),
            "{columns}: {text}"
        );
    }
    assert!(compared(&found, 80, Palette { colour: true }).contains("\u{1b}[32mBETTER"));
}

#[test]
fn markdown_for_a_pull_request() {
    insta::assert_snapshot!("compared_markdown", compared_markdown(&two_runs()));
}

#[test]
fn names_are_not_markdown() {
    let mut heads = fixture::heads(8, 2, 5);
    for head in &mut heads {
        head.experiment = head.experiment.replace("with-rules", "a|b <b>*x*");
    }
    let state = played_of("2026-11-14-001", heads, |id, _| id % 3 == 0);
    let text = compared_markdown(&within(&state, By::Experiment, None, 0.05).unwrap());
    assert!(text.contains("| a\\|b \\<b\\>\\*x\\* |"), "{text}");
}
