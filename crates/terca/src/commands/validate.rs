//! `terca validate`: do the evals prove anything?

use std::io;

use terca_core::analysis::results::Results;
use terca_core::analysis::validation::{exit_status, proofs};
use terca_engine::host::environment::Host;
use terca_report::{Context, Palette, flaws, footer, validation_table};

use super::execute::Done;
use super::refusal::Outcome;
use super::{INTERRUPTED, plan, run};
use crate::args::{Common, Format, NameArgs, RunArgs, SelectionArgs, ValidateArgs};
use crate::{screen, shell};

pub(super) fn validate(args: &ValidateArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let args = run_args(args);
    let planned = plan::make_proof(&args.selection, common, &host)?;
    run::start(&args, common, &planned, host, conclude)
}

/// A run like any other, each trial once.
fn run_args(args: &ValidateArgs) -> RunArgs {
    let usual = RunArgs::usual();
    let names = NameArgs {
        evals: args.evals.clone(),
        experiments: args.experiments.clone(),
        environments: args.environments.clone(),
    };
    let selection = SelectionArgs {
        names,
        repetitions: Some(1),
        ..usual.selection
    };
    RunArgs {
        selection,
        concurrency: args.concurrency,
        format: args.format,
        keep: args.keep,
        ..usual
    }
}

fn conclude(args: &RunArgs, common: &Common, done: &Done) -> u8 {
    let results = Results::of(&done.finished.state);
    let proofs = proofs(&results);
    if args.format != Format::Json {
        let palette = Palette {
            colour: screen::colour(common.color, &io::stdout()),
        };
        screen::remark("");
        let run_dir = screen::short(&done.run_dir);
        let here = Context {
            run_dir,
            terca: &shell::terca(common),
            max_width: screen::max_width(),
        };
        screen::say_all(&[
            validation_table(&proofs, palette),
            flaws(&proofs, run_dir, palette),
            footer(&results, here, palette),
        ]);
    }
    if done.finished.interrupted {
        INTERRUPTED
    } else {
        exit_status(&proofs)
    }
}
