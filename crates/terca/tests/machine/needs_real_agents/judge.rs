//! Real agents as judges of what another agent did.

use crate::real;
use terca_testkit::agents::{CLAUDE, CODEX, GEMINI, OPENCODE};

#[test]
#[ignore = "needs Node and npm"]
fn gemini_cli_judges() {
    real::judges(GEMINI);
}

#[test]
#[ignore = "needs Node and npm"]
fn claude_code_judges() {
    real::judges(CLAUDE);
}

#[test]
#[ignore = "needs Node and npm"]
fn codex_judges() {
    real::judges(CODEX);
}

#[test]
#[ignore = "needs Node and npm"]
fn opencode_judges() {
    real::judges(OPENCODE);
}
