//! What an agent did, in four lists: files read, files written, commands, and calls of MCP tools.

use maud::{Markup, html};
use terca_core::text::excerpt::beginning;
use terca_core::transcript::tool_use::{UseKind, uses};
use terca_core::transcript::trial_files::Session;

use super::foreign::clean;

/// More entries of a list, and more steps of an entry, are counted.
const MOST_ENTRIES: usize = 60;
const MOST_STEPS: usize = 12;
const LONGEST: usize = 160;

/// Something that was read, written, run or called, with the steps in which it was.
struct Entry {
    about: String,
    steps: Vec<u32>,
}

/// Returns the lists, or nothing where an agent shows no calls.
pub fn activity(session: &Session, trial: u32) -> Option<Markup> {
    let lists: Vec<(UseKind, Vec<Entry>)> = UseKind::ALL
        .into_iter()
        .map(|kind| (kind, entries(session, kind)))
        .filter(|(_, entries)| !entries.is_empty())
        .collect();
    let markup = html! {
        div.uses {
            @for (kind, entries) in &lists { (list(*kind, entries, trial)) }
        }
        @if session.left_out > 0 {
            p.note { "Calls in steps that are left out are not in these lists." }
        }
    };
    (!lists.is_empty()).then_some(markup)
}

fn entries(session: &Session, wanted: UseKind) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for one in session.records() {
        let found = uses(&one.record.step).into_iter();
        for (_, about) in found.filter(|(kind, _)| *kind == wanted) {
            let place = *places.entry(about.clone()).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(entry) => entry.steps.push(one.number),
                None => entries.push(Entry {
                    about,
                    steps: vec![one.number],
                }),
            }
        }
    }
    entries
}

fn list(kind: UseKind, entries: &[Entry], trial: u32) -> Markup {
    html! {
        details open[entries.len() <= MOST_STEPS] {
            summary { (kind.title()) " " span.quiet { (entries.len()) } }
            ul {
                @for entry in entries.iter().take(MOST_ENTRIES) {
                    li {
                        code { (clean(&beginning(&entry.about, LONGEST))) }
                        span.steps {
                            @for step in entry.steps.iter().take(MOST_STEPS) {
                                " "
                                a href={ "#trial-" (trial) "/step-" (step) } aria-label={ "step " (step) } {
                                    (step)
                                }
                            }
                            @if entry.steps.len() > MOST_STEPS {
                                " and " (entry.steps.len() - MOST_STEPS) " more"
                            }
                        }
                    }
                }
                @if entries.len() > MOST_ENTRIES {
                    li.quiet { "and " (entries.len() - MOST_ENTRIES) " more" }
                }
            }
        }
    }
}
