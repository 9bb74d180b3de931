//! How often intervals hold the truth and verdicts are right, in suites whose truth is known.
//!
//! `cargo run --release -p terca-core --example simulate` prints the tables of `docs/explanations/statistics.md`: fixed
//! repetitions, the advice, adaptive repetitions, ablations, and how long a verdict takes; with `fixed`, `advice`, `adaptive`,
//! `ablation` or `speed` after `--`, only that one.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

mod ablation;
mod adaptive;
mod world;

use ablation::AblationWorld;
use adaptive::AdaptiveWorld;
use terca_core::config::adaptive::Adaptive;
use world::World;

const RUNS: usize = 5_000;
/// Where every run has dozens of repetitions.
const ADVISED_RUNS: usize = 1_000;
/// Where every run is played trial by trial.
const PLAYED_RUNS: usize = 1_000;
/// Where every run has a test for each of many parts.
const ABLATED_RUNS: usize = 500;

fn main() {
    let only = std::env::args().nth(1);
    let tables: [(&str, fn()); 5] = [
        ("fixed", fixed),
        ("advice", advised),
        ("adaptive", adaptive),
        ("ablation", ablations),
        ("speed", speed),
    ];
    let mut is_first = true;
    for (name, print) in tables {
        if only.as_deref().is_none_or(|only| only == name) {
            if !is_first {
                println!();
            }
            is_first = false;
            print();
        }
    }
}

/// How long a verdict takes: 5,000 evals, three repetitions in each arm.
fn speed() {
    let world = AdaptiveWorld {
        evals: 5_000,
        bounds: Adaptive { min: 3, max: 3 },
        experiments: 1,
        effect: 0.02,
        settled: 0.0,
    };
    let seconds = world.seconds_to_compare();
    println!("{} evals × 3: compared in {seconds:.2} s", world.evals);
}

/// Factorial designs beside leaving out one part at a time.
fn ablations() {
    println!(
        "| evals × trials | parts | parts that work | false \"earns its place\" | false finding | found | one at a time: false \"earns its place\" | one at a time: found |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut number = 0;
    for (parts, trials) in [(8, 12), (8, 24)] {
        for (working, effect) in [(0, 0.0), (1, 0.2), (1, 0.3), (2, 0.2)] {
            let world = AblationWorld {
                parts,
                evals: 8,
                trials,
                effect,
                working,
            };
            number += 1;
            let all = world.factorial(ABLATED_RUNS, number);
            let one = world.leave_one_out(ABLATED_RUNS, number);
            let share =
                |count: usize, of: usize| format!("{:.1} %", 100.0 * count as f64 / of as f64);
            let found = |found: usize| match working {
                0 => "–".to_owned(),
                working => share(found, ABLATED_RUNS * working),
            };
            let works = match working {
                0 => "none".to_owned(),
                working => format!("{working}, {:+.0} points", 100.0 * effect),
            };
            println!(
                "| 8 × {trials} | {parts} | {works} | {} | {} | {} | {} | {} |",
                share(all.false_place, all.runs),
                share(all.false_any, all.runs),
                found(all.found),
                share(one.false_place, one.runs),
                found(one.found),
            );
        }
    }
}

fn adaptive() {
    println!(
        "| evals × repetitions | experiments | true difference | settled evals | any BETTER | any WORSE | either | any EQUIVALENT | repetitions, mean | trials run |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (number, world) in adaptive_worlds().into_iter().enumerate() {
        let tally = world.simulate(PLAYED_RUNS, number as u64);
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / tally.runs as f64);
        println!(
            "| {} × {}–{} | {} | {:+.0} | {:.0} % | {} | {} | {} | {} | {:.1} | {:.0} % |",
            world.evals,
            world.bounds.min,
            world.bounds.max,
            world.experiments,
            100.0 * world.effect,
            100.0 * world.settled,
            share(tally.better),
            share(tally.worse),
            share(tally.found),
            share(tally.equivalent),
            tally.repetitions as f64 / tally.runs as f64,
            100.0 * tally.trials as f64 / tally.planned as f64,
        );
    }
}

fn adaptive_worlds() -> Vec<AdaptiveWorld> {
    let mut worlds = Vec::new();
    for (evals, experiments) in [(1, 1), (5, 1), (12, 1), (12, 3)] {
        let bounds = Adaptive { min: 3, max: 20 };
        let plain = AdaptiveWorld {
            evals,
            bounds,
            experiments,
            effect: 0.0,
            settled: 0.0,
        };
        worlds.push(plain);
        worlds.push(AdaptiveWorld {
            settled: 0.6,
            ..plain
        });
        worlds.push(AdaptiveWorld {
            effect: 0.1,
            ..plain
        });
        worlds.push(AdaptiveWorld {
            effect: 0.3,
            ..plain
        });
    }
    worlds
}

fn fixed() {
    println!(
        "| evals × repetitions | true difference | evals differ by | settled evals | interval holds the truth | BETTER | WORSE | EQUIVALENT | wrong verdict | wrong EQUIVALENT | says beyond | wrong beyond |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (number, world) in worlds().into_iter().enumerate() {
        let tally = world.simulate(RUNS, number as u64);
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / tally.runs as f64);
        println!(
            "| {} × {} | {:+.0} | ±{:.0} | {:.0} % | {} | {} | {} | {} | {} | {} | {} | {} |",
            world.evals,
            world.repetitions,
            100.0 * world.truth(),
            100.0 * world.spread,
            100.0 * world.settled,
            share(tally.covered),
            share(tally.better),
            share(tally.worse),
            share(tally.equivalent),
            share(tally.wrong),
            share(tally.wrong_equivalent),
            share(tally.beyond),
            share(tally.wrong_beyond),
        );
    }
}

fn worlds() -> Vec<World> {
    let plans = [
        (3, 10),
        (4, 4),
        (5, 10),
        (8, 3),
        (10, 5),
        (12, 1),
        (20, 3),
        (30, 10),
    ];
    let mut worlds = Vec::new();
    for (evals, repetitions) in plans {
        let plain = World {
            evals,
            repetitions,
            baseline: 0.5,
            effect: 0.0,
            spread: 0.0,
            settled: 0.0,
        };
        worlds.push(plain);
        worlds.push(World {
            spread: 0.3,
            ..plain
        });
        worlds.push(World {
            settled: 0.6,
            ..plain
        });
        worlds.push(World {
            baseline: 0.4,
            effect: 0.1,
            ..plain
        });
        worlds.push(World {
            baseline: 0.35,
            effect: 0.3,
            ..plain
        });
        worlds.push(World {
            baseline: 0.35,
            effect: 0.3,
            spread: 0.15,
            ..plain
        });
    }
    worlds
}

/// The repetitions that a first run advises, tried.
fn advised() {
    println!(
        "| evals × repetitions of the first run | true difference | chance to pass before | the advice finds it |"
    );
    println!("|---|---|---|---|");
    let mut number = 0;
    for (evals, repetitions) in [(4, 4), (8, 3), (12, 3), (20, 3)] {
        for effect in [0.1, 0.2, 0.3] {
            for baseline in [0.25, 0.5] {
                let world = World {
                    evals,
                    repetitions,
                    baseline,
                    effect,
                    spread: 0.0,
                    settled: 0.0,
                };
                number += 1;
                let power = world.power_of_advice(ADVISED_RUNS, number);
                println!(
                    "| {evals} × {repetitions} | {:+.0} | {:.0} % | {:.0} % |",
                    100.0 * effect,
                    100.0 * baseline,
                    100.0 * power
                );
            }
        }
    }
}
