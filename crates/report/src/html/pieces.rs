//! Small pieces that several pages share.

use jiff::Timestamp;
use maud::{Markup, html};
use terca_core::run::event::RunStatus;

/// Returns the bar at the top of a page, with its links.
pub fn navigation(links: &Markup) -> Markup {
    html! {
        nav.top aria-label="Pages" {
            b.brand { "terca" }
            (links)
            button #theme .quiet.scripted type="button" title="System, light or dark" { "Theme: system" }
        }
    }
}

/// Returns the row with the names of a table's columns.
pub fn column_titles(titles: &[&str]) -> Markup {
    html! {
        tr { @for title in titles { th scope="col" { (title) } } }
    }
}

/// Returns a word in a rounded frame, coloured by its class.
pub fn pill(class: &str, word: &str) -> Markup {
    html! { span class={ "pill " (class) } { (word) } }
}

/// Returns the status of a run.
pub fn run_status(status: RunStatus) -> Markup {
    let word = match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
    };
    pill(word, word)
}

/// Returns a time to the minute, in UTC, so that all readers see the same.
pub fn time(at: Timestamp) -> Markup {
    html! {
        time datetime=(at.to_string()) { (at.strftime("%Y-%m-%d %H:%M UTC").to_string()) }
    }
}

/// Returns the text, or a dash for what is not known.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}
