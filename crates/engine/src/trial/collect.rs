//! The last stage: what is kept, and the report.

use std::io::{self, BufRead, BufReader, BufWriter, Write};

use terca_core::agent::delivery::Delivery;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::transcript::Stats;
use terca_core::transcript::atif::{About, Trajectory};
use terca_core::trial_error::{ErrorKind, TrialError};

use super::bench::Bench;
use super::{Keep, Stages, Stop, rounded};
use crate::workspace::tree;
use crate::workspace::trial_dirs::Room;

pub(super) fn collect(mut bench: Bench<'_>, stages: Stages) -> TrialReport {
    let mut report = report(&bench, stages);
    if let Err(error) = write_trajectory(&bench, &report) {
        report.notes.push(format!(
            "artifacts/trajectory.json could not be written: {error}"
        ));
    }
    if let Err(error) =
        close_log(&mut bench, &report).and_then(|()| keep_workspace(&bench, report.status))
    {
        // The work was judged, but it could not be kept: the run's record is incomplete, and that is said.
        report.error.get_or_insert(TrialError::new(
            ErrorKind::Internal,
            format!("what the trial left could not be kept: {error}"),
        ));
        report.status = Status::Error;
        report.score = None;
    }
    report
}

fn report(bench: &Bench<'_>, stages: Stages) -> TrialReport {
    let mask = &bench.context.mask;
    let mut report = TrialReport {
        phases: stages.phases,
        ..TrialReport::pending()
    };
    report
        .delivery
        .model_requested
        .clone_from(&bench.trial.case.variant.model);
    if let Some(given) = stages.given {
        report.agent_version = given.agent_version;
        report.delivery.rules = given.rules;
        report.delivery.skills = given.skills;
    }
    if let Some(agent) = stages.agent {
        let reading = agent.reading;
        report.stats = Stats {
            usage: reading.usage,
            duration_seconds: Some(rounded(agent.ended.seconds)),
        };
        report.exit_code = agent.ended.exit.code();
        report.timed_out = agent.ended.timed_out;
        report.notes = agent.notes.iter().map(|note| mask.text(note)).collect();
        report.delivery = Delivery {
            mcp_servers: reading.mcp_servers,
            model_observed: reading.model,
            ..report.delivery
        };
    }
    if let Some((requested, observed)) = report.delivery.other_model() {
        report.notes.push(format!(
            "the model `{requested}` was asked for, `{observed}` was used"
        ));
    }
    match (stages.stop, stages.graded) {
        (Some(Stop::Interrupted), _) => report.status = Status::Interrupted,
        (Some(Stop::Error(error)), _) => {
            report.status = Status::Error;
            report.error = Some(TrialError::new(error.kind, mask.text(&error.message)));
        }
        (None, Some(graded)) => {
            report.status = Status::of_score(graded.score);
            report.score = Some(graded.score);
            report.tests = graded.tests;
        }
        (None, None) => {
            report.status = Status::Error;
            report.error = Some(TrialError::new(
                ErrorKind::Internal,
                "the trial has no end (a bug in Terca)",
            ));
        }
    }
    report
}

/// The transcript once more, in the form that other tools read. It is masked already.
fn write_trajectory(bench: &Bench<'_>, report: &TrialReport) -> io::Result<()> {
    /// A longer session is left to `transcript.jsonl`, which can be read line by line.
    const LARGEST: u64 = 8 * 1024 * 1024;
    let transcript = bench.dir.join("transcript.jsonl");
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
            bench.context.run_dir.file_name().unwrap_or("run"),
            bench.trial.id
        ),
        agent: bench.trial.case.variant.agent.agent.profile().name,
        agent_version: report.agent_version.as_deref(),
        model: report
            .delivery
            .model_observed
            .as_deref()
            .or(report.delivery.model_requested.as_deref()),
        usage: &report.stats.usage,
    };
    let mut out = BufWriter::new(fs_err::File::create(
        bench.artifacts.join("trajectory.json"),
    )?);
    serde_json::to_writer_pretty(&mut out, &trajectory.document(&about))?;
    out.write_all(b"\n")?;
    out.flush()
}

fn close_log(bench: &mut Bench<'_>, report: &TrialReport) -> io::Result<()> {
    let verdict = match (&report.error, report.score) {
        (Some(error), _) => format!("error ({}): {}", error.kind.word(), error.message),
        (None, Some(score)) => format!("{}: score {score:.2}", report.status.word()),
        (None, None) => report.status.word().to_owned(),
    };
    bench.log.section(&verdict)
}

/// Puts the workspace where the link to it stood, exactly as the agent left it.
fn keep_workspace(bench: &Bench<'_>, status: Status) -> io::Result<()> {
    let place = bench.dir.join("workspace");
    fs_err::remove_file(&place)?;
    let keep = match bench.context.keep {
        Keep::All => true,
        Keep::Failed => status != Status::Passed,
        Keep::None => false,
    };
    let Room {
        workspace, left, ..
    } = &bench.room;
    let from = if left.exists() { left } else { workspace };
    if keep {
        tree::move_dir(from, &place)
    } else {
        Ok(())
    }
}
