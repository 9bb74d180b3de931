//! The agents that have an adapter of their own and speak the protocol too, as `acp:NAME`.
//!
//! Each has the profile, the settings, the variables and the session file of its adapter. Only its program or its arguments differ,
//! and, where that is no loss, its MCP servers are given to it in the session. The model is chosen as the adapter does it, or by a
//! setting: the lists of models that agents offer by the protocol lack those of providers of one's own.

use super::super::{
    claude_code, cline, codex, copilot, gemini_cli, goose, kilo, opencode, qwen_code,
};
use super::stream::{self, AcpStream};
use super::through_client;
use crate::agent::prelude::*;
use crate::text::json::merge;

/// All of them.
pub(in crate::agent) static KNOWN: &[&Agent] = &[
    &GEMINI_CLI, &QWEN_CODE, &CLAUDE_CODE, &CODEX, &GOOSE, &OPENCODE, &COPILOT, &KILO, &CLINE,
];

static GEMINI_CLI: Agent = Agent {
    profile: Profile {
        name: "acp:gemini-cli",
        aliases: &["acp:gemini"],
        // In its session file.
        reports_tokens: true,
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        ..gemini_cli::PROFILE
    },
    invocation: |inputs| {
        let mut args = vec!["--acp", "--approval-mode", "yolo"];
        args.extend(inputs.model_option("--model"));
        Mode::of(&gemini_cli::AGENT, &args).start(inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((gemini_cli::AGENT.protocol)(inputs))),
};

static QWEN_CODE: Agent = Agent {
    profile: Profile {
        name: "acp:qwen-code",
        aliases: &["acp:qwen"],
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        ..qwen_code::PROFILE
    },
    invocation: |inputs| {
        Mode {
            // It gives a server of the session five seconds to connect, and that cannot be changed there.
            servers_in_settings: true,
            // Otherwise its first request may go out before the servers have told their tools.
            env: &[("QWEN_CODE_LEGACY_MCP_BLOCKING", "1")],
            ..Mode::of(&qwen_code::AGENT, &["--acp", "--yolo"])
        }
        .start(inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((qwen_code::AGENT.protocol)(inputs))),
};

/// A program around Claude Code, which it brings along.
static CLAUDE_CODE: Agent = Agent {
    profile: Profile {
        name: "acp:claude-code",
        aliases: &["acp:claude"],
        program: Some("claude-agent-acp"),
        tested_version: "0.100.0",
        oldest_version: "",
        package: Some(Package::Npm("@agentclientprotocol/claude-agent-acp")),
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        // It ends its session when its standard input is closed.
        stop_signal: Signal::Terminate,
        options: OptionWays {
            effort: Some(Way::Setting("effortLevel")),
            ..OptionWays::NONE
        },
        ..claude_code::AGENT.profile
    },
    invocation: |inputs| {
        let mode = Mode {
            settings: json!({ "permissions": { "defaultMode": "bypassPermissions" } }),
            // Without a title it asks the model for one.
            meta: json!({ "claudeCode": { "options": {
                "title": "task",
                "promptSuggestions": false,
                "settingSources": ["user", "project"],
                "strictMcpConfig": true,
            } } }),
            ..Mode::of(&claude_code::AGENT, &[])
        };
        let mut started = mode.start_as("claude-agent-acp", inputs);
        let model = inputs.model.into_iter();
        let model = model.map(|model| ("ANTHROPIC_MODEL".to_owned(), model.to_owned()));
        started.env.extend(model);
        started
    },
    protocol: |inputs| Box::new(AcpStream::of((claude_code::AGENT.protocol)(inputs))),
};

/// A program around Codex, which it brings along.
static CODEX: Agent = Agent {
    profile: Profile {
        name: "acp:codex",
        program: Some("codex-acp"),
        tested_version: "2.6.0",
        package: Some(Package::Npm("@agentclientprotocol/codex-acp")),
        skippable: stream::SKIPPABLE,
        stop_signal: Signal::Terminate,
        ..codex::AGENT.profile
    },
    invocation: |inputs| {
        Mode {
            settings: model_setting(inputs),
            // By default it may write in the workspace alone, by a sandbox of its own.
            env: &[
                ("INITIAL_AGENT_MODE", "agent-full-access"),
                ("NO_BROWSER", "1"),
            ],
            ..Mode::of(&codex::AGENT, &[])
        }
        .start_as("codex-acp", inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((codex::AGENT.protocol)(inputs))),
};

static GOOSE: Agent = Agent {
    profile: Profile {
        name: "acp:goose",
        reports_tokens: false,
        skippable: stream::SKIPPABLE,
        options: OptionWays {
            max_turns: None,
            system_prompt: None,
            ..goose::AGENT.profile.options
        },
        ..goose::AGENT.profile
    },
    invocation: |inputs| Mode::of(&goose::AGENT, &["acp"]).start(inputs),
    protocol: |_| Box::new(AcpStream::default()),
};

static OPENCODE: Agent = Agent {
    profile: Profile {
        name: "acp:opencode",
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        options: OptionWays {
            effort: None,
            ..opencode::AGENT.profile.options
        },
        ..opencode::AGENT.profile
    },
    invocation: |inputs| {
        Mode {
            settings: opencode_settings(inputs),
            before_command: "Task:",
            ..Mode::of(&opencode::AGENT, OPENCODE_ARGS)
        }
        .start(inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((opencode::AGENT.protocol)(inputs))),
};

static KILO: Agent = Agent {
    profile: Profile {
        name: "acp:kilo",
        skill_tool: None,
        skippable: stream::SKIPPABLE,
        ..kilo::AGENT.profile
    },
    invocation: |inputs| {
        Mode {
            settings: opencode_settings(inputs),
            before_command: "Task:",
            ..Mode::of(&kilo::AGENT, OPENCODE_ARGS)
        }
        .start(inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((kilo::AGENT.protocol)(inputs))),
};

static COPILOT: Agent = Agent {
    profile: Profile {
        name: "acp:copilot",
        aliases: &[],
        skippable: stream::SKIPPABLE,
        ..copilot::AGENT.profile
    },
    invocation: |inputs| {
        let mut args = vec!["--acp", "--allow-all", "--no-auto-update"];
        args.extend(inputs.model_option("--model"));
        Mode {
            // It does not start the servers of a session.
            servers_in_settings: true,
            ..Mode::of(&copilot::AGENT, &args)
        }
        .start(inputs)
    },
    protocol: |inputs| Box::new(AcpStream::of((copilot::AGENT.protocol)(inputs))),
};

/// It makes a session for an account of Cline alone, and says so otherwise.
static CLINE: Agent = Agent {
    profile: Profile {
        name: "acp:cline",
        skippable: stream::SKIPPABLE,
        ..cline::AGENT.profile
    },
    invocation: |inputs| Mode::of(&cline::AGENT, &["--acp"]).start(inputs),
    protocol: |_| Box::new(AcpStream::default()),
};

/// The arguments of opencode and of programs made from it.
const OPENCODE_ARGS: &[&str] = &["acp", "--pure", "--print-logs", "--log-level", "INFO"];

/// Returns the settings of opencode, and of programs made from it, for a session by the protocol.
fn opencode_settings(inputs: &Inputs<'_>) -> Value {
    let mut settings = model_setting(inputs);
    // It would ask the model for a title.
    settings["agent"] = json!({ "title": { "disable": true } });
    settings
}

/// Returns a setting for the model, if there is one.
fn model_setting(inputs: &Inputs<'_>) -> Value {
    inputs
        .model
        .map_or_else(|| json!({}), |model| json!({ "model": model }))
}

/// The way in which an agent that has an adapter speaks the protocol.
struct Mode<'a> {
    adapter: &'static Agent,
    args: &'a [&'a str],
    /// Settings beside those of the adapter. Those of the user come after them.
    settings: Value,
    /// The part of the request for a session that is for this agent alone.
    meta: Value,
    /// Variables beside those of the adapter.
    env: &'a [(&'a str, &'a str)],
    /// The words before a prompt that begins like a command, where an empty line is not enough.
    before_command: &'static str,
    /// True if its MCP servers are in its settings, as the adapter has them, and not in the session.
    servers_in_settings: bool,
}

impl<'a> Mode<'a> {
    /// Returns the mode that these arguments alone make.
    fn of(adapter: &'static Agent, args: &'a [&'a str]) -> Self {
        Mode {
            adapter,
            args,
            settings: Value::Null,
            meta: Value::Null,
            env: &[],
            before_command: "",
            servers_in_settings: false,
        }
    }

    /// Returns how to start the program of the adapter.
    fn start(self, inputs: &Inputs<'_>) -> Invocation {
        let program = self.adapter.profile.program.unwrap_or_default();
        self.start_as(program, inputs)
    }

    /// Returns how to start a program.
    fn start_as(self, program: &str, inputs: &Inputs<'_>) -> Invocation {
        let without_servers = Inputs {
            mcp_servers: &[],
            ..*inputs
        };
        let (of_settings, of_session) = match self.servers_in_settings {
            true => (inputs, &without_servers),
            false => (&without_servers, inputs),
        };
        let mut config = self.settings;
        let has_own = !config.is_null();
        if let Some(own) = inputs.config.filter(|_| has_own) {
            merge(&mut config, own);
        }
        let usual = (self.adapter.invocation)(&Inputs {
            config: if has_own {
                Some(&config)
            } else {
                inputs.config
            },
            ..*of_settings
        });
        let agent = Launch::program(program, self.args);
        let (launch, file) = through_client(of_session, agent, None, &self.meta);
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Invocation {
            launch,
            stdin: match Stdin::no_command(inputs.prompt) {
                Stdin::Text(text) => Stdin::Text(format!("{}{text}", self.before_command)),
                other => other,
            },
            env: usual
                .env
                .into_iter()
                .chain(self.env.iter().map(own))
                .collect(),
            files: usual.files.into_iter().chain([file]).collect(),
            ..usual
        }
    }
}
