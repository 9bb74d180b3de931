//! Kilo, which is made from opencode.

use super::*;

pub const KILO: RealAgent = RealAgent {
    name: "kilo",
    model: "mock/mock-model",
    ..super::OPENCODE
};
