//! `terca logs`: the session of a trial's agent, for people.
//!
//! Of an agent that reports its steps these are shown, of any other what it printed.

use clap::Args;
use terca_core::agent;
use terca_core::run::event::TrialHead;
use terca_core::text::Code;
use terca_core::transcript::{Record, Step};
use terca_engine::run::follow::Follow;
use terca_engine::run::{past_runs, trial_files};
use terca_report::{Painted, Palette, session_step};

use crate::args::{Common, TrialArgs};
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::suite::trial_choice::choose;

#[derive(Debug, Clone, Args)]
pub struct LogsArgs {
    #[command(flatten)]
    of: TrialArgs,
    /// Follow the output until the trial ends
    #[arg(short, long)]
    follow: bool,
}

pub(super) fn logs(args: &LogsArgs, common: &Common) -> Outcome {
    let choice = choose(&args.of, common)?;
    let (run, _) = past_runs::read_sound_part(&choice.dir)?;
    let trials = run.state.trials();
    let trial = match choice.trial(&run.state)? {
        Some(trial) => trial,
        None if trials.len() == 1 => &trials[0],
        None => {
            let text = format!("the run {} has {} trials", run.state.run(), trials.len());
            return Err(CliError::misuse(Code::NoMatch, text).help(
                "name one: `terca logs EVAL`; `terca show` lists the trials that did not pass",
            ));
        }
    };
    let head = &trial.head;
    let text = SessionText::of(head, screen::out_palette(common.color));
    let mut follow = Follow::new(&run.dir, &head.dir, head.id, text.file());
    let mut printer = Printer {
        text,
        has_printed: false,
    };
    loop {
        let added = follow
            .added()
            .map_err(|error| CliError::trouble(Code::Internal, error))?;
        let is_empty = added.is_empty();
        let said = printer.text.take(&added);
        printer.print(said);
        if is_empty && !(args.follow && follow.wait()) {
            break;
        }
    }
    let said = printer.text.finish();
    printer.print(said);
    if !printer.has_printed {
        screen::err(&format!("note: the agent of {} has no output", head.dir));
    }
    Ok(0)
}

/// Prints whole lines as they come.
struct Printer {
    text: SessionText,
    has_printed: bool,
}

impl Printer {
    fn print(&mut self, said: Vec<Said>) {
        for said in said {
            match said {
                Said::Printed(line) => {
                    self.has_printed |= !line.is_empty();
                    if self.has_printed {
                        screen::out(&line);
                    }
                }
                Said::Step(text) => {
                    self.has_printed = true;
                    screen::out_painted(&Painted::by_view(text));
                }
            }
        }
    }
}

/// Reads the file of a session, piece by piece.
#[derive(Debug)]
struct SessionText {
    reads_steps: bool,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    palette: Palette,
}

/// A part of a session.
#[derive(Debug)]
enum Said {
    /// A line as the agent printed it.
    Printed(String),
    /// A step, of one line or more.
    Step(String),
}

impl SessionText {
    /// Reads the session of a trial's agent.
    fn of(head: &TrialHead, palette: Palette) -> Self {
        let reads_steps =
            agent::find(&head.agent).is_some_and(|agent| agent.profile().streams_events);
        SessionText {
            reads_steps,
            rest: Vec::new(),
            palette,
        }
    }

    /// Returns the name of the file with the session.
    fn file(&self) -> &'static str {
        if self.reads_steps {
            trial_files::TRANSCRIPT
        } else {
            trial_files::STDOUT
        }
    }

    /// Takes more of the file. Returns the parts that are whole.
    fn take(&mut self, bytes: &[u8]) -> Vec<Said> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let mut lines: Vec<u8> = self.rest.drain(..=end).collect();
        // The end of the last line begins no other one.
        lines.pop();
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| self.read(line)).collect()
    }

    /// Returns what is left at the end of the file.
    fn finish(&mut self) -> Vec<Said> {
        let last = std::mem::take(&mut self.rest);
        let last = Some(last).filter(|last| !last.is_empty());
        last.and_then(|last| self.read(&last)).into_iter().collect()
    }

    fn read(&self, line: &[u8]) -> Option<Said> {
        let text = String::from_utf8_lossy(line);
        if !self.reads_steps {
            return Some(Said::Printed(text.into_owned()));
        }
        if line.is_empty() {
            return None;
        }
        let record = serde_json::from_str(&text).unwrap_or_else(|_| {
            Record::without_line(Step::Notice {
                text: "a line of the transcript could not be read".into(),
            })
        });
        let step = session_step(&record, self.palette);
        (!step.is_empty()).then_some(Said::Step(step))
    }
}
