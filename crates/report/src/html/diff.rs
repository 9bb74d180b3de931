//! A unified diff: a list of its files, and each file folded, with the numbers of its lines.

use maud::{Markup, html};
use terca_core::text::excerpt::Excerpt;
use terca_core::text::prose;
use terca_core::transcript::trial_files::even_cut;

use super::diff_file::{Block, FileDiff, Kind, files};
use super::fit::{fit, note, size};
use super::foreign::clean;

/// Files with more lines are closed at first.
const MOST_LINES_OPEN: usize = 400;
/// The room of a file that is left for its title.
const TITLE: usize = 600;

/// Returns the diff of a trial in so many bytes of markup.
pub fn diff(changes: &Excerpt, trial: u32, room: usize) -> Markup {
    let mut all = files(&changes.head);
    let gap = all.len();
    if changes.left_out > 0 {
        all.extend(files(&changes.tail));
    }
    let room = room.saturating_sub(size(&list(&all, trial)));
    let sizes = all.iter().map(|file| TITLE + file.size());
    let each = even_cut(sizes, room).unwrap_or(usize::MAX);
    let mut parts: Vec<Markup> = Vec::new();
    for (index, file) in all.iter().enumerate() {
        if index == gap {
            parts.push(note(&format!(
                "… {} bytes left out; see changes.diff …",
                prose::compact(changes.left_out)
            )));
        }
        parts.push(file_part(file, index + 1, each.saturating_sub(TITLE)));
    }
    let remark = |number| {
        format!(
            "… {} left out; see changes.diff …",
            prose::count(number, "file")
        )
    };
    html! {
        @if all.len() > 1 { (list(&all, trial)) }
        div.diff { (fit(&parts, room, remark)) }
    }
}

/// More files are not in the list.
const MOST_LISTED: usize = 100;

fn list(files: &[FileDiff<'_>], trial: u32) -> Markup {
    html! {
        ul.files {
            @for (index, file) in files.iter().take(MOST_LISTED).enumerate() {
                li {
                    a href={ "#trial-" (trial) "/file-" (index + 1) } { (clean(file.name())) }
                    (counts(file))
                }
            }
            @if files.len() > MOST_LISTED {
                li.quiet { "and " (prose::count(files.len() - MOST_LISTED, "more file")) }
            }
        }
    }
}

fn counts(file: &FileDiff<'_>) -> Markup {
    html! {
        span.plus { "+" (file.count(Kind::Added)) }
        " "
        span.minus { "−" (file.count(Kind::Removed)) }
    }
}

fn file_part(file: &FileDiff<'_>, number: usize, room: usize) -> Markup {
    let blocks: Vec<(usize, Markup)> = file
        .blocks
        .iter()
        .map(|one| (one.lines.len(), block(one)))
        .collect();
    let lines: usize = blocks.iter().map(|(lines, _)| lines).sum();
    html! {
        details.file id={ "file-" (number) } data-file=(clean(file.name())) open[lines <= MOST_LINES_OPEN] {
            summary {
                b { (clean(file.name())) }
                (counts(file))
                @if let Some(word) = file.word() { span.pill { (word) } }
                @if let Some(old) = file.renamed_from() { span.quiet { "from " (clean(old)) } }
            }
            @if lines > 0 {
                div.lines tabindex="0" role="group" aria-label={ "Changes of " (clean(file.name())) } {
                    (within(&blocks, room))
                }
            }
        }
    }
}

/// Returns the blocks that fit, with the number of lines that do not.
fn within(blocks: &[(usize, Markup)], room: usize) -> Markup {
    let count = |room: usize, blocks: &mut dyn Iterator<Item = &(usize, Markup)>| {
        let mut sum = 0;
        blocks
            .take_while(|(_, markup)| {
                sum += size(markup);
                sum <= room
            })
            .count()
    };
    let all: usize = blocks.iter().map(|(_, markup)| size(markup)).sum();
    let head = match all <= room {
        true => blocks.len(),
        false => count(room / 4 * 3, &mut blocks.iter()),
    };
    let tail = count(room / 4, &mut blocks[head..].iter().rev());
    let end = blocks.len() - tail;
    let left_out: usize = blocks[head..end].iter().map(|(lines, _)| lines).sum();
    html! {
        @for (_, markup) in &blocks[..head] { (markup) }
        @if left_out > 0 {
            (note(&format!("… {} left out; see changes.diff …", prose::count(left_out, "line"))))
        }
        @for (_, markup) in &blocks[end..] { (markup) }
    }
}

fn block(block: &Block<'_>) -> Markup {
    if matches!(block.kind, Kind::Hunk | Kind::Note) {
        // Line by line: a terminal sequence that one line leaves open must not take the next with it.
        let lines: Vec<String> = block
            .lines
            .iter()
            .map(|line| clean(line).into_owned())
            .collect();
        return html! { div.hunk { (lines.join("\n")) } };
    }
    let sign = match block.kind {
        Kind::Added => "+",
        Kind::Removed => "-",
        _ => " ",
    };
    let count = block.lines.len();
    let numbers: Vec<String> = (0..count)
        .map(|index| (block.first + index).to_string())
        .collect();
    let lines: Vec<String> = block
        .lines
        .iter()
        .map(|line| clean(line).into_owned())
        .collect();
    let inner = html! {
        span.numbers aria-hidden="true" { (numbers.join("\n")) }
        span.sign { (vec![sign; count].join("\n")) }
        span.text { (lines.join("\n")) }
    };
    match block.kind {
        Kind::Added => html! { ins.added { (inner) } },
        Kind::Removed => html! { del.removed { (inner) } },
        _ => html! { div.same { (inner) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGES: &str = "diff --git a/fib.js b/fib.js\nnew file mode 100644\n--- /dev/null\n+++ b/fib.js\n\
        @@ -0,0 +1,3 @@\n+// <script>alert(1)</script>\n+module.exports = (n) => n < 2 ? n : 1;\n--- old\n same\n\
        diff --git a/src/legacy.js b/src/compat.js\nsimilarity index 90%\nrename from src/legacy.js\nrename to src/compat.js\n\
        diff --git a/a.txt b/a.txt\n";

    #[test]
    fn files_hunks_and_lines() {
        let html = diff(&Excerpt::whole(CHANGES), 7, 10_000);
        insta::assert_snapshot!("html_diff", html.0.replace("><", ">\n<"));
    }

    #[test]
    fn a_long_one_keeps_to_its_room_and_counts_lines() {
        let lines: String = (0..100_000)
            .map(|number| format!("+\n-{}\n", number % 7))
            .collect();
        let text = format!("diff --git a/a.txt b/a.txt\n@@ -1,100000 +1,100000 @@\n{lines}");
        let html = diff(&Excerpt::whole(text), 7, 5_000).0;
        assert!(html.len() < 6_300, "{}", html.len());
        let (before, _) = html.split_once(" lines left out; see").unwrap();
        let number: usize = before.rsplit_once(' ').unwrap().1.parse().unwrap();
        let shown = html.matches("<span class=\"sign\">").count();
        assert_eq!(shown + number, 200_000, "each block has one line here");
    }
}
