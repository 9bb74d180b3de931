//! Real agents as judges of what another agent did.

use crate::real;
use terca_testkit::agents::{CLAUDE, CODEX, GEMINI, OPENCODE};

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn gemini_cli_judges() {
    real::judges(GEMINI);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn claude_code_judges() {
    real::judges(CLAUDE);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn codex_judges() {
    real::judges(CODEX);
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn opencode_judges() {
    real::judges(OPENCODE);
}
