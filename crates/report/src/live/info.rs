//! A line for each trial in flight, which stays on the screen.

use jiff::Timestamp;
use terca_core::run::event::Phase;
use terca_core::run::state::{Live, RunState, Trial};
use terca_core::text::prose;

use crate::live::time_limits::TimeLimits;
use crate::names::Names;
use crate::term::style::Role;
use crate::term::styled_line::StyledLine;

/// Returns what each trial in flight does, for how long, and what it has used.
pub fn info(
    state: &RunState,
    names: &Names,
    limits: &TimeLimits,
    now: Timestamp,
) -> Vec<StyledLine> {
    let running = prose::count(state.in_flight().len(), "trial");
    let mut lines = vec![StyledLine::of(
        Role::Bold,
        &format!("info: {running} in flight"),
    )];
    lines.extend((1..).zip(state.in_flight()).filter_map(|(number, trial)| {
        let live = trial.live.as_ref()?;
        Some(of_trial(number, trial, live, names, limits, now))
    }));
    lines
}

fn of_trial(
    number: usize,
    trial: &Trial,
    live: &Live,
    names: &Names,
    limits: &TimeLimits,
    now: Timestamp,
) -> StyledLine {
    let used = limits.used(trial.head.id, live, now);
    let mut parts = vec![format!("{} {used}", stage(live.phase))];
    parts.extend((live.usage.tokens()).map(|tokens| format!("{} tokens", prose::compact(tokens))));
    parts.extend(live.usage.cost_usd.map(prose::dollars));
    parts.extend(live.on.as_ref().map(|node| format!("on {node}")));
    parts.extend(Some(live.doing.clone()).filter(|doing| !doing.is_empty()));
    StyledLine::of(
        Role::Plain,
        &format!("  {number} {}  ", names.trial(&trial.head)),
    )
    .with(Role::Dim, &parts.join(", "))
}

fn stage(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "set-up",
        Phase::Agent => "agent",
        Phase::Tests => "tests",
        Phase::Collect => "saving",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::term::style::Palette;

    #[test]
    fn every_trial_in_flight_has_a_line() {
        let mut script = Script::new(fixture::heads(1, 2, 2), 3);
        script.start(1).start_on(2, "n2").pass(7.0);
        script.phase(2, Phase::Agent).pass(41.0);
        script.doing(2, "$ npm test", 20_500);
        let names = Names::of_run(&script.state);
        let limits: TimeLimits = [(1, 300.0), (2, 300.0)].into_iter().collect();
        let lines = info(&script.state, &names, &limits, script.now);
        let lines: Vec<String> = lines
            .iter()
            .map(|line| line.render(Palette::new(false)))
            .collect();
        insta::assert_snapshot!("info", lines.join("\n"));
    }
}
