//! The second stage: the agent at work.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};
use terca_core::agent::{Decoder, Ending, Invocation, Launch, Line, Reading, SideFile, StopSignal};
use terca_core::event::EventKind;
use terca_core::mask::Mask;
use terca_core::outcome::{ErrorKind, TrialError};
use terca_core::transcript::{Record, Usage};

use super::Stop;
use super::bench::{Bench, GRACE};
use super::prepare::Prepared;
use crate::changes::Change;
use crate::log::{RunLog, copy_masked};
use crate::supervise::{Ended, Job, Signal};
use crate::tail::Tail;
use crate::tree;

/// How often the display hears of what an agent does.
const NEWS: Duration = Duration::from_millis(250);
/// How often files that an agent writes beside its output are looked at.
const SIDE_LOOK: Duration = Duration::from_secs(1);

/// What the agent did.
#[derive(Debug)]
pub(super) struct AgentRun {
    pub(super) ended: Ended,
    pub(super) reading: Reading,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

impl AgentRun {
    /// Whether there is work to judge, or an error instead.
    pub(super) fn may_be_judged(&mut self) -> Result<(), Stop> {
        match &self.reading.ending {
            _ if self.ended.stopped => Err(Stop::Interrupted),
            Ending::Completed => Ok(()),
            // Out of time is no error: what was done until then is judged. What kept it waiting may be one.
            Ending::Crashed(_) if self.ended.timed_out => Ok(()),
            Ending::Failed(error) if self.ended.timed_out && error.kind == ErrorKind::Agent => Ok(()),
            Ending::Failed(error) => Err(Stop::Error(error.clone())),
            Ending::Crashed(error) if self.changes.is_empty() => Err(Stop::Error(error.clone())),
            Ending::Crashed(error) => {
                self.notes.push(format!("{}; what it had done was judged", error.message));
                Ok(())
            }
        }
    }

    /// Whether the session came to its end in time.
    pub(super) fn completed(&self) -> bool {
        !self.ended.timed_out && self.reading.ending == Ending::Completed
    }
}

pub(super) fn run_agent(bench: &mut Bench<'_>, prepared: &mut Prepared) -> Result<AgentRun, Stop> {
    let profile = bench.trial.case.variant.agent.agent.profile();
    bench.log.section(&format!("agent: {}", profile.name))?;
    let Some(decoder) = prepared.decoder.take() else {
        return Err(Stop::error(ErrorKind::Internal, "the agent was started twice (a bug in Terca)"));
    };
    let (ended, mut reading) = match &prepared.invocation.launch {
        Launch::Nothing => built_in(decoder),
        Launch::LaySolution => {
            if let Some(solution) = &bench.trial.case.eval.solution {
                tree::lay_over(solution, &bench.room.workspace)?;
            }
            built_in(decoder)
        }
        Launch::Program { args, .. } => {
            let program = prepared.program.clone().unwrap_or_default();
            process(bench, prepared, program, args.clone(), decoder)?
        }
        Launch::Shell(command) => {
            let args = vec!["-c".to_owned(), command.clone()];
            process(bench, prepared, "/bin/sh".into(), args, decoder)?
        }
    };
    let changes = prepared.snapshot.changes(&bench.room.workspace)?;
    prepared.snapshot.write_diff(
        &bench.room.workspace,
        &changes,
        &bench.dir.join("changes.diff"),
        &bench.context.mask,
    )?;
    let notes = std::mem::take(&mut reading.notes);
    Ok(AgentRun { ended, reading, changes, notes })
}

fn built_in(decoder: Box<dyn Decoder>) -> (Ended, Reading) {
    let ended = Ended::without_process(0.0);
    (ended, decoder.finish(ended.exit))
}

fn process(
    bench: &mut Bench<'_>,
    prepared: &Prepared,
    program: Utf8PathBuf,
    args: Vec<String>,
    decoder: Box<dyn Decoder>,
) -> Result<(Ended, Reading), Stop> {
    let (stdout, stderr) = (bench.room.io.join("stdout"), bench.room.io.join("stderr"));
    File::create(&stdout)?;
    File::create(&stderr)?;
    let profile = bench.trial.case.variant.agent.agent.profile();
    let job = Job {
        program,
        args,
        env: prepared.env.clone().into_iter().collect(),
        dir: bench.room.workspace.clone(),
        stdin: prepared.invocation.prompt_on_stdin.then(|| prepared.prompt_file.clone()),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        timeout: bench.trial.case.timeout,
        stop_signal: match profile.stop_signal {
            StopSignal::Interrupt => Signal::Interrupt,
            StopSignal::Terminate => Signal::Terminate,
        },
        grace: GRACE,
        sweep: true,
    };
    let mut listener = Listener::new(bench, &prepared.invocation, decoder, &stdout, &stderr)?;
    let (emit, trial) = (bench.emit, bench.trial.id);
    let ended = bench.run(&job, &mut || listener.turn(emit, trial))?;
    let reading = listener.finish(&ended, &mut bench.log)?;
    write_log(bench, &ended, &reading, &stdout, &stderr)?;
    keep_artifacts(bench, &prepared.invocation, &stdout, &stderr)?;
    Ok((ended, reading))
}

/// The agent's output as a person wants to read it: as it is, or by its steps when it is a stream of events.
fn write_log(
    bench: &mut Bench<'_>,
    ended: &Ended,
    reading: &Reading,
    stdout: &Utf8Path,
    stderr: &Utf8Path,
) -> Result<(), Stop> {
    if !bench.trial.case.variant.agent.agent.profile().streams_events {
        bench.log.output(stdout)?;
    }
    bench.log.output(stderr)?;
    let time = terca_core::prose::duration(ended.seconds);
    let how = match (ended.timed_out, ended.stopped) {
        (true, _) => "out of time".to_owned(),
        (_, true) => "interrupted".to_owned(),
        _ => ended.exit.describe(),
    };
    bench.log.line(&format!("{how} after {time}"))?;
    if let Ending::Failed(TrialError { message, .. }) = &reading.ending {
        bench.log.line(message)?;
    }
    Ok(())
}

fn keep_artifacts(
    bench: &Bench<'_>,
    invocation: &Invocation,
    stdout: &Utf8Path,
    stderr: &Utf8Path,
) -> Result<(), Stop> {
    let mask = &bench.context.mask;
    let stream = if bench.trial.case.variant.agent.agent.profile().streams_events {
        "stream.jsonl"
    } else {
        "stdout.log"
    };
    copy_masked(stdout, &bench.artifacts.join(stream), mask)?;
    copy_masked(stderr, &bench.artifacts.join("stderr.log"), mask)?;
    for side in &invocation.side_files {
        for (index, path) in matches(side).into_iter().enumerate() {
            let name =
                if index == 0 { side.label.to_owned() } else { format!("{}-{}", index + 1, side.label) };
            copy_masked(&path, &bench.artifacts.join(name), mask)?;
        }
    }
    Ok(())
}

/// The files that a side file's pattern names just now.
fn matches(side: &SideFile) -> Vec<Utf8PathBuf> {
    let Ok(glob) = GlobBuilder::new(side.glob).literal_separator(true).build() else { return Vec::new() };
    let matcher: GlobMatcher = glob.compile_matcher();
    let found = if side.glob.contains('/') || side.glob.contains('*') {
        tree::walk(&side.dir).unwrap_or_default()
    } else {
        let path = Utf8PathBuf::from(side.glob);
        std::fs::symlink_metadata(side.dir.join(&path)).map(|meta| vec![(path, meta)]).unwrap_or_default()
    };
    found
        .into_iter()
        .filter(|(path, meta)| meta.is_file() && matcher.is_match(path))
        .map(|(path, _)| side.dir.join(path))
        .collect()
}

/// Listens to a running agent: output to decoder to transcript, and now and then a word to the display.
struct Listener {
    decoder: Box<dyn Decoder>,
    stdout: Tail,
    stderr: Tail,
    side_files: Vec<(&'static str, Utf8PathBuf, Tail)>,
    sides: Vec<(Utf8PathBuf, &'static str, &'static str)>,
    transcript: BufWriter<File>,
    headlines: Option<Vec<String>>,
    mask: Mask,
    doing: String,
    told: (Instant, String, Usage),
    looked: Instant,
}

impl Listener {
    fn new(
        bench: &Bench<'_>,
        invocation: &Invocation,
        decoder: Box<dyn Decoder>,
        stdout: &Utf8Path,
        stderr: &Utf8Path,
    ) -> Result<Self, Stop> {
        let now = Instant::now();
        let streams = bench.trial.case.variant.agent.agent.profile().streams_events;
        Ok(Listener {
            decoder,
            stdout: Tail::open(stdout)?,
            stderr: Tail::open(stderr)?,
            side_files: Vec::new(),
            sides: invocation
                .side_files
                .iter()
                .map(|side| (side.dir.clone(), side.glob, side.label))
                .collect(),
            transcript: BufWriter::new(File::create(bench.dir.join("transcript.jsonl"))?),
            headlines: streams.then(Vec::new),
            mask: bench.context.mask.clone(),
            doing: String::new(),
            told: (now, String::new(), Usage::default()),
            looked: now,
        })
    }

    fn turn(&mut self, emit: &dyn Fn(EventKind), trial: u32) {
        self.read_output();
        if self.looked.elapsed() >= SIDE_LOOK {
            self.looked = Instant::now();
            self.read_side_files();
        }
        let usage = self.decoder.usage();
        let news = self.doing != self.told.1 || usage != self.told.2;
        if news && self.told.0.elapsed() >= NEWS {
            self.told = (Instant::now(), self.doing.clone(), usage);
            emit(EventKind::Progress { trial, doing: self.doing.clone(), usage });
        }
    }

    /// A read that fails now is tried again at the end, where failing counts.
    fn read_output(&mut self) {
        let (decoder, mut records) = (&mut self.decoder, Vec::new());
        let _ = self.stdout.read(&mut |line| records.extend(decoder.stdout(line)));
        let _ = self.stderr.read(&mut |line| decoder.stderr(line));
        self.record(records);
        let _ = self.transcript.flush();
    }

    fn read_side_files(&mut self) {
        for (dir, glob, label) in &self.sides {
            for path in matches(&SideFile { dir: dir.clone(), glob, label }) {
                if !self.side_files.iter().any(|(_, known, _)| *known == path)
                    && let Ok(tail) = Tail::open(&path)
                {
                    self.side_files.push((label, path, tail));
                }
            }
        }
        let decoder = &mut self.decoder;
        for (label, _, tail) in &mut self.side_files {
            let _ = tail.read(&mut |line| side_line(decoder.as_mut(), label, line));
        }
    }

    fn record(&mut self, records: Vec<Record>) {
        for record in records {
            let headline = record.step.headline();
            if let Some(headlines) = &mut self.headlines {
                headlines.push(headline.clone());
            }
            self.doing = self.mask.text(&headline);
            if let Ok(line) = serde_json::to_string(&record) {
                let _ = writeln!(self.transcript, "{}", self.mask.text(&line));
            }
        }
    }

    fn finish(mut self, ended: &Ended, log: &mut RunLog) -> Result<Reading, Stop> {
        self.read_side_files();
        let mut decoder = self.decoder;
        let mut records = Vec::new();
        self.stdout.finish(&mut |line| records.extend(decoder.stdout(line)))?;
        self.stderr.finish(&mut |line| decoder.stderr(line))?;
        for (label, _, tail) in self.side_files {
            tail.finish(&mut |line| side_line(decoder.as_mut(), label, line))?;
        }
        let mut reading = decoder.finish(ended.exit);
        records.append(&mut reading.records);
        for record in records {
            if let Some(headlines) = &mut self.headlines {
                headlines.push(record.step.headline());
            }
            writeln!(
                self.transcript,
                "{}",
                self.mask.text(&serde_json::to_string(&record).map_err(std::io::Error::other)?)
            )?;
        }
        self.transcript.flush()?;
        for headline in self.headlines.into_iter().flatten() {
            log.line(&headline)?;
        }
        Ok(reading)
    }
}

fn side_line(decoder: &mut dyn Decoder, label: &str, line: Line<'_>) {
    if let Line::Text(text) = line {
        decoder.side_line(label, text);
    }
}
