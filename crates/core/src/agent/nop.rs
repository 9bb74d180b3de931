//! `nop`: does nothing. An eval that passes for it proves nothing.

use super::{
    Agent, Capabilities, Decoder, Ending, Inputs, Invocation, Launch, Line, Profile, Reading,
    Stdin, StopSignal,
};
use crate::process::Exit;
use crate::transcript::{Record, Usage};

#[derive(Debug)]
pub(super) struct Nop;

static PROFILE: Profile = profile("nop");

/// A built-in agent takes whatever the variant gives, since it uses none of it.
pub(super) const fn profile(name: &'static str) -> Profile {
    Profile {
        name,
        aliases: &[],
        program: None,
        version_args: &[],
        install: "it is built in",
        takes_command: false,
        streams_events: false,
        rules_file: "AGENTS.md",
        credential_variables: &[],
        setting_variables: &[],
        credential_files: &[],
        skills_dir: ".agents/skills",
        proved_with: "",
        stop_signal: StopSignal::Terminate,
        capabilities: Capabilities::ALL,
    }
}

impl Agent for Nop {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn invocation(&self, _: &Inputs<'_>) -> Invocation {
        invocation(Launch::Nothing)
    }

    fn decoder(&self, _: &Inputs<'_>) -> Box<dyn Decoder> {
        Box::new(Silent)
    }
}

pub(super) fn invocation(launch: Launch) -> Invocation {
    Invocation {
        launch,
        env: Vec::new(),
        stdin: Stdin::Empty,
        files: Vec::new(),
        side_files: Vec::new(),
    }
}

/// Nothing is printed, and the session always completes.
#[derive(Debug)]
pub(super) struct Silent;

impl Decoder for Silent {
    fn stdout(&mut self, _: Line<'_>) -> Vec<Record> {
        Vec::new()
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn finish(self: Box<Self>, _: Exit) -> Reading {
        Reading {
            records: Vec::new(),
            usage: Usage::default(),
            model: None,
            mcp_servers: Default::default(),
            ending: Ending::Completed,
            notes: Vec::new(),
        }
    }
}
