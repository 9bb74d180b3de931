//! What a run says about its experiments: every verdict, every obstacle, every warning.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so and ends"
)]

use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;
use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::{Beyond, Change, Comparison, Summary, Verdict, compare};
use terca_core::config::adaptive::Adaptive;
use terca_core::run::event::{Event, EventKind, RunStart, RunStatus, TrialHead};
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::run::state::RunState;
use terca_core::stats::CannotTell;
use terca_core::stats::wilson::wilson;
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;
use terca_core::trial_error::{ErrorKind, TrialError};

/// A run in the making.
#[derive(Debug, Default)]
struct Run {
    trials: Vec<(TrialHead, TrialReport)>,
    unfinished: bool,
    adaptive: Option<Adaptive>,
}

impl Run {
    /// One cell: so many passed of so many.
    fn cell(self, place: [&str; 3], passed: usize, trials: usize) -> Self {
        let cost = if place[2] == "control" { 0.03 } else { 0.0342 };
        let reports = (0..trials)
            .map(|n| judged(f64::from(u8::from(n < passed)), Some(cost)))
            .collect();
        self.reports(place, reports)
    }

    fn reports(
        mut self,
        [eval, environment, experiment]: [&str; 3],
        reports: Vec<TrialReport>,
    ) -> Self {
        for (report, repetition) in reports.into_iter().zip(1..) {
            let head = TrialHead {
                id: self.trials.len() as u32 + 1,
                eval: eval.to_owned(),
                environment: environment.to_owned(),
                experiment: experiment.to_owned(),
                repetition,
                dir: format!("{eval}/{environment}.{experiment}.{repetition:02}").into(),
                agent: "gemini-cli".to_owned(),
                model: None,
            };
            self.trials.push((head, report));
        }
        self
    }

    /// For each eval, how many of `trials` passed in the experiment and in `control`.
    fn evals(
        mut self,
        environment: &str,
        experiment: &str,
        trials: usize,
        passed: &[(usize, usize)],
    ) -> Self {
        for (number, (with, without)) in passed.iter().enumerate() {
            let eval = format!("eval{number:02}");
            if !self.trials.iter().any(|(head, _)| {
                (
                    head.eval.as_str(),
                    head.environment.as_str(),
                    head.experiment.as_str(),
                ) == (eval.as_str(), environment, "control")
            }) {
                self = self.cell([&eval, environment, "control"], *without, trials);
            }
            self = self.cell([&eval, environment, experiment], *with, trials);
        }
        self
    }

    fn running(self) -> Self {
        Run {
            unfinished: true,
            ..self
        }
    }

    /// As if repetitions had been added one by one, up to so many.
    fn adaptive(self, max: u32) -> Self {
        Run {
            adaptive: Some(Adaptive { min: max, max }),
            ..self
        }
    }

    fn events(&self) -> Vec<Event> {
        let start = EventKind::RunStarted(Box::new(RunStart {
            run: "2026-11-14-001".into(),
            suite: "basic-js".into(),
            terca_version: "0.1.0".into(),
            seed: 7,
            concurrency: 4,
            baseline: "control".into(),
            adaptive: self.adaptive,
            trials: self.trials.iter().map(|(head, _)| head.clone()).collect(),
            ..RunStart::default()
        }));
        let finish = |(head, report): &(TrialHead, TrialReport)| EventKind::TrialFinished {
            trial: head.id,
            report: Box::new(report.clone()),
        };
        let end = (!self.unfinished).then_some(EventKind::RunFinished {
            status: RunStatus::Complete,
        });
        let kinds = std::iter::once(start)
            .chain(self.trials.iter().map(finish))
            .chain(end);
        kinds
            .zip(1..)
            .map(|(kind, seq)| Event {
                seq,
                at: Timestamp::UNIX_EPOCH,
                kind,
            })
            .collect()
    }

    fn results(&self) -> Results {
        Results::of(&RunState::fold(&self.events()))
    }

    fn summary(&self) -> Summary {
        self.results().summary
    }

    fn only(&self) -> Comparison {
        let [only] = self.summary().comparisons.try_into().unwrap();
        only
    }
}

fn judged(score: f64, cost_usd: Option<f64>) -> TrialReport {
    TrialReport {
        status: Status::of_score(score),
        score: Some(score),
        stats: Stats {
            cost_source: None,
            usage: Usage {
                cost_usd,
                ..Usage::default()
            },
            duration_seconds: Some(40.0),
        },
        attempts: 1,
        duration_seconds: 44.0,
        ..TrialReport::pending()
    }
}

fn error() -> TrialReport {
    TrialReport {
        status: Status::Error,
        attempts: 1,
        error: Some(TrialError::new(ErrorKind::RateLimit, "429")),
        ..TrialReport::pending()
    }
}

fn with(environment: &str, trials: usize, passed: &[(usize, usize)]) -> Run {
    Run::default().evals(environment, "with-rules", trials, passed)
}

const HELPS: [(usize, usize); 12] = [
    (5, 3),
    (4, 2),
    (5, 4),
    (3, 3),
    (5, 2),
    (4, 3),
    (5, 5),
    (3, 1),
    (4, 4),
    (5, 4),
    (3, 2),
    (4, 3),
];
const DOES_LITTLE: [(usize, usize); 12] = [
    (3, 3),
    (4, 2),
    (5, 4),
    (3, 3),
    (2, 4),
    (4, 3),
    (5, 5),
    (3, 1),
    (4, 4),
    (3, 4),
    (3, 2),
    (1, 3),
];

fn reversed(passed: &[(usize, usize)]) -> Vec<(usize, usize)> {
    passed
        .iter()
        .map(|(with, without)| (*without, *with))
        .collect()
}

#[test]
fn every_verdict_has_a_sentence() {
    let equal: Vec<(usize, usize)> = (0..40)
        .map(|n| (10 + n % 11 - usize::from(n % 13 == 0), 10 + n % 11))
        .collect();
    let sure = with("gemini", 5, &HELPS).evals("gemini", "with-mcp", 5, &DOES_LITTLE);
    let two_places = with("gemini", 5, &HELPS).evals("claude", "with-rules", 5, &DOES_LITTLE);
    let no_money = HELPS
        .iter()
        .enumerate()
        .fold(Run::default(), |run, (number, (one, other))| {
            let eval = format!("eval{number}");
            let arm = |passed: usize| {
                (0..5)
                    .map(|n| judged(f64::from(u8::from(n < passed)), None))
                    .collect::<Vec<_>>()
            };
            run.reports([&eval, "default", "control"], arm(*other))
                .reports([&eval, "default", "with-rules"], arm(*one))
        });
    let one_arm = Run::default()
        .cell(["fib", "gemini", "control"], 3, 4)
        .reports(["fib", "gemini", "with-rules"], vec![error(), error()]);
    let cases = [
        ("better", with("gemini", 5, &HELPS)),
        ("worse", with("gemini", 5, &reversed(&HELPS))),
        (
            "better, nobody told the cost, one environment without a name",
            no_money,
        ),
        ("equivalent", with("gemini", 20, &equal)),
        ("inconclusive", with("gemini", 5, &DOES_LITTLE)),
        (
            "inconclusive, one repetition",
            with(
                "gemini",
                1,
                &[(1, 0), (1, 1), (0, 0), (1, 0), (0, 1), (1, 0), (1, 1)],
            ),
        ),
        (
            "better on four evals",
            with("gemini", 4, &[(4, 1), (4, 2), (3, 1), (4, 0)]),
        ),
        (
            "five trials in each arm are too few",
            with("gemini", 1, &[(1, 0); 5]),
        ),
        (
            "six evals that changed are enough",
            with("gemini", 1, &[(1, 0); 6]),
        ),
        ("one eval", with("gemini", 10, &[(10, 2)])),
        (
            "better here, and not beyond",
            with("gemini", 10, &[(10, 0), (6, 6), (5, 5), (7, 7), (4, 4)]),
        ),
        (
            "an eval broke",
            with("gemini", 10, &[(8, 2), (9, 3), (0, 10), (9, 4), (8, 2)]),
        ),
        ("the same in both", with("gemini", 4, &[(2, 2); 6])),
        ("graded, and no trial reaches 1", graded()),
        ("not all trials ended", cut_short()),
        ("some trials cost nothing or did not say", without_cost()),
        ("all passed", with("gemini", 5, &[(5, 5); 12])),
        ("all failed", with("gemini", 5, &[(0, 0); 12])),
        ("never judged in one arm", one_arm),
        ("two experiments", sure),
        ("two environments", two_places),
    ];
    let told: Vec<String> = cases
        .iter()
        .map(|(case, run)| tell(case, &run.summary()))
        .collect();
    insta::assert_snapshot!("sentences", told.join("\n"));
}

/// Five evals with scores between 0 and 1.
fn graded() -> Run {
    let mut run = Run::default();
    for number in 0..5 {
        let eval = format!("eval{number}");
        let scores = |base: f64| {
            (0..4)
                .map(|n| judged(base + 0.03 * f64::from(n) + 0.02 * f64::from(number), None))
                .collect()
        };
        run = run.reports([&eval, "default", "control"], scores(0.3));
        run = run.reports([&eval, "default", "with-rules"], scores(0.6));
    }
    run
}

/// Six of 24 trials ended.
fn cut_short() -> Run {
    let mut run = Run::default();
    for number in 0..3 {
        let eval = format!("eval{number}");
        for (experiment, score) in [("control", 0.0), ("with-rules", 1.0)] {
            let mut reports = vec![TrialReport::pending(); 4];
            reports[0] = judged(score, Some(0.1));
            run = run.reports([&eval, "default", experiment], reports);
        }
    }
    run
}

/// A price from those trials that have one.
fn without_cost() -> Run {
    let mut run = Run::default();
    for number in 0..6 {
        let eval = format!("eval{number}");
        let cost = |n: i32, times: f64| match (number, n) {
            (0, 0) => None,
            (1, 0) => Some(0.0),
            _ => Some(times * (1.0 + 0.1 * f64::from((n * 7 + number) % 5))),
        };
        for (experiment, passed, times) in [("control", 1, 0.02), ("with-rules", 3, 0.03)] {
            let reports = (0..4)
                .map(|n| judged(f64::from(u8::from(n < passed)), cost(n, times)))
                .collect();
            run = run.reports([&eval, "default", experiment], reports);
        }
    }
    run
}

/// The verdict goes by the same interval, and by a p-value that allows for every look.
#[test]
fn every_verdict_of_an_adaptive_run_has_a_sentence() {
    let clear: Vec<(usize, usize)> = vec![(8, 1), (7, 2), (8, 4)];
    let two = with("gemini", 8, &clear).evals("gemini", "with-mcp", 8, &[(4, 4), (5, 2), (4, 4)]);
    let places =
        with("gemini", 8, &clear).evals("claude", "with-rules", 8, &[(4, 4), (5, 2), (4, 4)]);
    let equal: Vec<(usize, usize)> = (0..40)
        .map(|n| (10 + n % 11, 10 + n % 11 - usize::from(n % 13 == 0)))
        .collect();
    let cases = [
        ("better, and stopped early", 20, with("gemini", 8, &clear)),
        (
            "better, at the most repetitions",
            8,
            with("gemini", 8, &clear),
        ),
        ("worse", 20, with("gemini", 8, &reversed(&clear))),
        (
            "one eval is enough for a verdict on that eval",
            20,
            with("gemini", 10, &[(10, 1)]),
        ),
        (
            "fixed repetitions would call it better",
            1,
            with("gemini", 1, &[(1, 0); 6]),
        ),
        ("equivalent", 20, with("gemini", 20, &equal)),
        ("all passed", 5, with("gemini", 5, &[(5, 5); 12])),
        ("inconclusive", 5, with("gemini", 5, &DOES_LITTLE)),
        ("two experiments", 8, two),
        ("two environments", 8, places),
    ];
    let told: Vec<String> = cases
        .into_iter()
        .map(|(case, max, run)| tell(case, &run.adaptive(max).summary()))
        .collect();
    insta::assert_snapshot!("sentences_adaptive", told.join("\n"));
}

/// The last look is allowed when all repetitions were planned for every eval, not when they were for one of them.
#[test]
fn the_last_look_waits_for_every_eval() {
    let of = |repetitions: usize| {
        let run = with("g", 2, &[(2, 0); 4]);
        let run = run.cell(["last", "g", "control"], 0, repetitions);
        let run = run.cell(["last", "g", "with-rules"], 0, repetitions);
        run.adaptive(2).only()
    };
    let whole = of(2);
    assert!(whole.sequential.unwrap().at_max);
    assert_eq!(whole.verdict, Verdict::Better);
    let open = of(1);
    assert!(!open.sequential.unwrap().at_max);
    assert_eq!(open.verdict, Verdict::Inconclusive);
}

#[test]
fn pairs_are_the_same_repetition_judged_in_both_arms() {
    let pass = || judged(1.0, None);
    let fail = || judged(0.5, None);
    let run = Run::default()
        .reports(
            ["a", "e", "control"],
            vec![pass(), fail(), error(), pass(), fail()],
        )
        .reports(
            ["a", "e", "with-rules"],
            vec![fail(), pass(), pass(), error(), pass(), pass()],
        )
        .adaptive(100);
    let evidence = run.only().sequential.unwrap();
    assert_eq!((evidence.pairs, evidence.better, evidence.worse), (3, 2, 1));
    // B(3, 2) · 2³.
    assert!((evidence.e_value - 8.0 / 12.0).abs() < 1e-12);
    assert_eq!(run.only().pass_rate.p, Some(1.0));
    assert!(with("e", 5, &HELPS).only().sequential.is_none());
}

fn tell(case: &str, summary: &Summary) -> String {
    let comparisons = summary.comparisons.iter().map(|comparison| {
        let warnings: String = comparison
            .warnings
            .iter()
            .map(|warning| format!("  warning: {warning}\n"))
            .collect();
        format!("{}\n{warnings}", comparison.sentence)
    });
    format!("# {case}\n{}", comparisons.collect::<String>())
}

#[test]
fn verdicts_are_what_they_are_called() {
    assert_eq!(with("g", 5, &HELPS).only().verdict, Verdict::Better);
    assert_eq!(
        with("g", 5, &reversed(&HELPS)).only().verdict,
        Verdict::Worse
    );
    assert_eq!(
        with("g", 5, &DOES_LITTLE).only().verdict,
        Verdict::Inconclusive
    );
    for (passed, trials, reason) in [
        (vec![(5, 5); 12], 5, CannotTell::AllPassed),
        (vec![(0, 0); 12], 5, CannotTell::AllFailed),
        (vec![(1, 0); 5], 1, CannotTell::TooFewTrials),
    ] {
        let comparison = with("g", trials, &passed).only();
        assert_eq!(comparison.cannot_tell, Some(reason));
        assert!(!comparison.verdict.is_difference());
    }
    // The quick start of version 0.1: four evals, four repetitions.
    let four = with("g", 4, &[(4, 1), (4, 2), (3, 1), (4, 0)]).only();
    assert_eq!(four.verdict, Verdict::Better);
    assert_eq!(four.beyond, Some(Beyond::TooFewEvals));
    assert_eq!(with("g", 10, &[(10, 2)]).only().verdict, Verdict::Better);
    let helps = with("g", 5, &HELPS).only();
    assert_eq!(helps.beyond, Some(Beyond::Holds));
}

#[test]
fn the_verdict_is_the_same_for_every_seed_and_in_every_mode() {
    let fixed = with("g", 4, &[(4, 1), (4, 2), (3, 1), (4, 0)]);
    let mut state = RunState::fold(&fixed.events());
    let expected = compare(&state, "control", 0.1);
    let mut events = fixed.events();
    for (event, other) in events.iter_mut().zip(fixed.events()) {
        if let EventKind::RunStarted(start) = &mut event.kind {
            start.seed = 99;
        }
        assert_eq!(event.seq, other.seq);
    }
    state = RunState::fold(&events);
    assert_eq!(compare(&state, "control", 0.1), expected);
    let adaptive = with("g", 4, &[(4, 1), (4, 2), (3, 1), (4, 0)]).adaptive(4);
    assert_eq!(adaptive.only().verdict, Verdict::Better);
    let twice = 2.0 * expected[0].pass_rate.p.unwrap();
    assert!((adaptive.only().pass_rate.p.unwrap() - twice).abs() < 1e-12);
}

#[test]
fn evals_that_broke_or_were_mended_are_known() {
    let comparison = with("g", 10, &[(7, 2), (5, 5), (0, 10), (10, 0)]).only();
    let changes: Vec<Option<Change>> = comparison.per_eval.iter().map(|eval| eval.change).collect();
    assert_eq!(
        changes,
        [None, None, Some(Change::Broke), Some(Change::Mended)]
    );
    let broke = &comparison.per_eval[2];
    assert_eq!(
        (broke.baseline_passed, broke.passed, broke.judged),
        (10, 0, 10)
    );
    assert!(broke.p_adjusted > broke.p);
}

#[test]
fn the_margin_decides_on_equivalence() {
    let state = RunState::fold(&with("g", 20, &[(12, 11); 12]).events());
    let verdict = |margin| compare(&state, "control", margin)[0].verdict;
    assert_eq!(verdict(0.15), Verdict::Equivalent);
    assert_eq!(verdict(0.05), Verdict::Inconclusive);
}

#[test]
fn swapping_the_arms_flips_every_effect() {
    let (one, other) = (
        with("g", 5, &HELPS).only(),
        with("g", 5, &reversed(&HELPS)).only(),
    );
    assert!((one.pass_rate.value.unwrap() + other.pass_rate.value.unwrap()).abs() < 1e-12);
    assert_eq!(one.pass_rate.p, other.pass_rate.p);
    assert_eq!(one.figures.arm.pass_rate, other.figures.baseline.pass_rate);
}

#[test]
fn an_inconclusive_run_says_what_it_would_take() {
    let comparison = with("gemini", 5, &DOES_LITTLE).only();
    let outlook = comparison.outlook.unwrap();
    let differences: Vec<f64> = outlook
        .repetitions
        .iter()
        .map(|proposal| proposal.difference)
        .collect();
    assert_eq!(differences, [0.2, 0.1]);
    let last = outlook.repetitions.last().unwrap();
    assert_eq!((last.evals, last.trials), (12, 12 * last.repetitions * 2));
    // 3 and 3.42 cents for a trial; 44 seconds, four at a time.
    let of_arm = 12.0 * last.repetitions as f64;
    assert!((last.cost_usd.unwrap() - of_arm * 0.0642).abs() < 1e-6);
    assert!((last.seconds.unwrap() - last.trials as f64 * 11.0).abs() < 1e-6);
    assert_eq!(outlook.evals, None, "repetitions answer this question");
    let decided = with("gemini", 5, &HELPS).only().outlook.unwrap();
    assert_eq!((decided.repetitions.len(), decided.evals), (0, None));
}

#[test]
fn comparisons_wait_for_the_end() {
    let run = with("gemini", 5, &HELPS).running();
    let summary = run.summary();
    assert_eq!(summary.comparisons, []);
    assert_eq!((summary.cells.len(), summary.variants.len()), (24, 2));
}

#[test]
fn errors_are_in_no_denominator_and_are_warned_of_when_arms_differ() {
    let mut run = Run::default();
    for number in 0..10 {
        let eval = format!("eval{number}");
        run = run.cell([&eval, "gemini", "control"], 2, 3);
        run = run.reports(
            [&eval, "gemini", "with-mcp"],
            vec![judged(1.0, None), judged(1.0, None), error()],
        );
    }
    run = run
        .cell(["broken", "gemini", "control"], 0, 3)
        .reports(["broken", "gemini", "with-mcp"], vec![error(); 3]);
    let comparison = run.only();
    let arm = &comparison.figures.arm;
    assert_eq!(
        (arm.trials, arm.judged, arm.errors, arm.pass_rate),
        (33, 20, 13, Some(1.0))
    );
    assert_eq!(comparison.left_out, ["broken"]);
    assert_eq!(comparison.evals, 10);
    insta::assert_snapshot!("warnings", tell("errors", &run.summary()));
}

#[test]
fn whether_the_experiment_reached_the_agent() {
    let server = |status, calls| McpDelivery {
        status,
        calls,
        failed_calls: calls.map(|_| 0),
        tap: None,
    };
    let given = |servers: Vec<(&str, McpDelivery)>, status| TrialReport {
        status,
        phases: Phases {
            agent: Some(1.0),
            ..Phases::default()
        },
        delivery: Delivery {
            rules: vec![Installed {
                path: "AGENTS.md".into(),
                sha256: "…".into(),
                ..Installed::default()
            }],
            mcp_servers: servers
                .into_iter()
                .map(|(name, server)| (name.to_owned(), server))
                .collect(),
            ..Delivery::default()
        },
        ..judged(1.0, None)
    };
    let connected = Some(McpStatus::Connected);
    let mut run = Run::default();
    for number in 0..3 {
        let eval = format!("eval{number}");
        let servers = vec![
            ("docs", server(connected, Some(0))),
            ("firebase", server(connected, Some(u64::from(number == 0)))),
            ("quiet", server(None, None)),
        ];
        let failed = vec![("firebase", server(Some(McpStatus::Failed), Some(0)))];
        run = run.cell([&eval, "gemini", "control"], 1, 2);
        run = run.reports(
            [&eval, "gemini", "with-mcp"],
            vec![given(servers, Status::Passed), given(failed, Status::Error)],
        );
    }
    let summary = run.summary();
    assert_eq!(
        summary.variants[1].delivery.sentences(),
        [
            "rules `AGENTS.md`: installed 6/6",
            "MCP server `docs`: connected 3/3, used in 0/3",
            "MCP server `firebase`: connected 3/6, used in 1/6",
            "MCP server `quiet`: connected unknown, use unknown",
        ]
    );
    assert_eq!(summary.variants[0].delivery.sentences(), [] as [&str; 0]);
    assert!(
        summary.comparisons[0]
            .warnings
            .contains(&"MCP server `docs` was never used with `with-mcp`".to_owned())
    );
}

#[test]
fn figures_that_nobody_reported_have_no_effect() {
    let comparison = with("gemini", 5, &HELPS).only();
    assert_eq!(comparison.tokens.cannot_tell, Some(CannotTell::NotReported));
    assert!((comparison.cost_usd.value.unwrap() - 1.14).abs() < 1e-12);
    assert_eq!(
        comparison.cost_usd.cannot_tell,
        Some(CannotTell::NoVariation)
    );
    let free = Run::default()
        .reports(["a", "g", "control"], vec![judged(1.0, Some(0.0))])
        .reports(["a", "g", "with-rules"], vec![judged(1.0, Some(0.1))]);
    assert_eq!(
        free.only().cost_usd.cannot_tell,
        Some(CannotTell::NotPositive)
    );
}

#[test]
fn a_variant_is_the_mean_of_its_evals() {
    let run = Run::default()
        .cell(["a", "g", "control"], 1, 1)
        .cell(["b", "g", "control"], 1, 4);
    let summary = run.summary();
    let variant = &summary.variants[0].figures;
    assert_eq!((variant.pass_rate, variant.judged), (Some(0.625), 5));
    assert_eq!(
        variant.reliability.len(),
        1,
        "for the k that every eval allows"
    );
    assert_eq!(summary.cells[1].figures.reliability.len(), 4);
    assert_eq!(
        summary.cells[1].figures.pass_rate_interval,
        wilson(1, 4).ok()
    );
    assert_eq!(summary.comparisons, [], "nothing but the baseline");
}

#[test]
fn the_summary_survives_json_and_is_the_fold_of_the_journal() {
    let run = with("gemini", 5, &DOES_LITTLE).evals("claude", "with-rules", 3, &HELPS[..3]);
    let results = run.results();
    let document = serde_json::to_string(&results).unwrap();
    assert_eq!(serde_json::from_str::<Results>(&document).unwrap(), results);
    let journal: Vec<String> = run
        .events()
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let read: Vec<Event> = journal
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(Results::of(&RunState::fold(&read)), results);
}

/// `docs/reference/results-json.md` documents these.
#[test]
fn the_summary_has_the_keys_it_is_documented_with() {
    let results = serde_json::to_value(with("gemini", 5, &DOES_LITTLE).results()).unwrap();
    let keys = |pointer: &str| -> String {
        let object = results
            .pointer(pointer)
            .and_then(Value::as_object)
            .expect(pointer);
        object
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let pointers = [
        "/summary",
        "/summary/cells/0",
        "/summary/cells/0/passRateInterval",
        "/summary/cells/0/reliability/0",
        "/summary/variants/0",
        "/summary/variants/0/delivery",
        "/summary/comparisons/0",
        "/summary/comparisons/0/figures",
        "/summary/comparisons/0/figures/arm",
        "/summary/comparisons/0/repetitions",
        "/summary/comparisons/0/passRate",
        "/summary/comparisons/0/perEval/0",
        "/summary/comparisons/0/outlook",
        "/summary/comparisons/0/outlook/repetitions/0",
    ];
    let told: Vec<String> = pointers
        .iter()
        .map(|pointer| format!("{pointer}: {}\n", keys(pointer)))
        .collect();
    insta::assert_snapshot!("keys", told.concat());
}

/// Whatever can become of a trial, with figures as wild as agents report them.
fn any_report() -> impl Strategy<Value = TrialReport> {
    use Status::*;
    let status = prop::sample::select(vec![
        Passed, Passed, Partial, Failed, Failed, Error, Interrupted, Pending,
    ]);
    let figure = || option::of(prop_oneof![8 => 1e-9..1e12f64, 1 => Just(0.0)]);
    (status, figure(), figure(), option::of(0..u64::MAX / 4)).prop_map(
        |(status, cost, seconds, tokens)| {
            let score = match status {
                Passed => Some(1.0),
                Partial => Some(0.3),
                Failed => Some(0.0),
                _ => None,
            };
            let usage = Usage {
                cost_usd: cost,
                input_tokens: tokens,
                output_tokens: tokens,
                ..Usage::default()
            };
            TrialReport {
                status,
                score,
                stats: Stats {
                    cost_source: None,
                    usage,
                    duration_seconds: seconds,
                },
                duration_seconds: seconds.unwrap_or(0.0),
                ..TrialReport::pending()
            }
        },
    )
}

fn any_run() -> impl Strategy<Value = Run> {
    let places = || vec(vec(any_report(), 0..4), 6);
    vec(places(), 0..9).prop_map(|evals| {
        let mut run = Run::default();
        for (number, cells) in evals.into_iter().enumerate() {
            for (place, reports) in cells.into_iter().enumerate() {
                let experiment = ["control", "with-rules", "with-mcp"][place % 3];
                run = run.reports(
                    [
                        &format!("eval{number}"),
                        ["gemini", "claude"][place / 3],
                        experiment,
                    ],
                    reports,
                );
            }
        }
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Not a number cannot be written as JSON, so whatever comes back as it went is made of numbers.
    #[test]
    fn any_run_has_a_summary_of_numbers_and_reasons(run in any_run(), adaptive in any::<bool>()) {
        let results = if adaptive { run.adaptive(3) } else { run }.results();
        let document = serde_json::to_string(&results).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Results>(&document).unwrap(), &results);
        for comparison in &results.summary.comparisons {
            prop_assert!(!comparison.sentence.contains("NaN") && comparison.sentence.ends_with('.'));
            let effect = &comparison.pass_rate;
            prop_assert_eq!(effect.interval.is_some(), comparison.evals > 0);
            prop_assert!(effect.p_adjusted >= effect.p);
            prop_assert_eq!(effect.beyond.is_some(), comparison.evals >= 5);
            if comparison.verdict.is_difference() {
                prop_assert!(comparison.decisive().p_adjusted < Some(0.05));
            }
            prop_assert_eq!(comparison.sequential.is_some(), adaptive);
            prop_assert_eq!(comparison.outlook.is_some(), comparison.verdict != Verdict::Equivalent && comparison.evals > 0);
        }
    }
}
