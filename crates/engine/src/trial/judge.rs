//! A judge at work: an agent in a room of its own, which is shown what the trial's agent did.
//!
//! It gets nothing of the trial but the text of its prompt: no file of the workspace, which the other agent could
//! have filled with rules and settings for whoever comes after it, and nothing of the variant, which would make
//! the judge another one in every experiment.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Ending, Profile, Reading};
use terca_core::config::folder_name;
use terca_core::grade::{
    Brief, JudgeTest, JudgedBy, Judgement, Opinion, TestSpec, VERDICT_FILE, judge_prompt,
};
use terca_core::plan::Case;
use terca_core::run::event::EventKind;
use terca_core::transcript::Stats;
use terca_core::transcript::{Record, Role, Step};
use terca_core::trial_error::{ErrorKind, TrialError};

use super::bench::Bench;
use super::conduct::Conduct;
use super::process::{self, Start};
use super::session::{self, Order, Seat};
use super::{Stop, rounded};
use crate::host::credentials;
use crate::host::environment::Variables;
use crate::process::output_file::read_text;
use crate::process::supervise::Ended;
use crate::workspace::trial_dirs::Room;

/// Nobody writes a longer verdict.
const LARGEST_VERDICT: u64 = 1024 * 1024;

/// Whether every judge of a case is installed: without one, the agent's work would be paid for and not be judged.
pub(super) fn are_here(case: &Case, env: &Variables) -> Result<(), Stop> {
    for (test, asked) in case.judges() {
        let profile = case.judge(asked).agent.profile();
        session::find(profile, env).map_err(|stop| of_judge(stop, test, profile))?;
    }
    Ok(())
}

/// Asks the judge of a test.
pub(super) fn ask(
    bench: &mut Bench<'_>,
    test: &TestSpec,
    asked: &JudgeTest,
    conduct: &Conduct,
) -> Result<Judgement, Stop> {
    let (case, context) = (bench.trial.case.clone(), bench.context);
    let profile = case.judge(asked).agent.profile();
    let room = context.work.room_apart(bench.trial.id)?;
    let artifacts = own_artifacts(bench, &test.name)?;
    let seat = Seat::in_room(&room, artifacts.clone(), artifacts.join("transcript.jsonl"));
    let diff = read_text(fs_err::File::open(bench.dir.join("changes.diff"))?.file())?;
    let message = last_words(case.variant.agent.agent.profile(), &bench.seat())?;
    let brief = Brief {
        rubric: &asked.rubric,
        task: &case.eval.prompt,
        diff: &diff,
        message: &message,
    };
    let fence = format!("{:032x}", fastrand::u128(..));
    // What is a secret here is none of the judge's business either.
    let prompt = context.mask.text(&judge_prompt(&brief, &fence));
    fs_err::write(artifacts.join("prompt.md"), &prompt)?;
    let (ended, reading, agent_version) = run(
        bench,
        test,
        asked,
        &Given {
            case: &case,
            room: &room,
            seat: &seat,
            prompt: &prompt,
        },
        conduct,
    )?;
    let opinion = if has_answered(&ended, &reading).map_err(|stop| of_judge(stop, test, profile))? {
        let said = last_words(profile, &seat)?;
        let file = verdict_file(&seat.workspace).map(|text| context.mask.text(&text));
        Some(Opinion::find(
            &said,
            file.as_deref(),
            &[&case.eval.prompt, &diff, &message],
        ))
    } else {
        None
    };
    let by = JudgedBy {
        agent: profile.name.to_owned(),
        agent_version,
        model: reading.model.or(case.judge_model(asked).map(str::to_owned)),
        stats: Stats {
            usage: reading.usage,
            duration_seconds: Some(rounded(ended.seconds)),
        },
        artifacts: artifacts
            .strip_prefix(&bench.dir)
            .unwrap_or(&artifacts)
            .to_string(),
    };
    Ok(Judgement { opinion, by })
}

/// What a judge is given, and where.
struct Given<'a> {
    case: &'a Case,
    room: &'a Room,
    seat: &'a Seat,
    prompt: &'a str,
}

fn run(
    bench: &mut Bench<'_>,
    test: &TestSpec,
    asked: &JudgeTest,
    given: &Given<'_>,
    conduct: &Conduct,
) -> Result<(Ended, Reading, Option<String>), Stop> {
    let (
        Given {
            case,
            room,
            seat,
            prompt,
        },
        context,
    ) = (given, bench.context);
    let choice = case.judge(asked);
    let profile = choice.agent.profile();
    let mut env = context
        .host
        .for_agent(room.for_agent(), profile, &case.judge_env);
    let program = session::find(profile, &env).map_err(|stop| of_judge(stop, test, profile))?;
    let version = program.as_ref().and_then(|program| {
        context.versions.of(
            profile,
            program,
            &env,
            &room.root.join("probe"),
            &context.interrupt,
        )
    });
    credentials::install(&context.host, profile, &room.agent_home)?;
    let order = Order {
        agent: choice,
        model: case.judge_model(asked),
        mcp_servers: &[],
        config: asked.config.as_ref(),
        prompt,
    };
    let (invocation, decoder) = session::place(seat, &order, &env, &context.mask)?;
    env.extend(invocation.env.iter().cloned());
    bench.log.line(&format!("judge: {}", profile.name))?;
    let start = Start {
        profile,
        seat,
        invocation: &invocation,
        decoder,
        program,
        env,
        timeout: test.timeout,
    };
    // The figures on display stay those of the trial.
    let (emit, trial, usage) = (bench.emit, bench.trial.id, conduct.usage);
    let tell = |doing, _| {
        emit(EventKind::Progress {
            trial,
            doing: format!("judge: {doing}"),
            usage,
        })
    };
    let (ended, reading) = process::run(bench, start, &tell)?;
    Ok((ended, reading, version))
}

/// Whether the judge came to its end; no when it ran out of time, an error when there is another reason.
fn has_answered(ended: &Ended, reading: &Reading) -> Result<bool, Stop> {
    match &reading.ending {
        _ if ended.stopped => Err(Stop::Interrupted),
        Ending::Completed => Ok(true),
        // What kept it waiting until its time was over says more than that it was.
        Ending::Failed(error) if ended.timed_out && error.kind != ErrorKind::Agent => {
            Err(Stop::Error(error.clone()))
        }
        Ending::Crashed(_) | Ending::Failed(_) if ended.timed_out => Ok(false),
        Ending::Crashed(error) | Ending::Failed(error) => Err(Stop::Error(error.clone())),
    }
}

/// The same, said of the judge of a test.
fn of_judge(stop: Stop, test: &TestSpec, profile: &Profile) -> Stop {
    match stop {
        Stop::Interrupted => Stop::Interrupted,
        Stop::Error(TrialError { kind, message }) => Stop::error(
            kind,
            format!(
                "test `{}`: the judge ({}): {message}",
                test.name, profile.name
            ),
        ),
    }
}

/// A directory for what the judge leaves, which no other test has.
fn own_artifacts(bench: &Bench<'_>, test: &str) -> io::Result<Utf8PathBuf> {
    let name = format!("judge-{}", folder_name(test));
    let mut names = (2..).map(|number| format!("{name}-{number}"));
    let mut dir = bench.artifacts.join(&name);
    while dir.symlink_metadata().is_ok() {
        dir = bench.artifacts.join(names.next().unwrap_or_default());
    }
    fs_err::create_dir(&dir)?;
    Ok(dir)
}

/// What an agent said at its end: after its last tool call, or all that it printed where its steps are not known.
/// Nothing, where there was no session.
fn last_words(profile: &Profile, seat: &Seat) -> io::Result<String> {
    let said = if profile.takes_command {
        String::new()
    } else {
        last_message(&seat.transcript)?
    };
    if !said.is_empty() {
        return Ok(said);
    }
    match File::open(seat.artifacts.join("stdout.log")) {
        Ok(file) => read_text(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

fn last_message(transcript: &Utf8Path) -> io::Result<String> {
    let (mut said, mut is_over) = (Vec::new(), false);
    for line in BufReader::new(fs_err::File::open(transcript)?).lines() {
        match serde_json::from_str::<Record>(&line?)?.step {
            Step::Message {
                role: Role::Assistant,
                text,
            } => {
                if std::mem::take(&mut is_over) {
                    said.clear();
                }
                said.push(text);
            }
            Step::ToolCall { .. } | Step::ToolResult { .. } => is_over = true,
            _ => {}
        }
    }
    Ok(said.join("\n"))
}

fn verdict_file(workspace: &Utf8Path) -> Option<String> {
    let path = workspace.join(VERDICT_FILE);
    path.symlink_metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(LARGEST_VERDICT)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
