//! `terca regrade`: the tests of the suite as it is now, on the workspaces that a run has saved.

use std::io::IsTerminal;

use camino::Utf8Path;
use clap::Args;
use terca_core::analysis::results::{Results, exit_status};
use terca_core::run::settings::{self, Keep};
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::regrade::Regrading;
use terca_engine::run::resume::OpenRun;
use terca_engine::tree::TreeError;
use terca_engine::workspace::saved::restore::RestoreError;
use terca_report::regraded;

use crate::args::values::within;
use crate::args::{Common, DemandArgs, NameArgs};
use crate::cli_error::{CliError, INTERRUPTED, Outcome};
use crate::run::output;
use crate::run::output::Detail;
use crate::screen;
use crate::suite::{load, past};

#[derive(Debug, Clone, Args)]
pub struct RegradeArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    #[command(flatten)]
    names: NameArgs,
    /// Trials to grade at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    #[command(flatten)]
    demand: DemandArgs,
    /// Show the verdict, failures and errors only
    #[arg(short = 'q', long)]
    quiet: bool,
}

pub(super) fn regrade(args: &RegradeArgs, common: &Common) -> Outcome {
    let (_, dir, names) = past::run_and_evals(args.run.as_deref(), &args.names, common)?;
    let open = OpenRun::open(&dir)?;
    let settings = open.settings_for(&names, args.concurrency);
    let host = Host::of_this_process();
    let mut plan = load::plan(&settings, common, &host)?;
    plan.adopt(&open.past.state);
    let run = open.prepare(&plan, &settings, host)?;
    output::note_before_start(&run, args.quiet);
    let regrading = Regrading::new(open, run, &plan);
    match &regrading.damaged {
        Some((_, RestoreError::Tree(TreeError::Stopped))) => return Ok(interrupted()),
        Some((dir, error)) => return Err(damaged(dir, error)),
        None => {}
    }
    note_what_stays(&regrading, settings.keep);
    let trials = regrading.trials();
    if trials == 0 {
        return Err(nothing_to_grade(&regrading, settings.keep));
    }
    let Some(graded) = regrading.run(&progress(trials))? else {
        return Ok(interrupted());
    };
    let results = Results::of(&graded.after);
    let detail = if args.quiet {
        Detail::Quiet
    } else {
        screen::out_view(&regraded(&Results::of(&graded.before), &results), common);
        screen::out("");
        Detail::Whole
    };
    output::show(&results, &dir, detail, common);
    let changed = past::complain_of_damage(graded.damage.as_ref(), common);
    Ok(changed.unwrap_or_else(|| exit_status(&results, (&args.demand).into())))
}

fn interrupted() -> u8 {
    screen::err("interrupted: the grades are as they were before; `terca regrade` starts again");
    INTERRUPTED
}

/// Returns the error for a trial whose saved workspace cannot be made again.
fn damaged(dir: &Utf8Path, error: &RestoreError) -> CliError {
    CliError::trouble(Code::DamagedRun, format!("{dir}: {error}"))
        .help("restore the files from a copy; `-t` grades other evals")
}

/// Says which trials stay as they were graded, and why.
fn note_what_stays(regrading: &Regrading, keep: Keep) {
    let not_kept = regrading.not_kept;
    if not_kept > 0 {
        let why = match keep {
            Keep::Changed | Keep::All => "",
            Keep::Failed => " (the run was started with `--keep failed`)",
            Keep::None => " (the run was started with `--keep none`)",
        };
        screen::err(&format!(
            "note: {not_kept} of the trials have no saved workspace{why}: their grades stay"
        ));
    }
}

fn nothing_to_grade(regrading: &Regrading, keep: Keep) -> CliError {
    let (text, help) = match (regrading.not_kept, keep) {
        (0, _) => (
            "no selected trial has finished work of an agent",
            "`terca resume` runs the remaining trials, and with `--errors` also those that ended in an error",
        ),
        (_, Keep::Changed | Keep::All) => (
            "no selected trial has a saved workspace",
            "restore the workspaces from a copy, or run the suite again",
        ),
        (_, Keep::Failed | Keep::None) => (
            "no selected trial has a saved workspace",
            "run the suite again, without `--keep`",
        ),
    };
    let text = format!("there is nothing to grade: {text}");
    CliError::misuse(Code::NothingToGrade, text).help(help)
}

/// Returns a display of one line that counts, where somebody is looking.
fn progress(total: usize) -> impl Fn(usize) + Sync {
    let looking = std::io::stderr().is_terminal();
    move |done| {
        if looking {
            screen::count(&format!("grading: {done}/{total}"), done == total);
        }
    }
}
