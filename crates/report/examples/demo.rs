//! Plays a made-up run, to look at the displays: `cargo run -p terca-report --example demo -- [FORMAT] [EVALS]
//! [CONCURRENCY] [SECONDS]`, where FORMAT is `tty`, `plain` or `json`. Resize the terminal while it runs.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::grade::Grade;
use terca_core::run::event::{Event, EventKind, Phase, RunStart, RunStatus, TrialHead};
use terca_core::run::observer::Observer;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::state::RunState;
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;
use terca_core::trial_error::{ErrorKind, TrialError};
use terca_report::{
    Circumstances, Context, JsonLines, Palette, Plain, Size, Tty, failures, footer, results_table,
    suggestions, verdicts,
};

const EVALS: [&str; 6] = [
    "fib", "fib-recursive", "add-endpoint", "日本語-i18n", "migrate-to-v2", "fix-flaky-test",
];
const VARIANTS: [(&str, &str); 2] = [("gemini", "base"), ("gemini", "with-rules")];
const DOING: [&str; 5] = [
    "read_file README.md",
    "$ npm test -- --watch=false --reporter=dot src/fib.test.js",
    "write_file src/fib.js",
    "replace src/fib.js",
    "mcp__docs__lookup how to migrate to version 2",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: usize| {
        arguments
            .get(index)
            .map_or(default, |text| text.parse().unwrap())
    };
    let palette = Palette::new(std::env::var_os("NO_COLOR").is_none());
    let observer: Box<dyn Observer> = match arguments.first().map(String::as_str) {
        Some("plain") => Box::new(Plain::new(io::stdout(), palette)),
        Some("json") => Box::new(JsonLines::new(io::stdout())),
        _ => Box::new(Tty::new(io::stdout(), palette)),
    };
    let mut demo = Demo {
        observer,
        state: RunState::default(),
        seq: 0,
        in_flight: BTreeMap::new(),
    };
    demo.run(
        heads(number(1, 6)),
        number(2, 5),
        Duration::from_secs(number(3, 4) as u64),
    );
    let results = Results::of(&demo.state);
    drop(demo);
    let room = Size::of_terminal().columns;
    let here = Context {
        run_dir: ".terca/runs/2026-11-14-001".into(),
        terca: "terca",
        max_width: room,
    };
    println!(
        "\n{}",
        results_table(&results, Size::of_terminal().columns).render(palette)
    );
    println!("{}", failures(&results, here).render(palette));
    println!(
        "{}",
        verdicts(&results, Size::of_terminal().columns).render(palette)
    );
    print!("{}", footer(&results, here).render(palette));
    let around = Circumstances {
        terca: "terca",
        run: "",
        selection: "",
        agent: "",
        validated: false,
        earlier: None,
    };
    print!(
        "\n{}",
        suggestions(&results, &around, Size::of_terminal().columns).render(palette)
    );
}

fn heads(evals: usize) -> Vec<TrialHead> {
    let mut heads = Vec::new();
    for eval in 0..evals {
        let name = EVALS
            .get(eval)
            .map_or_else(|| format!("eval-{eval:03}"), |name| (*name).to_owned());
        for (environment, experiment) in VARIANTS {
            for repetition in 1..=3 {
                heads.push(TrialHead {
                    id: heads.len() as u32 + 1,
                    eval: name.clone(),
                    environment: environment.to_owned(),
                    experiment: experiment.to_owned(),
                    repetition,
                    dir: format!("{name}/{environment}.{experiment}.{repetition:02}").into(),
                    agent: "gemini-cli".to_owned(),
                    model: None,
                });
            }
        }
    }
    heads
}

struct Demo {
    observer: Box<dyn Observer>,
    state: RunState,
    seq: u64,
    /// When each trial in flight started, and how far it has come.
    in_flight: BTreeMap<u32, (Instant, usize)>,
}

impl Demo {
    fn run(&mut self, trials: Vec<TrialHead>, concurrency: usize, length: Duration) {
        let total = trials.len() as u32;
        self.show(EventKind::RunStarted(Box::new(RunStart {
            run: "2026-11-14-001".to_owned(),
            suite: "basic-js".to_owned(),
            terca_version: "0.1.0".to_owned(),
            seed: 7,
            concurrency,
            baseline: "base".to_owned(),
            trials,
            ..RunStart::default()
        })));
        let mut next = 1;
        while next <= total || !self.in_flight.is_empty() {
            while next <= total && self.in_flight.len() < concurrency {
                self.show(EventKind::TrialStarted {
                    trial: next,
                    on: None,
                });
                self.in_flight.insert(next, (Instant::now(), 0));
                next += 1;
            }
            let moving: Vec<u32> = self.in_flight.keys().copied().collect();
            for trial in moving {
                self.advance(trial, length);
            }
            self.observer.tick(Timestamp::now(), &self.state);
            std::thread::sleep(Duration::from_millis(50));
        }
        self.show(EventKind::RunFinished {
            status: RunStatus::Complete,
        });
    }

    /// Takes a trial as far as it should be by now.
    fn advance(&mut self, trial: u32, length: Duration) {
        let (since, step) = self.in_flight[&trial];
        // Trials differ in length, so that they do not end all at once.
        let share = since.elapsed().as_secs_f64() / length.as_secs_f64()
            * (0.6 + f64::from(trial * 7 % 10) / 10.0);
        if (share * 10.0) as usize <= step {
            return;
        }
        self.in_flight.insert(trial, (since, step + 1));
        match step {
            0 => self.show(EventKind::PhaseStarted {
                trial,
                phase: Phase::Agent,
            }),
            1..8 => {
                let usage = Usage {
                    input_tokens: Some(step as u64 * 4_321),
                    output_tokens: Some(step as u64 * 99),
                    ..Usage::default()
                };
                let doing = DOING[(step + trial as usize) % DOING.len()].to_owned();
                self.show(EventKind::Progress {
                    trial,
                    doing,
                    usage,
                });
            }
            8 => self.show(EventKind::PhaseStarted {
                trial,
                phase: Phase::Tests,
            }),
            _ => {
                self.in_flight.remove(&trial);
                let report = Box::new(report(trial, since.elapsed().as_secs_f64()));
                self.show(EventKind::TrialFinished { trial, report });
            }
        }
    }

    fn show(&mut self, kind: EventKind) {
        self.seq += 1;
        let event = Event {
            seq: self.seq,
            at: Timestamp::now(),
            kind,
        };
        self.state.apply(&event);
        self.observer.event(&event, &self.state);
    }
}

fn report(trial: u32, seconds: f64) -> TrialReport {
    let score = match trial % 9 {
        0 => return error(seconds),
        1 => 0.0,
        5 => 0.5,
        _ => 1.0,
    };
    let message = if score < 1.0 {
        "src/fib.js does not exist"
    } else {
        "src/fib.js exists"
    };
    let grade = Grade {
        score,
        message: message.to_owned(),
        duration_seconds: 0.1,
        ..Grade::default()
    };
    TrialReport {
        status: Status::of_score(score),
        score: Some(score),
        tests: [("check-file".to_owned(), grade)].into_iter().collect(),
        stats: Stats {
            cost_source: None,
            usage: Usage {
                input_tokens: Some(34_000 + u64::from(trial) * 100),
                output_tokens: Some(800),
                cost_usd: Some(0.03),
                ..Usage::default()
            },
            duration_seconds: Some(seconds * 0.9),
        },
        exit_code: Some(0),
        timed_out: trial % 10 == 1,
        attempts: 1,
        duration_seconds: seconds,
        ..TrialReport::pending()
    }
}

fn error(seconds: f64) -> TrialReport {
    TrialReport {
        status: Status::Error,
        attempts: 2,
        duration_seconds: seconds,
        error: Some(TrialError::new(
            ErrorKind::RateLimit,
            "429 Too Many Requests",
        )),
        ..TrialReport::pending()
    }
}
