//! `terca resume`: finishes a run that was interrupted, by its user, by a crash or by a power cut.
//!
//! What is finished stays. The rest runs with the same plan, seed and settings; if the suite has changed since,
//! nothing is mixed unless the user says so.

use std::collections::HashMap;
use std::error::Error;

use camino::Utf8Path;
use serde::Deserialize;
use terca_core::event::TrialHead;
use terca_core::fingerprint::{CasePrint, differences};
use terca_core::matrix::TrialSpec;
use terca_core::outcome::Status;
use terca_core::results::exit_status;
use terca_core::rounds;
use terca_core::state::{RunState, Trial};
use terca_engine::environment::Host;
use terca_engine::scheduler::Past;
use terca_engine::store::Store;
use terca_engine::{discover, runs};

use super::execute::{self, Execution};
use super::plan::{self, Planned};
use super::{MISUSE, TROUBLE};
use crate::args::{Common, ResumeArgs, RunArgs};
use crate::screen;

/// What `run.json` keeps of how the run was started.
#[derive(Deserialize)]
struct Recorded {
    seed: u64,
    command: RunArgs,
    fingerprints: Vec<CasePrint>,
}

pub(super) fn resume(args: &ResumeArgs, common: &Common) -> u8 {
    match try_resume(args, common) {
        Ok(status) => status,
        Err(error) => {
            screen::complain(&error.to_string());
            TROUBLE
        }
    }
}

fn try_resume(args: &ResumeArgs, common: &Common) -> Result<u8, Box<dyn Error>> {
    let dir = match discover::canonical(&common.dir).map_err(Into::into).and_then(|dir| find(&dir, args)) {
        Ok(dir) => dir,
        Err(error) => return Ok(misuse(&error.to_string())),
    };
    // Held from here on: nobody else goes on with it.
    let store = Store::reopen(&dir)?;
    let past = runs::read(&dir)?;
    let recorded = recorded(&dir)?;
    let settings = RunArgs {
        concurrency: args.concurrency.or(recorded.command.concurrency),
        budget_usd: args.budget_usd.or(recorded.command.budget_usd),
        format: args.format,
        ..recorded.command
    };
    let host = Host::of_this_process();
    let mut seeded = settings.clone();
    seeded.selection.seed = Some(recorded.seed);
    let Some(mut planned) = plan::make_run(&seeded, common, &host) else { return Ok(MISUSE) };
    let has_begun = !past.state.trials.is_empty();
    let mut to_run = planned.order.len();
    if has_begun {
        let left = adopt(&mut planned, &past.state, args.errors);
        if left.is_empty() && rounds::next(&past.state).is_none() {
            return Ok(nothing_left(&past, &settings, args));
        }
        let is_spare = |id| past.state.spare.iter().any(|head| head.id == id);
        planned.order.retain(|index| {
            let id = planned.trials[*index].id;
            left.contains(&id) || is_spare(id)
        });
        to_run = left.len();
    }
    let execution = match Execution::prepare(&settings, common, &planned, host) {
        Ok(execution) => execution,
        Err(error) => return Ok(misuse(&error.to_string())),
    };
    let changes = differences(&recorded.fingerprints, &execution.fingerprints);
    if !changes.is_empty() && !may_go_on(&changes, args) {
        return Ok(MISUSE);
    }
    say_what_is_left(&past.state, to_run);
    let past = has_begun.then_some(Past { state: past.state, next_sequence: past.next_sequence });
    let done = execution.carry_out(store, past)?;
    Ok(execute::conclude(&settings, common, &done))
}

fn misuse(text: &str) -> u8 {
    screen::complain(text);
    MISUSE
}

fn find(suite_dir: &Utf8Path, args: &ResumeArgs) -> Result<camino::Utf8PathBuf, Box<dyn Error>> {
    Ok(runs::find(suite_dir, args.run.as_deref())?)
}

fn recorded(dir: &Utf8Path) -> Result<Recorded, Box<dyn Error>> {
    let plan = runs::plan(dir)?;
    serde_json::from_value(plan).map_err(|error| {
        format!(
            "{dir}/run.json does not say how the run was started: {error} (start a new one with `terca run`)"
        )
        .into()
    })
}

/// Gives the trials of the suite as it is now the ids they have in the run, and leaves out what the run does not
/// have. Returns the ids that are still to be run.
fn adopt(planned: &mut Planned, state: &RunState, errors_too: bool) -> Vec<u32> {
    let name = |head: &TrialHead| {
        (head.eval.clone(), head.environment.clone(), head.experiment.clone(), head.repetition)
    };
    let begun = state.trials.iter().map(|trial| (&trial.head, is_open(trial, errors_too)));
    let spare = state.spare.iter().map(|head| (head, false));
    let known: HashMap<_, (&TrialHead, bool)> =
        begun.chain(spare).map(|(head, open)| (name(head), (head, open))).collect();
    let mut left = Vec::new();
    let mut trials = Vec::new();
    let mut order = Vec::new();
    for index in &planned.order {
        let trial = &planned.trials[*index];
        let Some((known, is_open)) = known.get(&name(&TrialHead::of(trial))) else { continue };
        order.push(known.id);
        trials.push(TrialSpec { id: known.id, dir: known.dir.clone(), ..trial.clone() });
        if *is_open {
            left.push(known.id);
        }
    }
    trials.sort_by_key(|trial| trial.id);
    let position = |id: &u32| trials.binary_search_by_key(id, |trial| trial.id).ok();
    planned.order = order.iter().filter_map(position).collect();
    planned.trials = trials;
    left
}

fn is_open(trial: &Trial, errors_too: bool) -> bool {
    match trial.report.status {
        Status::Pending | Status::Interrupted => true,
        Status::Error => errors_too,
        Status::Passed | Status::Partial | Status::Failed => false,
    }
}

fn nothing_left(past: &runs::PastRun, settings: &RunArgs, args: &ResumeArgs) -> u8 {
    let results = past.results();
    let errors = results.summary.errors;
    let hint = if errors > 0 && !args.errors {
        format!("; `terca resume --errors` runs those that ended in an error ({errors}) again")
    } else {
        String::new()
    };
    screen::remark(&format!("nothing is left to run in {}{hint}", past.state.run));
    exit_status(&results, settings.fail_under)
}

fn may_go_on(changes: &[String], args: &ResumeArgs) -> bool {
    const SHOWN: usize = 20;
    let mut lines: Vec<String> = changes.iter().take(SHOWN).map(|change| format!("  {change}")).collect();
    if changes.len() > SHOWN {
        lines.push(format!("  and {} more", changes.len() - SHOWN));
    }
    let list = lines.join("\n");
    if args.accept_changes {
        screen::remark(&format!("note: the suite has changed since the run was started:\n{list}"));
        return true;
    }
    screen::complain(&format!(
        "the suite has changed since the run was started, so the rest would not be like what is done:\n{list}\n\
         help: undo the changes, start anew with `terca run`, or mix them with `--accept-changes`"
    ));
    false
}

fn say_what_is_left(state: &RunState, left: usize) {
    let done = state.counts.finished() - state.counts.interrupted;
    let more = if state.spare.is_empty() { "" } else { ", then more as needed" };
    screen::remark(&format!("resuming {}: {done} done, {left} to run{more}", state.run));
}
