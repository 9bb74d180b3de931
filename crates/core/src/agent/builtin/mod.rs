//! Agents that are no program of somebody else: `command`, and those that Terca acts as itself.

pub mod cheat;
pub(super) mod command;

use super::control;
use super::prelude::*;

/// `oracle`: copies the eval's `_solution/` into the workspace. An eval whose oracle fails is broken.
pub(super) static ORACLE: Agent = built_in(control::ORACLE, |_| invocation(Launch::LaySolution));

/// `nop`: does nothing. An eval that passes for it proves nothing.
pub(super) static NOP: Agent = built_in(control::NOP, |_| invocation(Launch::Nothing));

/// `cheat`: does not do the work, but tries to look as if it had. An eval that passes for it can be gamed.
pub(super) static CHEAT: Agent = built_in(control::CHEAT, |_| invocation(Launch::Cheat));

/// Returns a built-in agent. It takes every part of a variant, since it uses none.
const fn built_in(name: &'static str, invocation: fn(&Inputs<'_>) -> Invocation) -> Agent {
    Agent {
        profile: Profile {
            name,
            version_args: &[],
            install: Some("it is built in"),
            streams_events: false,
            skills_dir: ".agents/skills",
            ..Profile::USUAL
        },
        invocation,
        protocol: |_| Box::new(Silent),
    }
}

fn invocation(launch: Launch) -> Invocation {
    Invocation {
        stdin: Stdin::Empty,
        ..Invocation::of(launch, &[])
    }
}

/// Prints nothing, and always completes.
struct Silent;

impl Protocol for Silent {
    fn ending(&mut self, _exit: Exit, _session: &mut Session) -> Ending {
        Ending::Completed
    }
}
