use super::*;
use crate::analysis::history::Record;
use crate::analysis::summary::{Effect, Verdict};
use crate::fixture::run;
use crate::run::state::RunState;
use crate::stats::CannotTell;
use crate::stats::stratum::{Count, Stratum};

fn heads(state: &RunState) -> Vec<TrialHead> {
    state
        .trials()
        .iter()
        .map(|trial| (*trial.head).clone())
        .collect()
}

/// A plan of so many evals, in two arms.
fn plan(evals: usize, repetitions: usize) -> Vec<TrialHead> {
    let mut state = run("plan");
    for number in 0..evals {
        for experiment in ["control", "rules"] {
            state = state.cell(
                [&format!("eval{number}"), "gemini", experiment],
                0,
                repetitions,
            );
        }
    }
    heads(&state)
}

fn ask(plan: &[TrialHead], past: Vec<RunState>, detect: Option<f64>) -> Forecast {
    let records: Vec<Record> = past
        .into_iter()
        .map(|state| Record {
            state,
            prints: None,
        })
        .collect();
    let history = History::of(&records, plan, &[]);
    forecast(
        &Question {
            suite: "basic-js",
            baseline: "control",
            plan,
            concurrency: 4,
            detect,
        },
        &history,
    )
}

fn earlier() -> RunState {
    run("1")
        .eight(["gemini", "control"], [3, 2, 4, 3, 2, 3, 2, 1])
        .eight(["gemini", "rules"], [5, 4, 5, 4, 5, 5, 5, 4])
}

#[test]
fn without_history_assumptions_are_said() {
    let told = ask(&plan(12, 5), Vec::new(), None);
    assert_eq!(
        (told.trials, told.history, told.expense),
        (120, Known { runs: 0, trials: 0 }, Expense::default())
    );
    let [only] = &told.precision[..] else {
        panic!("{told:?}")
    };
    assert_eq!(
        only.variances.assumed,
        [Assumption::Luck, Assumption::Between]
    );
    let expected = (7.8489_f64 * 0.25 * 2.0 / (12.0 * 4.0)).sqrt();
    assert!(
        (only.detectable.unwrap() - expected).abs() < 1e-3,
        "{only:?}"
    );
    let beyond = (9.466_f64 * (0.25 * 2.0 / 5.0 + 0.04 / 3.0) / 12.0).sqrt();
    assert!((only.beyond.unwrap() - beyond).abs() < 1e-3, "{only:?}");
    assert_eq!(told.detect, None);
}

#[test]
fn history_gives_costs_times_and_variances() {
    let told = ask(&plan(8, 10), vec![earlier()], None);
    assert_eq!(
        told.history,
        Known {
            runs: 1,
            trials: 80
        }
    );
    let arm = &told.arms[0];
    assert_eq!(
        (arm.experiment.as_str(), arm.trials, arm.known_trials),
        ("control", 80, 40)
    );
    assert!((arm.pass_rate.unwrap() - 0.5).abs() < 1e-12);
    assert!(
        (arm.expense.cost_usd.unwrap() - 2.4).abs() < 1e-9 && arm.expense.seconds == Some(3200.0)
    );
    assert!((told.expense.cost_usd.unwrap() - 4.8).abs() < 1e-9);
    assert_eq!(told.expense.seconds, Some(1600.0), "four at a time");
    let variances = &told.precision[0].variances;
    assert_eq!((variances.evals, variances.trials), (8, 80));
    // Eight evals that agree are no proof that all do.
    assert_eq!(variances.assumed, [Assumption::Between]);
    assert!(
        variances.experiment < variances.baseline && variances.baseline < 0.25,
        "{variances:?}"
    );
    assert!(
        (variances.between - 0.04 / 3.0).abs() < 1e-12,
        "{variances:?}"
    );
}

#[test]
fn an_arm_that_never_ran_is_like_the_other_and_costs_nobody_knows_what() {
    let past = earlier().edited(|trials| trials.retain(|(head, _)| head.experiment == "control"));
    let told = ask(&plan(8, 10), vec![past], Some(0.1));
    assert_eq!(
        told.precision[0].variances.assumed,
        [Assumption::LuckOfOneArm, Assumption::Between]
    );
    assert_eq!(
        (told.arms[1].expense, told.expense),
        (Expense::default(), Expense::default())
    );
    let detect = told.detect.unwrap();
    assert_eq!(detect.with_these_evals.unwrap().cost_usd, None);
}

#[test]
fn repetitions_that_are_proposed_see_it_and_fewer_do_not() {
    for (evals, repetitions, difference) in [(20, 3, 0.2), (20, 3, 0.1), (5, 2, 0.15), (8, 2, 0.3)]
    {
        let told = ask(&plan(evals, repetitions), Vec::new(), Some(difference));
        let proposal = told.detect.unwrap().with_these_evals.unwrap();
        assert_eq!(proposal.evals, evals);
        assert_eq!(proposal.trials, evals * proposal.repetitions * 2);
        let seen = |repetitions| {
            let told = ask(&plan(evals, repetitions), Vec::new(), None);
            told.precision[0].detectable.unwrap() <= difference
        };
        assert!(seen(proposal.repetitions), "{proposal:?}");
        assert!(!seen(proposal.repetitions - 1), "{proposal:?}");
    }
}

#[test]
fn evals_that_are_proposed_see_it_beyond_and_fewer_do_not() {
    let detect = ask(&plan(8, 5), Vec::new(), Some(0.25)).detect.unwrap();
    let proposal = detect.beyond.unwrap();
    assert_eq!(proposal.repetitions, 5);
    let seen = |evals| ask(&plan(evals, 5), Vec::new(), None).precision[0].beyond;
    assert!(seen(proposal.evals).unwrap() <= 0.25);
    assert!(seen(proposal.evals - 1).is_none_or(|beyond| beyond > 0.25));
    // Nobody writes hundreds of evals to answer one question.
    let small = ask(&plan(8, 5), Vec::new(), Some(0.02)).detect.unwrap();
    assert_eq!(small.beyond, None);
}

#[test]
fn what_cannot_be_is_said() {
    let few = ask(&plan(5, 1), Vec::new(), Some(0.1));
    assert_eq!(few.precision[0].cannot_tell, Some(CannotTell::TooFewTrials));
    let detect = few.detect.unwrap();
    assert!(!detect.is_seen);
    assert!(detect.with_these_evals.is_some());
    let few = ask(&plan(4, 5), Vec::new(), None);
    assert!(few.precision[0].detectable.is_some());
    assert_eq!(few.precision[0].beyond, None);
    // Nothing to compare within the run: another run of the same, then.
    let one: Vec<TrialHead> = plan(12, 5)
        .into_iter()
        .filter(|head| head.experiment == "control")
        .collect();
    let told = ask(&one, Vec::new(), None);
    assert_eq!(
        (
            told.precision[0].baseline.as_deref(),
            told.precision[0].evals
        ),
        (None, 12)
    );
    assert_eq!(
        told.precision[0].detectable,
        ask(&plan(12, 5), Vec::new(), None).precision[0].detectable
    );
    let nothing = ask(&[], Vec::new(), Some(0.1));
    assert_eq!(
        (nothing.trials, nothing.precision.len(), nothing.detect),
        (0, 0, None)
    );
}

/// A plan that says it sees a difference should find it about four times of five: by the verdict's own rule.
#[test]
fn what_a_plan_says_it_sees_is_found() {
    const EVALS: usize = 12;
    const REPETITIONS: usize = 5;
    const RUNS: usize = 400;
    let seen = ask(&plan(EVALS, REPETITIONS), Vec::new(), None).precision[0]
        .detectable
        .unwrap();
    let mut random = fastrand::Rng::with_seed(11);
    let mut found = 0;
    for _ in 0..RUNS {
        let mut count = |p: f64| Count {
            passed: (0..REPETITIONS).filter(|_| random.f64() < p).count(),
            trials: REPETITIONS,
        };
        let strata: Vec<Stratum> = (0..EVALS)
            .map(|_| Stratum {
                arm: count(0.5 + seen / 2.0),
                baseline: count(0.5 - seen / 2.0),
                share: EVALS,
            })
            .collect();
        let effect = Effect::of_counts(&strata, &[]);
        found += usize::from(Verdict::of(&effect, 0.1) == Verdict::Better);
    }
    let share = found as f64 / RUNS as f64;
    assert!((0.72..0.92).contains(&share), "{share}");
}
