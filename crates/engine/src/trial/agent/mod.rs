//! The second stage: the agent works in the prepared workspace.

mod cheat;
mod keys_written;
mod solution;

use std::collections::BTreeMap;
use std::path::Path;

use camino::Utf8Path;
use terca_core::agent::delivery::McpDelivery;
use terca_core::agent::{Ending, Launch, WireEnd};
use terca_core::run::outcome::TrialReport;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::transcript::Stats;
use terca_core::trial_error::{ErrorKind, TrialError};

use super::agent_work::AgentWork;
use super::attachments::AgentEnd;
use super::folder::restore_workspace;
use super::session::{AgentKind, AgentSession};
use super::stage_error::{StageError, left_too_much};
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::host::credentials;
use crate::process::supervise::Ended;
use crate::tree::{Dir, Options, TreeError};
use crate::workspace::changes::{Changes, Snapshot};
use crate::workspace::diff;
use crate::workspace::trial_dirs::MOUNTED;

/// Runs the agent. Returns the facts that tests need, unless there is no work to grade.
pub(super) fn run_agent(
    run: &mut TrialRun<'_>,
    session: AgentSession,
    snapshot: Snapshot,
) -> Result<AgentWork, StageError> {
    let is_reference = matches!(session.kind, AgentKind::BuiltIn(Launch::LaySolution));
    let (end, work) = work(run, session, &snapshot)?;
    run.snapshot = Some(snapshot);
    run.is_keepable = work.is_keepable;
    run.is_breach = work.breach.is_some();
    let checked = (work.check_gradable(&end, run)).and_then(|()| work.check_delivery(&end, run));
    let servers = end.reading.mcp_servers.iter();
    let tapped = servers.filter(|(_, server)| server.tap.is_some());
    let facts = AgentWork {
        is_reference,
        changed: work.changes.paths(),
        usage: end.reading.usage,
        seconds: rounded(end.ended.seconds),
        tapped_servers: tapped.map(|(name, _)| name.clone()).collect(),
        breach: work.breach,
    };
    report_end(&mut run.report, end, work.notes, &run.context.mask);
    checked?;
    facts.write(&run.folder.artifacts(), &run.context.mask)?;
    Ok(facts)
}

/// The work that an agent left.
#[derive(Debug)]
struct LeftWork {
    changes: Changes,
    /// The fault of the model's service in a session that the time limit ended.
    service_fault: Option<TrialError>,
    /// The reason why the work fails every test: the agent changed what it had no business with, or no test can run on
    /// what it left.
    breach: Option<String>,
    /// The workspace can be kept: it is not too large, and no mount.
    is_keepable: bool,
    /// Remarks that change no verdict.
    notes: Vec<String>,
}

impl LeftWork {
    /// Returns an error if there is no work to grade.
    fn check_gradable(&self, end: &AgentEnd, run: &TrialRun<'_>) -> Result<(), StageError> {
        if end.ended.stopped {
            return Err(StageError::Interrupted);
        }
        if run.is_killed_from_outside(&end.ended) && !end.ran_into_limit {
            return Err(StageError::killed_from_outside());
        }
        // An agent that ends its supervisor or changes what the tests rest on is judged by its work, or by that: an
        // error would be tried again.
        if self.breach.is_some() && self.is_keepable {
            return Ok(());
        }
        if let Ending::Failed(error) = &end.reading.ending
            && error.kind != ErrorKind::Agent
        {
            return Err(StageError::Error(error.clone()));
        }
        if let Some(fault) = &self.service_fault {
            return Err(StageError::Error(fault.clone()));
        }
        match &end.reading.ending {
            Ending::Completed => Ok(()),
            // A timeout is no error: the work until then is graded. The reason for the wait may be an error.
            Ending::Crashed(_) | Ending::Failed(_) if end.ended.timed_out => Ok(()),
            // Nor is a limit of the suite: an agent that runs into it again and again gets no further attempts by it.
            Ending::Crashed(_) | Ending::Failed(_) if end.ran_into_limit => Ok(()),
            Ending::Crashed(_) | Ending::Failed(_) if end.ended.lost => Ok(()),
            Ending::Crashed(_) | Ending::Failed(_) if self.is_judged_crash(end, run) => Ok(()),
            Ending::Crashed(error) | Ending::Failed(error) => Err(StageError::Error(error.clone())),
        }
    }

    /// Returns whether the agent has crashed after some work. That is one of the ways to fail: an error would be a free attempt.
    fn is_judged_crash(&self, end: &AgentEnd, run: &TrialRun<'_>) -> bool {
        // What it left is too much, which says nothing about trouble with a provider.
        let has_left_work = !self.changes.are_none() || !self.is_keepable;
        let is_its_own =
            |error: &TrialError| matches!(error.kind, ErrorKind::Agent | ErrorKind::AgentMissing);
        match &end.reading.ending {
            Ending::Completed => false,
            Ending::Crashed(_) if has_left_work => true,
            Ending::Crashed(error) => {
                is_its_own(error) && (self.has_begun(end, run) || end.ended.seconds >= LONG)
            }
            // Its session may have failed before it was given the prompt.
            Ending::Failed(error) => is_its_own(error) && self.has_begun(end, run),
        }
    }

    /// Returns whether the agent is known to have begun its work, be it that nothing is different now: a model answered, a tool
    /// ran, or something was changed and changed back.
    fn has_begun(&self, end: &AgentEnd, run: &TrialRun<'_>) -> bool {
        let metered = end.wire.as_ref().filter(|wire| wire.requests > 0);
        let has_answer = match metered {
            Some(wire) => wire.answered > 0,
            None => end.reading.conversation.has_begun(),
        };
        // Others tell their answers and their tools.
        let is_silent = !run.spec.case.variant.agent.agent.profile().streams_events;
        let usage = end.reading.usage;
        let used = [usage.requests, usage.tool_calls, usage.output_tokens];
        has_answer
            || used.into_iter().flatten().any(|number| number > 0)
            || is_silent && self.changes.is_touched
    }

    /// Returns an error if rules or skills were in no request to a model, and the suite requires that they are.
    fn check_delivery(&self, end: &AgentEnd, run: &TrialRun<'_>) -> Result<(), StageError> {
        let delivery = &run.report.delivery;
        let installed = delivery.rules.iter().chain(&delivery.skills);
        if !run.spec.case.require_delivery || self.breach.is_some() || installed.count() == 0 {
            return Ok(());
        }
        let wire = end.wire.as_ref().filter(|wire| wire.requests > 0);
        let Some(wire) = wire else {
            let message = "no request to a model passed through the gateway, so there is no proof that rules or \
                           skills were sent";
            return Err(StageError::new(ErrorKind::Delivery, message));
        };
        let missing = wire.sent.iter().filter(|sent| sent.requests == 0);
        let missing: Vec<String> = missing
            .map(|sent| format!("{} `{}`", sent.part.noun(), sent.name))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "not in any of {} to a model: {}",
            prose::count(wire.requests, "request"),
            prose::list(&missing, "and")
        );
        Err(StageError::new(ErrorKind::Delivery, message))
    }
}

/// The seconds after which an agent has had its start behind it.
const LONG: f64 = 60.0;

/// Adds the end of an agent to the report.
fn report_end(report: &mut TrialReport, end: AgentEnd, notes: Vec<String>, mask: &Mask) {
    report.stats = Stats {
        usage: end.reading.usage,
        cost_source: end.reading.cost_source,
        duration_seconds: Some(rounded(end.ended.seconds)),
    };
    report.reported = end.reading.reported;
    report.wire = end.wire;
    report.network = end.network;
    report.exit_code = end.ended.exit.code();
    report.timed_out = end.ended.timed_out;
    report.notes = notes;
    report.delivery.mcp_servers = end.reading.mcp_servers;
    if end.reading.version.is_some() {
        report.agent_version = end.reading.version;
    }
    report.delivery.model_observed = end.reading.model;
    if let Some(uses) = &end.reading.skill_uses {
        report.delivery.add_skill_uses(uses);
    }
    for rules in report
        .delivery
        .rules
        .iter()
        .filter(|rules| rules.may_be_cut)
    {
        report.notes.push(format!(
            "the rules in `{}` are longer than the part that the agent reads",
            rules.path
        ));
    }
    // Both are compared as they are written, so that a name from a variable is the same name.
    report.mask(mask);
    if let Some((requested, observed)) = report.delivery.other_model() {
        report.notes.push(format!(
            "the model `{requested}` was requested, but `{observed}` was used"
        ));
    }
}

/// Runs the agent, and compares the workspace with what it was before.
fn work(
    run: &mut TrialRun<'_>,
    session: AgentSession,
    snapshot: &Snapshot,
) -> Result<(AgentEnd, LeftWork), StageError> {
    run.log
        .section(&format!("agent: {}", session.profile.name))?;
    let leftovers = leftovers(run);
    let profile = session.profile;
    let credentials = credentials::given(&session.access);
    let mut notes = session.notes.clone();
    let mut end = play(run, session)?;
    let reading = &mut end.reading;
    notes.append(&mut reading.notes);
    if let Ending::Failed(error) | Ending::Crashed(error) = &mut reading.ending
        && error.kind == ErrorKind::Auth
    {
        // The agent's own advice (`/login`) does not help here: its home is that of the trial.
        match credentials {
            Some(given) => notes.push(given),
            // The service has seen a key that nobody knows of.
            None if matches!(end.wire_end, Some(WireEnd::Fault(_))) => {}
            // The cause first.
            None => {
                let cause = credentials::missing(profile);
                error.message = format!("{cause} (it said \"{}\")", error.message);
            }
        }
    }
    if end.ended.lost && !end.ended.stopped && !run.is_killed_from_outside(&end.ended) {
        notes.push(LOST.to_owned());
    }
    let mut work = left_work(run, snapshot, &leftovers, notes)?;
    let has_worked = !work.changes.are_none() || !work.is_keepable;
    if let Ending::Crashed(error) | Ending::Failed(error) = &end.reading.ending
        && work.is_judged_crash(&end, run)
    {
        let note = format!("{}; its work until then was judged", error.message);
        work.notes.push(note);
    }
    if end.ended.left_behind > 0 {
        let count = prose::count(end.ended.left_behind, "process");
        let note = format!("{count} could not be ended: they belong to another user");
        work.notes.push(note);
    }
    work.service_fault = end.time_limit.and_then(|limit| match &end.wire_end {
        None => {
            let completed = end.reading.ending == Ending::Completed;
            let conversation = &end.reading.conversation;
            conversation.fault_at_time_limit(limit, completed, has_worked)
        }
        Some(WireEnd::NoRequest) if !has_worked => {
            let limit = prose::duration(limit.limit.as_secs_f64());
            let message = format!("the agent made no request to a model in {limit}");
            Some(TrialError::new(ErrorKind::Agent, message))
        }
        Some(_) => None,
    });
    if work.service_fault.is_some() && end.reading.conversation.progress() == 0 {
        work.notes.extend(unknown_servers(&end.reading.mcp_servers));
    }
    Ok((end, work))
}

/// Compares what the agent left with what it found.
fn left_work(
    run: &mut TrialRun<'_>,
    snapshot: &Snapshot,
    leftovers: &[&str],
    mut notes: Vec<String>,
) -> Result<LeftWork, StageError> {
    let taken = run.dirs.take_back()?;
    notes.extend(taken.notes);
    let mut breach = taken.breach;
    let mut is_keepable = true;
    let has_breach = breach.is_some();
    let changes = match compare(run, snapshot, leftovers, has_breach, &mut notes) {
        Ok(Ok(changes)) => changes,
        Ok(Err(reason)) => {
            is_keepable = false;
            breach.get_or_insert(reason);
            Changes::default()
        }
        // There may be nothing left to compare, or to compare with.
        Err(StageError::Error(_)) if breach.is_some() => Changes::default(),
        Err(error) => return Err(error),
    };
    let mask = &run.context.mask;
    notes.extend(keys_written::note(&run.dirs.here(), &changes.paths(), mask));
    let mounts = changes.mounts.lines(Path::new(""));
    notes.extend(mounts.map(|line| format!("{line}: its content was not judged")));
    if let Some(reason) = &breach {
        notes.push(if is_keepable {
            reason.clone()
        } else {
            format!("{reason}: the tests did not run, and the workspace was not kept")
        });
    }
    Ok(LeftWork {
        changes,
        breach,
        is_keepable,
        notes,
        service_fault: None,
    })
}

/// Returns a remark about MCP servers that the agent may have waited for instead of its model.
fn unknown_servers(servers: &BTreeMap<String, McpDelivery>) -> Option<String> {
    let silent = servers.iter().filter(|(_, server)| server.status.is_none());
    let names: Vec<&String> = silent.map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the agent may have waited for an MCP server that did not answer: {}",
            prose::quoted_list(&names, "or")
        )
    })
}

/// The remark about an agent whose supervisor did not live to see its end.
const LOST: &str = "the supervisor was killed or stopped while the agent worked, probably by the agent; all its \
                    processes were ended, and the work done until then was judged";

/// Compares the workspace with what it was before, and writes the differences down. The inner error is the reason why
/// no test can run on what the agent left.
fn compare(
    run: &TrialRun<'_>,
    snapshot: &Snapshot,
    leftovers: &[&str],
    has_breach: bool,
    notes: &mut Vec<String>,
) -> Result<Result<Changes, String>, StageError> {
    if run.dirs.is_workspace_mounted() {
        return Ok(Err(MOUNTED.to_owned()));
    }
    let restored = restore_workspace(&run.dirs.here(), "the agent")?;
    // A directory that cannot be moved back is not where it belongs, and nobody has removed it.
    notes.extend(restored.filter(|_| !has_breach));
    let options = run.agent_tree();
    // Removing what the agent has left for itself is a change of Terca's.
    let has_leftovers = leftovers
        .iter()
        .any(|name| run.dirs.here().join(name).exists());
    let is_touched = !has_leftovers && snapshot.is_root_touched(&run.dirs.here());
    remove_leftovers(&run.dirs.here(), leftovers, &options)?;
    let track_ignored = run.spec.case.suite.track_ignored;
    let changes = match snapshot.changes(&run.dirs.here(), track_ignored, &options) {
        Ok(changes) => Changes {
            is_touched: is_touched || changes.is_touched,
            ..changes
        },
        Err(error) => return left_too_much(&error).map_or(Err(error.into()), |much| Ok(Err(much))),
    };
    diff::write(
        &changes.seen,
        changes.ignored,
        &run.folder.diff(),
        &run.context.mask,
        &options,
    )?;
    Ok(Ok(changes))
}

fn play(run: &mut TrialRun<'_>, session: AgentSession) -> Result<AgentEnd, StageError> {
    let decoder = session.decoder;
    let agent = match session.kind {
        AgentKind::Process(process) => {
            let progress = run.progress;
            return process.run(decoder, run, true, &|activity, usage| {
                progress.report(activity, usage);
            });
        }
        AgentKind::BuiltIn(agent) => agent,
    };
    let note = match agent {
        Launch::LaySolution => solution::apply(run)?,
        Launch::Cheat => {
            cheat::cheat(run)?;
            None
        }
        _ => None,
    };
    // Services that set-up has left running end here too, as they do after any other agent.
    let ended = Ended::without_process(run.supervisor.sweep()?);
    let mut reading = decoder.finish(ended.exit);
    reading.notes.extend(note);
    Ok(AgentEnd::new(ended, reading))
}

/// Returns the paths in the workspace that the agent will use for itself. A path that exists already is not its own.
fn leftovers(run: &TrialRun<'_>) -> Vec<&'static str> {
    let names = run.spec.case.variant.agent.agent.profile().leftovers;
    let is_free = |name: &str| run.dirs.here().join(name).symlink_metadata().is_err();
    names.iter().copied().filter(|name| is_free(name)).collect()
}

/// Removes the directories that the agent used for itself. A part that cannot be removed is judged with the rest.
fn remove_leftovers(
    workspace: &Utf8Path,
    names: &[&str],
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let workspace = Dir::open_no_link(workspace)?;
    for name in names {
        let is_dir = workspace
            .meta_at(name)
            .is_ok_and(|meta| meta.is_some_and(|meta| meta.is_dir()));
        if is_dir {
            let _ = workspace.remove_tree(name, options)?;
        }
    }
    Ok(())
}
