//! The third stage: the tests, on a copy of what the agent left.
//!
//! Gather, then judge: this module runs commands and reads files; what they are worth is decided in
//! `terca_core::grade`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Instant;

use camino::Utf8Path;
use terca_core::grade::{Evidence, FileContent, Grade, PathPattern, TestKind, TestSpec, judge, score};
use terca_core::scorecard::Scorecard;

use super::agent::AgentRun;
use super::bench::{Bench, Shell};
use super::{Stop, rounded};
use crate::tree;
use crate::work::Room;

/// Of a longer output the middle is not looked at.
const LARGEST_OUTPUT: u64 = 16 * 1024 * 1024;
const LARGEST_FILE: u64 = 256 * 1024 * 1024;

/// What the work is worth.
#[derive(Debug)]
pub(super) struct Graded {
    pub(super) tests: Scorecard,
    pub(super) score: f64,
}

pub(super) fn grade(bench: &mut Bench<'_>, agent: &AgentRun) -> Result<Graded, Stop> {
    let eval = bench.trial.case.eval.clone();
    if eval.tests.is_empty() {
        let score = if agent.completed() { 1.0 } else { 0.0 };
        return Ok(Graded { tests: Scorecard::default(), score });
    }
    lay_out_copy(bench)?;
    let mut tests = Scorecard::default();
    let mut weighted = Vec::new();
    for test in &eval.tests {
        let started = Instant::now();
        bench.log.section(&format!("test: {}", test.name))?;
        let evidence = gather(bench, test)?;
        let verdict = judge(test, &evidence);
        bench.log.line(&format!("score {}: {}", verdict.score, verdict.message))?;
        weighted.push((test.weight, verdict.score));
        let message = bench.context.mask.text(&verdict.message);
        let duration_seconds = rounded(started.elapsed().as_secs_f64());
        tests.push(&test.name, Grade { score: verdict.score, message, duration_seconds });
    }
    Ok(Graded { tests, score: score(&weighted).unwrap_or(0.0) })
}

/// Puts what the agent left aside, and a copy with the hidden tests laid over it in its place: absolute paths
/// that were written into files and links while the agent worked still lead to the same things.
fn lay_out_copy(bench: &Bench<'_>) -> Result<(), Stop> {
    let Room { workspace, left, .. } = &bench.room;
    fs_err::rename(workspace, left)?;
    fs_err::create_dir(workspace)?;
    tree::lay_over(left, workspace)?;
    if let Some(hidden) = &bench.trial.case.eval.tests_layer {
        tree::lay_over(hidden, workspace)?;
    }
    Ok(())
}

fn gather(bench: &mut Bench<'_>, test: &TestSpec) -> Result<Evidence, Stop> {
    match &test.kind {
        TestKind::CommandSuccess { command, .. } => gather_command(bench, test, command),
        TestKind::FileExists(patterns) => Ok(Evidence::Files(gather_files(&bench.room.workspace, patterns)?)),
        TestKind::FileContains { path, .. } => {
            Ok(Evidence::Content(gather_content(&bench.room.workspace.join(path))))
        }
    }
}

fn gather_command(bench: &mut Bench<'_>, test: &TestSpec, command: &str) -> Result<Evidence, Stop> {
    let workspace = bench.room.workspace.clone();
    let mut env = bench.command_environment(bench.room.for_tests(), &test.dir);
    env.insert("TERCA_TRANSCRIPT".into(), bench.dir.join("transcript.jsonl").into_string());
    let shell = Shell { command, timeout: test.timeout, env, dir: &workspace, sweep: true };
    let (ended, output) = bench.shell(shell)?;
    bench.log.output(output.rewound()?)?;
    if ended.stopped {
        return Err(Stop::Interrupted);
    }
    Ok(Evidence::Command {
        exit: ended.exit,
        timed_out: ended.timed_out,
        output: read_output(output.rewound()?)?,
    })
}

/// The beginning and the end of what a command printed.
fn read_output(mut file: &File) -> std::io::Result<String> {
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    if size <= LARGEST_OUTPUT {
        file.read_to_end(&mut bytes)?;
    } else {
        file.take(LARGEST_OUTPUT / 2).read_to_end(&mut bytes)?;
        file.seek(SeekFrom::End(-(LARGEST_OUTPUT as i64 / 2)))?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn gather_files(root: &Utf8Path, patterns: &[PathPattern]) -> Result<Vec<bool>, Stop> {
    let has_globs = patterns.iter().any(|pattern| matches!(pattern, PathPattern::Glob { .. }));
    let all = if has_globs { tree::walk(root)? } else { Vec::new() };
    Ok(patterns
        .iter()
        .map(|pattern| match pattern {
            PathPattern::Path(path) => root.join(path).exists(),
            PathPattern::Glob { matcher, .. } => all.iter().any(|(path, _)| matcher.is_match(path)),
        })
        .collect())
}

fn gather_content(path: &Utf8Path) -> FileContent {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return FileContent::Missing,
        Err(error) => return FileContent::Unreadable(error.to_string()),
        Ok(meta) if !meta.is_file() => return FileContent::Unreadable("it is not a file".into()),
        Ok(meta) if meta.len() > LARGEST_FILE => return FileContent::Unreadable("it is too large".into()),
        Ok(_) => {}
    }
    match std::fs::read(path) {
        Ok(bytes) => FileContent::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => FileContent::Unreadable(error.to_string()),
    }
}
