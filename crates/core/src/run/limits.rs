//! Limits on the trials in flight at once, for each agent.
//!
//! What the suite allows is fixed. What a provider allows is found out: after a rate limit an agent has half the
//! slots, and it gets one back for every few trials that end without one.

use std::collections::BTreeMap;

/// The limits of the suite: so many trials of each agent named here, and so many of all others together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The trials of all agents that are not named.
    pub others: usize,
    /// The trials of each agent that is named.
    pub agents: BTreeMap<String, usize>,
    /// The most that the machine can bear in all.
    pub ceiling: usize,
}

impl Limits {
    /// So many trials in all.
    pub fn overall(number: usize) -> Self {
        Limits {
            others: number,
            agents: BTreeMap::new(),
            ceiling: usize::MAX,
        }
    }

    /// Returns how many trials there can be in flight when these agents take part.
    pub fn total<'a>(&self, agents: impl IntoIterator<Item = &'a str>) -> usize {
        let (mut named, mut has_others) = (BTreeMap::new(), false);
        for agent in agents {
            match self.agents.get_key_value(agent) {
                Some((name, limit)) => drop(named.insert(name, *limit)),
                None => has_others = true,
            }
        }
        let sum = named.values().sum::<usize>() + if has_others { self.others } else { 0 };
        sum.min(self.ceiling)
    }

    fn of(&self, agent: &str) -> usize {
        self.agents.get(agent).copied().unwrap_or(self.others)
    }
}

/// So many trials in a row without a rate limit give a slot back.
const CALM: usize = 4;

/// The slots of each agent just now, and those that are taken.
#[derive(Debug)]
pub struct Slots {
    limits: Limits,
    agents: BTreeMap<String, Agent>,
}

#[derive(Debug, Default)]
struct Agent {
    in_flight: usize,
    /// At most the limit; less after a rate limit.
    allowed: usize,
    /// Trials that ended without a rate limit since the last change.
    calm: usize,
    /// Trials that were in flight when the slots shrank. Ten that hit the same limit are one sign, not ten.
    echo: usize,
}

impl Slots {
    /// All slots free.
    pub fn new(limits: Limits) -> Self {
        Slots {
            limits,
            agents: BTreeMap::new(),
        }
    }

    /// Returns whether there is a slot for the agent.
    pub fn is_free(&self, agent: &str) -> bool {
        let own = self.agents.get(agent);
        let own = own.is_none_or(|agent| agent.in_flight < agent.allowed);
        let in_flight: usize = self.agents.values().map(|agent| agent.in_flight).sum();
        let is_limited = |name: &str| self.limits.agents.contains_key(name);
        let others = self.agents.iter().filter(|(name, _)| !is_limited(name));
        let others: usize = others.map(|(_, agent)| agent.in_flight).sum();
        own && in_flight < self.limits.ceiling && (is_limited(agent) || others < self.limits.others)
    }

    /// Takes a slot for the agent.
    pub fn take(&mut self, agent: &str) {
        let allowed = self.limits.of(agent);
        let fresh = || Agent {
            allowed,
            ..Agent::default()
        };
        self.agents
            .entry(agent.to_owned())
            .or_insert_with(fresh)
            .in_flight += 1;
    }

    /// Gives a slot back. After a rate limit the agent has fewer.
    pub fn give_back(&mut self, agent: &str, rate_limited: bool) {
        let limit = self.limits.of(agent);
        let Some(agent) = self.agents.get_mut(agent) else {
            return;
        };
        let is_echo = agent.echo > 0;
        agent.echo = agent.echo.saturating_sub(1);
        if rate_limited && !is_echo {
            agent.allowed = (agent.in_flight / 2).max(1);
            agent.echo = agent.in_flight.saturating_sub(1);
        }
        agent.in_flight = agent.in_flight.saturating_sub(1);
        agent.calm = if rate_limited { 0 } else { agent.calm + 1 };
        if agent.calm >= CALM && agent.allowed < limit {
            agent.allowed += 1;
            agent.calm = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(others: usize, agents: &[(&str, usize)]) -> Limits {
        let ceiling = usize::MAX;
        Limits {
            others,
            ceiling,
            agents: agents
                .iter()
                .map(|(name, limit)| ((*name).to_owned(), *limit))
                .collect(),
        }
    }

    /// Takes as many slots as there are.
    fn fill(slots: &mut Slots, agent: &str) -> usize {
        let mut taken = 0;
        while slots.is_free(agent) {
            slots.take(agent);
            taken += 1;
        }
        taken
    }

    #[test]
    fn a_named_agent_has_its_own_slots_and_the_others_share() {
        let mut slots = Slots::new(limits(3, &[("claude-code", 2)]));
        assert_eq!(fill(&mut slots, "claude-code"), 2);
        assert_eq!(fill(&mut slots, "codex"), 3);
        assert_eq!(fill(&mut slots, "gemini-cli"), 0);
        slots.give_back("codex", false);
        assert_eq!(fill(&mut slots, "gemini-cli"), 1);
        assert_eq!(fill(&mut slots, "claude-code"), 0);
    }

    #[test]
    fn totals() {
        let limits = limits(8, &[("claude-code", 2), ("codex", 3)]);
        for (agents, total) in [
            (&["codex"][..], 3),
            (&["codex", "codex", "claude-code"], 5),
            (&["gemini-cli", "qwen-code"], 8),
            (&["gemini-cli", "codex"], 11),
            (&[], 0),
        ] {
            assert_eq!(limits.total(agents.iter().copied()), total, "{agents:?}");
        }
        let bounded = Limits {
            ceiling: 2,
            ..limits
        };
        assert_eq!(bounded.total(["codex", "gemini-cli"]), 2);
        let mut slots = Slots::new(bounded);
        assert_eq!(fill(&mut slots, "codex"), 2);
        assert_eq!(fill(&mut slots, "gemini-cli"), 0);
    }

    #[test]
    fn rate_limits_halve_the_slots_and_calm_gives_them_back() {
        let mut slots = Slots::new(Limits::overall(8));
        assert_eq!(fill(&mut slots, "codex"), 8);
        // All eight hit the limit: that is one halving.
        for _ in 0..8 {
            slots.give_back("codex", true);
        }
        assert_eq!(fill(&mut slots, "codex"), 4);
        for _ in 0..4 {
            slots.give_back("codex", true);
        }
        assert_eq!(fill(&mut slots, "codex"), 2);
        // Another agent is not concerned, beyond what is shared.
        assert_eq!(fill(&mut slots, "gemini-cli"), 6);
        for _ in 0..6 {
            slots.give_back("gemini-cli", false);
        }
        // Never none at all, and back to where it was after enough calm.
        for _ in 0..10 {
            slots.give_back("codex", true);
            fill(&mut slots, "codex");
            assert_eq!(slots.agents["codex"].in_flight, 1);
        }
        for _ in 0..8 * CALM {
            slots.give_back("codex", false);
            fill(&mut slots, "codex");
        }
        assert_eq!(slots.agents["codex"].in_flight, 8);
    }
}
