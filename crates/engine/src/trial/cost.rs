//! The cost of a session: the agent's own, or else one that is worked out from tokens and prices.

use terca_core::agent::Reading;
use terca_core::prices::Prices;
use terca_core::transcript::CostSource;
use terca_core::wire::Wire;

/// Adds the cost to the figures of a session that has none. The requested model counts where the agent does not say which
/// one answered. `is_whole` is false if the session did not come to its end: its agent has not reported all of its cost.
pub(super) fn add_cost(
    prices: &Prices,
    wire: Option<&Wire>,
    requested_model: Option<&str>,
    is_whole: bool,
    reading: &mut Reading,
) {
    let of_wire = wire.and_then(|wire| wire.cost_usd);
    if reading.usage.cost_usd.is_some() && (is_whole || of_wire.is_none()) {
        return;
    }
    let is_metered = wire.is_some_and(|wire| wire.requests > 0);
    let computed = if is_metered {
        of_wire
    } else {
        let model = reading.model.as_deref().or(requested_model);
        model
            .filter(|_| !reading.several_models)
            .and_then(|model| prices.of_session(model, &reading.usage))
    };
    if computed.is_some() {
        reading.usage.cost_usd = computed;
        reading.cost_source = Some(CostSource::Computed);
    }
}
