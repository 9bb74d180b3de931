//! Agents that are spoken to by the Agent Client Protocol.

use super::{GEMINI, QWEN, RealAgent};

pub const ACP_GEMINI: RealAgent = RealAgent {
    name: "acp:gemini-cli",
    ..GEMINI
};

pub const ACP_QWEN: RealAgent = RealAgent {
    name: "acp:qwen-code",
    ..QWEN
};
