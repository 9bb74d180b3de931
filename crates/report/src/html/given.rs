//! The things that the agent of a trial was given: its prompt, rules, settings and servers. Two trials are compared by them.

use maud::{Markup, html};

use super::fit::fit_text;
use super::foreign::clean;
use super::preview::preview;

/// Returns the list of settings, and the text of the rules. Nothing if neither is known.
pub fn given(rows: &[(&'static str, String)], rules: Option<&str>, room: usize) -> Option<Markup> {
    let each = room / (rows.len() + 1);
    let list = html! {
        dl.given {
            @for (name, value) in rows {
                div data-given=(name) {
                    dt { (name) }
                    dd { pre { (clean(&fit_text(value, each))) } }
                }
            }
            @if let Some(rules) = rules {
                div data-given="text of the rules" {
                    dt { "text of the rules" }
                    dd { (preview(&fit_text(rules, room / 2))) }
                }
            }
        }
    };
    (!rows.is_empty() || rules.is_some()).then_some(list)
}
