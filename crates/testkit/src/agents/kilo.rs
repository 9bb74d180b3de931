//! Kilo, which is made from opencode.

use super::*;

pub const KILO: RealAgent = RealAgent {
    name: "kilo",
    install: Install::Npm {
        bin: "node_modules/@kilocode/cli-linux-x64/bin",
    },
    model: "mock/mock-model",
    ..super::OPENCODE
};
