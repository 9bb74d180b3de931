//! Agents that are no program of somebody else: `command`, and those that Terca acts as itself.

pub mod cheat;
pub(super) mod command;

use super::control;
use super::prelude::*;

/// `oracle`: copies the eval's `_solution/` into the workspace. An eval whose oracle fails is broken.
pub(super) static ORACLE: Agent = Agent {
    profile: profile(control::ORACLE),
    invocation: |_| invocation(Launch::LaySolution),
    protocol: |_| Box::new(Silent),
};

/// `nop`: does nothing. An eval that passes for it proves nothing.
pub(super) static NOP: Agent = Agent {
    profile: profile(control::NOP),
    invocation: |_| invocation(Launch::Nothing),
    protocol: |_| Box::new(Silent),
};

/// `cheat`: does not do the work, but tries to look as if it had. An eval that passes for it can be gamed.
pub(super) static CHEAT: Agent = Agent {
    profile: profile(control::CHEAT),
    invocation: |_| invocation(Launch::Cheat),
    protocol: |_| Box::new(Silent),
};

/// Returns the profile of a built-in agent. It takes every part of a variant, since it uses none.
const fn profile(name: &'static str) -> Profile {
    Profile {
        name,
        version_args: &[],
        install: Some("it is built in"),
        streams_events: false,
        skills_dir: ".agents/skills",
        ..Profile::USUAL
    }
}

fn invocation(launch: Launch) -> Invocation {
    Invocation {
        stdin: Stdin::Empty,
        ..Invocation::of(launch)
    }
}

/// Prints nothing, and always completes.
struct Silent;

impl Protocol for Silent {
    fn usage(&self, _session: &Session) -> Usage {
        Usage::default()
    }

    fn ending(&mut self, _exit: Exit, _session: &mut Session) -> Ending {
        Ending::Completed
    }
}
