//! Further real agents from npm: `scripts/test-more-agents`.

mod cline;
mod continue_cli;
mod copilot;
mod droid;
mod kilo;
mod pi;
