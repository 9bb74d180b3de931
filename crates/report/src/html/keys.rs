//! The keys of a run's page, to be looked up.

use maud::{Markup, html};

const KEYS: [(&str, &str); 8] = [
    (
        "j  k",
        "the next and the previous trial, in the list and from trial to trial",
    ),
    ("Enter", "opens the trial"),
    ("Esc", "goes back to the list"),
    ("/", "goes to the words that filter the list"),
    ("s", "goes to the search in transcripts, diffs and logs"),
    (
        "x",
        "chooses a trial; the second one opens both side by side",
    ),
    ("g", "goes to the list"),
    ("?", "shows these keys"),
];

/// Returns the dialog that the script opens.
pub fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (key, about) in KEYS {
                    div {
                        dt { @for key in key.split_whitespace() { kbd { (key) } " " } }
                        dd { (about) }
                    }
                }
            }
            button #keys-close type="button" { "Close" }
        }
    }
}
