//! Real agents that are programs of Python: `scripts/test-more-agents`.

mod aider;
mod mini;
