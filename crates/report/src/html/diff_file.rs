//! The files of a unified diff, and the numbers of their lines.

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `@@ … @@`
    Hunk,
    Added,
    Removed,
    Same,
    /// `Binary files … differ` and the like.
    Note,
}

/// Neighbouring lines of one kind. Many lines are several blocks, which can be left out.
#[derive(Debug)]
pub struct Block<'a> {
    pub kind: Kind,
    /// The number of the first line: in the old file if they were removed, else in the new one.
    pub first: usize,
    /// The lines, without their signs.
    pub lines: Vec<&'a str>,
}

/// The changes of one file.
#[derive(Debug, Default)]
pub struct FileDiff<'a> {
    title: &'a str,
    old: Option<&'a str>,
    new: Option<&'a str>,
    is_renamed: bool,
    is_added: bool,
    is_removed: bool,
    pub blocks: Vec<Block<'a>>,
}

impl FileDiff<'_> {
    /// Returns the name of the file, the new one if it was renamed.
    pub fn name(&self) -> &str {
        let name = if self.is_removed { self.old } else { self.new };
        name.or(self.old).unwrap_or(self.title)
    }

    /// Returns the old name of a file that was renamed.
    pub fn renamed_from(&self) -> Option<&str> {
        self.old.filter(|_| self.is_renamed)
    }

    /// Returns a word for what became of the file.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            FileDiff {
                is_renamed: true, ..
            } => Some("renamed"),
            FileDiff { is_added: true, .. } => Some("new"),
            FileDiff {
                is_removed: true, ..
            } => Some("deleted"),
            _ => None,
        }
    }

    /// Counts the lines of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        let blocks = self.blocks.iter().filter(|block| block.kind == kind);
        blocks.map(|block| block.lines.len()).sum()
    }

    /// Estimates the bytes of its markup.
    pub fn size(&self) -> usize {
        const MARKUP: usize = 140;
        let lines = |block: &Block<'_>| -> usize {
            block.lines.iter().map(|line| line.len() * 2 + 10).sum()
        };
        self.blocks.iter().map(|block| MARKUP + lines(block)).sum()
    }
}

/// Splits a diff into its files. Lines before the first file are one without a name.
pub fn files(text: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    let mut place = Place::default();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("diff --git ") {
            place = Place::default();
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
#[derive(Debug, Default)]
struct Place {
    is_in_hunk: bool,
    old: usize,
    new: usize,
}

impl Place {
    fn read<'a>(&mut self, line: &'a str, file: &mut FileDiff<'a>) {
        if line.starts_with("@@") {
            (self.old, self.new) = starts(line);
            self.is_in_hunk = true;
            self.add(Kind::Hunk, line, file);
        } else if !self.is_in_hunk {
            self.head(line, file);
        } else {
            match line.as_bytes().first() {
                Some(b'+') => self.add(Kind::Added, &line[1..], file),
                Some(b'-') => self.add(Kind::Removed, &line[1..], file),
                Some(b'\\') => self.add(Kind::Note, line, file),
                Some(b' ') => self.add(Kind::Same, &line[1..], file),
                _ => self.add(Kind::Same, line, file),
            }
        }
    }

    /// Reads a line above the first hunk.
    fn head<'a>(&self, line: &'a str, file: &mut FileDiff<'a>) {
        if let Some(name) = line.strip_prefix("rename from ") {
            file.old = Some(name);
            file.is_renamed = true;
        } else if let Some(name) = line.strip_prefix("rename to ") {
            file.new = Some(name);
        } else if line.starts_with("new file mode") {
            file.is_added = true;
        } else if line.starts_with("deleted file mode") {
            file.is_removed = true;
        } else if let Some(name) = line.strip_prefix("--- a/") {
            file.old = Some(name);
        } else if let Some(name) = line.strip_prefix("+++ b/") {
            file.new = Some(name);
        } else if !["index ", "similarity ", "--- ", "+++ "]
            .iter()
            .any(|word| line.starts_with(word))
        {
            self.push(Kind::Note, 0, line, file);
        }
    }

    fn add<'a>(&mut self, kind: Kind, line: &'a str, file: &mut FileDiff<'a>) {
        let number = if kind == Kind::Removed {
            self.old
        } else {
            self.new
        };
        self.push(kind, number, line, file);
        self.old += usize::from(matches!(kind, Kind::Removed | Kind::Same));
        self.new += usize::from(matches!(kind, Kind::Added | Kind::Same));
    }

    fn push<'a>(&self, kind: Kind, number: usize, line: &'a str, file: &mut FileDiff<'a>) {
        const MOST_LINES: usize = 20;
        match file.blocks.last_mut() {
            Some(block) if block.kind == kind && block.lines.len() < MOST_LINES => {
                block.lines.push(line);
            }
            _ => file.blocks.push(Block {
                kind,
                first: number,
                lines: vec![line],
            }),
        }
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

    #[test]
    fn lines_have_their_numbers() {
        let text =
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -3,3 +5,3 @@ fn\n same\n-old\n+new\n same\n";
        let file = files(text).pop().unwrap();
        let blocks: Vec<(Kind, usize)> = file
            .blocks
            .iter()
            .map(|one| (one.kind, one.first))
            .collect();
        assert_eq!(
            blocks[1..],
            [
                (Kind::Same, 5),
                (Kind::Removed, 4),
                (Kind::Added, 6),
                (Kind::Same, 7)
            ]
        );
    }

    #[test]
    fn names_and_what_became_of_them() {
        let text = "torn\ndiff --git a/x y b/x y\ndeleted file mode 100644\n--- a/x y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
            diff --git a/a.js b/b.js\nrename from a.js\nrename to b.js\n\
            diff --git a/p.png b/p.png\nnew file mode 100644\nBinary files /dev/null and b/p.png differ\n";
        let files = files(text);
        let told: Vec<_> = files
            .iter()
            .map(|file| (file.name(), file.word()))
            .collect();
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
        assert_eq!(files[3].count(Kind::Note), 1);
        assert_eq!(
            (files[1].count(Kind::Removed), files[1].count(Kind::Added)),
            (1, 0)
        );
    }
}
