//! Answers a test's question: runs its command, reads its file, looks at the agent's work.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use camino::Utf8Path;
use terca_core::grade::{
    CommandEnd, FileContent, Grade, NoVerdict, PathPattern, Question, Session, TestSpec, ToolUse,
    absolute_programs_named, programs_named,
};
use terca_core::process::Exit;
use terca_core::transcript::{Record, Role, Step, Usage};

use super::judge;
use crate::host::environment::find_program;
use crate::process::output_file::{Output, read_text};
use crate::process::supervise::Ended;
use crate::tree::{Limits, TreeError, list};
use crate::trial::agent_work::AgentWork;
use crate::trial::command::Shell;
use crate::trial::containment::Side;
use crate::trial::output::Logged;
use crate::trial::session::read_stdout;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::inside::{Followed, Workspace};

const LARGEST_FILE: u64 = 256 * 1024 * 1024;
/// A report of a hundred thousand tests has less.
const LARGEST_REPORT: u64 = 32 * 1024 * 1024;

/// Gathers the evidence that a test asks for, and judges it.
pub(super) fn answer(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    work: &AgentWork,
) -> Result<Result<Grade, NoVerdict>, StageError> {
    Ok(match test.question() {
        Question::Command {
            command,
            separate_stdout,
            report,
            judge,
        } => {
            run.doing(&test.name, work.usage);
            match command_end(run, test, command, separate_stdout, report)? {
                Some(end) => judge(&end),
                // The work itself runs in a test, and could make an error of its trial that way.
                None => Ok(Grade::fail(
                    "a process of the test killed or stopped its supervisor",
                )),
            }
        }
        Question::Files { patterns, judge } => judge(&existence(run, patterns)?),
        Question::Content { path, judge } => judge(&content(&run.dirs.paths(), path, LARGEST_FILE)),
        Question::Changes { judge } => judge(&work.changed),
        Question::Session { judge } => judge(&session(run, work)?),
        Question::Judge { asked, judge } => {
            let judgement = judge::ask(run, test, asked, work)?;
            judge(&judgement).map(|grade| Grade {
                judge: judgement.record(),
                ..grade
            })
        }
    })
}

/// Runs a command. With `apart`, its standard output is not mixed with its standard error. Returns `None` if its end
/// is not known, because its supervisor did not live to see it.
fn command_end(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    command: &str,
    apart: bool,
    report: Option<&Utf8Path>,
) -> Result<Option<CommandEnd>, StageError> {
    let stale = report.is_some_and(|path| !remove_report(&run.dirs.paths(), path));
    let path = run.command_environment(run.dirs.for_tests(), &test.dir);
    let path = path.get("PATH").cloned().unwrap_or_default();
    let (ended, stdout, stderr) = shell(run, test, command, test.timeout, apart)?;
    if ended.stopped {
        return Err(StageError::Interrupted);
    }
    if ended.lost {
        let is_outside = run.is_killed_from_outside(&ended);
        return match is_outside && run.limits_met.is_empty() {
            true => Err(StageError::killed_from_outside()),
            false => Ok(None),
        };
    }
    Ok(Some(CommandEnd {
        exit: ended.exit,
        timed_out: ended.timed_out,
        stdout: match &stderr {
            Some(_) => read_output(&stdout)?,
            None => String::new(),
        },
        output: read_output(stderr.as_ref().unwrap_or(&stdout))?,
        // The programs of an image are not known here.
        missing: match run.image() {
            None => missing_program(ended.exit, command, &path),
            Some(_) => None,
        },
        report: report.map(|path| match stale {
            true => FileContent::Unreadable("it was there before the command ran".into()),
            false => content(&run.dirs.paths(), path, LARGEST_REPORT),
        }),
        mask: run.context.mask.clone(),
    }))
}

/// Runs a command of a test.
pub(super) fn shell(
    run: &mut TrialRun<'_>,
    test: &TestSpec,
    command: &str,
    timeout: Duration,
    apart: bool,
) -> Result<(Ended, Output, Option<Output>), StageError> {
    let mut env = run.command_environment(run.dirs.for_tests(), &test.dir);
    env.insert(
        "TERCA_TRANSCRIPT".into(),
        run.folder.transcript().into_string(),
    );
    run.take_keys_of_gateway(&mut env);
    let shell = Shell {
        command,
        timeout,
        env,
        sweep: true,
        side: Side::Tests,
        inputs: &[],
    };
    run.shell(shell, Logged::Whole, apart)
}

/// Removes a report that is there before the command runs: the agent may have written it. Returns false if it stays.
fn remove_report(workspace: &Workspace, path: &Utf8Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    // Outside of the workspace nothing is removed, and nothing read either.
    let Ok(Followed::Inside(dir)) = workspace.follow(parent) else {
        return true;
    };
    let place = dir.join(name);
    let Ok(workspace) = workspace.open() else {
        return false;
    };
    // A directory stays, and is no report.
    let _ = workspace.remove_file(&place);
    matches!(workspace.meta_at(&place), Ok(None))
}

/// Returns the program that a shell did not find.
fn missing_program(exit: Exit, command: &str, path: &str) -> Option<String> {
    if exit != Exit::Code(127) {
        return None;
    }
    let mut named = programs_named(command).into_iter();
    let missing = named.find(|program| find_program(program, path).is_none());
    // The agent may have been asked to make one for itself, or in its workspace.
    let own = ["/tmp", "/var/tmp"];
    let is_own = |program: &Utf8Path| own.iter().any(|dir| program.starts_with(dir));
    let mut absolute = absolute_programs_named(command).into_iter();
    let absolute = absolute.find(|program| !is_own(program) && !program.exists());
    missing
        .or(absolute.map(Utf8Path::as_str))
        .map(str::to_owned)
}

/// Reads the beginning and the end of a command's output.
pub(super) fn read_output(output: &Output) -> std::io::Result<String> {
    read_text(output.rewound()?)
}

fn existence(run: &TrialRun<'_>, patterns: &[PathPattern]) -> Result<Vec<bool>, StageError> {
    let root = &run.dirs.paths();
    let mut found: Vec<bool> = patterns
        .iter()
        .map(|pattern| is_inside(root, pattern.path.as_std_path()))
        .collect();
    let needs_list = patterns
        .iter()
        .zip(&found)
        .any(|(pattern, found)| !found && pattern.has_wildcards());
    if needs_list {
        // Tests may have added to what the agent left.
        let options = run.context.own_tree(Limits::NONE);
        let all = list(&root.open()?, &options)?;
        for (pattern, found) in patterns.iter().zip(&mut found) {
            *found = *found
                || all.iter().any(|(path, meta)| {
                    pattern.is_match(path) && (!meta.is_link() || is_inside(root, path))
                });
        }
    }
    Ok(found)
}

/// Returns whether a path leads to something in the workspace. Anybody can make a link to a file that is somewhere
/// else,
/// or nowhere.
fn is_inside(workspace: &Workspace, path: &Path) -> bool {
    matches!(workspace.follow(path), Ok(Followed::Inside(_)))
}

/// Reads a file of the workspace. A link that leads out of it is not read: the file behind it is not the agent's work,
/// and may be of no business to anybody.
pub(super) fn content(workspace: &Workspace, path: &Utf8Path, largest: u64) -> FileContent {
    let inside = match workspace.follow(path) {
        Ok(Followed::Inside(inside)) => inside,
        Ok(Followed::Outside) => {
            return FileContent::Unreadable("it is a link to a path outside the workspace".into());
        }
        Ok(Followed::Nowhere) => return FileContent::Missing,
        Err(error) => return FileContent::Unreadable(error.to_string()),
    };
    let read = workspace
        .open()
        .and_then(|dir| dir.read_file(inside, largest));
    match read {
        Ok(bytes) => FileContent::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(TreeError::NotAFile { .. } | TreeError::NotBeneath { .. }) => {
            FileContent::Unreadable("it is not a file".into())
        }
        Err(TreeError::LongFile { .. }) => FileContent::Unreadable("it is too large".into()),
        Err(TreeError::Io { source, .. }) => FileContent::Unreadable(source.to_string()),
        Err(error) => FileContent::Unreadable(error.to_string()),
    }
}

/// Reads the agent's session from the files that were kept of it.
fn session(run: &TrialRun<'_>, work: &AgentWork) -> Result<Session, StageError> {
    let profile = run.spec.case.variant.agent.agent.profile();
    let mut session = Session {
        agent: profile.name.to_owned(),
        is_reference: work.is_reference,
        tools: None,
        tapped_tools: Vec::new(),
        tapped_servers: Vec::new(),
        said: String::new(),
        said_more: false,
        usage: work.usage,
        seconds: work.seconds,
        mask: run.context.mask.clone(),
    };
    if profile.is_built_in() {
        // Terca itself asks no model and calls no tool.
        session.tools = Some(Vec::new());
        session.usage = NOTHING_USED;
    } else if profile.streams_events {
        read_transcript(&run.folder.transcript(), &mut session)?;
    } else {
        if !work.tapped_servers.is_empty() {
            // The calls in its transcript are those that Terca saw.
            read_transcript(&run.folder.transcript(), &mut session)?;
            session.tapped_tools = session.tools.take().unwrap_or_default();
            session.tapped_servers.clone_from(&work.tapped_servers);
            session.said_more = false;
        }
        session.said = read_stdout(&run.folder.artifacts())?;
    }
    Ok(session)
}

const NOTHING_USED: Usage = Usage {
    requests: Some(0),
    input_tokens: Some(0),
    cached_input_tokens: Some(0),
    output_tokens: Some(0),
    tool_calls: Some(0),
    cost_usd: Some(0.0),
};

/// Reads the tools that were called and the agent's messages.
fn read_transcript(path: &Utf8Path, session: &mut Session) -> std::io::Result<()> {
    let (mut tools, mut said) = (Vec::new(), Vec::new());
    for line in BufReader::new(fs_err::File::open(path)?).lines() {
        match serde_json::from_str::<Record>(&line?)?.step {
            Step::ToolCall {
                tool,
                server,
                server_tool,
                ..
            } => tools.push(ToolUse {
                tool,
                server,
                server_tool,
            }),
            Step::Message {
                role: Role::Assistant,
                text,
            } => said.push(text),
            Step::Omitted { words, .. } => session.said_more |= words,
            _ => {}
        }
    }
    (session.tools, session.said) = (Some(tools), said.join("\n"));
    Ok(())
}
