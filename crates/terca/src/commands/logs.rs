//! `terca logs`: the session of a trial's agent, for people.
//!
//! Of an agent that reports its steps these are shown, of any other what it printed.

use clap::Args;
use terca_core::agent;
use terca_core::run::event::TrialHead;
use terca_core::text::explain::Code;
use terca_core::transcript::{Record, Step};
use terca_engine::run::follow::Follow;
use terca_engine::run::{past_runs, trial_files};
use terca_report::{Painted, Palette, session_step};

use crate::args::{Common, TrialArgs};
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::trial_choice::choose;

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
    let (name, reads_steps) = source(head);
    let mut printer = Printer {
        reads_steps,
        rest: Vec::new(),
        palette: screen::out_palette(common.color),
        has_printed: false,
    };
    let mut follow = Follow::new(&run.dir, &head.dir, head.id, name);
    loop {
        let added = follow
            .added()
            .map_err(|error| CliError::trouble(Code::Internal, error))?;
        let is_empty = added.is_empty();
        printer.take(&added);
        if is_empty && !(args.follow && follow.wait()) {
            break;
        }
    }
    printer.finish();
    if !printer.has_printed {
        screen::err(&format!("note: the agent of {} has no output", head.dir));
    }
    Ok(0)
}

/// Returns the file with an agent's session, and whether it has steps.
fn source(head: &TrialHead) -> (&'static str, bool) {
    let streams = agent::find(&head.agent).is_some_and(|agent| agent.profile().streams_events);
    if streams {
        (trial_files::TRANSCRIPT, true)
    } else {
        (trial_files::STDOUT, false)
    }
}

/// Prints whole lines as they come.
struct Printer {
    reads_steps: bool,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    palette: Palette,
    has_printed: bool,
}

impl Printer {
    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return;
        };
        let mut lines: Vec<u8> = self.rest.drain(..=end).collect();
        // The end of the last line begins no other one.
        lines.pop();
        for line in lines.split(|byte| *byte == b'\n') {
            self.print(line);
        }
    }

    fn finish(&mut self) {
        let last = std::mem::take(&mut self.rest);
        if !last.is_empty() {
            self.print(&last);
        }
    }

    fn print(&mut self, line: &[u8]) {
        if line.is_empty() && self.reads_steps {
            return;
        }
        let line = String::from_utf8_lossy(line);
        if !self.reads_steps {
            self.has_printed |= !line.is_empty();
            if self.has_printed {
                screen::out(&line);
            }
            return;
        }
        let record = serde_json::from_str(&line).unwrap_or_else(|_| Record {
            time: None,
            line: 0,
            step: Step::Notice {
                text: "a line of the transcript could not be read".into(),
            },
        });
        let text = session_step(&record, self.palette);
        if !text.is_empty() {
            self.has_printed = true;
            screen::out_painted(&Painted::by_view(text));
        }
    }
}
