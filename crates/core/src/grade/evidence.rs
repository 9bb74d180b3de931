//! The evidence that tests are judged by.

use crate::process::Exit;
use crate::text::mask::Mask;
use crate::transcript::Usage;

/// The end of a test's command.
#[derive(Debug, Clone)]
pub struct CommandEnd {
    /// The exit status or signal.
    pub exit: Exit,
    /// It was stopped because its time was over.
    pub timed_out: bool,
    /// Its standard output, where that is asked for separately.
    pub stdout: String,
    /// All its output; where standard output is separate, the rest.
    pub output: String,
    /// A program that the command names and this machine does not have, when the shell did not find one.
    pub missing: Option<String>,
    /// The report that it was to write, where one is asked for.
    pub report: Option<FileContent>,
    /// The secrets in the output. A test is judged by the output as it is, and quotes it with these masked.
    pub mask: Mask,
}

/// The content of a file of the workspace.
#[derive(Debug, Clone)]
pub enum FileContent {
    /// The text, with bytes that are not UTF-8 replaced.
    Text(String),
    /// There is no such file.
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

/// A trial's session with its agent.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The agent's name.
    pub agent: String,
    /// The work is the reference solution, which no agent made.
    pub is_reference: bool,
    /// Every tool call in order; `None` where the agent does not report them.
    pub tools: Option<Vec<ToolUse>>,
    /// The calls of MCP servers that Terca saw, where the agent does not report its calls.
    pub tapped_tools: Vec<ToolUse>,
    /// The MCP servers whose calls are all among those that Terca saw.
    pub tapped_servers: Vec<String>,
    /// The agent's own words, without the output of its tools.
    pub said: String,
    /// The agent said more than is kept.
    pub said_more: bool,
    /// Tokens, requests and cost.
    pub usage: Usage,
    /// The time that the agent ran, by Terca's own clock.
    pub seconds: f64,
    /// The secrets in a test's own texts, which are masked where they are quoted.
    pub mask: Mask,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The agent's name for the tool.
    pub tool: String,
    /// The MCP server whose tool it is.
    pub server: Option<String>,
    /// The tool's name at that server.
    pub server_tool: Option<String>,
}
