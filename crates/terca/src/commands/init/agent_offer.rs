//! The agents that a new suite may have: those on this machine come first.

use terca_core::agent::control;
use terca_core::agent::{self, AgentRef, Profile};
use terca_engine::host::environment::Host;
use terca_engine::machine_check;
use terca_report::truncate;

/// The agents in the order they are offered.
pub struct AgentOffer {
    entries: Vec<(&'static Profile, Standing)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    SignedIn,
    Installed,
    BuiltIn,
    Missing,
}

impl Standing {
    fn words(self, profile: &Profile) -> String {
        match self {
            Standing::SignedIn => "on this machine, looks signed in".to_owned(),
            Standing::Installed => match profile.credential_variables.first() {
                Some(name) => format!("on this machine; signs in with ${name}, among others"),
                None => "on this machine".to_owned(),
            },
            Standing::BuiltIn => "built in: the evals' own solutions; needs no key".to_owned(),
            Standing::Missing => "not on this machine".to_owned(),
        }
    }
}

impl AgentOffer {
    /// Looks for agents on this machine.
    pub fn new(host: &Host) -> Self {
        let installed = machine_check::installed(host);
        let standing = |profile: &'static Profile| match installed
            .iter()
            .find(|(known, _)| known.name == profile.name)
        {
            Some((_, true)) => Standing::SignedIn,
            Some((_, false)) => Standing::Installed,
            None if profile.is_built_in() => Standing::BuiltIn,
            None => Standing::Missing,
        };
        let choosable = agent::profiles().filter(is_choosable);
        let mut entries: Vec<(&'static Profile, Standing)> = choosable
            .map(|profile| (profile, standing(profile)))
            .collect();
        entries.sort_by_key(|(_, standing)| *standing as u8);
        AgentOffer { entries }
    }

    /// Returns the first, which will most probably work.
    pub fn usual(&self) -> Option<AgentRef> {
        agent::find(self.entries.first()?.0.name)
    }

    /// Returns the agents that can be chosen from a list: those on this machine and the built-in one, each with a few
    /// words that fit into a line.
    pub fn at_hand(&self, columns: usize) -> Vec<(AgentRef, String)> {
        let here = self
            .entries
            .iter()
            .filter(|(_, standing)| *standing != Standing::Missing);
        let items = here.filter_map(|(profile, standing)| {
            let line = format!("{:<16} {}", profile.name, standing.words(profile));
            let line = truncate(&line, columns.saturating_sub(8)).into_owned();
            Some((agent::find(profile.name)?, line))
        });
        items.collect()
    }

    /// Returns the names of the agents on this machine.
    pub fn installed(&self) -> Vec<&'static str> {
        let here = self
            .entries
            .iter()
            .filter(|(_, standing)| matches!(standing, Standing::SignedIn | Standing::Installed));
        here.map(|(profile, _)| profile.name).collect()
    }
}

/// Tells whether an agent needs no more than its name. What can be chosen is a real one, or the solution in its place.
fn is_choosable(profile: &&'static Profile) -> bool {
    !profile.takes_command && !matches!(profile.name, control::NOP | control::CHEAT)
}
