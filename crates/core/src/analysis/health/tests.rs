use super::*;
use crate::fixture::{error, judged, print, run};
use crate::run::event::{Event, EventKind, RegradedTrial};
use crate::run::outcome::TrialReport;
use crate::run::state::RunState;
use crate::stats::stratum::Stratum;
use crate::stats::{CannotTell, stratified_exact};

fn record(state: RunState) -> Record {
    Record {
        state,
        prints: None,
    }
}

fn of<'a>(health: &'a Health, eval: &str) -> &'a EvalHealth {
    health.evals.iter().find(|one| one.eval == eval).unwrap()
}

/// Two variants, ten repetitions: one good, one bad; `odd` is the other way round.
fn suite() -> RunState {
    let mut state = run("1");
    for (experiment, good) in [("control", false), ("rules", true)] {
        let place = |eval| [eval, "gemini", experiment];
        let strong = if good { 10 } else { 0 };
        state = state
            .cell(place("easy"), 10, 10)
            .cell(place("hard"), 0, 10)
            .cell(place("clear"), strong, 10)
            .cell(place("second"), strong, 10)
            .cell(place("third"), strong, 10)
            .cell(place("mixed"), 5, 10)
            .cell(place("odd"), 10 - strong, 10);
    }
    state.cell(["new", "gemini", "rules"], 1, 2)
}

#[test]
fn every_eval_gets_what_it_deserves() {
    let health = health(&[record(suite())]);
    let marks = |eval| of(&health, eval).marks.clone();
    assert_eq!(marks("easy"), [Mark::AlwaysPasses]);
    assert_eq!(marks("hard"), [Mark::NeverPasses]);
    assert_eq!(marks("clear"), [Mark::TellsMost]);
    assert_eq!(marks("mixed"), [Mark::TellsMost]);
    assert_eq!(marks("odd"), [Mark::TellsMost, Mark::Contradicts]);
    assert_eq!(marks("new"), [Mark::TooFewTrials]);
    assert_eq!(health.droppable.evals, ["easy", "hard"]);
    assert!((health.droppable.cost_share.unwrap() - 40.0 / 142.0).abs() < 1e-9);
    let clear = of(&health, "clear");
    assert_eq!(
        (clear.agreement, clear.passed, clear.judged),
        (Some(1.0), 10, 20)
    );
    assert!(clear.with_rest.unwrap().r > 0.0 && clear.with_rest.unwrap().sittings == 20);
    assert!((of(&health, "mixed").agreement.unwrap() - 4.0 / 9.0).abs() < 1e-9);
    assert_eq!(
        of(&health, "easy").cannot_tell,
        Some(CannotTell::NoVariation)
    );
    assert_eq!(
        of(&health, "new").cannot_tell,
        Some(CannotTell::TooFewTrials)
    );
}

/// What the rule for dropping rests on.
#[test]
fn evals_that_never_differ_do_not_change_a_p_value() {
    let counts = [((4, 5), (2, 5)), ((3, 5), (4, 5)), ((5, 5), (1, 5))];
    let never = [((5, 5), (5, 5)), ((0, 5), (0, 5))];
    let p = |counts: &[_]| stratified_exact::p_value(&Stratum::equal(counts)).unwrap();
    let padded = [counts.as_slice(), &never].concat();
    assert!((p(&counts) - p(&padded)).abs() < 1e-12);
}

#[test]
fn errors_provers_and_earlier_versions_are_not_held_against_it() {
    let place = ["a", "gemini", "control"];
    let proof = run("1").cell(place, 0, 20).edited(|trials| {
        for (head, _) in trials {
            head.agent = "cheat".into();
        }
    });
    let old = Record {
        state: run("2").cell(place, 0, 5),
        prints: Some(vec![print(place, &[("tests", "1")])]),
    };
    let now = Record {
        state: run("3").reports(
            place,
            vec![judged(true), judged(true), judged(true), error()],
        ),
        prints: Some(vec![print(place, &[("tests", "2")])]),
    };
    let health = health(&[record(proof), old, now]);
    let [eval] = &health.evals[..] else {
        panic!("{health:?}")
    };
    assert_eq!(
        (eval.judged, eval.passed, eval.errors, eval.changed_runs),
        (3, 3, 1, 1)
    );
    assert_eq!(
        (eval.marks.as_slice(), eval.droppable),
        (&[Mark::AlwaysPasses][..], false),
        "three are not ten"
    );
    assert_eq!(health.runs, ["3"]);
}

#[test]
fn nothing_gives_nothing_and_never_a_number() {
    let empty = health(&[]);
    assert_eq!(
        (empty.evals.len(), &empty.droppable),
        (0, &Droppable::default())
    );
    let place = ["a", "gemini", "control"];
    let broken = health(&[record(run("1").reports(place, vec![error()]))]);
    let eval = &broken.evals[0];
    assert_eq!(
        (
            eval.pass_rate, eval.agreement, eval.with_rest, eval.cost_share
        ),
        (None, None, None, None)
    );
    assert!(
        serde_json::to_string(&broken)
            .unwrap()
            .contains("\"passRate\":null")
    );
}

#[test]
fn between_15_and_85_percent_an_eval_tells_most() {
    for (passed, tells_most) in [(2, false), (3, true), (10, true), (17, true), (18, false)] {
        let state = run("1").cell(["a", "gemini", "control"], passed, 20);
        let marks = health(&[record(state)]).evals[0].marks.clone();
        assert_eq!(
            marks == [Mark::TellsMost],
            tells_most,
            "{passed}: {marks:?}"
        );
        assert_eq!(marks.is_empty(), !tells_most, "{passed}: {marks:?}");
    }
}

/// A trial that failed in its run, and then was graded again by tests of these hashes.
fn graded_again(gradings: &[(&str, TrialReport)]) -> EvalHealth {
    let place = ["a", "gemini", "control"];
    let mut state = run("1").cell(place, 0, 5);
    for (grading, (hash, report)) in (2..).zip(gradings) {
        let trial = state.trials()[0].head.id;
        let tests = [("a".to_owned(), (*hash).to_owned())];
        state.apply(&Event {
            seq: 100 + u64::from(grading),
            at: jiff::Timestamp::UNIX_EPOCH,
            kind: EventKind::Regraded {
                grading,
                tests: tests
                    .into_iter()
                    .filter(|(_, hash)| !hash.is_empty())
                    .collect(),
                trials: vec![RegradedTrial {
                    trial,
                    report: report.clone(),
                }],
            },
        });
    }
    let parts = [("tests", "1"), ("tests' scripts", "1")];
    let record = Record {
        state,
        prints: Some(vec![print(place, &parts)]),
    };
    health(&[record]).evals.remove(0)
}

#[test]
fn flaky_is_another_grade_of_the_same_work_by_the_same_tests() {
    let [pass, fail] = [judged(true), judged(false)];
    let flaky = graded_again(&[("1 1", pass.clone())]);
    assert_eq!(flaky.marks, [Mark::TellsMost, Mark::Flaky]);
    assert_eq!((flaky.graded_again, flaky.grade_changed), (1, 1));
    assert!(!flaky.droppable);
    // It failed at last, and was seen to pass in between.
    let flaky = graded_again(&[("1 1", pass.clone()), ("1 1", fail.clone())]);
    assert_eq!(flaky.marks, [Mark::NeverPasses, Mark::Flaky]);
    // Only the run's own tests were others.
    let flaky = graded_again(&[("2 2", pass.clone()), ("2 2", fail.clone())]);
    assert_eq!(flaky.marks, [Mark::NeverPasses, Mark::Flaky]);
    for (gradings, again) in [
        (vec![], 0),
        (vec![("1 1", fail.clone())], 1),
        // Other tests, tests that nobody knows, and no grade at all.
        (vec![("2 2", pass.clone())], 0),
        (vec![("", pass.clone())], 0),
        (vec![("", pass), ("", fail)], 0),
        (vec![("1 1", error())], 0),
    ] {
        let steady = graded_again(&gradings);
        assert!(!steady.marks.contains(&Mark::Flaky), "{gradings:?}");
        assert_eq!(
            (steady.graded_again, steady.grade_changed),
            (again, 0),
            "{gradings:?}"
        );
    }
}
