//! The trials that are still to be started, and which comes next.
//!
//! They start in the recorded order, as far as their agents have free slots; those that wait for another attempt
//! come first as soon as their time has come.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::plan::TrialSpec;
use crate::run::limits::{Limits, Slots};

/// Positions in the list of trials. Times count from the beginning of the run.
#[derive(Debug)]
pub struct Queue {
    places: Vec<QueuePlace>,
    agents: BTreeSet<String>,
    /// Trials in their turn, and the times before which they must not start.
    waiting: VecDeque<(Duration, usize)>,
    stopped: BTreeSet<(String, String)>,
    slots: Slots,
}

#[derive(Debug)]
struct QueuePlace {
    agent: String,
    variant: (String, String),
}

impl Queue {
    /// Makes the queue of these trials, none of which waits.
    pub fn new(trials: &[TrialSpec], limits: Limits) -> Self {
        let places: Vec<QueuePlace> = trials.iter().map(QueuePlace::of).collect();
        Queue {
            agents: places.iter().map(|place| place.agent.clone()).collect(),
            places,
            waiting: VecDeque::new(),
            stopped: BTreeSet::new(),
            slots: Slots::new(limits),
        }
    }

    /// More trials, in the order to start them, after all that wait.
    pub fn extend(&mut self, order: &[usize]) {
        let waiting = order.iter().map(|position| (Duration::ZERO, *position));
        self.waiting.extend(waiting);
    }

    /// Returns whether no trial waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes the next trial that may start, and a slot for it.
    pub fn next(&mut self, now: Duration) -> Option<usize> {
        // There may be very many trials, and there are few agents.
        let agents = self.agents.iter();
        let free: Vec<&String> = agents.filter(|agent| self.slots.is_free(agent)).collect();
        if free.is_empty() {
            return None;
        }
        let ready = self.waiting.iter().position(|(from, position)| {
            *from <= now && free.contains(&&self.places[*position].agent)
        })?;
        let (_, position) = self.waiting.remove(ready)?;
        self.slots.take(&self.places[position].agent);
        Some(position)
    }

    /// A trial has ended, and gives back its slot.
    pub fn ended(&mut self, position: usize, rate_limited: bool) {
        self.slots
            .give_back(&self.places[position].agent, rate_limited);
    }

    /// A trial waits for another attempt, until then. It comes before all others.
    pub fn again(&mut self, position: usize, at: Duration) {
        self.waiting.push_front((at, position));
    }

    /// Returns whether the variant of a trial was stopped.
    pub fn is_stopped(&self, position: usize) -> bool {
        self.stopped.contains(&self.places[position].variant)
    }

    /// Stops the variant of a trial. Returns how many of its trials were waiting.
    pub fn stop_variant_of(&mut self, position: usize) -> usize {
        let (places, variant) = (&self.places, &self.places[position].variant);
        let before = self.waiting.len();
        self.waiting
            .retain(|(_, position)| places[*position].variant != *variant);
        self.stopped.insert(variant.clone());
        before - self.waiting.len()
    }
}

impl QueuePlace {
    fn of(trial: &TrialSpec) -> Self {
        let variant = &trial.case.variant;
        QueuePlace {
            agent: variant.agent.agent.profile().name.to_owned(),
            variant: (variant.environment.clone(), variant.experiment.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const NOW: Duration = Duration::ZERO;

    /// Trials as (agent, environment), in this order.
    fn queue(trials: &[(&str, &str)], limits: Limits) -> Queue {
        let mut queue = Queue::new(&[], limits);
        for (position, (agent, environment)) in trials.iter().enumerate() {
            let variant = ((*environment).to_owned(), "default".to_owned());
            queue.agents.insert((*agent).to_owned());
            queue.places.push(QueuePlace {
                agent: (*agent).to_owned(),
                variant,
            });
            queue.extend(&[position]);
        }
        queue
    }

    fn all(queue: &mut Queue, now: Duration) -> Vec<usize> {
        std::iter::from_fn(|| queue.next(now)).collect()
    }

    #[test]
    fn the_order_holds_where_there_are_slots() {
        let limits = Limits {
            agents: BTreeMap::from([("b".to_owned(), 1)]),
            ..Limits::overall(2)
        };
        let mut queue = queue(
            &[("b", "x"), ("b", "x"), ("a", "x"), ("a", "x"), ("a", "x")],
            limits,
        );
        assert_eq!(all(&mut queue, NOW), [0, 2, 3]);
        queue.ended(2, false);
        assert_eq!(all(&mut queue, NOW), [4]);
        queue.ended(0, false);
        assert_eq!(all(&mut queue, NOW), [1]);
        assert!(queue.is_empty());
    }

    #[test]
    fn another_attempt_waits_for_its_time_and_comes_first() {
        let mut queue = queue(&[("a", "x"), ("a", "x"), ("a", "x")], Limits::overall(1));
        assert_eq!(all(&mut queue, NOW), [0]);
        queue.ended(0, false);
        queue.again(0, Duration::from_secs(5));
        assert_eq!(all(&mut queue, Duration::from_secs(4)), [1]);
        queue.ended(1, false);
        assert_eq!(all(&mut queue, Duration::from_secs(5)), [0]);
        queue.ended(0, false);
        assert!(!queue.is_empty());
        assert_eq!(all(&mut queue, Duration::from_secs(5)), [2]);
    }

    #[test]
    fn a_variant_that_is_stopped_leaves_the_others() {
        let trials = [("a", "x"), ("a", "y"), ("a", "x"), ("a", "y"), ("a", "x")];
        let mut queue = queue(&trials, Limits::overall(1));
        assert_eq!(all(&mut queue, NOW), [0]);
        queue.ended(0, false);
        queue.again(0, NOW);
        assert_eq!(queue.stop_variant_of(0), 3);
        assert!(queue.is_stopped(2) && !queue.is_stopped(1));
        assert_eq!(all(&mut queue, NOW), [1]);
        queue.ended(1, false);
        assert_eq!(all(&mut queue, NOW), [3]);
        assert!(queue.is_empty());
    }
}
