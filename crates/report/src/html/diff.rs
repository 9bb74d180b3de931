//! A unified diff, read file by file: a list of its files, and each file folded, with the numbers of its lines. And the change
//! that a tool call makes, as a diff.

use maud::{Markup, html};
use similar::TextDiff;
use terca_core::text::excerpt::{Excerpt, without_middle};
use terca_core::text::prose;
use terca_core::transcript::edits::{Change, Edit};
use terca_core::transcript::trial_files::even_cut;

use super::text::{clean, fit, fit_counted, left_out, note, size};

/// The file with all changes.
const FILE: &str = "changes.diff";
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
    html! {
        @if all.len() > 1 { (list(&all, trial)) }
        div.diff { (fit(parts, room, left_out("file", FILE))) }
    }
}

/// More files are not in the list.
const MOST_LISTED: usize = 100;

fn list(files: &[FileDiff<'_>], trial: u32) -> Markup {
    html! {
        ul.files {
            @for (index, file) in files.iter().take(MOST_LISTED).enumerate() {
                li {
                    a href={ "#trial-" (trial) "/file-" (index + 1) } { (file.name()) }
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
        span.plus { "+" (file.count('+')) }
        " "
        span.minus { "−" (file.count('-')) }
    }
}

fn file_part(file: &FileDiff<'_>, number: usize, room: usize) -> Markup {
    let blocks: Vec<(usize, Markup)> = file
        .blocks
        .iter()
        .map(|one| (one.lines.len(), block(one, true)))
        .collect();
    let lines: usize = blocks.iter().map(|(lines, _)| lines).sum();
    html! {
        details.file id={ "file-" (number) } data-file=(file.name()) open[lines <= MOST_LINES_OPEN] {
            summary {
                b { (file.name()) }
                (counts(file))
                @if let Some(word) = file.word { span.pill { (word) } }
                @if let Some(old) = file.renamed_from() { span.quiet { "from " (old) } }
            }
            @if lines > 0 {
                div.lines tabindex="0" role="group" aria-label={ "Changes of " (file.name()) } {
                    (fit_counted(&blocks, room, left_out("line", FILE)))
                }
            }
        }
    }
}

fn block(block: &Block<'_>, is_numbered: bool) -> Markup {
    // Line by line: a terminal sequence that one line leaves open must not take the next with it.
    let lines = block.lines.iter().map(|line| clean(line).into_owned());
    let text = prose::joined(lines, "\n");
    let count = block.lines.len();
    let numbers = block.first..block.first + count;
    let numbers = numbers.map(|number| number.to_string());
    let inner = html! {
        @if is_numbered { span.numbers aria-hidden="true" { (prose::joined(numbers, "\n")) } }
        span.sign { (vec![block.sign.to_string(); count].join("\n")) }
        span.text { (text) }
    };
    match block.sign {
        '+' => html! { ins.added { (inner) } },
        '-' => html! { del.removed { (inner) } },
        ' ' => html! { div.same { (inner) } },
        _ => html! { div.hunk { (text) } },
    }
}

/// Texts with more lines are not compared line by line.
const MOST_COMPARED: usize = 2_000;
/// Longer changes are folded.
const FIRST_LINES: usize = 24;

/// Returns the change that a tool call makes, in about so many bytes of text.
pub fn edit(edit: &Edit<'_>, room: usize) -> Markup {
    let patch = match &edit.change {
        Change::Unknown => String::new(),
        Change::Written(text) => compared("", &without_middle(text, room)),
        Change::Replaced { before, after } => {
            let half = |text| without_middle(text, room / 2);
            compared(&half(before), &half(after))
        }
        Change::Patched(lines) => without_middle(&lines.join("\n"), room),
    };
    let mut file = FileDiff::default();
    let mut place = DiffPosition {
        is_in_hunk: true,
        ..DiffPosition::default()
    };
    patch.lines().for_each(|line| place.read(line, &mut file));
    let lines: usize = file.blocks.iter().map(|block| block.lines.len()).sum();
    let body = html! {
        div.lines tabindex="0" role="group" aria-label={ "Change of " (edit.path) } {
            @for one in &file.blocks { (block(one, false)) }
        }
    };
    html! {
        div.edit {
            p.who { code { (edit.path) } (counts(&file)) }
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

/// Returns the lines of two texts with their signs.
fn compared(before: &str, after: &str) -> String {
    if before.lines().count() + after.lines().count() > MOST_COMPARED {
        let removed = before.lines().map(|line| format!("-{line}\n"));
        return removed
            .chain(after.lines().map(|line| format!("+{line}\n")))
            .collect();
    }
    let diff = TextDiff::from_lines(before, after);
    let changes = diff.iter_all_changes();
    changes
        .map(|change| {
            format!(
                "{}{}\n",
                change.tag(),
                change.value().trim_end_matches(['\n', '\r'])
            )
        })
        .collect()
}

/// Neighbouring lines with the same sign. Many lines are several blocks, which can be left out.
struct Block<'a> {
    /// `+`, `-`, a space, `@` for the line above a hunk, or `\\` for a remark such as `Binary files … differ`.
    sign: char,
    /// The number of the first line: in the old file if they were removed, else in the new one.
    first: usize,
    /// The lines, without their signs.
    lines: Vec<&'a str>,
}

/// The changes of one file.
#[derive(Default)]
struct FileDiff<'a> {
    title: &'a str,
    old: Option<&'a str>,
    new: Option<&'a str>,
    /// What became of the file.
    word: Option<&'static str>,
    blocks: Vec<Block<'a>>,
}

impl FileDiff<'_> {
    /// Returns the name of the file, the new one if it was renamed.
    fn name(&self) -> &str {
        let is_deleted = self.word == Some("deleted");
        let name = if is_deleted { self.old } else { self.new };
        name.or(self.old).unwrap_or(self.title)
    }

    /// Returns the old name of a file that was renamed.
    fn renamed_from(&self) -> Option<&str> {
        self.old.filter(|_| self.word == Some("renamed"))
    }

    /// Counts the lines with a sign.
    fn count(&self, sign: char) -> usize {
        let blocks = self.blocks.iter().filter(|block| block.sign == sign);
        blocks.map(|block| block.lines.len()).sum()
    }

    /// Estimates the bytes of its markup.
    fn size(&self) -> usize {
        const MARKUP: usize = 140;
        let lines = self.blocks.iter().flat_map(|block| &block.lines);
        let texts: usize = lines.map(|line| line.len() * 2 + 10).sum();
        self.blocks.len() * MARKUP + texts
    }
}

/// Splits a diff into its files. Lines before the first file are one without a name.
fn files(text: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    let mut place = DiffPosition::default();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("diff --git ") {
            place = DiffPosition::default();
            files.push(FileDiff {
                title,
                old: same_name(title),
                new: same_name(title),
                ..FileDiff::default()
            });
            continue;
        }
        if files.is_empty() {
            files.push(FileDiff {
                title: "the end of the diff",
                ..FileDiff::default()
            });
            place.is_in_hunk = true;
        }
        if let Some(file) = files.last_mut() {
            place.read(line, file);
        }
    }
    files
}

/// Returns `fib.js` for `a/fib.js b/fib.js`.
fn same_name(title: &str) -> Option<&str> {
    let rest = title.strip_prefix("a/")?;
    let name = rest.get(..rest.len().checked_sub(" b/".len())? / 2)?;
    (rest[name.len()..].strip_prefix(" b/") == Some(name)).then_some(name)
}

/// The place in a file while its diff is read.
#[derive(Default)]
struct DiffPosition {
    is_in_hunk: bool,
    old: usize,
    new: usize,
}

/// What became of a file, by a line above its first hunk.
const WORDS: [(&str, &str); 3] = [
    ("rename from ", "renamed"),
    ("new file mode", "new"),
    ("deleted file mode", "deleted"),
];

impl DiffPosition {
    fn read<'a>(&mut self, line: &'a str, file: &mut FileDiff<'a>) {
        if line.starts_with("@@") {
            (self.old, self.new) = starts(line);
            self.is_in_hunk = true;
            self.add('@', line, file);
        } else if !self.is_in_hunk {
            self.head(line, file);
        } else {
            match line.chars().next() {
                Some(sign @ ('+' | '-' | ' ')) => self.add(sign, &line[1..], file),
                Some('\\') => self.add('\\', line, file),
                _ => self.add(' ', line, file),
            }
        }
    }

    /// Reads a line above the first hunk.
    fn head<'a>(&mut self, line: &'a str, file: &mut FileDiff<'a>) {
        let after = |prefix| line.strip_prefix(prefix);
        let word = WORDS.iter().find(|(prefix, _)| line.starts_with(prefix));
        file.word = word.map(|(_, word)| *word).or(file.word);
        if let Some(name) = after("rename from ").or(after("--- a/")) {
            file.old = Some(name);
        } else if let Some(name) = after("rename to ").or(after("+++ b/")) {
            file.new = Some(name);
        } else if word.is_none()
            && !["index ", "similarity ", "--- ", "+++ "]
                .iter()
                .any(|word| line.starts_with(word))
        {
            self.add('\\', line, file);
        }
    }

    fn add<'a>(&mut self, sign: char, line: &'a str, file: &mut FileDiff<'a>) {
        const MOST_LINES: usize = 20;
        match file.blocks.last_mut() {
            Some(block) if block.sign == sign && block.lines.len() < MOST_LINES => {
                block.lines.push(line);
            }
            _ => file.blocks.push(Block {
                sign,
                first: if sign == '-' { self.old } else { self.new },
                lines: vec![line],
            }),
        }
        self.old += usize::from(matches!(sign, '-' | ' '));
        self.new += usize::from(matches!(sign, '+' | ' '));
    }
}

/// Returns the numbers of the first lines that a hunk is about: `@@ -3,7 +3,8 @@`.
fn starts(line: &str) -> (usize, usize) {
    let number = |sign: char| -> usize {
        let word = line.split(' ').find_map(|word| word.strip_prefix(sign));
        let first = word.and_then(|word| word.split(',').next()?.parse().ok());
        first.unwrap_or(1)
    };
    (number('-'), number('+'))
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

    #[test]
    fn lines_have_their_numbers() {
        let text =
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3,3 +5,3 @@ fn\n same\n-old\n+new\n same\n";
        let file = files(text).pop().unwrap();
        let blocks: Vec<(char, usize)> = file
            .blocks
            .iter()
            .map(|one| (one.sign, one.first))
            .collect();
        assert_eq!(blocks[1..], [(' ', 5), ('-', 4), ('+', 6), (' ', 7)]);
    }

    #[test]
    fn names_and_what_became_of_them() {
        let text = "torn\ndiff --git a/x y b/x y\ndeleted file mode 100644\n--- a/x y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
            diff --git a/a.js b/b.js\nrename from a.js\nrename to b.js\n\
            diff --git a/p.png b/p.png\nnew file mode 100644\nBinary files /dev/null and b/p.png differ\n";
        let files = files(text);
        let told: Vec<_> = files.iter().map(|file| (file.name(), file.word)).collect();
        assert_eq!(
            told,
            [
                ("the end of the diff", None),
                ("x y", Some("deleted")),
                ("b.js", Some("renamed")),
                ("p.png", Some("new"))
            ]
        );
        assert_eq!(files[2].renamed_from(), Some("a.js"));
        assert_eq!(files[3].count('\\'), 1);
        assert_eq!((files[1].count('-'), files[1].count('+')), (1, 0));
    }

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
