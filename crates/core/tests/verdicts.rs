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
use terca_core::analysis::summary::{Comparison, Summary, Verdict};
use terca_core::config::adaptive::Adaptive;
use terca_core::config::verdict::VerdictSettings;
use terca_core::run::event::{Event, EventKind, RunStatus, TrialHead};
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
                agent: "nop".to_owned(),
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

    /// As if repetitions had been added one by one.
    fn adaptive(self) -> Self {
        Run {
            adaptive: Some(Adaptive { min: 100, max: 100 }),
            ..self
        }
    }

    fn events(&self) -> Vec<Event> {
        let start = EventKind::RunStarted {
            run: "2026-11-14-001".into(),
            suite: "basic-js".into(),
            terca_version: "0.1.0".into(),
            seed: 7,
            concurrency: 4,
            baseline: "control".into(),
            verdict: VerdictSettings::default(),
            identical_to_baseline: Vec::new(),
            adaptive: self.adaptive,
            descriptions: None,
            trials: self.trials.iter().map(|(head, _)| head.clone()).collect(),
        };
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
        ("inconclusive, few evals", with("gemini", 5, &HELPS[..4])),
        (
            "inconclusive, all few evals changed",
            with("gemini", 1, &[(1, 0); 5]),
        ),
        (
            "six evals that changed are enough",
            with("gemini", 1, &[(1, 0); 6]),
        ),
        ("one eval", with("gemini", 10, &[(10, 2)])),
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

/// The verdict goes by the pairs that differ, and says so; the interval is told all the same.
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
        ("better", with("gemini", 8, &clear)),
        ("worse", with("gemini", 8, &reversed(&clear))),
        (
            "one eval is enough for a verdict on that eval",
            with("gemini", 10, &[(10, 1)]),
        ),
        (
            "fixed repetitions would call it better",
            with("gemini", 1, &[(1, 0); 6]),
        ),
        ("equivalent", with("gemini", 20, &equal)),
        ("all passed", with("gemini", 5, &[(5, 5); 12])),
        ("inconclusive", with("gemini", 5, &DOES_LITTLE)),
        ("two experiments", two),
        ("two environments", places),
    ];
    let told: Vec<String> = cases
        .into_iter()
        .map(|(case, run)| tell(case, &run.adaptive().summary()))
        .collect();
    insta::assert_snapshot!("sentences_adaptive", told.join("\n"));
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
        .adaptive();
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
            .map(|warning| format!("              warning: {warning}\n"))
            .collect();
        format!(
            "{:12}  {}\n{warnings}",
            comparison.verdict.as_str(),
            comparison.sentence
        )
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
        (vec![(10, 2)], 10, CannotTell::OneEval),
        (vec![(1, 0); 5], 1, CannotTell::TooFewEvals),
    ] {
        let comparison = with("g", trials, &passed).only();
        assert_eq!(
            (comparison.verdict, comparison.cannot_tell),
            (Verdict::Inconclusive, Some(reason))
        );
    }
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
    let evals = outlook.with_evals.unwrap();
    assert!(evals.evals > 12 && evals.repetitions == 5, "{evals:?}");
    assert_eq!(evals.trials, evals.evals * 5 * 2);
    // 3 and 3.42 cents for a trial; 44 seconds, four at a time.
    assert!((evals.cost_usd.unwrap() - evals.evals as f64 * 5.0 * 0.0642).abs() < 1e-6);
    assert!((evals.seconds.unwrap() - evals.trials as f64 * 11.0).abs() < 1e-6);
    assert!(outlook.detectable.unwrap() > outlook.difference);
    assert!(with("gemini", 5, &HELPS).only().outlook.is_none());
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
        "/summary/comparisons/0/outlook/withEvals",
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
        Passed,
        Passed,
        Partial,
        Failed,
        Failed,
        Error,
        Interrupted,
        Pending,
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
        let results = if adaptive { run.adaptive() } else { run }.results();
        let document = serde_json::to_string(&results).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Results>(&document).unwrap(), &results);
        for comparison in &results.summary.comparisons {
            prop_assert!(!comparison.sentence.contains("NaN") && comparison.sentence.ends_with('.'));
            let effect = &comparison.pass_rate;
            prop_assert_eq!(effect.interval.is_some(), comparison.evals > 1);
            prop_assert!(effect.p_adjusted >= effect.p);
            if comparison.verdict.is_difference() {
                prop_assert!(effect.p_adjusted < Some(0.05));
            }
            prop_assert_eq!(comparison.sequential.is_some(), adaptive);
            prop_assert_eq!(comparison.outlook.is_some(), comparison.verdict == Verdict::Inconclusive && comparison.evals > 0);
        }
    }
}
