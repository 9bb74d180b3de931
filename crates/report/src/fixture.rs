//! Runs for tests: heads, reports, and a script of events with a clock of its own.

use jiff::{SignedDuration, Timestamp};
use terca_core::analysis::compare::{Arm, Compared, between};
use terca_core::analysis::results::Results;
use terca_core::config::adaptive::Adaptive;
use terca_core::grade::Grade;
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::{Event, EventKind, Phase, RunStart, RunStatus, StopReason, TrialHead};
use terca_core::run::observer::Observer;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::state::RunState;
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::context::Context;
use crate::term::UNLIMITED;

pub(crate) fn here() -> Context<'static> {
    Context {
        run_dir: ".terca/runs/2026-11-14-001".into(),
        terca: "terca",
        max_width: UNLIMITED,
    }
}

const RUN: &str = "2026-11-14-001";
const EVALS: [&str; 4] = ["fib", "fib-recursive", "add-endpoint", "日本語"];
const VARIANTS: [(&str, &str); 4] = [
    ("gemini", "base"),
    ("gemini", "with-rules"),
    ("claude", "base"),
    ("claude", "with-rules"),
];

pub(crate) fn head(
    id: u32,
    eval: &str,
    environment: &str,
    experiment: &str,
    repetition: u32,
) -> TrialHead {
    TrialHead {
        id,
        eval: eval.to_owned(),
        environment: environment.to_owned(),
        experiment: experiment.to_owned(),
        repetition,
        dir: format!("{eval}/{environment}.{experiment}.{repetition:02}").into(),
        agent: if environment == "claude" {
            "claude-code"
        } else {
            "gemini-cli"
        }
        .to_owned(),
        model: (environment != "claude").then(|| "gemini-3-pro".to_owned()),
    }
}

/// The matrix, in the order of ids.
pub(crate) fn heads(evals: usize, variants: usize, repetitions: u32) -> Vec<TrialHead> {
    let mut heads = Vec::new();
    for eval in 0..evals {
        let name = EVALS
            .get(eval)
            .map_or_else(|| format!("eval-{eval:03}"), |name| (*name).to_owned());
        for variant in 0..variants {
            let (environment, experiment) = VARIANTS[variant % VARIANTS.len()];
            for repetition in 1..=repetitions {
                heads.push(head(
                    heads.len() as u32 + 1,
                    &name,
                    environment,
                    experiment,
                    repetition,
                ));
            }
        }
    }
    heads
}

pub(crate) fn passed(seconds: f64) -> TrialReport {
    judged(seconds, 1.0, "check-file", "fib.js exists")
}

pub(crate) fn partial(seconds: f64, score: f64) -> TrialReport {
    judged(seconds, score, "unit-tests", "3 of 6 tests passed")
}

pub(crate) fn failed(seconds: f64, test: &str, message: &str) -> TrialReport {
    judged(seconds, 0.0, test, message)
}

fn judged(seconds: f64, score: f64, test: &str, message: &str) -> TrialReport {
    let grade = Grade {
        score,
        message: message.to_owned(),
        duration_seconds: 0.01,
        ..Grade::default()
    };
    TrialReport {
        status: Status::of_score(score),
        score: Some(score),
        tests: [(test.to_owned(), grade)].into_iter().collect(),
        stats: Stats {
            cost_source: None,
            usage: Usage {
                input_tokens: Some((seconds * 480.0) as u64),
                output_tokens: Some((seconds * 20.0) as u64),
                cost_usd: Some(seconds * 0.0008),
                ..Usage::default()
            },
            duration_seconds: Some(seconds - 1.0),
        },
        exit_code: Some(0),
        attempts: 1,
        duration_seconds: seconds,
        ..TrialReport::pending()
    }
}

pub(crate) fn error(message: &str) -> TrialReport {
    TrialReport {
        status: Status::Error,
        attempts: 1,
        duration_seconds: 1.2,
        error: Some(TrialError::new(ErrorKind::Setup, message)),
        ..TrialReport::pending()
    }
}

pub(crate) fn interrupted(seconds: f64) -> TrialReport {
    TrialReport {
        status: Status::Interrupted,
        attempts: 1,
        duration_seconds: seconds,
        ..TrialReport::pending()
    }
}

/// A run being played: every call adds an event and folds it in.
pub(crate) struct Script {
    pub now: Timestamp,
    pub state: RunState,
    pub events: Vec<Event>,
}

impl Script {
    pub(crate) fn new(trials: Vec<TrialHead>, concurrency: usize) -> Self {
        Script::named(RUN, trials, concurrency)
    }

    pub(crate) fn named(run: &str, trials: Vec<TrialHead>, concurrency: usize) -> Self {
        Script::begun(run, trials, concurrency, None)
    }

    pub(crate) fn adaptive(trials: Vec<TrialHead>, concurrency: usize, bounds: Adaptive) -> Self {
        Script::begun(RUN, trials, concurrency, Some(bounds))
    }

    fn begun(
        run: &str,
        trials: Vec<TrialHead>,
        concurrency: usize,
        adaptive: Option<Adaptive>,
    ) -> Self {
        let now: Timestamp = "2026-11-14T10:00:00Z".parse().unwrap();
        let mut script = Script {
            now,
            state: RunState::default(),
            events: Vec::new(),
        };
        script.add(EventKind::RunStarted(Box::new(RunStart {
            run: run.to_owned(),
            suite: "basic-js".to_owned(),
            terca_version: "0.1.0".to_owned(),
            seed: 7,
            concurrency,
            baseline: "base".to_owned(),
            adaptive,
            trials,
            ..RunStart::default()
        })));
        script
    }

    pub(crate) fn pass(&mut self, seconds: f64) -> &mut Self {
        self.now += SignedDuration::from_secs_f64(seconds);
        self
    }

    pub(crate) fn start(&mut self, trial: u32) -> &mut Self {
        self.add(EventKind::TrialStarted { trial, on: None })
    }

    /// Starts a trial on the node of a worker.
    pub(crate) fn start_on(&mut self, trial: u32, node: &str) -> &mut Self {
        let on = Some(node.to_owned());
        self.add(EventKind::TrialStarted { trial, on })
    }

    pub(crate) fn phase(&mut self, trial: u32, phase: Phase) -> &mut Self {
        self.add(EventKind::PhaseStarted { trial, phase })
    }

    pub(crate) fn doing(&mut self, trial: u32, doing: &str, tokens: u64) -> &mut Self {
        let usage = Usage {
            input_tokens: Some(tokens),
            output_tokens: Some(0),
            ..Usage::default()
        };
        self.add(EventKind::Progress {
            trial,
            doing: doing.to_owned(),
            usage,
        })
    }

    pub(crate) fn finish(&mut self, trial: u32, report: &TrialReport) -> &mut Self {
        self.add(EventKind::TrialFinished {
            trial,
            report: Box::new(report.clone()),
        })
    }

    /// One more repetition of everything.
    pub(crate) fn round(&mut self, repetition: u32) -> &mut Self {
        let called = self
            .state
            .spare()
            .iter()
            .filter(|head| head.repetition == repetition);
        let trials = called.map(|head| head.id).collect();
        self.add(EventKind::RoundStarted {
            repetition,
            undecided: 1,
            trials,
        })
    }

    pub(crate) fn stop(&mut self, reason: StopReason) -> &mut Self {
        self.add(EventKind::Stopping { reason })
    }

    pub(crate) fn end(&mut self, status: RunStatus) -> &mut Self {
        self.add(EventKind::RunFinished { status })
    }

    pub(crate) fn results(&self) -> Results {
        Results::of(&self.state)
    }

    pub(crate) fn add(&mut self, kind: EventKind) -> &mut Self {
        let event = Event {
            seq: self.events.len() as u64 + 1,
            at: self.now,
            kind,
        };
        self.state.apply(&event);
        self.events.push(event);
        self
    }

    /// Shows the whole script to an observer, folding along as the scheduler does.
    pub(crate) fn play(&self, observer: &mut impl Observer) {
        let mut state = RunState::default();
        for event in &self.events {
            state.apply(event);
            observer.event(event, &state);
            observer.tick(event.at, &state);
        }
    }
}

/// A run of three evals in two variants, four times each, with every kind of ending.
pub(crate) fn mixed_run() -> Script {
    let mut script = Script::new(heads(3, 2, 4), 4);
    for id in 1..=24 {
        script.start(id).pass(2.0);
        let report = match id {
            2 | 9..=11 => failed(38.0, "check-file", "fib.js does not exist"),
            3 | 17 => partial(52.0, 0.5),
            12 => error("`npm ci`: exit status 1"),
            18 => TrialReport {
                timed_out: true,
                ..failed(300.0, "unit-tests", "no tests were run")
            },
            _ => passed(20.0 + f64::from(id)),
        };
        script.finish(id, &report);
    }
    script.pass(137.0).end(RunStatus::Complete);
    script
}

/// Eight trials in flight of forty, in all phases, and sixteen finished.
pub(crate) fn busy_run() -> Script {
    let mut script = Script::new(heads(5, 4, 2), 8);
    for id in 1..=16 {
        script.start(id).pass(8.0);
        let report = match id {
            3 => partial(30.0, 0.5),
            5 | 6 => failed(45.0, "check-file", "fib.js does not exist"),
            11 => error("exit status 1"),
            _ => passed(50.0),
        };
        script.finish(id, &report);
    }
    for id in 17..=24 {
        script.start(id).pass(7.0);
    }
    for id in 17..=22 {
        script.phase(id, Phase::Agent);
    }
    script.doing(
        17,
        "$ npm test -- --watch=false --reporter=dot src/fib.test.js",
        20_512,
    );
    script
        .doing(18, "write_file fib.js", 950)
        .doing(19, "thinking: the loop is off by one", 1_204_000);
    script
        .phase(20, Phase::Tests)
        .doing(20, "unit-tests", 31_700)
        .phase(21, Phase::Collect);
    let doing = "$ npm ci".to_owned();
    script.add(EventKind::Progress {
        trial: 23,
        doing,
        usage: Usage::default(),
    });
    script
}

/// Eight evals, five times each, in so many variants; `passes` says which trials do.
pub(crate) fn played(run: &str, variants: usize, passes: impl Fn(u32, &str) -> bool) -> RunState {
    played_of(run, heads(8, variants, 5), passes)
}

pub(crate) fn played_of(
    run: &str,
    heads: Vec<TrialHead>,
    passes: impl Fn(u32, &str) -> bool,
) -> RunState {
    let mut script = Script::named(run, heads.clone(), 4);
    for head in heads {
        let report = match (head.id, passes(head.id, &head.experiment)) {
            (3 | 17, _) if run.ends_with('2') => error("429"),
            (_, true) => passed(40.0),
            (_, false) => failed(48.0, "check", "no"),
        };
        script.start(head.id).finish(head.id, &report);
    }
    script.end(RunStatus::Complete);
    script.state
}

fn prints(state: &RunState, tests_of_fib: &str) -> Vec<CaseFingerprint> {
    let print = |trial: &terca_core::run::state::Trial| {
        let head = &trial.head;
        let hash = if head.eval == "fib" {
            tests_of_fib
        } else {
            "1"
        };
        CaseFingerprint {
            eval: head.eval.clone(),
            environment: head.environment.clone(),
            experiment: head.experiment.clone(),
            fingerprint: [("tests".to_owned(), hash.to_owned())].into(),
        }
    };
    state.trials().iter().map(print).collect()
}

pub(crate) fn two_runs() -> Compared {
    let [before, after] = two_states();
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

/// The runs that are compared there.
pub(crate) fn two_states() -> [RunState; 2] {
    let before = played("2026-11-14-001", 4, |id, _| id % 5 != 0);
    let mut heads = heads(8, 2, 5);
    heads.retain(|head| head.eval != "日本語");
    let after = played_of("2026-11-14-002", heads, |id, _| id % 5 == 0 || id % 7 == 0);
    [before, after]
}
