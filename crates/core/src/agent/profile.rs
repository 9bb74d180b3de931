//! The facts about an agent.

/// The facts about an agent that are the same in every trial.
#[derive(Debug)]
pub struct Profile {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The program looked up on `PATH`; `None` for agents that are not one program.
    pub program: Option<&'static str>,
    pub version_args: &'static [&'static str],
    /// How to get the program, said when it is missing.
    pub install: &'static str,
    /// Whether it is `{name, command}` with a command of the user's own.
    pub takes_command: bool,
    /// Whether its output is a stream of events, to be read by its decoder rather than by people.
    pub streams_events: bool,
    /// Where it reads its project rules, relative to the workspace.
    pub rules_file: &'static str,
    /// The variables it signs in with. Passed on when they are set, and masked in everything Terca writes.
    pub credential_variables: &'static [&'static str],
    /// Variables passed on that are no secrets: endpoints, projects, regions.
    pub setting_variables: &'static [&'static str],
    /// Files it signs in with, which lie in the user's home.
    pub credential_files: &'static [CredentialFile],
    /// Where it reads its project skills, relative to the workspace.
    pub skills_dir: &'static str,
    /// The version that the adapter was proved with.
    pub proved_with: &'static str,
    pub stop_signal: StopSignal,
    pub capabilities: Capabilities,
}

impl Profile {
    /// Whether it is Terca itself that acts: there is no process, no session, no model.
    pub fn is_built_in(&self) -> bool {
        self.program.is_none() && !self.takes_command
    }
}

/// A file that is copied into the trial for the agent that needs it, and for no other.
#[derive(Debug)]
pub struct CredentialFile {
    /// Relative to the user's home.
    pub from: &'static str,
    /// Relative to the agent's home.
    pub to: &'static str,
}

/// What a variant can give this agent. Giving it anything else is an error, never silently ignored.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    pub model: bool,
    pub rules: bool,
    pub mcp_servers: bool,
    pub skills: bool,
    pub config: bool,
}

impl Capabilities {
    pub const ALL: Capabilities = Capabilities {
        model: true,
        rules: true,
        mcp_servers: true,
        skills: true,
        config: true,
    };
}

/// The signal that asks the agent to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Interrupt,
    Terminate,
}
