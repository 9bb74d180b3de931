//! The last stage: keeps what the trial left, and writes its report.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use terca_core::agent::Profile;
use terca_core::agent::access::Access;
use terca_core::grade::JudgedBy;
use terca_core::grade::grades::Scorecard;
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::run::settings::Keep;
use terca_core::text::mask::Mask;
use terca_core::transcript::Stats;
use terca_core::transcript::atif::{About, Trajectory};
use terca_core::trial_error::{ErrorKind, TrialError};

use super::evidence::take_evidence;
use super::stage_error::StageError;
use super::stages::{AgentRun, Delivered, Graded, Grades, Stopped, Ungraded};
use super::timing::rounded;
use super::trial_run::TrialRun;
use crate::tree::{Dir, Meta, Options, TreeError, copy, move_dir};
use crate::workspace::saved::save::{save, save_overlay};
use crate::workspace::saved::{CHANGES, WORKSPACE, saved_tree};
use crate::workspace::trial_dirs::Left;

/// Ends a trial, however far it came.
pub(super) fn collect(
    mut run: TrialRun<'_>,
    result: Result<Graded, Stopped>,
    phases: Phases,
) -> TrialReport {
    let is_breach = matches!(&result, Ok(graded) if graded.agent.work.breach.is_some());
    let is_keepable = match &result {
        Ok(graded) => graded.agent.work.is_keepable,
        Err(Stopped::Ungraded(agent, _)) => agent.work.is_keepable,
        Err(_) => true,
    };
    let mut report = report(&run, result, phases);
    report.mask(&run.context.mask);
    if let Err(error) = write_trajectory(&run, &report) {
        report.notes.push(format!(
            "artifacts/trajectory.json could not be written: {error}"
        ));
    }
    let is_kept = is_keepable && is_wanted(&run, report.status);
    let kept = close_log(&mut run, &report)
        .map_err(StageError::from)
        .and_then(|()| keep_workspace(&mut run, is_kept))
        .and_then(|()| Ok(take_evidence(run.spec, run.context)?));
    match kept {
        Ok(evidence) => report.evidence = evidence,
        // A copy to another file system was interrupted: a run that is resumed begins this trial again.
        Err(StageError::Interrupted) => {
            report.score = None;
            report.error = None;
            report.status = Status::Interrupted;
        }
        Err(StageError::Error(TrialError { message, .. })) => {
            let message = format!("the files of the trial could not be kept: {message}");
            if is_breach {
                // The agent has seen to that, and must not gain another attempt by it.
                report.notes.push(message);
            } else {
                // The work was judged, but it could not be kept: the record of the run is incomplete.
                report
                    .error
                    .get_or_insert(TrialError::new(ErrorKind::Internal, message));
                report.status = Status::Error;
                report.score = None;
            }
        }
    }
    let TrialRun {
        context,
        supervisor,
        mut dirs,
        ..
    } = run;
    // Processes end before their directories are removed.
    drop(supervisor);
    for line in dirs.remove() {
        let note = format!("could not be removed: {line}");
        report.notes.push(context.mask.text(&note));
    }
    report
}

fn report(run: &TrialRun<'_>, result: Result<Graded, Stopped>, phases: Phases) -> TrialReport {
    let mask = &run.context.mask;
    let mut report = TrialReport {
        phases,
        ..TrialReport::pending()
    };
    report
        .delivery
        .model_requested
        .clone_from(&run.spec.case.variant.model);
    let judges = run.judges.clone();
    match result {
        Ok(Graded { agent, grades }) => {
            add_agent_run(&mut report, agent, mask);
            add_grades(&mut report, grades, judges);
        }
        Err(Stopped::Ungraded(agent, ungraded)) => {
            add_agent_run(&mut report, *agent, mask);
            add_error(&mut report, ungraded, judges);
        }
        Err(Stopped::Unfinished(delivered, error)) => {
            add_delivered(&mut report, *delivered);
            add_error(&mut report, error.into(), judges);
        }
        Err(Stopped::Unprepared(error)) => add_error(&mut report, error.into(), judges),
    }
    let remarks = run.limits_met.iter().chain(&run.remarks);
    report.notes.extend(remarks.cloned());
    note_old_version(&mut report, run.spec.case.variant.agent.agent.profile());
    report
}

/// Notes a version of the agent that is older than any that Terca knows: what it prints may mean something else.
fn note_old_version(report: &mut TrialReport, profile: &Profile) {
    let Some(version) = &report.agent_version else {
        return;
    };
    if let Some(oldest) = profile.newer_than(version) {
        report.notes.push(format!(
            "`{}` {version} is older than the oldest version that Terca knows ({oldest}), and may be misread",
            profile.name
        ));
    }
}

fn add_delivered(report: &mut TrialReport, delivered: Delivered) {
    report.agent_version = delivered.agent_version;
    report.delivery.rules = delivered.rules;
    report.delivery.skills = delivered.skills;
    report.delivery.access = Some(delivered.access).filter(|access| *access != Access::default());
}

fn add_agent_run(report: &mut TrialReport, agent: AgentRun, mask: &Mask) {
    add_delivered(report, agent.delivered);
    report.stats = Stats {
        usage: agent.end.reading.usage,
        cost_source: agent.end.reading.cost_source,
        duration_seconds: Some(rounded(agent.end.ended.seconds)),
    };
    report.wire = agent.end.wire;
    report.network = agent.end.network;
    report.exit_code = agent.end.ended.exit.code();
    report.timed_out = agent.end.ended.timed_out;
    report.notes = agent.work.notes;
    report.delivery.mcp_servers = agent.end.reading.mcp_servers;
    if agent.end.reading.version.is_some() {
        report.agent_version = agent.end.reading.version;
    }
    report.delivery.model_observed = agent.end.reading.model;
    if let Some(uses) = &agent.end.reading.skill_uses {
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

/// Adds the grades, in place of earlier ones or of an error. All judges that were asked are given.
pub(super) fn add_grades(report: &mut TrialReport, grades: Grades, judges: Vec<JudgedBy>) {
    report.status = Status::of_score(grades.score);
    report.score = Some(grades.score);
    report.paid_judges = unheard(judges, &grades.tests);
    report.tests = grades.tests;
    report.error = None;
}

/// Adds the reason why there is no score, the grades of the tests that could tell, and the judges that were asked.
pub(super) fn add_error(report: &mut TrialReport, ungraded: Ungraded, judges: Vec<JudgedBy>) {
    let Ungraded { error, tests } = ungraded;
    report.score = None;
    report.paid_judges = unheard(judges, &tests);
    report.tests = tests;
    match error {
        StageError::Interrupted => report.status = Status::Interrupted,
        StageError::Error(error) => {
            report.status = Status::Error;
            report.error = Some(error);
        }
    }
}

/// Returns the judges whose answers are in no grade. They were paid for all the same.
fn unheard(mut judges: Vec<JudgedBy>, tests: &Scorecard) -> Vec<JudgedBy> {
    judges.retain(|judge| {
        let mut records = tests.iter().filter_map(|(_, grade)| grade.judge.as_ref());
        !records.any(|record| record.by.artifacts == judge.artifacts)
    });
    judges
}

/// Writes the transcript, which is masked already, in the form that other tools read.
fn write_trajectory(run: &TrialRun<'_>, report: &TrialReport) -> io::Result<()> {
    /// A longer session is only in `transcript.jsonl`, which can be read line by line.
    const LARGEST: u64 = 8 * 1024 * 1024;
    let transcript = run.folder.transcript();
    if !(1..=LARGEST).contains(&fs_err::metadata(&transcript)?.len()) {
        return Ok(());
    }
    let mut trajectory = Trajectory::default();
    for line in BufReader::new(fs_err::File::open(&transcript)?).lines() {
        trajectory.add(serde_json::from_str(&line?)?);
    }
    let about = About {
        session_id: &format!(
            "{}-{}",
            run.context.run_dir.file_name().unwrap_or("run"),
            run.spec.id
        ),
        agent: run.spec.case.variant.agent.agent.profile().name,
        agent_version: report.agent_version.as_deref(),
        model: report
            .delivery
            .model_observed
            .as_deref()
            .or(report.delivery.model_requested.as_deref()),
        usage: &report.stats.usage,
    };
    let mut out = BufWriter::new(fs_err::File::create(
        run.folder.artifacts().join("trajectory.json"),
    )?);
    serde_json::to_writer_pretty(&mut out, &trajectory.document(&about))?;
    out.write_all(b"\n")?;
    out.flush()
}

fn close_log(run: &mut TrialRun<'_>, report: &TrialReport) -> io::Result<()> {
    let verdict = match (&report.error, report.score) {
        (Some(error), _) => format!("error ({}): {}", error.kind.as_str(), error.message),
        (None, Some(score)) => format!("{}: score {score:.2}", report.status.as_str()),
        (None, None) => report.status.as_str().to_owned(),
    };
    run.log.section(&verdict)
}

/// Returns whether the user wants the workspace of a trial that ended so.
fn is_wanted(run: &TrialRun<'_>, status: Status) -> bool {
    match run.context.keep {
        Keep::Changed | Keep::All => true,
        Keep::Failed => status != Status::Passed,
        Keep::None => false,
    }
}

/// Moves the workspace, exactly as the agent left it, to the place of the link to it. One that is not kept is removed
/// with the trial's directories.
fn keep_workspace(run: &mut TrialRun<'_>, is_kept: bool) -> Result<(), StageError> {
    // The tests run what the agent left, and so may it.
    run.folder.tidy(&run.dirs)?;
    let place = run.folder.path.join(WORKSPACE);
    fs_err::remove_file(&place)?;
    if !is_kept {
        return Ok(());
    }
    let folder = Dir::open(&run.folder.path)?;
    // Of a trial that was interrupted nothing is compared: it begins again when the run is resumed.
    let saves_changes = run.context.saves_changes() && !run.context.interrupt.is_stop();
    let kept = if saves_changes {
        save_changes(run, &folder)?;
        saved_tree(&run.folder.path)
    } else {
        keep_whole(run, &folder)?;
        place
    };
    if run.spec.case.has_setup_commands() {
        run.context.sealed.restore_links(&kept)?;
    }
    Ok(())
}

/// Keeps a workspace as it is.
fn keep_whole(run: &mut TrialRun<'_>, folder: &Dir) -> Result<(), StageError> {
    match run.dirs.work_left()? {
        Left::Dir(left) => {
            move_dir(
                &Dir::open(&run.dirs.root)?,
                left.file_name().unwrap_or_default().as_ref(),
                folder,
                WORKSPACE.as_ref(),
                &run.agent_tree(),
            )?;
        }
        Left::Mounted(left) => {
            let to = folder.create_dir(WORKSPACE, 0o777)?;
            let left = Dir::open(left)?;
            copy(&left, &to, &run.agent_tree(), &mut |_| Ok(true))?;
            to.set_facts(left.meta())?;
        }
    }
    Ok(())
}

/// Saves what changed in a workspace since its layers were copied or mounted.
fn save_changes(run: &mut TrialRun<'_>, folder: &Dir) -> Result<(), StageError> {
    let context = run.context;
    let layers = run.layers.clone();
    let saved = match run.dirs.changes() {
        Some(changes) => {
            run.dirs.unmount()?;
            let changes = Dir::open_no_link(changes)?;
            save_overlay(&changes, &layers, folder, &run.agent_tree())
        }
        None => {
            let snapshot = run.snapshot.as_ref();
            let is_untouched = |path: &Path, meta: &Meta| {
                snapshot.is_some_and(|snapshot| snapshot.is_untouched(path, meta))
            };
            let left = Dir::open_no_link(run.dirs.dir_left())?;
            save(&left, &layers, &is_untouched, folder, &run.agent_tree())
        }
    };
    context.base_layers.need(layers.names());
    // On a full disk the part stays, so that the run ends when it cannot write its journal: no agent is to work for nothing.
    // A run that is resumed begins the trial again.
    let is_full = |error: &TreeError| error.kind() == io::ErrorKind::StorageFull;
    if saved.as_ref().is_err_and(|error| !is_full(error)) {
        // A part of a workspace is none.
        let _removed = folder.remove_tree(CHANGES, &Options::default());
    }
    Ok(saved?)
}
