//! The table of tricks is made of the list that `cheat` plays.
//!
//! `UPDATE_DOCS=1 cargo test -p terca --test it documentation::tricks` brings it up to date.

use terca_core::agent::cheat::TRICKS;
use terca_testkit::generated;

use crate::common::proof::SOUND;

#[test]
fn every_trick_is_in_the_table() {
    let rows = TRICKS.iter().map(|trick| {
        format!(
            "| `{}` | it {} | {} |\n",
            trick.name, trick.does, trick.cure
        )
    });
    let rows: String = rows.collect();
    let table = format!("| trick | | the cure |\n|---|---|---|\n{rows}");
    generated("docs/guides/write-good-evals.md", "tricks", &table);
    assert_eq!(SOUND, format!("withstood {} tricks", TRICKS.len()));
}
