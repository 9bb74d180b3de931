//! What must hold for every suite, every run and every text, whatever they are.

#[cfg(test)]
mod support;

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use support::{Project, coordinates, plan_of, with_nop};
use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
use terca_core::analysis::results::Results;
use terca_core::config::adaptive::Adaptive;
use terca_core::config::folder_name;
use terca_core::grade::grades::Scorecard;
use terca_core::grade::{Grade, JudgeRecord, JudgedBy};
use terca_core::plan::Plan;
use terca_core::plan::expand::Overrides;
use terca_core::plan::order;
use terca_core::plan::selection::Selection;
use terca_core::plan::shard::Shard;
use terca_core::run::event::{
    Event, EventKind, Phase, RegradedTrial, RunStart, RunStatus, StopReason, StoppedVariant,
    TrialHead,
};
use terca_core::run::merge::merge;
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::run::state::{Counts, RunState, Spent, Trial};
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;
use terca_core::trial_error::{ErrorKind, TrialError};

/// The shape of a suite: all that the size of its plan depends on.
#[derive(Debug, Clone)]
struct Shape {
    repetitions: u32,
    /// The repetitions of each eval, where it has its own.
    evals: Vec<Option<u32>>,
    environments: usize,
    experiments: usize,
}

impl Shape {
    fn project(&self) -> Project {
        let named = |prefix: &str, count: usize| -> String {
            (0..count)
                .map(|n| format!("  - name: {prefix}{n}\n"))
                .collect()
        };
        let evals: String = self
            .evals
            .iter()
            .enumerate()
            .map(|(n, own)| inline_eval(n, *own))
            .collect();
        let suite = format!(
            "repetitions: {}\nenvironments:\n{}experiments:\n{}evals:\n{evals}",
            self.repetitions,
            named("env", self.environments),
            named("exp", self.experiments)
        );
        Project::new(&[("terca.yaml", &suite)])
    }

    fn plan(&self, selection: &Selection, repetitions: Option<u32>) -> Plan {
        plan_of(
            self.project(),
            selection,
            &Overrides {
                repetitions,
                ..with_nop()
            },
        )
    }

    fn whole_plan(&self) -> Plan {
        self.plan(&Selection::default(), None)
    }

    fn trials(&self) -> u32 {
        let repetitions: u32 = self
            .evals
            .iter()
            .map(|own| own.unwrap_or(self.repetitions))
            .sum();
        repetitions * (self.environments * self.experiments) as u32
    }
}

fn inline_eval(number: usize, repetitions: Option<u32>) -> String {
    let own = repetitions.map_or(String::new(), |count| format!("    repetitions: {count}\n"));
    format!("  - name: eval{number}\n    prompt: go\n{own}")
}

fn shapes() -> impl Strategy<Value = Shape> {
    (
        1..4u32,
        vec(option::of(1..4u32), 1..5),
        1..4usize,
        1..4usize,
    )
        .prop_map(|(repetitions, evals, environments, experiments)| Shape {
            repetitions,
            evals,
            environments,
            experiments,
        })
}

type Coordinates = (String, String, String, u32);

fn all_coordinates(plan: &Plan) -> BTreeSet<Coordinates> {
    plan.trials.iter().map(coordinates).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_has_every_trial_once(shape in shapes()) {
        let plan = shape.whole_plan();
        let count = shape.trials();
        let ids: Vec<u32> = plan.trials.iter().map(|trial| trial.id).collect();
        prop_assert_eq!(ids, (1..=count).collect::<Vec<u32>>());
        let dirs: BTreeSet<&str> = plan.trials.iter().map(|trial| trial.dir.as_str()).collect();
        prop_assert_eq!(dirs.len(), count as usize);
        prop_assert_eq!(all_coordinates(&plan).len(), count as usize);
    }

    #[test]
    fn selecting_everything_is_selecting_nothing(shape in shapes()) {
        let star = || vec!["*".to_owned()];
        let all = Selection { evals: star(), experiments: star(), environments: star() };
        let dirs = |plan: Plan| plan.trials.into_iter().map(|trial| (trial.id, trial.dir)).collect::<Vec<_>>();
        prop_assert_eq!(dirs(shape.plan(&all, None)), dirs(shape.whole_plan()));
    }

    #[test]
    fn the_experiments_one_by_one_are_the_whole(shape in shapes()) {
        let one_by_one: BTreeSet<Coordinates> = (0..shape.experiments)
            .flat_map(|n| {
                let alone = Selection { experiments: vec![format!("exp{n}")], ..Selection::default() };
                all_coordinates(&shape.plan(&alone, None))
            })
            .collect();
        prop_assert_eq!(one_by_one, all_coordinates(&shape.whole_plan()));
    }

    #[test]
    fn parts_are_disjoint_complete_and_as_equal_as_can_be(shape in shapes(), of in 1..9usize) {
        let plan = shape.whole_plan();
        let parts: Vec<Vec<u32>> = Shard::all(of)
            .map(|shard| shard.part(&plan.trials).iter().map(|trial| trial.id).collect())
            .collect();
        let smallest = parts.iter().map(Vec::len).min().unwrap();
        prop_assert!(parts.iter().all(|part| part.len() <= smallest + 1));
        prop_assert!(parts.iter().all(|part| part.is_sorted()));
        let mut all: Vec<u32> = parts.into_iter().flatten().collect();
        all.sort_unstable();
        prop_assert_eq!(all, plan.trials.iter().map(|trial| trial.id).collect::<Vec<u32>>());
    }

    #[test]
    fn repetitions_of_the_command_line_override_all(shape in shapes(), repetitions in 1..4u32) {
        let same = Shape { repetitions, evals: vec![None; shape.evals.len()], ..shape };
        let plan = shape.plan(&Selection::default(), Some(repetitions));
        prop_assert_eq!(all_coordinates(&plan), all_coordinates(&same.whole_plan()));
    }

    #[test]
    fn the_order_is_a_permutation_in_which_variants_are_neighbours(shape in shapes(), seed: u64) {
        let plan = shape.whole_plan();
        let order = order::order(&plan.trials, seed);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..plan.trials.len()).collect::<Vec<_>>());
        let block = |index: &usize| {
            let (eval, _, _, repetition) = coordinates(&plan.trials[*index]);
            (eval, repetition)
        };
        let blocks: Vec<(String, u32)> = order.chunk_by(|a, b| block(a) == block(b)).map(|c| block(&c[0])).collect();
        prop_assert_eq!(blocks.iter().collect::<BTreeSet<_>>().len(), blocks.len(), "a block is torn apart");
        prop_assert_eq!(&order::order(&plan.trials, seed), &order);
    }

    #[test]
    fn a_folder_is_safe_whatever_the_name(name in "\\PC{1,20}|[./\\\\\u{0}-\u{1f}a\u{7f}\u{85}]{1,12}|[äß€😀.]{60,200}") {
        let folder = folder_name(&name);
        prop_assert!(!folder.is_empty());
        prop_assert!(folder.len() <= 255);
        prop_assert!(!folder.starts_with('.') && !folder.contains(".."), "{folder:?}");
        prop_assert!(!folder.chars().any(|c| c.is_control() || c == '/' || c == '\\'), "{folder:?}");
    }
}

#[test]
fn seeds_matter() {
    let shape = Shape {
        repetitions: 2,
        evals: vec![None; 4],
        environments: 2,
        experiments: 2,
    };
    let plan = shape.whole_plan();
    let orders: BTreeSet<Vec<usize>> = (0..10)
        .map(|seed| order::order(&plan.trials, seed))
        .collect();
    assert!(
        orders.len() > 5,
        "only {} different orders of 10 seeds",
        orders.len()
    );
}

/// How many trials the runs below have.
const TRIALS: u32 = 5;

fn head(id: u32) -> TrialHead {
    TrialHead {
        id,
        eval: format!("eval{}", id / 3),
        environment: "default".into(),
        experiment: if id.is_multiple_of(2) { "x" } else { "default" }.into(),
        repetition: id,
        dir: format!("eval{}/default.default.{id:02}", id / 3).into(),
        agent: "nop".into(),
        model: None,
    }
}

fn numbers() -> impl Strategy<Value = Option<u64>> {
    option::of(0..u64::MAX / 4)
}

/// Figures as clocks and prices give them: with all the digits that a float has.
fn figures() -> impl Strategy<Value = f64> {
    0.0..1e6f64
}

fn usages() -> impl Strategy<Value = Usage> {
    (numbers(), numbers(), numbers(), option::of(figures())).prop_map(
        |(requests, input, output, cost)| Usage {
            requests,
            input_tokens: input,
            output_tokens: output,
            cost_usd: cost,
            ..Usage::default()
        },
    )
}

fn statuses() -> impl Strategy<Value = Status> {
    use Status::*;
    prop::sample::select(vec![Passed, Partial, Failed, Error, Interrupted, Pending])
}

fn judges() -> impl Strategy<Value = JudgeRecord> {
    usages().prop_map(|usage| JudgeRecord {
        score: 1.0,
        reasons: Vec::new(),
        by: JudgedBy {
            agent: "nop".into(),
            agent_version: None,
            model: None,
            access: None,
            stats: Stats {
                cost_source: None,
                usage,
                duration_seconds: None,
            },
            artifacts: "judge".into(),
        },
    })
}

fn grades() -> impl Strategy<Value = Scorecard> {
    let grade = (0.0..=1.0f64, "\\PC{0,8}", figures(), option::of(judges())).prop_map(
        |(score, message, duration_seconds, judge)| Grade {
            score,
            message,
            duration_seconds,
            judge,
            ..Grade::default()
        },
    );
    btree_map("\\PC{1,6}", grade, 0..3).prop_map(|grades| grades.into_iter().collect())
}

fn reports() -> impl Strategy<Value = TrialReport> {
    let time = (-1_000_000_000_000..1_000_000_000_000i64)
        .prop_map(|ms| Timestamp::UNIX_EPOCH + SignedDuration::from_millis(ms));
    let error = "\\PC{0,8}".prop_map(|message| TrialError::new(ErrorKind::RateLimit, message));
    (
        statuses(),
        grades(),
        usages(),
        option::of(figures()),
        option::of(time),
        option::of(error),
        0..3u32,
    )
        .prop_map(
            |(status, tests, usage, seconds, started_at, error, attempts)| TrialReport {
                status,
                score: seconds.map(|seconds| seconds / 1e6),
                tests,
                stats: Stats {
                    cost_source: None,
                    usage,
                    duration_seconds: seconds,
                },
                delivery: Delivery {
                    mcp_servers: [(
                        "s".to_owned(),
                        McpDelivery {
                            status: Some(McpStatus::Failed),
                            calls: usage.requests,
                            failed_calls: Some(0),
                            tap: None,
                        },
                    )]
                    .into(),
                    ..Delivery::default()
                },
                started_at,
                duration_seconds: seconds.unwrap_or(0.0),
                phases: Phases {
                    agent: seconds,
                    ..Phases::default()
                },
                error,
                attempts,
                ..TrialReport::pending()
            },
        )
}

/// Anything that can happen to the trials of a run, in any order: a journal may come from a resumed run.
fn happenings() -> impl Strategy<Value = EventKind> {
    let trial = || 0..TRIALS + 2;
    prop_oneof![
        4 => trial().prop_map(|trial| EventKind::TrialStarted { trial, on: None }),
        1 => trial().prop_map(|trial| EventKind::PhaseStarted { trial, phase: Phase::Tests }),
        2 => (trial(), "\\PC{0,8}", usages())
            .prop_map(|(trial, doing, usage)| EventKind::Progress { trial, doing, usage }),
        4 => (trial(), reports())
            .prop_map(|(trial, report)| EventKind::TrialFinished { trial, report: Box::new(report) }),
        2 => (trial(), reports()).prop_map(|(trial, report)| EventKind::AttemptFailed {
            trial,
            report: Box::new(report),
            wait_seconds: 1.5,
        }),
        1 => prop::sample::select(vec!["x", "unknown"]).prop_map(|experiment| EventKind::VariantStopped(StoppedVariant {
            environment: "default".into(),
            experiment: experiment.into(),
            error: TrialError::new(ErrorKind::Auth, "401"),
            trials: 2,
        })),
        1 => vec((trial(), reports()), 0..3).prop_map(|trials| EventKind::Regraded {
            other_tests: std::collections::BTreeMap::new(),
            grading: 2,
            trials: trials.into_iter().map(|(trial, report)| RegradedTrial { trial, report }).collect(),
        }),
        1 => Just(EventKind::RunResumed { terca_version: "0.1.1".into(), concurrency: 3 }),
        1 => vec(trial(), 0..4).prop_map(|trials| EventKind::RoundStarted { repetition: 2, undecided: 1, trials }),
        1 => prop::sample::select(vec![StopReason::Interrupted, StopReason::FailFast, StopReason::Budget])
            .prop_map(|reason| EventKind::Stopping { reason }),
        1 => Just(EventKind::RunFinished { status: RunStatus::Interrupted }),
    ]
}

fn journals() -> impl Strategy<Value = Vec<Event>> {
    let adaptive = prop::option::of((0..3u32).prop_map(|min| Adaptive { min, max: 3 }));
    (any::<u64>(), adaptive, vec(happenings(), 0..20)).prop_map(|(seed, adaptive, happenings)| {
        let start = EventKind::RunStarted(Box::new(RunStart {
            run: "2026-11-14-001".into(),
            suite: "größe".into(),
            terca_version: "0.1.0".into(),
            seed,
            concurrency: 2,
            baseline: "default".into(),
            adaptive,
            trials: (1..=TRIALS).map(head).collect(),
            ..RunStart::default()
        }));
        let kinds = std::iter::once(start).chain(happenings);
        kinds
            .zip(1..)
            .map(|(kind, seq)| Event {
                seq,
                at: at(seq),
                kind,
            })
            .collect()
    })
}

fn at(seq: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH
        + SignedDuration::from_nanos(1_794_000_000_000_000_000)
        + SignedDuration::from_nanos(seq.cast_signed() * 1_234_567)
}

fn trial_of(kind: &EventKind) -> Option<u32> {
    match kind {
        EventKind::TrialStarted { trial, .. }
        | EventKind::PhaseStarted { trial, .. }
        | EventKind::Progress { trial, .. }
        | EventKind::StepMade { trial, .. }
        | EventKind::TrialFinished { trial, .. }
        | EventKind::AttemptFailed { trial, .. } => Some(*trial),
        EventKind::RunStarted(_)
        | EventKind::RunResumed { .. }
        | EventKind::RoundStarted { .. }
        | EventKind::StepsFound { .. }
        | EventKind::VariantStopped(_)
        | EventKind::Regraded { .. }
        | EventKind::Stopping { .. }
        | EventKind::RunFinished { .. } => None,
    }
}

fn is_about_a_trial(kind: &EventKind) -> bool {
    trial_of(kind).is_some() || matches!(kind, EventKind::RunStarted(_))
}

fn is_waiting(trial: &Trial) -> bool {
    trial.live.is_none() && matches!(trial.report.status, Status::Pending | Status::Interrupted)
}

fn waiting(state: &RunState) -> Vec<usize> {
    state
        .variants()
        .iter()
        .map(|variant| variant.waiting)
        .collect()
}

/// Sums of the same figures in another order.
fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-6 * one.abs().max(1.0),
        (one, other) => one == other,
    }
}

fn recount(state: &RunState) -> Counts {
    let of = |status| {
        state
            .trials()
            .iter()
            .filter(|trial| trial.report.status == status)
            .count()
    };
    Counts {
        total: state.trials().len(),
        passed: of(Status::Passed),
        partial: of(Status::Partial),
        failed: of(Status::Failed),
        unverified: of(Status::Unverified),
        errors: of(Status::Error),
        interrupted: of(Status::Interrupted),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_journal_gives_the_results(events in journals()) {
        let results = Results::of(&RunState::fold(&events));
        let journal: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let read: Vec<Event> = journal.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &events);
        prop_assert_eq!(&Results::of(&RunState::fold(&read)), &results);
        let document = serde_json::to_string(&results).unwrap();
        prop_assert_eq!(serde_json::from_str::<Results>(&document).unwrap(), results);
    }

    #[test]
    fn what_is_not_journaled_changes_no_result(events in journals()) {
        let lasting = events.iter().filter(|event| event.kind.is_lasting());
        prop_assert_eq!(Results::of(&RunState::fold(lasting)), Results::of(&RunState::fold(&events)));
    }

    #[test]
    fn the_parts_of_a_run_merged_are_the_run(events in journals(), parts in 1..4u32) {
        // Each part has the trials whose ids fall to it, and what happened to them.
        let mut events: Vec<Event> =
            events.into_iter().filter(|event| is_about_a_trial(&event.kind)).collect();
        // An adaptive run has no parts.
        if let EventKind::RunStarted(start) = &mut events[0].kind {
            start.adaptive = None;
        }
        let journals: Vec<(String, Vec<Event>)> = (0..parts)
            .map(|part| {
                let mine = |id: u32| id % parts == part;
                let mut events: Vec<Event> =
                    events.iter().filter(|event| trial_of(&event.kind).is_none_or(mine)).cloned().collect();
                if let EventKind::RunStarted(start) = &mut events[0].kind {
                    start.trials.retain(|head| mine(head.id));
                }
                (format!("part-{part}"), events)
            })
            .collect();
        let merged = RunState::fold(&merge("2026-11-14-001", &journals).unwrap());
        let whole = RunState::fold(&events);
        let outcomes = |state: &RunState| -> Vec<_> {
            state.trials().iter().map(|trial| (trial.head.clone(), trial.report.clone(), trial.earlier.clone())).collect()
        };
        prop_assert_eq!(outcomes(&merged), outcomes(&whole));
        prop_assert_eq!(merged.counts(), whole.counts());
        prop_assert_eq!(waiting(&merged), waiting(&whole));
        prop_assert_eq!(merged.spent().trials_with_cost, whole.spent().trials_with_cost);
    }

    #[test]
    fn the_journal_gives_the_progress(events in journals()) {
        let lasting = events.iter().filter(|event| event.kind.is_lasting());
        let read = RunState::fold(lasting);
        let live = RunState::fold(&events);
        prop_assert_eq!(read.variants(), live.variants());
        prop_assert_eq!(read.spent(), live.spent());
    }

    #[test]
    fn the_progress_is_that_of_the_trials(events in journals()) {
        let state = RunState::fold(&events);
        let mut spent = Spent::default();
        for trial in state.trials() {
            spent.merge(&trial.spent);
        }
        // A trial that was given back never spent anything.
        prop_assert!(is_near(spent.cost_usd, state.spent().spent.cost_usd));
        prop_assert_eq!(spent.tokens(), state.spent().spent.tokens());
        for (position, variant) in state.variants().iter().enumerate() {
            let trials = || state.trials().iter().filter(|trial| trial.variant() == position);
            let stopped = state.stopped_variants().iter().any(|stopped| stopped.experiment == variant.experiment);
            let waiting = trials().filter(|trial| !stopped && is_waiting(trial)).count();
            prop_assert_eq!(variant.waiting, waiting);
            prop_assert_eq!(variant.running, trials().filter(|trial| trial.live.is_some()).count());
            let judged = trials().filter(|trial| trial.report.status.is_judged());
            let seconds: Vec<f64> = judged.map(|trial| trial.report.duration_seconds).collect();
            prop_assert_eq!(variant.took.trials, seconds.len());
            prop_assert!(is_near(Some(variant.took.seconds), Some(seconds.iter().sum())));
            prop_assert!(variant.spent.trials_with_cost <= variant.spent.trials);
            prop_assert!(variant.spent.trials <= trials().count());
        }
        let of_variants: usize = state.variants().iter().map(|variant| variant.spent.trials).sum();
        prop_assert_eq!(of_variants, state.spent().trials);
    }

    #[test]
    fn counts_and_live_trials_are_those_of_the_trials(events in journals()) {
        let state = RunState::fold(&events);
        prop_assert_eq!(*state.counts(), recount(&state));
        let mut in_flight: Vec<u32> = state.in_flight().map(|trial| trial.head.id).collect();
        in_flight.sort_unstable();
        let live = state.trials().iter().filter(|trial| trial.live.is_some());
        let live: Vec<u32> = live.map(|trial| trial.head.id).collect();
        prop_assert_eq!(in_flight, live);
        // Nothing is ever lost: what is not among the trials is spare.
        let mut ids: Vec<u32> =
            state.trials().iter().map(|trial| &*trial.head).chain(state.spare()).map(|head| head.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (1..=TRIALS).collect::<Vec<_>>());
    }
}

/// The pieces that YAML, and our configuration in it, are made of.
fn yaml_like() -> impl Strategy<Value = String> {
    const WORDS: &str = "name prompt evals tests environments experiments env agent before copy files command \
         fileExists rules mcpServers sandbox config baseline nop ${A} null true 0 -1.5 1e400 .nan 0x .. / \\";
    const SIGNS: [&str; 39] = [
        ": ", ":", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "- ", "\r\n", "\t", " ", "{", "}",
        "[", "]", ", ", "'", "\"", "|\n", ">-\n", "&a ", "*a", "<<: ", "? ", "---\n", "...\n",
        "# c\n", "!!str ", "!x ", "%", "@", "ä", "😀", "\u{feff}", "\u{2028}", "\u{0}", "\u{85}",
        "\r", "\u{a0}",
    ];
    let tokens: Vec<&str> = WORDS.split_whitespace().chain(SIGNS).collect();
    vec(prop::sample::select(tokens), 0..40).prop_map(|tokens| tokens.concat())
}

/// Loads it in every role; a panic is the only way to fail, and rendering is where places are put to the proof.
fn load_everywhere(text: &str) -> String {
    let files = [
        ("terca.yaml", text),
        ("a/eval.terca.yaml", text),
        ("_base/out -> /etc", ""),
    ];
    let mut project = Project::new(&files);
    let plan = project.plan(&Selection::default(), &with_nop());
    assert!(
        plan.is_some() || project.problems.has_errors(),
        "nothing came of it, and nobody said why"
    );
    project.report()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,60}") {
        load_everywhere(&text);
    }

    #[test]
    fn anything_like_yaml_is_read_or_refused(text in yaml_like()) {
        load_everywhere(&text);
    }

    #[test]
    fn a_mistake_is_found_in_its_line_whatever_stands_before(
        comment in "[a-zä€😀 ]{0,12}",
        mark in prop::sample::select(vec!["", "\u{feff}"]),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let report = load_everywhere(&format!("{mark}# {comment}{end}name: 'ä{comment}'{end}colour: 1{end}"));
        prop_assert!(report.contains("terca.yaml:3:1\n"), "{report}");
        prop_assert!(report.contains("3 | colour: 1\n  | ^^^^^^ not a key"), "{report}");
    }
}

#[test]
fn results_have_the_keys_of_the_specification() {
    let report = TrialReport {
        tests: [(
            "check-file".to_owned(),
            Grade {
                score: 1.0,
                message: "exists".into(),
                duration_seconds: 0.002,
                ..Grade::default()
            },
        )]
        .into_iter()
        .collect(),
        delivery: Delivery {
            rules: vec![Installed {
                path: "AGENTS.md".into(),
                sha256: "…".into(),
                ..Installed::default()
            }],
            mcp_servers: [(
                "firebase".to_owned(),
                McpDelivery {
                    status: Some(McpStatus::Connected),
                    calls: Some(2),
                    failed_calls: Some(0),
                    tap: None,
                },
            )]
            .into(),
            ..Delivery::default()
        },
        error: Some(TrialError::new(ErrorKind::AgentMissing, "no such program")),
        ..TrialReport::pending()
    };
    let start = EventKind::RunStarted(Box::new(RunStart {
        run: "2026-11-14-001".into(),
        suite: "basic-js".into(),
        terca_version: "0.1.0".into(),
        seed: 1,
        concurrency: 1,
        baseline: "default".into(),
        trials: vec![head(1)],
        ..RunStart::default()
    }));
    let finish = EventKind::TrialFinished {
        trial: 1,
        report: Box::new(report),
    };
    let events = [start, finish].map(|kind| Event {
        seq: 1,
        at: at(1),
        kind,
    });
    let results = serde_json::to_value(Results::of(&RunState::fold(&events))).unwrap();
    for (pointer, keys) in [
        (
            "",
            "finishedAt grading run schemaVersion seed startedAt status suite summary tercaVersion trials",
        ),
        (
            "/trials/0",
            "agent agentVersion attempts delivery dir durationSeconds environment error eval exitCode experiment id \
             model phases repetition score spent startedAt stats status tests timedOut",
        ),
        (
            "/trials/0/tests/check-file", "durationSeconds message score",
        ),
        (
            "/trials/0/stats",
            "cachedInputTokens costSource costUsd durationSeconds inputTokens outputTokens requests toolCalls",
        ),
        (
            "/trials/0/delivery",
            "mcpServers modelObserved modelRequested rules skills",
        ),
        ("/trials/0/delivery/rules/0", "mayBeCut path sha256"),
        (
            "/trials/0/delivery/mcpServers/firebase", "calls failedCalls status",
        ),
        ("/trials/0/spent", "costUsd inputTokens outputTokens"),
        (
            "/summary/spent",
            "costUsd inputTokens outputTokens trials trialsWithCost trialsWithTokens",
        ),
        ("/trials/0/phases", "agent setup tests"),
        ("/trials/0/error", "kind message"),
    ] {
        let object = results
            .pointer(pointer)
            .and_then(|value| value.as_object())
            .expect(pointer);
        let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
        assert_eq!(found, keys.split_whitespace().collect(), "{pointer}");
    }
    assert_eq!(results["trials"][0]["error"]["kind"], "agentMissing");
    assert_eq!(
        results["trials"][0]["delivery"]["mcpServers"]["firebase"]["status"],
        "connected"
    );
    assert_eq!(results["trials"][0]["status"], "pending");
}
