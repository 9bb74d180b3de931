//! The last stage: keeps what the trial left, and writes its report.

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use terca_core::agent::Profile;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::settings::Keep;
use terca_core::text::prose;
use terca_core::transcript::atif::{About, Trajectory};
use terca_core::trial_error::{ErrorKind, TrialError};

use super::evidence::take_evidence;
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::tree::{Dir, Options, TreeError, copy, move_dir};
use crate::workspace::merged_layers::MergedLayers;
use crate::workspace::saved::save::Differences;
use crate::workspace::saved::{CHANGES, WORKSPACE, saved_tree};

/// Ends a trial, however far it came.
pub(super) fn collect(mut run: TrialRun<'_>, result: Result<(), StageError>) -> TrialReport {
    let mut report = std::mem::replace(&mut run.report, TrialReport::pending());
    let is_breach = result.is_ok() && run.is_breach;
    if let Err(error) = result {
        error.end(&mut report);
    }
    report
        .notes
        .extend(run.limits_met.drain(..).chain(run.remarks.drain(..)));
    report.notes.extend(restored(&run));
    note_old_version(&mut report, run.spec.case.variant.agent.agent.profile());
    report.mask(&run.context.mask);
    if let Err(error) = write_trajectory(&run, &report) {
        report.notes.push(format!(
            "artifacts/trajectory.json could not be written: {error}"
        ));
    }
    let is_kept = run.is_keepable && is_wanted(&run, report.status);
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

/// Returns a remark about files of the suite that were changed and restored meanwhile.
fn restored(run: &TrialRun<'_>) -> Option<String> {
    let found = run.restored.iter();
    let found = found.flat_map(|(copy, before)| copy.restored_since(*before));
    let found: Vec<_> = found.collect();
    (!found.is_empty()).then(|| {
        let found = prose::quoted_list(&found, "and");
        format!("the sealed copy of {found} was changed while the trial ran, by its agent or another one, and was restored")
    })
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
    let left = run.dirs.work_left()?;
    let options = run.agent_tree();
    if run.dirs.changes().is_none() {
        let name = left.file_name().unwrap_or_default().as_ref();
        let root = Dir::open(&run.dirs.root)?;
        return Ok(move_dir(&root, name, folder, WORKSPACE.as_ref(), &options)?);
    }
    // A mount cannot be moved.
    let to = folder.create_dir(WORKSPACE, 0o777)?;
    let left = Dir::open(left)?;
    copy(&left, &to, &options, &mut |_| Ok(true))?;
    Ok(to.set_facts(left.meta())?)
}

/// Saves what changed in a workspace since its layers were copied or mounted.
fn save_changes(run: &mut TrialRun<'_>, folder: &Dir) -> Result<(), StageError> {
    let layers = run.layers.clone();
    let saved = move_changes(run, &layers, folder);
    // On a full disk the part stays, so that the run ends when it cannot write its journal: no agent is to work for nothing.
    // A run that is resumed begins the trial again.
    let is_full = |error: &TreeError| error.kind() == io::ErrorKind::StorageFull;
    if saved.as_ref().is_err_and(|error| !is_full(error)) {
        // A part of a workspace is none.
        let _removed = folder.remove_tree(CHANGES, &Options::default());
    }
    Ok(saved?)
}

fn move_changes(
    run: &mut TrialRun<'_>,
    layers: &MergedLayers,
    folder: &Dir,
) -> Result<(), TreeError> {
    let left = Dir::open_no_link(run.dirs.work_left()?)?;
    let found = Differences::find(&left, layers, run.snapshot.as_ref(), &run.agent_tree())?;
    let Some(changes) = run.dirs.changes() else {
        return found.save(&left, folder, &run.agent_tree());
    };
    drop(left);
    run.dirs.unmount()?;
    found.save(&Dir::open_no_link(changes)?, folder, &run.agent_tree())
}
