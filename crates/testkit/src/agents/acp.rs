//! Agents that are spoken to by the Agent Client Protocol.

use super::{CLAUDE, CODEX, COPILOT, GEMINI, GOOSE, KILO, OPENCODE, QWEN, RealAgent};

pub const ACP_GEMINI: RealAgent = RealAgent {
    name: "acp:gemini-cli",
    ..GEMINI
};

pub const ACP_QWEN: RealAgent = RealAgent {
    name: "acp:qwen-code",
    ..QWEN
};

pub const ACP_CLAUDE: RealAgent = RealAgent {
    name: "acp:claude-code",
    ..CLAUDE
};

pub const ACP_CODEX: RealAgent = RealAgent {
    name: "acp:codex",
    ..CODEX
};

pub const ACP_GOOSE: RealAgent = RealAgent {
    name: "acp:goose",
    ..GOOSE
};

pub const ACP_OPENCODE: RealAgent = RealAgent {
    name: "acp:opencode",
    ..OPENCODE
};

pub const ACP_COPILOT: RealAgent = RealAgent {
    name: "acp:copilot",
    ..COPILOT
};

pub const ACP_KILO: RealAgent = RealAgent {
    name: "acp:kilo",
    ..KILO
};
