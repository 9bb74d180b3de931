//! Notices of a run besides the beginnings and ends of its trials, in one line each.

use terca_core::run::event::{EventKind, StoppedVariant};
use terca_core::run::state::RunState;
use terca_core::text::prose;
use terca_core::trial_error::TrialError;

use crate::live::layout::Layout;
use crate::names::{Names, plan_size};
use crate::term::{Role, StyledLine, bold, dim, styled};

pub fn notice(
    event: &EventKind,
    state: &RunState,
    names: &Names,
    room: usize,
) -> Option<StyledLine> {
    match event {
        EventKind::Stopping { reason } => {
            Some(styled(Role::Fair, &format!("stopping: {}", reason.words())))
        }
        EventKind::RoundStarted {
            repetition,
            undecided,
            trials,
        } => Some(round(
            *repetition,
            *undecided,
            trials.len(),
            state.tries_tricks(),
        )),
        EventKind::StepsFound {
            steps,
            age_seconds,
            to_make,
        } => Some(dim(&steps_found(*steps, *age_seconds, *to_make))),
        EventKind::StepMade { eval, seconds, .. } => {
            let whose = match eval {
                Some(eval) => format!("the cached step of {eval}"),
                None => "the suite's cached step".to_owned(),
            };
            let took = prose::duration(*seconds);
            let text = format!("prepared: {whose} was made in {took}");
            Some(dim(&text))
        }
        EventKind::AttemptFailed {
            trial,
            report,
            wait_seconds,
        } => {
            let head = &state.trial(*trial)?.head;
            let why = report.error.as_ref().map(told).unwrap_or_default();
            let when = if *wait_seconds < 0.5 {
                "again at once".to_owned()
            } else {
                format!("again in {}", prose::duration(*wait_seconds))
            };
            let line = styled(Role::Trouble, "↻ retry").plain("  ");
            let layout = Layout::new(names, state.reports_tokens(), room);
            let name = if layout.is_narrow() {
                names.trial(head)
            } else {
                layout.name(names, head)
            };
            Some(line.plain(&format!("{name}  {when}: {why}")))
        }
        EventKind::VariantStopped(StoppedVariant {
            environment,
            experiment,
            error,
            trials,
        }) => {
            let rest = format!(
                "{environment}.{experiment}: {} not started, because they would end in the same error ({})",
                prose::count(*trials, "further trial"),
                error.kind.as_str(),
            );
            Some(styled(Role::Trouble, "stopped: ").plain(&rest))
        }
        _ => None,
    }
}

/// `prepared: 2 cached steps are used (the oldest was made 3 days ago), 1 is to be made`.
fn steps_found(steps: usize, age_seconds: f64, to_make: usize) -> String {
    let are = |number: usize| if number == 1 { "is" } else { "are" };
    let made = if steps == 1 { "" } else { "the oldest was " };
    let mut text = format!(
        "prepared: {} {} used ({made}made {})",
        prose::count(steps, "cached step"),
        are(steps),
        prose::ago(age_seconds)
    );
    if to_make > 0 {
        text.push_str(&format!(", {to_make} {} to be made", are(to_make)));
    }
    text
}

fn round(repetition: u32, undecided: usize, trials: usize, of_tricks: bool) -> StyledLine {
    if of_tricks {
        let trials = prose::count(trials, "trial");
        let title = bold(&prose::count(undecided, "eval")).plain(" passed without the work");
        return title.plain(&format!(": {trials} tell which tricks do it"));
    }
    let open = prose::count(undecided, "comparison");
    let verb = if undecided == 1 { "is" } else { "are" };
    bold(&format!("repetition {repetition}")).plain(&format!(": {open} {verb} undecided"))
}

fn told(error: &TrialError) -> String {
    let first = error.message.lines().next().unwrap_or_default();
    format!("{}: {first}", error.kind.as_str())
}

/// `basic-js: 24 trials (3 evals × 2 variants × 4 repetitions)`.
pub fn title(state: &RunState) -> StyledLine {
    let (trials, factors) = plan_size(state.trials().iter().map(|trial| &*trial.head));
    let mut title = bold(&state.start().suite).plain(&format!(": {trials}"));
    if !factors.is_empty() {
        title = title.plain(&format!(" ({factors})"));
    }
    match state.start().adaptive.filter(|_| !state.tries_tricks()) {
        Some(bounds) => {
            let most = prose::count(bounds.max, "repetition");
            title.plain(&format!(
                ", then more, until every comparison is decided, up to {most}"
            ))
        }
        None => title,
    }
}

/// `4 at a time, run 2026-11-14-001, seed 7`. Of one trial there is never more than one at a time.
pub fn particulars(state: &RunState) -> StyledLine {
    let trials = state.trials().len() + state.spare().len();
    let at_once = match state.concurrency().min(trials) {
        0 | 1 if trials <= 1 => String::new(),
        number => format!("{number} at a time, "),
    };
    let text = format!("{at_once}run {}, seed {}", state.run(), state.start().seed);
    dim(&text)
}
