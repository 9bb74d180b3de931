//! The trials that are still to be started, and which comes next.
//!
//! They start in the recorded order, as far as their agents have free slots; those that wait for another attempt
//! come first as soon as their time has come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::plan::TrialSpec;
use crate::run::limits::{Limits, Slots};

/// Positions in the list of trials. Times count from the beginning of the run.
#[derive(Debug)]
pub struct Queue {
    places: Vec<QueuePlace>,
    /// For each agent, its trials as (turn, position).
    waiting: BTreeMap<String, VecDeque<(usize, usize)>>,
    /// Waiting for another attempt, until then.
    delayed: Vec<(Duration, usize)>,
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
        Queue {
            places: trials.iter().map(QueuePlace::of).collect(),
            waiting: BTreeMap::new(),
            delayed: Vec::new(),
            stopped: BTreeSet::new(),
            slots: Slots::new(limits),
        }
    }

    /// More trials, in the order to start them, after all that wait.
    pub fn extend(&mut self, order: &[usize]) {
        let last = self
            .waiting
            .values()
            .filter_map(|trials| trials.back())
            .map(|(turn, _)| *turn)
            .max();
        let first = last.map_or(0, |turn| turn + 1);
        for (turn, position) in (first..).zip(order.iter().copied()) {
            let agent = self.places[position].agent.clone();
            self.waiting
                .entry(agent)
                .or_default()
                .push_back((turn, position));
        }
    }

    /// Returns whether no trial waits.
    pub fn is_empty(&self) -> bool {
        self.delayed.is_empty() && self.waiting.values().all(VecDeque::is_empty)
    }

    /// The next trial that can start now; its slot is taken.
    pub fn next(&mut self, now: Duration) -> Option<usize> {
        let position = self.next_delayed(now).or_else(|| self.next_waiting())?;
        self.slots.take(&self.places[position].agent);
        Some(position)
    }

    fn next_delayed(&mut self, now: Duration) -> Option<usize> {
        let (places, slots) = (&self.places, &self.slots);
        let ready = self.delayed.iter().position(|(until, position)| {
            *until <= now && slots.is_free(&places[*position].agent)
        })?;
        Some(self.delayed.remove(ready).1)
    }

    fn next_waiting(&mut self) -> Option<usize> {
        let slots = &self.slots;
        let open = self
            .waiting
            .iter_mut()
            .filter(|(agent, trials)| !trials.is_empty() && slots.is_free(agent));
        let (_, trials) = open.min_by_key(|(_, trials)| trials.front().map(|(turn, _)| *turn))?;
        trials.pop_front().map(|(_, position)| position)
    }

    /// A trial is no longer in flight.
    pub fn ended(&mut self, position: usize, rate_limited: bool) {
        self.slots
            .give_back(&self.places[position].agent, rate_limited);
    }

    /// A trial that ended is to start again then, unless its variant was stopped meanwhile.
    pub fn again(&mut self, position: usize, at: Duration) {
        self.delayed.push((at, position));
    }

    /// Returns whether the variant of a trial was stopped.
    pub fn is_stopped(&self, position: usize) -> bool {
        self.stopped.contains(&self.places[position].variant)
    }

    /// No further trial of this one's variant is started. Says how many there would have been.
    pub fn stop_variant_of(&mut self, position: usize) -> usize {
        let (places, variant) = (&self.places, &self.places[position].variant);
        let before = self.len();
        for trials in self.waiting.values_mut() {
            trials.retain(|(_, position)| places[*position].variant != *variant);
        }
        self.delayed
            .retain(|(_, position)| places[*position].variant != *variant);
        self.stopped.insert(variant.clone());
        before - self.len()
    }

    fn len(&self) -> usize {
        self.delayed.len() + self.waiting.values().map(VecDeque::len).sum::<usize>()
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
    use super::*;

    const NOW: Duration = Duration::ZERO;

    /// Trials as (agent, environment), in this order.
    fn queue(trials: &[(&str, &str)], limits: Limits) -> Queue {
        let mut queue = Queue::new(&[], limits);
        for (position, (agent, environment)) in trials.iter().enumerate() {
            let variant = ((*environment).to_owned(), "default".to_owned());
            queue.places.push(QueuePlace {
                agent: (*agent).to_owned(),
                variant,
            });
            queue
                .waiting
                .entry((*agent).to_owned())
                .or_default()
                .push_back((position, position));
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
