//! The facts about an agent.

use super::decoder::Skippable;
use super::model_service::ModelService;
use super::options::OptionWays;
use crate::process::Signal;

/// The facts about an agent that are the same in every trial.
#[derive(Debug)]
pub struct Profile {
    /// The name that suites use.
    pub name: &'static str,
    /// Other names that suites may use.
    pub aliases: &'static [&'static str],
    /// The program looked up on `PATH`; `None` for agents that are not one program.
    pub program: Option<&'static str>,
    /// The arguments that make the program print its version.
    pub version_args: &'static [&'static str],
    /// The version that the adapter is tested with. It is written here and nowhere else.
    pub tested_version: &'static str,
    /// The oldest version that is known to work; empty if that is the tested one.
    pub oldest_version: &'static str,
    /// The names of its settings, a JSON object: `null` is for any value, `*` for any name. Empty where they are not known.
    pub known_settings: &'static str,
    /// The package that installs the program; `None` where there is none.
    pub package: Option<Package>,
    /// What users have to know beside the package, or all that there is to say without one.
    pub install: Option<&'static str>,
    /// True if suites write it as `{name, command}`, with a command of their own.
    pub takes_command: bool,
    /// True if a file in the format of the ACP registry may say its command.
    pub takes_registry: bool,
    /// True if its output is a stream of events, for its decoder rather than for people.
    pub streams_events: bool,
    /// True if its standard error is a log for its makers, which is kept in its own file alone.
    pub logs_to_stderr: bool,
    /// The file of its project rules, relative to the workspace.
    pub rules_file: &'static str,
    /// The most bytes of its rules that it is known to read; `None` where nothing is known to be left out.
    pub rules_bytes: Option<u64>,
    /// The directory of its project skills, relative to the workspace.
    pub skills_dir: &'static str,
    /// The tool by which it uses skills, if there is one. Agents without one read the files of a skill like any other.
    pub skill_tool: Option<&'static str>,
    /// True if it offers skills to its model by their names alone, without their descriptions.
    pub offers_skill_names: bool,
    /// True if every session that ends well has the tokens of its answers. In one without, an answer broke off.
    pub reports_tokens: bool,
    /// The beginnings of lines that may be left out of the transcript of a very long session. Nothing else may depend on
    /// such a line.
    pub skippable: &'static [(&'static str, Skippable)],
    /// Names of files and directories that it reads in the directories above the workspace.
    pub read_above: &'static [&'static str],
    /// The variables it signs in with. Passed on when they are set, and masked in everything Terca writes.
    pub credential_variables: &'static [&'static str],
    /// Variables passed on that are no secrets: endpoints, projects, regions.
    pub setting_variables: &'static [&'static str],
    /// Files it signs in with: relative to the user's home and, in a trial, to the agent's home.
    pub credential_files: &'static [&'static str],
    /// The services that it asks models of, as far as it can be led to another address with its key.
    pub services: &'static [ModelService],
    /// Hosts that it needs beside those of its services: where it signs in, and where it asks models of with a sign-in.
    pub hosts: &'static [&'static str],
    /// Hosts that it reports to for its makers, also where its settings forbid that. A sandbox refuses them without a remark.
    pub telemetry_hosts: &'static [&'static str],
    /// The rule by which credential files are left out when variables are set.
    pub files_yield: FilesYield,
    /// Directories that trials share, since the program would fill them anew for every home: the variable that
    /// names a directory, and its usual place below the user's home.
    pub caches: &'static [(&'static str, &'static str)],
    /// Directories it leaves in the workspace and cannot be told to put elsewhere. They are removed when the agent
    /// has ended, unless they were there before.
    pub leftovers: &'static [&'static str],
    /// The signal that asks it to end.
    pub stop_signal: Signal,
    /// The parts of a variant that it can use.
    pub capabilities: Capabilities,
    /// The ways in which it takes options.
    pub options: OptionWays,
}

impl Profile {
    /// The facts that most programs have in common. The other facts are empty.
    pub const USUAL: Profile = Profile {
        name: "",
        aliases: &[],
        program: None,
        version_args: &["--version"],
        tested_version: "",
        oldest_version: "",
        known_settings: "",
        package: None,
        install: None,
        takes_command: false,
        takes_registry: false,
        streams_events: true,
        logs_to_stderr: false,
        rules_file: "AGENTS.md",
        rules_bytes: None,
        skills_dir: "",
        skill_tool: None,
        offers_skill_names: false,
        reports_tokens: false,
        skippable: &[],
        read_above: &["AGENTS.md"],
        credential_variables: &[],
        setting_variables: &[],
        credential_files: &[],
        services: &[],
        hosts: &[],
        telemetry_hosts: &[],
        files_yield: FilesYield::ToAnyVariable,
        caches: &[],
        leftovers: &[],
        stop_signal: Signal::Terminate,
        capabilities: Capabilities::ALL,
        options: OptionWays::NONE,
    };

    /// Returns whether Terca itself acts as this agent: there is no process, no session, no model.
    pub fn is_built_in(&self) -> bool {
        self.program.is_none() && !self.takes_command
    }

    /// Returns the oldest version that is known to work, if this one is older.
    pub fn newer_than(&self, version: &str) -> Option<&'static str> {
        let oldest = if self.oldest_version.is_empty() {
            self.tested_version
        } else {
            self.oldest_version
        };
        let known = numbers(oldest);
        let given = numbers(version);
        (!known.is_empty() && !given.is_empty() && given < known).then_some(oldest)
    }

    /// Returns how to get the program, for the message that it is missing.
    pub fn how_to_install(&self) -> String {
        let command = self.package.map(|package| match package {
            Package::Npm(name) => format!("npm install -g {name}"),
            Package::PyPi(name, beside) => {
                format!("pip install {}", [&[name], beside].concat().join(" "))
            }
        });
        match (command, self.install) {
            (Some(command), Some(more)) => format!("{command} ({more})"),
            (command, more) => command.or(more.map(str::to_owned)).unwrap_or_default(),
        }
    }
}

/// Returns the numbers that a version begins with: `[0, 61, 0]` for `0.61.0-nightly`.
fn numbers(version: &str) -> Vec<u64> {
    let numbers = version.split('.').map_while(|part| {
        let digits = part.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    numbers.collect()
}

/// A package of a public registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Package {
    /// A package of the npm registry.
    Npm(&'static str),
    /// A package of the Python Package Index, and others that it needs beside it.
    PyPi(&'static str, &'static [&'static str]),
}

/// The rule by which credential files are left out when variables are set. A file is left out only for a variable of the
/// same provider: an unrelated key must not end a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesYield {
    /// Any of the agent's variables takes the place of the files, since all are of one provider.
    ToAnyVariable,
    /// These variables take the place of the files. Without them the files come first, and the agent's other credential
    /// variables are not passed on.
    To(&'static [&'static str]),
    /// The entries of the files are of many providers, by name; each yields to the variables of its provider. These
    /// variables take the place of the files as a whole.
    ByProvider(&'static [&'static str]),
}

/// Returns the provider that a credential variable is for, by the name that files of many providers use.
pub fn provider_of(variable: &str) -> String {
    match variable {
        "GEMINI_API_KEY" | "GOOGLE_API_KEY" | "GOOGLE_GENERATIVE_AI_API_KEY" => "google".to_owned(),
        "ANTHROPIC_OAUTH_TOKEN" | "ANTHROPIC_AUTH_TOKEN" => "anthropic".to_owned(),
        other => other.trim_end_matches("_API_KEY").to_lowercase(),
    }
}

/// The parts of a variant that an agent can use. Giving it anything else is an error, never silently ignored.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// A model.
    pub model: bool,
    /// Rules.
    pub rules: bool,
    /// MCP servers.
    pub mcp_servers: bool,
    /// Skills.
    pub skills: bool,
    /// Settings of its own.
    pub config: bool,
}

impl Capabilities {
    /// All parts.
    pub const ALL: Capabilities = Capabilities {
        model: true,
        rules: true,
        mcp_servers: true,
        skills: true,
        config: true,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let profile = Profile {
            tested_version: "2.1.325",
            oldest_version: "2.1.97",
            ..Profile::USUAL
        };
        for (version, newer) in [
            ("2.0.140", Some("2.1.97")),
            ("2.1.97", None),
            ("2.1.197-beta.1", None),
            ("3.0", None),
            ("a build of mine", None),
        ] {
            assert_eq!(profile.newer_than(version), newer, "{version}");
        }
        let tested = Profile {
            tested_version: "0.61.0",
            ..Profile::USUAL
        };
        assert_eq!(tested.newer_than("0.9.0"), Some("0.61.0"));
        assert_eq!(Profile::USUAL.newer_than("0.9.0"), None);
    }
}
