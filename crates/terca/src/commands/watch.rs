//! `terca watch`: grades again when tests are saved, and offers to run what else has changed.
//!
//! Files are looked at from time to time: that works on every file system, for files outside of the suite, and for editors
//! that save by renaming. Fingerprints of the plan then say what a change is about. Each run and each grading is a process
//! of its own, exactly as if somebody had typed it.

mod changed;
mod offer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_engine::host::environment::Host;
use terca_engine::run::load::RunPlan;
use terca_engine::run::{files, journal, load, past_runs, signals};
use terca_engine::suite::stamp::Stamp;
use terca_engine::workspace::suite_inputs::Inputs;

use self::changed::Changed;
use crate::args::typed::Typed;
use crate::args::{Common, ConductArgs, SelectionArgs};
use crate::cli_error::{CliError, INTERRUPTED, Outcome};
use crate::place::from_here;
use crate::screen;

/// The time between two looks. A change counts when nothing has changed since the look before.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A run that goes on is among the latest ones.
const LATEST: usize = 5;

#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    selection: Typed<SelectionArgs>,
    #[command(flatten)]
    conduct: Typed<ConductArgs>,
    /// Run what has changed without a question
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(super) fn watch(args: &WatchArgs, common: &Common) -> Outcome {
    let is_ended =
        signals::noted().map_err(|error| CliError::trouble(Code::Internal, error.to_string()))?;
    let suite_dir = common.dir.canonicalize_utf8();
    let suite_dir = suite_dir.map_err(|error| CliError::trouble(Code::NoSuite, error))?;
    let selection = SelectionSettings::from(&args.selection.args);
    let mut watcher = Watcher {
        args,
        common,
        settings: RunSettings {
            selection: from_here(selection, common),
            on: args.conduct.args.workers.on.clone(),
            ..RunSettings::default()
        },
        host: Host::of_this_process(),
        beside: Vec::new(),
        seen: Vec::new(),
        suite_dir,
        is_ended,
    };
    let plan = watcher.load()?;
    // Before the files are read: one that is saved meanwhile is seen.
    let last = watcher.stamp();
    if let Some(plan) = plan {
        let trials = prose::count(plan.trials.len(), "trial");
        screen::err(&format!("watching {} ({trials})", plan.suite.name));
        watcher.seen = watcher.fingerprints(&plan);
    }
    watcher.watch(last)
}

/// The suite as it was last seen.
struct Watcher<'a> {
    args: &'a WatchArgs,
    common: &'a Common,
    settings: RunSettings,
    host: Host,
    suite_dir: Utf8PathBuf,
    /// Files of the plan that are not in the suite's directory.
    beside: Vec<Utf8PathBuf>,
    /// What is made of what, when everything was last in order.
    seen: Vec<CaseFingerprint>,
    /// Somebody has pressed Ctrl+C.
    is_ended: Arc<AtomicBool>,
}

impl Watcher<'_> {
    fn watch(&mut self, mut last: Stamp) -> Outcome {
        screen::err("save a file to grade or run what it changes; Ctrl+C ends it");
        let (mut is_changed, mut has_waited) = (false, false);
        while !self.is_ended.load(Ordering::Acquire) {
            std::thread::sleep(LOOK_EVERY);
            let now = self.stamp();
            if now != last {
                (last, is_changed) = (now, true);
                continue;
            }
            if !is_changed {
                continue;
            }
            if is_run_going_on(&self.suite_dir) {
                if !std::mem::replace(&mut has_waited, true) {
                    screen::err("a run goes on; what was saved waits until it is over");
                }
                continue;
            }
            (is_changed, has_waited) = (false, false);
            // Saved meanwhile: the next look sees it.
            self.act()?;
        }
        screen::err("");
        Ok(INTERRUPTED)
    }

    fn stamp(&self) -> Stamp {
        Stamp::now(&self.suite_dir, &self.beside)
    }

    /// Loads the plan, and shows what is wrong with it.
    fn load(&mut self) -> Result<Option<RunPlan>, CliError> {
        let loaded = load::load(&self.common.dir, &self.settings, &self.host)?;
        let Some(plan) = loaded.plan else {
            crate::load::show(&loaded.problems, &loaded.sources, self.common);
            return Ok(None);
        };
        self.beside = Inputs::of(&plan.plan, &self.suite_dir).beside(&self.suite_dir);
        Ok(Some(plan))
    }

    fn fingerprints(&self, plan: &RunPlan) -> Vec<CaseFingerprint> {
        plan.current_fingerprints(&plan.mask(&self.host))
    }

    /// Looks what has changed, and does something about it.
    fn act(&mut self) -> Result<(), CliError> {
        // Half a suite may be saved: what is wrong is shown, and the next save is looked at.
        let plan = match self.load() {
            Ok(Some(plan)) => plan,
            Ok(None) => return Ok(()),
            Err(error) => {
                error.show(self.common);
                return Ok(());
            }
        };
        let now = self.fingerprints(&plan);
        let changed = Changed::between(&self.seen, &now);
        self.seen = now;
        if !changed.tests.is_empty() {
            self.regrade(&changed)?;
        }
        if !changed.inputs.is_empty() && !self.is_ended.load(Ordering::Acquire) {
            self.offer(&changed, &plan)?;
        }
        Ok(())
    }
}

/// Tells whether somebody runs this suite.
fn is_run_going_on(suite_dir: &Utf8Path) -> bool {
    let names = past_runs::names(suite_dir).unwrap_or_default();
    let mut latest = names.iter().rev().take(LATEST);
    latest.any(|name| journal::is_going_on(&files::runs_dir(suite_dir).join(name)))
}
