//! How often intervals hold the truth and verdicts are right, in suites whose truth is known.
//!
//! `cargo run --release -p terca-core --example simulate` prints the table of `docs/statistics.md`.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

mod world;

use terca_core::stats::sign_flip::EXACT_UP_TO;
use world::World;

const RUNS: usize = 20_000;
/// Where every p-value is drawn from ten thousand permutations.
const SLOW_RUNS: usize = 2_000;

fn main() {
    println!(
        "| evals × repetitions | true difference | evals differ by | settled evals | interval of difference | interval of rate | BETTER | WORSE | EQUIVALENT |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (number, world) in worlds().into_iter().enumerate() {
        let tally = world.simulate(if world.evals > EXACT_UP_TO { SLOW_RUNS } else { RUNS }, number as u64);
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
    let plans = [(5, 5), (6, 1), (8, 3), (12, 5), (20, 1), (20, 3), (30, 10), (50, 1), (100, 5)];
    let mut worlds = Vec::new();
    for (evals, repetitions) in plans {
        let plain = World { evals, repetitions, effect: 0.0, spread: 0.0, settled: 0.0 };
        worlds.push(plain);
        worlds.push(World { effect: 0.1, spread: 0.2, ..plain });
        worlds.push(World { settled: 0.6, ..plain });
    }
    worlds
}
