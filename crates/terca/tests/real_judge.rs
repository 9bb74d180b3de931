//! Real agents as judges of what another agent did.

mod common;
mod real;

use real::agents::{CLAUDE, CODEX, GEMINI, OPENCODE};

#[test]
fn gemini_cli_judges() {
    real::judges(GEMINI);
}

#[test]
fn claude_code_judges() {
    real::judges(CLAUDE);
}

#[test]
fn codex_judges() {
    real::judges(CODEX);
}

#[test]
fn opencode_judges() {
    real::judges(OPENCODE);
}
