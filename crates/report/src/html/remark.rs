//! What a person said about a trial, and the form in which it is said.

use maud::{Markup, html};
use terca_core::run::remark::Remark;

use super::foreign::clean;

/// Returns the remark. It can be changed where there is a server.
pub fn remark(remark: Option<&Remark>, is_served: bool) -> Markup {
    let (text, tags) = remark.map_or(("", &[][..]), |remark| {
        (remark.text.as_str(), remark.tags.as_slice())
    });
    html! {
        @if is_served {
            (form(text, tags))
        } @else if remark.is_some() {
            (shown(text, tags))
        }
    }
}

fn shown(text: &str, tags: &[String]) -> Markup {
    html! {
        div.callout.remark {
            b { "Remark" }
            @for tag in tags { " " span.pill { (clean(tag)) } }
            @if !text.is_empty() { p { (clean(text)) } }
        }
    }
}

/// The script sends it.
fn form(text: &str, tags: &[String]) -> Markup {
    html! {
        details.remark open[!text.is_empty() || !tags.is_empty()] {
            summary { "Remark" @for tag in tags { " " span.pill { (clean(tag)) } } }
            form.remark aria-label="Remark about this trial" {
                label {
                    "What do you see? "
                    textarea name="text" rows="3" maxlength="10000" { (clean(text)) }
                }
                label {
                    "Tags, with commas between them "
                    input name="tags" autocomplete="off" value=(tags.join(", "));
                }
                button type="submit" { "Keep" }
                span.quiet role="status" data-scripted {}
            }
        }
    }
}
