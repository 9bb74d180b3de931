//! A change that a tool call makes, as a diff.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};
use terca_core::text::prose;
use terca_core::transcript::edits::{Change, Edit};

use super::text::{clean, fit_text};

/// Texts with more lines are not compared line by line.
const MOST_LINES: usize = 2_000;
/// Longer changes are folded.
const FIRST_LINES: usize = 24;

/// Neighbouring lines that were added, removed or left.
struct Block {
    tag: ChangeTag,
    lines: Vec<String>,
}

/// Returns a change in about so many bytes of text.
pub fn edit(edit: &Edit<'_>, room: usize) -> Markup {
    let blocks = match &edit.change {
        Change::Unknown => Vec::new(),
        Change::Written(text) => of_texts("", &fit_text(text, room)),
        Change::Replaced { before, after } => {
            of_texts(&fit_text(before, room / 2), &fit_text(after, room / 2))
        }
        Change::Patched(lines) => of_patch(&fit_text(&lines.join("\n"), room)),
    };
    let count = |tag: ChangeTag| -> usize {
        let of = blocks.iter().filter(|block| block.tag == tag);
        of.map(|block| block.lines.len()).sum()
    };
    let lines: usize = blocks.iter().map(|block| block.lines.len()).sum();
    let body = html! {
        div.lines tabindex="0" role="group" aria-label={ "Change of " (clean(edit.path)) } {
            @for block in &blocks { (written(block)) }
        }
    };
    html! {
        div.edit {
            p.who {
                code { (clean(edit.path)) }
                span.plus { "+" (count(ChangeTag::Insert)) }
                span.minus { "−" (count(ChangeTag::Delete)) }
            }
            @if lines > FIRST_LINES {
                details.fold {
                    summary { (prose::count(lines, "line")) }
                    (body)
                }
            } @else if lines > 0 {
                (body)
            }
        }
    }
}

fn written(block: &Block) -> Markup {
    let sign = match block.tag {
        ChangeTag::Insert => '+',
        ChangeTag::Delete => '-',
        ChangeTag::Equal => ' ',
    };
    let signs: Vec<String> = block.lines.iter().map(|_| sign.to_string()).collect();
    let text = block.lines.join("\n");
    let inner = html! { span.sign { (signs.join("\n")) } span.text { (clean(&text)) } };
    match block.tag {
        ChangeTag::Insert => html! { ins.added { (inner) } },
        ChangeTag::Delete => html! { del.removed { (inner) } },
        ChangeTag::Equal => html! { div.same { (inner) } },
    }
}

fn add(blocks: &mut Vec<Block>, tag: ChangeTag, line: &str) {
    let line = line.trim_end_matches(['\n', '\r']).to_owned();
    match blocks.last_mut() {
        Some(block) if block.tag == tag => block.lines.push(line),
        _ => blocks.push(Block {
            tag,
            lines: vec![line],
        }),
    }
}

fn of_texts(before: &str, after: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    if before.lines().count() + after.lines().count() > MOST_LINES {
        before
            .lines()
            .for_each(|line| add(&mut blocks, ChangeTag::Delete, line));
        after
            .lines()
            .for_each(|line| add(&mut blocks, ChangeTag::Insert, line));
        return blocks;
    }
    let diff = TextDiff::from_lines(before, after);
    for change in diff.iter_all_changes() {
        add(&mut blocks, change.tag(), change.value());
    }
    blocks
}

fn of_patch(patch: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for line in patch.lines() {
        let (tag, text) = match line.as_bytes().first() {
            Some(b'+') => (ChangeTag::Insert, &line[1..]),
            Some(b'-') => (ChangeTag::Delete, &line[1..]),
            Some(b' ') => (ChangeTag::Equal, &line[1..]),
            _ => (ChangeTag::Equal, line),
        };
        add(&mut blocks, tag, text);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_diffs() {
        let shown = |change| {
            let one = Edit {
                path: "a.txt",
                change,
            };
            edit(&one, 10_000).0
        };
        let replaced = shown(Change::Replaced {
            before: "a\nb\n",
            after: "a\n<c>\n",
        });
        assert!(replaced.contains("<del class=\"removed\"><span class=\"sign\">-</span><span class=\"text\">b</span></del>"), "{replaced}");
        assert!(replaced.contains("&lt;c&gt;</span></ins>"), "{replaced}");
        assert!(replaced.contains("+1") && replaced.contains("−1"));
        let written = shown(Change::Written("x\ny"));
        assert!(written.contains("+2") && written.contains("x\ny"));
        let patched = shown(Change::Patched(vec!["@@", "-1", "+2"]));
        assert!(patched.contains("<del") && patched.contains("<ins"));
        assert!(!shown(Change::Unknown).contains("lines"));
    }
}
