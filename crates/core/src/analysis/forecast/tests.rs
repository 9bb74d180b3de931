use super::*;
use crate::analysis::history::Record;
use crate::fixture::run;
use crate::run::state::RunState;
use crate::stats::paired::difference_of_rates;
use crate::stats::{ALPHA, CannotTell};

fn heads(state: &RunState) -> Vec<TrialHead> {
    state
        .trials()
        .iter()
        .map(|trial| trial.head.clone())
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
    let expected = (9.466_f64 * (0.25 * 2.0 / 5.0 + 0.16 / 12.0) / 12.0).sqrt();
    assert!(
        (only.detectable.unwrap() - expected).abs() < 1e-3,
        "{only:?}"
    );
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
    assert_eq!(
        (variances.assumed.len(), variances.evals, variances.trials),
        (0, 8, 80)
    );
    assert!(
        variances.experiment < variances.baseline && variances.baseline < 0.25,
        "{variances:?}"
    );
    assert!(variances.between < 0.01, "{variances:?}");
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
    assert_eq!(told.detect.unwrap().with_more_evals.unwrap().cost_usd, None);
}

#[test]
fn the_cheapest_plan_is_one_that_sees_it_and_none_smaller_does() {
    for (evals, repetitions, difference) in [(20, 3, 0.2), (20, 3, 0.1), (50, 1, 0.15), (8, 2, 0.3)]
    {
        let told = ask(&plan(evals, repetitions), Vec::new(), Some(difference));
        let detect = told.detect.unwrap();
        assert!(
            detect.with_these_evals.is_some() || detect.with_more_evals.is_some(),
            "{evals} {difference}"
        );
        for proposal in [&detect.with_these_evals, &detect.with_more_evals]
            .into_iter()
            .flatten()
        {
            assert_eq!(proposal.trials, proposal.evals * proposal.repetitions * 2);
            let seen = |evals, repetitions| {
                let told = ask(&plan(evals, repetitions), Vec::new(), None);
                told.precision[0]
                    .detectable
                    .is_some_and(|seen| seen <= difference)
            };
            assert!(seen(proposal.evals, proposal.repetitions), "{proposal:?}");
            assert!(
                !seen(proposal.evals - 1, proposal.repetitions),
                "{proposal:?}"
            );
            assert!(
                proposal.repetitions == 1 || !seen(proposal.evals, proposal.repetitions - 1),
                "{proposal:?}"
            );
        }
        if let (Some(these), Some(more)) = (&detect.with_these_evals, &detect.with_more_evals) {
            assert!(
                these.evals <= evals && more.evals > evals && more.trials < these.trials,
                "{detect:?}"
            );
        }
    }
}

#[test]
fn what_cannot_be_is_said() {
    let few = ask(&plan(5, 100), Vec::new(), Some(0.1));
    assert_eq!(few.precision[0].cannot_tell, Some(CannotTell::TooFewEvals));
    let detect = few.detect.unwrap();
    assert_eq!((detect.is_seen, detect.with_these_evals), (false, None));
    assert!(detect.with_more_evals.is_some());
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
    for seed in 0..RUNS {
        let rate = |p: f64, random: &mut fastrand::Rng| {
            (0..REPETITIONS).filter(|_| random.f64() < p).count() as f64 / REPETITIONS as f64
        };
        let pairs: Vec<(f64, f64)> = (0..EVALS)
            .map(|_| {
                let effect = seen + (random.f64() - 0.5) * 0.4;
                (
                    rate(0.5 + effect / 2.0, &mut random),
                    rate(0.5 - effect / 2.0, &mut random),
                )
            })
            .collect();
        let paired = difference_of_rates(&pairs, seed as u64).unwrap();
        let is_found =
            paired.p.unwrap() < ALPHA && paired.interval.is_ok_and(|interval| interval.low > 0.0);
        found += usize::from(is_found);
    }
    let share = found as f64 / RUNS as f64;
    assert!((0.72..0.92).contains(&share), "{share}");
}
