//! A unified diff, file by file, its lines in their colours.

use terca_core::text::prose;
use terca_core::transcript::trial_files::Excerpt;

use super::fit::{fit, note};
use super::markup::{Html, el};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `diff --git …`: a file begins.
    File,
    /// `---`, `+++`, `rename from` …
    Head,
    /// `@@ … @@`
    Hunk,
    Added,
    Removed,
    Same,
}

/// In so many bytes of markup.
pub fn diff(changes: &Excerpt, room: usize) -> Html {
    let mut parts = blocks(&changes.head);
    if changes.left_out > 0 {
        parts.push(note(&left_out(changes.left_out)));
        parts.extend(blocks(&changes.tail));
    }
    let body = fit(parts, room, |number| {
        format!(
            "… {} left out here: the whole is in changes.diff …",
            prose::count(number, "block of lines")
        )
    });
    el("div")
        .class("diff")
        .attr("tabindex", 0)
        .attr("role", "region")
        .attr("aria-label", "Changes")
        .child(body)
        .into()
}

fn left_out(bytes: u64) -> String {
    format!(
        "… {} bytes left out here: the whole is in changes.diff …",
        prose::compact(bytes)
    )
}

/// Lines of a kind that stand together are one block. Of many, several: so that there is something to leave out.
fn blocks(text: &str) -> Vec<Html> {
    const MOST_LINES: usize = 20;
    let mut in_hunk = false;
    let mut blocks: Vec<(Kind, Vec<Html>)> = Vec::new();
    for line in text.lines() {
        let kind = kind(line, in_hunk);
        in_hunk = match kind {
            Kind::File => false,
            Kind::Hunk => true,
            _ => in_hunk,
        };
        let html = Html::text(match kind {
            Kind::File => file_name(line).unwrap_or(line),
            _ => line,
        });
        match blocks.last_mut() {
            Some((last, lines))
                if *last == kind && kind != Kind::File && lines.len() < MOST_LINES =>
            {
                lines.push(html);
            }
            _ => blocks.push((kind, vec![html])),
        }
    }
    blocks
        .into_iter()
        .map(|(kind, lines)| block(kind, lines))
        .collect()
}

fn kind(line: &str, in_hunk: bool) -> Kind {
    match line.as_bytes().first() {
        _ if line.starts_with("diff --git ") => Kind::File,
        _ if line.starts_with("@@") => Kind::Hunk,
        Some(b'+') if in_hunk => Kind::Added,
        Some(b'-') if in_hunk => Kind::Removed,
        Some(b' ') | None => Kind::Same,
        _ if in_hunk => Kind::Same,
        _ => Kind::Head,
    }
}

/// `diff --git a/fib.js b/fib.js` is about `fib.js`.
fn file_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("diff --git a/")?;
    let name = rest.get(..rest.len().checked_sub(" b/".len())? / 2)?;
    (rest[name.len()..].strip_prefix(" b/") == Some(name)).then_some(name)
}

fn block(kind: Kind, lines: Vec<Html>) -> Html {
    let (name, class) = match kind {
        Kind::File => ("h4", "file"),
        Kind::Head => ("div", "head"),
        Kind::Hunk => ("div", "hunk"),
        Kind::Added => ("ins", "added"),
        Kind::Removed => ("del", "removed"),
        Kind::Same => ("div", "same"),
    };
    let mut body = Html::new();
    for (index, line) in lines.into_iter().enumerate() {
        if index > 0 {
            body.push(Html::text("\n"));
        }
        body.push(line);
    }
    el(name).class(class).child(body).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGES: &str = "diff --git a/fib.js b/fib.js\nnew file mode 100644\n--- /dev/null\n+++ b/fib.js\n\
        @@ -0,0 +1,3 @@\n+// <script>alert(1)</script>\n+module.exports = (n) => n < 2 ? n : 1;\n--- old\n same\n\
        diff --git a/a.txt b/a.txt\n";

    #[test]
    fn files_hunks_and_lines() {
        let html = diff(&Excerpt::whole(CHANGES), 10_000);
        insta::assert_snapshot!("html_diff", html.as_str().replace("><", ">\n<"));
    }

    #[test]
    fn a_long_one_keeps_to_its_room() {
        let lines: String = (0..100_000)
            .map(|number| format!("+\n-{}\n", number % 7))
            .collect();
        let text = format!("{CHANGES}{lines}");
        let html = diff(&Excerpt::whole(text), 5_000);
        assert!(html.len() < 5_300, "{}", html.len());
        assert!(html.as_str().contains("left out here"));
    }
}
