//! `terca resume`: finishes a run that was interrupted, by its user, by a crash or by a power cut.
//!
//! What is finished stays. The rest runs with the same plan, seed and settings; if the suite has changed since,
//! nothing is mixed unless the user says so.

use terca_core::analysis::results::exit_status;
use terca_core::analysis::rounds;
use terca_core::plan::fingerprint::differences;
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::run::state::{RunState, Trial};
use terca_core::text::explain::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::past_runs;
use terca_engine::run::scheduler::Past;
use terca_engine::run::store::Store;
use terca_engine::workspace::trial_dirs::WorkDir;

use super::execute::{self, Execution};
use super::export;
use super::past::{adopt, recorded};
use super::refusal::{Outcome, Refusal};
use super::{find_run, plan};
use crate::args::{Common, ResumeArgs, RunArgs};
use crate::screen;

pub(super) fn resume(args: &ResumeArgs, common: &Common) -> Outcome {
    let (_, dir) = find_run(args.run.as_deref(), common)?;
    // Held from here on: nobody else goes on with it.
    let store = Store::reopen(&dir)?;
    let past = past_runs::read(&dir)?;
    let recorded = recorded(&dir)?;
    let settings = RunArgs {
        concurrency: args.concurrency.or(recorded.command.concurrency),
        budget_usd: args.budget_usd.or(recorded.command.budget_usd),
        format: args.format,
        ci: args.ci.clone(),
        ..recorded.command
    };
    let host = Host::of_this_process();
    let mut seeded = settings.clone();
    seeded.selection.seed = Some(recorded.seed);
    let mut planned = plan::make_run(&seeded, common, &host)?;
    let has_begun = !past.state.trials().is_empty();
    let mut to_run = planned.order.len();
    if has_begun {
        adopt(&mut planned, &past.state);
        let is_left = |id: u32| {
            past.state
                .trial(id)
                .is_some_and(|trial| is_open(trial, args.errors))
        };
        let is_spare = |id| past.state.spare().iter().any(|head| head.id == id);
        let trials = &planned.trials;
        planned
            .order
            .retain(|index| is_left(trials[*index].id) || is_spare(trials[*index].id));
        to_run = planned
            .order
            .iter()
            .filter(|index| is_left(trials[**index].id))
            .count();
        // A run that died after its last trial has yet to say that it is over.
        let is_over = past.state.status() == RunStatus::Complete;
        if is_over && to_run == 0 && rounds::next(&past.state).is_none() {
            // It may have died even later, between its last word and its end. That nothing could be removed is no
            // trouble of a run that is over.
            let _ = WorkDir::remove_stale(host.get("TERCA_WORK_DIR"));
            let status = nothing_left(&past, &settings, args);
            return Ok(export::for_ci(&past.results(), &settings, common).unwrap_or(status));
        }
    }
    let execution = Execution::prepare(&settings, common, &planned, host)?;
    let changes = differences(&recorded.fingerprints, &execution.fingerprints);
    may_go_on(&changes, args)?;
    say_what_is_left(&past.state, to_run, args.errors);
    let past = has_begun.then_some(Past {
        state: past.state,
        next_sequence: past.next_sequence,
    });
    let done = execution.carry_out(store, past)?;
    Ok(execute::conclude(&settings, common, &done))
}

fn is_open(trial: &Trial, errors_too: bool) -> bool {
    match trial.report.status {
        Status::Pending | Status::Interrupted => true,
        Status::Error => errors_too,
        Status::Passed | Status::Partial | Status::Failed => false,
    }
}

fn nothing_left(past: &past_runs::PastRun, settings: &RunArgs, args: &ResumeArgs) -> u8 {
    let results = past.results();
    let errors = results.summary.errors;
    let hint = if errors > 0 && !args.errors {
        format!("; `terca resume --errors` runs those that ended in an error ({errors}) again")
    } else {
        String::new()
    };
    screen::remark(&format!(
        "nothing is left to run in {}{hint}",
        past.state.run()
    ));
    exit_status(&results, settings.fail_under)
}

fn may_go_on(changes: &[String], args: &ResumeArgs) -> Result<(), Refusal> {
    const SHOWN: usize = 20;
    if changes.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = changes
        .iter()
        .take(SHOWN)
        .map(|change| format!("  {change}"))
        .collect();
    if changes.len() > SHOWN {
        lines.push(format!("  and {} more", changes.len() - SHOWN));
    }
    let list = lines.join("\n");
    if args.accept_changes {
        screen::remark(&format!(
            "note: the suite has changed since the run was started:\n{list}"
        ));
        return Ok(());
    }
    let text = format!(
        "the suite has changed since the run was started, so the rest would not be like what is done:\n{list}"
    );
    let refusal = Refusal::misuse(Code::SuiteChanged, text);
    Err(refusal
        .help("undo the changes, start anew with `terca run`, or mix them with `--accept-changes`"))
}

fn say_what_is_left(state: &RunState, left: usize, errors_too: bool) {
    let done = state
        .trials()
        .iter()
        .filter(|trial| !is_open(trial, errors_too))
        .count();
    let more = if state.spare().is_empty() {
        ""
    } else {
        ", then more as needed"
    };
    screen::remark(&format!(
        "resuming {}: {done} done, {left} to run{more}",
        state.run()
    ));
}
