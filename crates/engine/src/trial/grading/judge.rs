//! A judge at work: an agent in directories of its own, which is shown what the trial's agent did.
//!
//! It gets nothing of the trial but the text of its prompt. It sees no file of the workspace, which the other agent
//! could have filled with rules and settings for its successors, and nothing of the variant, which would make it
//! another judge in every experiment.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::access::Access;
use terca_core::agent::options::AgentOptions;
use terca_core::agent::{Ending, Reading};
use terca_core::config::folder_name;
use terca_core::grade::{
    Brief, JudgeTest, JudgedBy, Judgement, NoVerdict, Opinion, TestSpec, VERDICT_FILE, judge_prompt,
};
use terca_core::process::Exit;
use terca_core::transcript::Stats;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::network::Network;

use crate::host::credentials;
use crate::process::output_file::read_text;
use crate::process::supervise::Ended;
use crate::trial::agent_request::{AgentDirs, AgentRequest};
use crate::trial::agent_work::AgentWork;
use crate::trial::attachments::AgentEnd;
use crate::trial::session::{AgentKind, AgentSession, FoundAgent, last_words};
use crate::trial::stage_error::StageError;
use crate::trial::timing::rounded;
use crate::trial::trial_run::TrialRun;

/// Longer than any verdict.
const LARGEST_VERDICT: u64 = 1024 * 1024;

/// Reads the parts of the trial that its judge is shown, with the trial's secrets masked.
fn read_brief(run: &TrialRun<'_>, rubric: &str) -> io::Result<Brief> {
    let agent = run.spec.case.variant.agent.agent.profile();
    let (folder, mask) = (&run.folder, &run.context.mask);
    let diff = fs_err::File::open(folder.diff())?;
    let message = last_words(agent, &folder.transcript(), &folder.artifacts())?;
    Ok(Brief {
        rubric: mask.masked(rubric),
        task: mask.masked(&run.spec.case.eval.prompt),
        diff: mask.masked(&read_text(diff.file())?),
        message: mask.masked(&message),
    })
}

/// Asks the judge of a test, and once more if it comes to its end without a verdict: a model's slip is no reason
/// to lose
/// the work of the agent. The first verdict counts.
pub(super) fn ask(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    asked: &JudgeTest,
    work: &AgentWork,
) -> Result<Judgement, StageError> {
    let judgement = ask_once(run, test, asked, work)?;
    let Some(Err(NoVerdict(reason))) = &judgement.opinion else {
        return Ok(judgement);
    };
    run.log
        .line(&format!("no verdict: {reason}; asking the judge again"))?;
    ask_once(run, test, asked, work)
}

fn ask_once(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    asked: &JudgeTest,
    work: &AgentWork,
) -> Result<Judgement, StageError> {
    let context = run.context;
    let case = run.spec.case.clone();
    let judge = case.judge(asked);
    let profile = judge.agent.profile();
    let model = case.judge_model(asked);
    let brief = read_brief(run, &asked.rubric)?;
    let prompt = judge_prompt(&brief, &format!("{:032x}", fastrand::u128(..)));
    let artifacts = new_artifacts_dir(&run.folder.artifacts(), &test.name)?;
    fs_err::write(artifacts.join("prompt.md"), &prompt)?;
    let mut dirs = context.work.trial_dirs_apart()?;
    context.fix_root(&mut dirs, case.variant.sandbox.as_ref(), false);
    let transcript = artifacts.join("transcript.jsonl");
    let env = credentials::environment(
        context.host_in(case.variant.sandbox.as_ref()),
        dirs.for_agent(),
        profile,
        asked.config.as_ref(),
        &case.judge_env,
    );
    let session = FoundAgent::find(context, judge, run.image(), env)
        .map_err(|error| error.of_judge(test, profile))
        .and_then(|agent| {
            let dirs = AgentDirs::new(&dirs, artifacts.clone(), transcript.clone());
            make_ready(run, agent, dirs, test, asked, &prompt)
        })?;
    let agent_version = session.version.clone();
    let access = Some(session.access.clone()).filter(|access| *access != Access::default());
    let (ended, reading) = play(run, session, work)?;
    let by = JudgedBy {
        agent: profile.name.to_owned(),
        agent_version,
        model: reading.model.clone().or(model.map(str::to_owned)),
        access,
        stats: Stats {
            usage: reading.usage,
            cost_source: reading.cost_source,
            duration_seconds: Some(rounded(ended.seconds)),
        },
        artifacts: artifacts
            .strip_prefix(&run.folder.path)
            .unwrap_or(&artifacts)
            .to_string(),
    };
    run.report.paid_judges.push(by.clone());
    let has_answered =
        has_answered(&ended, &reading).map_err(|error| error.of_judge(test, profile))?;
    let opinion = if has_answered {
        let mask = &context.mask;
        let said = mask.masked(&last_words(profile, &transcript, &artifacts)?);
        let file = verdict_file(&dirs.workspace).map(|text| mask.masked(&text));
        let quotable = [&brief.task, &brief.diff, &brief.message];
        Some(Opinion::find(&said, file.as_ref(), &quotable))
    } else {
        None
    };
    Ok(Judgement { opinion, by })
}

/// Makes a judge ready to start. It needs its own model, whatever the agent reaches.
fn make_ready(
    run: &TrialRun<'_>,
    judge: FoundAgent,
    dirs: AgentDirs,
    test: &TestSpec,
    asked: &JudgeTest,
    prompt: &str,
) -> Result<AgentSession, StageError> {
    let case = &run.spec.case;
    let sandbox = case.variant.sandbox.as_ref();
    let contained_by = run.contained_by();
    let network = match case.variant.network_in(contained_by) {
        Network::Open => Network::Open,
        Network::Off | Network::Model | Network::Hosts(_) => Network::Model,
    };
    let request = AgentRequest {
        agent: case.judge(asked),
        model: case.judge_model(asked),
        mcp_servers: &[],
        hide_tools: &BTreeMap::new(),
        config: asked.config.as_ref(),
        options: &AgentOptions::default(),
        prompt,
        timeout: test.timeout,
        sandbox,
        network: &network,
        allow: &case.variant.allow,
        gateway: case.gateway_in(contained_by),
        gateway_is_asked: case.gateway.is_some(),
        allow_paths: &case.suite.gateway.allow_paths,
        sought: &[],
        services: &[],
    };
    judge.prepare(run.context, dirs, &request)
}

fn play(
    run: &mut TrialRun<'_>,
    session: AgentSession,
    work: &AgentWork,
) -> Result<(Ended, Reading), StageError> {
    run.log.line(&format!("judge: {}", session.profile.name))?;
    // The figures on display stay those of the trial's agent.
    let progress = run.progress;
    let on_progress = |activity, _| progress.report(format!("judge: {activity}"), work.usage);
    match session.kind {
        AgentKind::Process(process) => {
            let AgentEnd { ended, reading, .. } =
                process.run(session.decoder, run, false, &on_progress)?;
            if ended.lost && !ended.stopped {
                return Err(StageError::new(
                    ErrorKind::Internal,
                    "the judge's supervisor ended unexpectedly",
                ));
            }
            Ok((ended, reading))
        }
        // A built-in agent has nothing to say, which is no verdict. Suites cannot choose one as a judge.
        AgentKind::BuiltIn(_) => {
            let reading = session.decoder.finish(Exit::Code(0));
            Ok((Ended::without_process(0), reading))
        }
    }
}

/// Returns whether the judge came to its end in time. Any other reason for having no answer is an error.
fn has_answered(ended: &Ended, reading: &Reading) -> Result<bool, StageError> {
    match &reading.ending {
        _ if ended.stopped => Err(StageError::Interrupted),
        Ending::Completed => Ok(true),
        // The reason why it waited until its time was over says more than the timeout.
        Ending::Failed(error) if ended.timed_out && error.kind != ErrorKind::Agent => {
            Err(StageError::Error(error.clone()))
        }
        Ending::Crashed(_) | Ending::Failed(_) if ended.timed_out => Ok(false),
        Ending::Crashed(error) | Ending::Failed(error) => Err(StageError::Error(error.clone())),
    }
}

/// Makes a directory for what the judge leaves, which no other test has.
fn new_artifacts_dir(artifacts: &Utf8Path, test: &str) -> io::Result<Utf8PathBuf> {
    let name = format!("judge-{}", folder_name(test));
    let mut dir = artifacts.join(&name);
    let mut number = 1;
    while dir.symlink_metadata().is_ok() {
        number += 1;
        dir = artifacts.join(format!("{name}-{number}"));
    }
    fs_err::create_dir(&dir)?;
    Ok(dir)
}

/// Reads the verdict that a judge wrote to a file instead of saying it.
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
