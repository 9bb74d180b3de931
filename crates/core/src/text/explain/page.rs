//! Shows the texts in a terminal and as a page of the documentation.

use super::{Code, Topic};

/// Returns one code's text for a terminal. Code is indented instead of fenced.
pub fn brief(code: Code) -> String {
    let mut shown = format!("{}: {}\n\n", code.as_str(), code.title());
    let mut in_code = false;
    for line in code.body().lines() {
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let indent = if in_code && !line.is_empty() {
            "    "
        } else {
            ""
        };
        shown += &format!("{indent}{line}\n");
    }
    shown
}

/// Returns all codes by topic, a line each.
pub fn overview() -> String {
    let width = Code::ALL
        .iter()
        .map(|code| code.as_str().len())
        .max()
        .unwrap_or(0);
    let topics = Topic::ALL.iter().map(|topic| {
        let lines: String = of(*topic)
            .map(|code| format!("  {:width$}  {}\n", code.as_str(), code.title()))
            .collect();
        format!("{}\n{lines}", topic.title())
    });
    topics.collect::<Vec<_>>().join("\n")
}

/// Returns the page of the documentation. A code's heading is its anchor.
pub fn markdown() -> String {
    let mut page = include_str!("preface.md").to_owned();
    for topic in Topic::ALL {
        page += &format!("\n## {}\n", topic.title());
        for code in of(*topic) {
            page += &format!(
                "\n### {}\n\n{}.\n\n{}\n",
                code.as_str(),
                sentence(code.title()),
                code.body()
            );
        }
    }
    page
}

fn of(topic: Topic) -> impl Iterator<Item = Code> {
    Code::ALL
        .iter()
        .copied()
        .filter(move |code| code.topic() == topic)
}

/// Returns the title with a capital, unless it begins with code.
fn sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
