//! `terca logs`: the session of a trial's agent, for people.
//!
//! Of an agent that reports its steps these are shown, of any other what it printed.

use clap::Args;
use terca_core::agent;
use terca_core::text::Code;
use terca_core::transcript::{Record, Step};
use terca_engine::run::follow::Follow;
use terca_engine::run::{past_runs, trial_files};
use terca_report::session_step;

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
    let head = &choice.only_trial(&run.state, "logs")?.head;
    let agent = agent::find(&head.agent);
    let mut text = SessionText {
        reads_steps: agent.is_some_and(|agent| agent.profile().streams_events),
        rest: Vec::new(),
        common,
        has_printed: false,
    };
    let file = match text.reads_steps {
        true => trial_files::TRANSCRIPT,
        false => trial_files::STDOUT,
    };
    let mut follow = Follow::new(&run.dir, &head.dir, head.id, file);
    loop {
        let added = follow
            .added()
            .map_err(|error| CliError::trouble(Code::Internal, error))?;
        text.print(&added);
        if added.is_empty() && !(args.follow && follow.wait()) {
            break;
        }
    }
    let last = std::mem::take(&mut text.rest);
    if !last.is_empty() {
        text.print_line(&last);
    }
    if !text.has_printed {
        screen::err(&format!("note: the agent of {} has no output", head.dir));
    }
    Ok(0)
}

/// Reads the file of a session piece by piece, and prints whole lines as they come.
#[derive(Debug)]
struct SessionText<'a> {
    reads_steps: bool,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    common: &'a Common,
    has_printed: bool,
}

impl SessionText<'_> {
    fn print(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let text = std::mem::take(&mut self.rest);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => self.print_line(line),
                None => self.rest = line.to_vec(),
            }
        }
    }

    fn print_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if !self.reads_steps {
            self.has_printed |= !line.is_empty();
            if self.has_printed {
                screen::out(&text);
            }
            return;
        }
        if line.is_empty() {
            return;
        }
        let record = serde_json::from_str(&text).unwrap_or_else(|_| {
            Record::without_line(Step::Notice {
                text: "a line of the transcript could not be read".into(),
            })
        });
        let step = session_step(&record);
        if !step.is_empty() {
            self.has_printed = true;
            screen::out_view(&step, self.common);
        }
    }
}
