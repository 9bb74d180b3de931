//! The slots that trials run in: those of this machine and those of others are the same to the scheduler.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use terca_core::plan::TrialSpec;

use crate::run::trial_thread::{GivenUp, Message, SlotId, SlotNews, start};
use crate::trial::Context;

/// The slots of other machines. What happens to them and to their trials comes as messages to the loop. They end with
/// the value.
pub trait RemoteSlots: Debug {
    /// Starts a trial in a slot that is ready. Its end is told in any case.
    fn start(&self, slot: SlotId, trial: TrialSpec, attempt: u32, context: Arc<Context>);

    /// Asks all agents to end.
    fn stop(&self);
}

/// The slots of a run.
#[derive(Debug)]
pub struct Slots {
    news: Sender<Message>,
    /// `None` where all trials run on this machine: then the limits of the run are enough, and nothing is counted.
    remote: Option<Box<dyn RemoteSlots>>,
    /// The first slot of this machine. Those of others come before it.
    first_local: SlotId,
    idle: VecDeque<(SlotId, Option<String>)>,
    /// The slots that may still become ready.
    alive: usize,
    /// The places of slots that were given up, and the reasons.
    pub given_up: BTreeMap<String, GivenUp>,
}

impl Slots {
    /// Makes the slots of a run on this machine alone.
    pub fn local(news: Sender<Message>) -> Self {
        Slots::new(None, 0, 0, news)
    }

    /// Makes so many slots on other machines, and so many on this one.
    pub fn new(
        slots: Option<Box<dyn RemoteSlots>>,
        remote: usize,
        local: usize,
        news: Sender<Message>,
    ) -> Self {
        let idle = (remote..remote + local).map(|slot| (slot, None));
        Slots {
            news,
            remote: slots,
            first_local: remote,
            idle: idle.collect(),
            alive: remote + local,
            given_up: BTreeMap::new(),
        }
    }

    /// Returns whether all trials run on this machine.
    pub fn are_local(&self) -> bool {
        self.remote.is_none()
    }

    /// Takes note of something that happened to a slot.
    pub fn hear(&mut self, news: SlotNews) {
        match news {
            SlotNews::Ready { slot, node } => self.idle.push_back((slot, node)),
            SlotNews::Gone { slot } => self.idle.retain(|(idle, _)| *idle != slot),
            SlotNews::Failed { place, reason } => {
                self.alive = self.alive.saturating_sub(1);
                self.given_up.insert(place, reason);
            }
        }
    }

    /// Returns whether a trial can be started now.
    pub fn has_idle(&self) -> bool {
        self.are_local() || !self.idle.is_empty()
    }

    /// Returns whether no trial can ever be started again.
    pub fn have_failed(&self) -> bool {
        !self.are_local() && self.alive == 0
    }

    /// Returns the node that the next trial runs on; `None` for this machine.
    pub fn next_node(&self) -> Option<String> {
        self.idle.front().and_then(|(_, node)| node.clone())
    }

    /// Starts a trial in an idle slot.
    pub fn start(&mut self, trial: TrialSpec, attempt: u32, context: &Arc<Context>) {
        let context = context.clone();
        match (&self.remote, self.idle.pop_front()) {
            (Some(remote), Some((slot, _))) if slot < self.first_local => {
                remote.start(slot, trial, attempt, context);
            }
            (_, slot) => {
                let slot = slot.map(|(slot, _)| slot);
                start(trial, attempt, context, &self.news, slot);
            }
        }
    }

    /// Asks all agents of other machines to end.
    pub fn stop(&self) {
        if let Some(remote) = &self.remote {
            remote.stop();
        }
    }
}
