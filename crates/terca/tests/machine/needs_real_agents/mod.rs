//! Real agents that every run of `scripts/test` starts, where there is npm to install them with.

mod claude;
mod codex;
mod example;
mod gemini;
mod goose;
mod judge;
mod opencode;
mod parallel;
mod qwen;
