//! Suggests what to do after a run, to the user at the terminal.

use camino::Utf8Path;
use terca_core::agent::control;
use terca_core::analysis::compare::{Arm, between};
use terca_core::analysis::results::Results;
use terca_core::analysis::summary::DEFAULT_MARGIN;
use terca_core::run::event::RunStatus;
use terca_core::run::settings::RunSettings;
use terca_core::run::state::RunState;
use terca_engine::run::past_runs;
use terca_engine::run::scheduler::FinishedRun;
use terca_report::{Circumstances, suggestions};

use crate::args::{Common, Format};
use crate::{screen, shell};

/// The number of earlier runs that are tried for a comparison.
const LATEST: usize = 5;

/// Writes suggestions to standard error, and only where a person reads it: a log has no use for them.
pub fn suggest(
    settings: &RunSettings,
    format: Format,
    common: &Common,
    run: &FinishedRun,
    results: &Results,
) {
    if !is_watched(format) || settings.aa || settings.shard.is_some() {
        return;
    }
    let Some(suite_dir) = run.dir.ancestors().nth(3) else {
        return;
    };
    // Commands look at the latest run unless they are told of another.
    let is_latest = past_runs::latest(suite_dir).as_ref() == Some(&results.run);
    let earlier = earlier(suite_dir, &run.state);
    let around = Circumstances {
        terca: &shell::terca(common),
        run: &if is_latest {
            String::new()
        } else {
            format!(" {}", results.run)
        },
        selection: &shell::selection(&settings.selection),
        agent: &shell::agent(&settings.selection),
        // No other run than that of `terca validate` has it.
        validated: past_runs::has_lately_run(suite_dir, control::NOP),
        earlier: earlier.as_deref(),
    };
    let view = suggestions(results, &around, screen::columns());
    if !view.is_empty() {
        let text = view.render(screen::err_palette(common.color));
        screen::err_painted(&format!("\n{text}"));
    }
}

fn is_watched(format: Format) -> bool {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    format != Format::Json && !in_ci && screen::is_lively()
}

/// Returns the latest run before this one that can be compared with it.
fn earlier(suite_dir: &Utf8Path, state: &RunState) -> Option<String> {
    // Two arms at least are compared already.
    let variant = |at: usize| {
        state
            .trials()
            .get(at)
            .map(|trial| (&trial.head.environment, &trial.head.experiment))
    };
    if (1..state.trials().len()).any(|at| variant(at) != variant(0)) || is_rehearsal(state) {
        return None;
    }
    let names = past_runs::names(suite_dir).ok()?;
    let before = names
        .iter()
        .rev()
        .skip_while(|name| **name != state.run())
        .skip(1);
    before
        .take(LATEST)
        .find(|name| is_comparable(suite_dir, name, state))
        .cloned()
}

fn is_comparable(suite_dir: &Utf8Path, name: &str, state: &RunState) -> bool {
    let Ok(run) = past_runs::find(suite_dir, Some(name)).and_then(|dir| past_runs::read(&dir))
    else {
        return false;
    };
    let arms = [&run.state, state].map(|state| Arm {
        name: state.run(),
        state,
        prints: None,
    });
    let [one, other] = arms;
    run.state.status() == RunStatus::Complete
        && !is_rehearsal(&run.state)
        && between(one, other, DEFAULT_MARGIN, false).is_ok()
}

/// Tells whether a built-in agent ran it: such a run says something about evals, and nothing about agents.
fn is_rehearsal(state: &RunState) -> bool {
    state
        .trials()
        .iter()
        .any(|trial| control::is_control(&trial.head.agent))
}
