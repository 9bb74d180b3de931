//! Real agents that are programs of Python: `scripts/test --everything`.

mod aider;
mod mini;
