//! The part of a recording in what is known of a session: what it cost, and where it was another session.

use terca_core::agent::Reading;
use terca_core::prices::Prices;
use terca_core::recording::OnMiss;
use terca_core::text::prose;
use terca_core::transcript::CostSource;
use terca_core::trial_error::{ErrorKind, TrialError};
use terca_core::wire::{Exchange, Wire};
use terca_gateway::Played;

use crate::trial::context::Context;

/// Returns the cost of a session. Answers of a recording cost nothing.
pub(super) fn cost(prices: &Prices, exchanges: &[Exchange]) -> Option<f64> {
    let is_replay = exchanges.iter().any(|exchange| exchange.replayed);
    let spent: Vec<Exchange> = exchanges
        .iter()
        .filter(|exchange| !exchange.replayed)
        .cloned()
        .collect();
    if is_replay && spent.is_empty() {
        return Some(0.0);
    }
    prices.of_exchanges(&spent)
}

/// Returns the error of a session whose requests are not those of its recording.
pub(super) fn error(context: &Context, played: &Played) -> Option<TrialError> {
    let source = context.replay.as_ref()?;
    let divergence = played.divergence.as_ref()?;
    if source.on_miss == OnMiss::Live {
        return None;
    }
    let message = format!(
        "the session differs from that of {}: {divergence}",
        source.run
    );
    let message = context.mask.text(&message);
    Some(TrialError::new(ErrorKind::Replay, message))
}

/// Adds what a replay says about a session: it cost what went to the service, whatever the agent reports.
pub(super) fn add(played: &Played, wire: &Wire, reading: &mut Reading) {
    reading.usage.cost_usd = if played.live == 0 {
        Some(0.0)
    } else {
        wire.cost_usd
    };
    reading.cost_source = reading.usage.cost_usd.map(|_| CostSource::Computed);
    if played.live > 0 {
        let requests = prose::count(
            usize::try_from(played.live).unwrap_or(usize::MAX),
            "request",
        );
        let divergence = played.divergence.as_deref().unwrap_or_default();
        let note = format!("{requests} went to the service, since {divergence}");
        reading.notes.push(note);
    }
    if played.left > 0 {
        let requests = prose::count(played.left, "recorded request");
        let was = if played.left == 1 { "was" } else { "were" };
        reading.notes.push(format!("{requests} {was} not used"));
    }
}
