//! `terca regrade`: the tests of the suite as it is now, on the workspaces that a run has saved.
//!
//! The new grades are recorded all at once when the last one is known: a run shows one grading or the next, never
//! half of each. Earlier gradings stay in `gradings/` and in the journal.

use std::io::IsTerminal;

use terca_core::analysis::results::{Results, exit_status};
use terca_core::run::event::{Event, EventKind, RegradedTrial};
use terca_core::run::state::RunState;
use terca_core::text::explain::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::regrade;
use terca_engine::run::regrade::Task;
use terca_engine::run::store::Store;
use terca_engine::trial::{Context, Ungradable, is_gradable};
use terca_report::{Palette, regraded};

use super::execute::{self, Execution};
use super::past::{adopt, recorded};
use super::plan::{self, Planned};
use super::refusal::{Outcome, Refusal};
use super::{INTERRUPTED, find_run};
use crate::args::{Common, NameArgs, RegradeArgs, RunArgs, SelectionArgs};
use crate::screen;

pub(super) fn regrade(args: &RegradeArgs, common: &Common) -> Outcome {
    let (_, dir) = find_run(args.run.as_deref(), common)?;
    // Held from here on: nobody else goes on with the run.
    let mut store = Store::reopen(&dir)?;
    let past = past_runs::read(&dir)?;
    let settings = settings(args, recorded(&dir)?.command);
    let host = Host::of_this_process();
    let mut planned = plan::make_run(&settings, common, &host)?;
    adopt(&mut planned, &past.state);
    let execution = Execution::prepare(&settings, common, &planned, host)?;
    let at_once = execution.at_once();
    // The mail is kept: a signal that nobody hears is still one that stops the tests.
    let (context, _mail) = execution.context(&dir)?;
    let tasks = tasks(&planned, &past, &context);
    if tasks.is_empty() {
        let text = "there is nothing to grade: no trial of the selection has a saved workspace";
        let help = "workspaces are kept unless `--keep` says otherwise; run the suite again";
        return Err(Refusal::misuse(Code::NothingToGrade, text).help(help));
    }
    let grading = past.state.grading() + 1;
    let Some(reports) = regrade::run(&tasks, grading, &context, at_once, &progress(tasks.len()))
    else {
        screen::remark("interrupted: the grading is as it was; `terca regrade` begins anew");
        return Ok(INTERRUPTED);
    };
    let trials = reports
        .into_iter()
        .map(|(trial, report)| RegradedTrial { trial, report })
        .collect();
    let state = record(&mut store, &past, EventKind::Regraded { grading, trials })?;
    let results = Results::of(&state);
    let palette = Palette {
        colour: screen::colour(common.color, &std::io::stdout()),
    };
    screen::say(&regraded(&past.results(), &results, palette));
    screen::say("");
    execute::show(&results, &dir, common);
    Ok(exit_status(&results, args.fail_under))
}

/// As the run was started, for the trials that are asked for.
fn settings(args: &RegradeArgs, command: RunArgs) -> RunArgs {
    let or = |asked: &Vec<String>, then: Vec<String>| {
        if asked.is_empty() {
            then
        } else {
            asked.clone()
        }
    };
    let (asked, then) = (&args.names, command.selection.names);
    let names = NameArgs {
        evals: or(&asked.evals, then.evals),
        experiments: or(&asked.experiments, then.experiments),
        environments: or(&asked.environments, then.environments),
    };
    let selection = SelectionArgs {
        names,
        ..command.selection
    };
    RunArgs {
        selection,
        concurrency: args.concurrency.or(command.concurrency),
        ..command
    }
}

/// What can be graded; of the rest it is said why not.
fn tasks(planned: &Planned, past: &PastRun, context: &Context) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut not_kept = 0;
    for trial in &planned.trials {
        let Some(known) = past.state.trial(trial.id) else {
            continue;
        };
        match is_gradable(trial, &known.report, context) {
            Ok(()) => tasks.push(Task {
                trial: trial.clone(),
                old: known.report.clone(),
            }),
            Err(Ungradable::NotKept) => not_kept += 1,
            Err(Ungradable::NotRun) => {}
        }
    }
    if not_kept > 0 {
        screen::remark(&format!(
            "note: {not_kept} of the trials have no workspace (--keep): they stay as they were graded"
        ));
    }
    tasks
}

/// One line that counts, where somebody is looking.
fn progress(total: usize) -> impl Fn(usize) + Sync {
    let looking = std::io::stderr().is_terminal();
    move |done| {
        if looking {
            screen::count(&format!("grading: {done}/{total}"), done == total);
        }
    }
}

/// The earlier results are put aside first, the new ones are recorded in one line, then shown.
fn record(store: &mut Store, past: &PastRun, kind: EventKind) -> Result<RunState, Refusal> {
    let mut state = past.state.clone();
    store.keep_grading(&state)?;
    let event = Event {
        seq: past.next_sequence,
        at: jiff::Timestamp::now(),
        kind,
    };
    store.append(&event)?;
    state.apply(&event);
    store.write_results(&state)?;
    Ok(state)
}
