//! The agents that Terca acts as itself, to prove evals. They are controls: what they get done says something about the
//! evals, and nothing about any agent.

/// The agent that puts the reference solution in place.
pub const ORACLE: &str = "oracle";
/// The agent that does nothing.
pub const NOP: &str = "nop";
/// The agent that tries to look as if it had done the work.
pub const CHEAT: &str = "cheat";
/// All of them, as `terca validate` runs them.
pub const CONTROLS: [&str; 3] = [ORACLE, NOP, CHEAT];

/// Returns whether the agent of this name is a control.
pub fn is_control(name: &str) -> bool {
    CONTROLS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent;

    #[test]
    fn exactly_those_that_are_no_agents_are_controls() {
        let mut controls = agent::names();
        controls.retain(|name| is_control(name));
        assert_eq!(controls, CONTROLS);
        for name in CONTROLS {
            // By any other name it is not found, and so cannot be in a run.
            assert_eq!(agent::find(name).unwrap().profile().name, name);
        }
        for name in ["claude-code", "command", "", "Oracle", "oracle "] {
            assert!(!is_control(name), "{name}");
        }
    }
}
