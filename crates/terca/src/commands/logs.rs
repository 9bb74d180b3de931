//! `terca logs`: the session of a trial's agent, for people.
//!
//! Of an agent that reports its steps these are shown, of any other what it printed.

use clap::Args;
use terca_core::text::explain::Code;
use terca_engine::run::follow::Follow;
use terca_engine::run::past_runs;
use terca_report::Painted;

use crate::args::{Common, TrialArgs};
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::session_text::{Said, SessionText};
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
