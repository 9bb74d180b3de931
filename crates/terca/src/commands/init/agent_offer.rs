//! The agents that a new suite may have: those on this machine come first.

use terca_core::agent::control::ORACLE;
use terca_core::agent::{self, AgentRef, Profile};
use terca_engine::host::environment::Host;
use terca_engine::machine_check;
use terca_report::truncate;

/// The agents on this machine, each with whether it looks signed in. Those come first.
pub struct AgentOffer(Vec<(&'static Profile, bool)>);

impl AgentOffer {
    /// Looks for agents on this machine.
    pub fn new(host: &Host) -> Self {
        let mut installed = machine_check::installed(host);
        installed.sort_by_key(|(_, is_signed_in)| !is_signed_in);
        AgentOffer(installed)
    }

    /// Returns the agents that can be chosen from a list: those on this machine and the built-in one, each with a few
    /// words that fit into a line. The first will most probably work.
    pub fn at_hand(&self, columns: usize) -> Vec<(AgentRef, String)> {
        let here = self.0.iter().map(|(profile, is_signed_in)| {
            let words = match profile.credential_variables.first() {
                _ if *is_signed_in => "on this machine, looks signed in".to_owned(),
                Some(name) => format!("on this machine; signs in with ${name}, among others"),
                None => "on this machine".to_owned(),
            };
            (profile.name, words)
        });
        let solution = "built in: the evals' own solutions; needs no key";
        let items = here.chain([(ORACLE, solution.to_owned())]);
        let items = items.filter_map(|(name, words)| {
            let line = format!("{name:<16} {words}");
            let line = truncate(&line, columns.saturating_sub(8)).into_owned();
            Some((agent::find(name)?, line))
        });
        items.collect()
    }

    /// Returns the names of the agents on this machine.
    pub fn installed(&self) -> Vec<&'static str> {
        self.0.iter().map(|(profile, _)| profile.name).collect()
    }
}
