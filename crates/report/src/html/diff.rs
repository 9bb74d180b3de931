//! A unified diff, file by file, its lines in their colours.

use maud::{Markup, html};
use terca_core::text::excerpt::Excerpt;
use terca_core::text::prose;

use super::fit::{fit, note};
use super::foreign::clean;

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

/// Returns a diff in so many bytes of markup.
pub fn diff(changes: &Excerpt, room: usize) -> Markup {
    let mut parts = blocks(&changes.head);
    if changes.left_out > 0 {
        parts.push(note(&format!(
            "… {} bytes left out; see changes.diff …",
            prose::compact(changes.left_out)
        )));
        parts.extend(blocks(&changes.tail));
    }
    let remark = |number| {
        format!(
            "… {} left out; see changes.diff …",
            prose::count(number, "block of lines")
        )
    };
    html! {
        div.diff tabindex="0" role="region" aria-label="Changes" { (fit(&parts, room, remark)) }
    }
}

/// Returns a block for neighbouring lines of one kind. Many lines are several blocks, which [`fit`] can leave out.
fn blocks(text: &str) -> Vec<Markup> {
    const MOST_LINES: usize = 20;
    let mut in_hunk = false;
    let mut blocks: Vec<(Kind, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let kind = kind(line, in_hunk);
        in_hunk = match kind {
            Kind::File => false,
            Kind::Hunk => true,
            _ => in_hunk,
        };
        match blocks.last_mut() {
            Some((last, lines))
                if *last == kind && kind != Kind::File && lines.len() < MOST_LINES =>
            {
                lines.push(line);
            }
            _ => blocks.push((kind, vec![line])),
        }
    }
    blocks
        .iter()
        .map(|(kind, lines)| block(*kind, lines))
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

/// Returns `fib.js` for `diff --git a/fib.js b/fib.js`.
fn file_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("diff --git a/")?;
    let name = rest.get(..rest.len().checked_sub(" b/".len())? / 2)?;
    (rest[name.len()..].strip_prefix(" b/") == Some(name)).then_some(name)
}

fn block(kind: Kind, lines: &[&str]) -> Markup {
    // Line by line: a terminal sequence that one line leaves open must not take the next with it.
    let text = html! {
        @for (index, line) in lines.iter().enumerate() {
            @if index > 0 { "\n" }
            (clean(line))
        }
    };
    match kind {
        Kind::File => html! {
            h4.file { @for line in lines { (clean(file_name(line).unwrap_or(line))) } }
        },
        Kind::Head => html! { div.head { (text) } },
        Kind::Hunk => html! { div.hunk { (text) } },
        Kind::Added => html! { ins.added { (text) } },
        Kind::Removed => html! { del.removed { (text) } },
        Kind::Same => html! { div.same { (text) } },
    }
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
        insta::assert_snapshot!("html_diff", html.0.replace("><", ">\n<"));
    }

    #[test]
    fn a_long_one_keeps_to_its_room() {
        let lines: String = (0..100_000)
            .map(|number| format!("+\n-{}\n", number % 7))
            .collect();
        let text = format!("{CHANGES}{lines}");
        let html = diff(&Excerpt::whole(text), 5_000);
        assert!(html.0.len() < 5_300, "{}", html.0.len());
        assert!(html.0.contains("left out; see"));
    }
}
