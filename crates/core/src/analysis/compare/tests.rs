use super::*;
use crate::fixture::{error, print, run};

const LOW: [usize; 8] = [3, 2, 4, 3, 2, 3, 2, 1];
const HIGH: [usize; 8] = [5, 4, 5, 4, 5, 5, 5, 4];

fn two_by_two() -> RunState {
    run("1")
        .eight(["gemini", "control"], LOW)
        .eight(["gemini", "rules"], HIGH)
        .eight(["claude", "control"], HIGH)
        .eight(["claude", "rules"], HIGH)
}

fn verdicts(compared: &Compared) -> Vec<(String, Option<String>, Verdict)> {
    let told = |one: &Comparison| (one.arm.clone(), one.place.clone(), one.verdict);
    compared.comparisons.iter().map(told).collect()
}

#[test]
fn experiments_and_environments_are_compared_alike() {
    let state = two_by_two();
    let compared = within(&state, By::Experiment, None, 0.05).unwrap();
    assert_eq!(
        compared.comparisons,
        crate::analysis::summary::compare(&state, "control", 0.05)
    );
    let compared = within(&state, By::Environment, Some("claude"), 0.05).unwrap();
    let gemini =
        |place: Option<&str>, verdict| ("gemini".to_owned(), place.map(str::to_owned), verdict);
    assert_eq!(
        verdicts(&compared),
        [
            gemini(None, Verdict::Worse),
            gemini(Some("control"), Verdict::Worse),
            gemini(Some("rules"), Verdict::Inconclusive)
        ]
    );
    let sentences: Vec<&str> = compared
        .comparisons
        .iter()
        .map(|one| one.sentence.as_str())
        .collect();
    assert!(
        sentences[0].starts_with("WORSE on these 8 evals (both experiments together): "),
        "{sentences:?}"
    );
    assert!(
        sentences[1].starts_with("WORSE on these 8 evals (control): "),
        "{sentences:?}"
    );
    assert_eq!(
        (compared.exit_status(false), compared.exit_status(true)),
        (1, 1)
    );
}

#[test]
fn the_exit_status_is_the_worst_that_was_asked_about() {
    let compared = within(&two_by_two(), By::Environment, None, 0.05).unwrap();
    assert_eq!(
        (compared.exit_status(false), compared.exit_status(true)),
        (0, 3),
        "better, and undecided"
    );
    let sure = run("1")
        .eight(["gemini", "control"], LOW)
        .eight(["gemini", "rules"], HIGH);
    let compared = within(&sure, By::Experiment, None, 0.05).unwrap();
    assert_eq!(
        (compared.exit_status(false), compared.exit_status(true)),
        (0, 0)
    );
}

#[test]
fn what_cannot_be_compared_is_said_with_what_can() {
    let error = |state: &RunState, by, baseline| within(state, by, baseline, 0.05).unwrap_err();
    let refused = |state: &RunState, by, baseline| error(state, by, baseline).to_string();
    let two = two_by_two();
    assert_eq!(
        refused(&two, By::Experiment, Some("rule")),
        "the run 1 has no experiment `rule`; its experiments are `control` and `rules`"
    );
    assert!(matches!(
        error(&two, By::Experiment, Some("rule")),
        CompareError::Unknown { meant: Some(meant), .. } if meant == "rules"
    ));
    let one = run("2").eight(["gemini", "rules"], LOW);
    let has_environments = |state: &RunState| match error(state, By::Experiment, None) {
        CompareError::Alone {
            has_environments, ..
        } => has_environments,
        other => panic!("{other}"),
    };
    assert!(!has_environments(&one));
    let one = one.eight(["claude", "rules"], LOW);
    assert!(has_environments(&one));
    let odd = two_by_two().with("gone", RunStatus::Complete);
    assert!(matches!(
        error(&odd, By::Experiment, None),
        CompareError::NoBaseline { name, .. } if name == "gone"
    ));
    assert_eq!(
        within(&odd, By::Experiment, Some("control"), 0.05)
            .unwrap()
            .baseline,
        "control"
    );
    let live = two_by_two().with("control", RunStatus::Running);
    assert!(refused(&live, By::Experiment, None).contains("still going on"));
    assert!(refused(&run("3"), By::Environment, None).contains("no trials"));
}

fn arm<'a>(
    state: &'a RunState,
    prints: Option<&'a [crate::plan::fingerprint::CaseFingerprint]>,
) -> Arm<'a> {
    Arm {
        name: state.run(),
        state,
        prints,
    }
}

#[test]
fn two_runs_are_matched_by_eval_and_variant() {
    let before = run("1")
        .eight(["gemini", "default"], HIGH)
        .cell(["old", "gemini", "default"], 5, 5)
        .eight(["claude", "default"], LOW);
    let after = run("2")
        .eight(["gemini", "default"], LOW)
        .cell(["new", "gemini", "default"], 0, 5)
        .reports(["eval0", "gemini", "default"], vec![error(), error()]);
    let compared = between(arm(&before, None), arm(&after, None), 0.05, false).unwrap();
    assert_eq!(
        verdicts(&compared),
        [("2".into(), Some("gemini".into()), Verdict::Worse)]
    );
    let comparison = &compared.comparisons[0];
    assert!(
        comparison.sentence.starts_with(
            "WORSE on these 8 evals (gemini): 50 % of trials passed in `2`, 93 % in `1` "
        ),
        "{comparison:?}"
    );
    let figures = &comparison.figures;
    assert_eq!(
        (
            figures.arm.judged, figures.arm.errors, figures.baseline.judged
        ),
        (40, 2, 40)
    );
    let matching = compared.matching.unwrap();
    assert_eq!((matching.evals.len(), matching.changes), (8, None));
    assert_eq!(
        matching.only_in_baseline.words(),
        "the eval `old`; the variant `claude.default`"
    );
    assert_eq!(matching.only_in_other.words(), "the eval `new`");
}

#[test]
fn changed_evals_are_told_and_left_out_when_asked() {
    let before = run("1").eight(["default", "default"], LOW);
    let after = run("2").eight(["default", "default"], HIGH);
    let place = |eval| [eval, "default", "default"];
    let first = [
        print(place("eval0"), &[("tests", "1"), ("rules", "1")]),
        print(place("eval1"), &[("tests", "1")]),
    ];
    let second = [
        print(place("eval0"), &[("tests", "2"), ("rules", "2")]),
        print(place("eval1"), &[("tests", "1")]),
    ];
    let compare = |only| {
        between(
            arm(&before, Some(&first)),
            arm(&after, Some(&second)),
            0.05,
            only,
        )
        .unwrap()
    };
    let compared = compare(false);
    assert_eq!(compared.comparisons[0].evals, 8);
    assert_eq!(
        compared.matching.unwrap().changes.unwrap().words(),
        [
            "eval0: the tests changed", "default.default: the rules changed"
        ]
    );
    let compared = compare(true);
    assert_eq!(
        (
            compared.comparisons[0].evals,
            compared.matching.unwrap().evals.len()
        ),
        (7, 7)
    );
    assert!(
        compared.comparisons[0]
            .sentence
            .starts_with("BETTER on these 7 evals: "),
        "nobody named the place"
    );
}

#[test]
fn runs_without_a_common_case_cannot_be_compared() {
    let before = run("1").cell(["a", "gemini", "control"], 1, 1);
    let after = run("2").cell(["b", "gemini", "control"], 1, 1);
    let error = between(arm(&before, None), arm(&after, None), 0.05, false)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("  only in 1: the eval `a`\n  only in 2: the eval `b`"),
        "{error}"
    );
    // The same evals and variants, but never together.
    let before = before.cell(["b", "claude", "control"], 1, 1);
    let after = after.cell(["a", "claude", "control"], 1, 1);
    let error = between(arm(&before, None), arm(&after, None), 0.05, false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("only in 1: a in gemini.control and b in claude.control"),
        "{error}"
    );
}
