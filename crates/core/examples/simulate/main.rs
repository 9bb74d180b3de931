//! How often intervals hold the truth and verdicts are right, in suites whose truth is known.
//!
//! `cargo run --release -p terca-core --example simulate` prints the tables of `docs/explanations/statistics.md`: fixed
//! repetitions, then adaptive ones; with `fixed` or `adaptive` after `--`, only that one.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

mod adaptive;
mod world;

use adaptive::AdaptiveWorld;
use terca_core::config::adaptive::Adaptive;
use terca_core::stats::sign_flip::EXACT_UP_TO;
use world::World;

const RUNS: usize = 20_000;
/// Where every p-value is drawn from ten thousand permutations.
const SLOW_RUNS: usize = 2_000;
/// Where every run is played trial by trial.
const PLAYED_RUNS: usize = 4_000;

fn main() {
    let only = std::env::args().nth(1);
    if only.as_deref() != Some("adaptive") {
        fixed();
    }
    if only.is_none() {
        println!();
    }
    if only.as_deref() != Some("fixed") {
        adaptive();
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
        "| evals × repetitions | true difference | evals differ by | settled evals | interval of difference | interval of rate | BETTER | WORSE | EQUIVALENT |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (number, world) in worlds().into_iter().enumerate() {
        let tally = world.simulate(
            if world.evals > EXACT_UP_TO {
                SLOW_RUNS
            } else {
                RUNS
            },
            number as u64,
        );
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / tally.runs as f64);
        println!(
            "| {} × {} | {:+.1} | ±{:.0} | {:.0} % | {} | {} | {} | {} | {} |",
            world.evals,
            world.repetitions,
            100.0 * world.truth(),
            100.0 * world.spread,
            100.0 * world.settled,
            share(tally.covered),
            share(tally.rate_covered),
            share(tally.better),
            share(tally.worse),
            share(tally.equivalent),
        );
    }
}

fn worlds() -> Vec<World> {
    let plans = [
        (5, 5),
        (6, 1),
        (8, 3),
        (12, 5),
        (20, 1),
        (20, 3),
        (30, 10),
        (50, 1),
        (100, 5),
    ];
    let mut worlds = Vec::new();
    for (evals, repetitions) in plans {
        let plain = World {
            evals,
            repetitions,
            effect: 0.0,
            spread: 0.0,
            settled: 0.0,
        };
        worlds.push(plain);
        worlds.push(World {
            effect: 0.1,
            spread: 0.2,
            ..plain
        });
        worlds.push(World {
            settled: 0.6,
            ..plain
        });
    }
    worlds
}
