//! Applies the diffs of an instance to the files of its base commit.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// What a diff does to one file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FilePatch {
    /// The path before; `None` if the file is new.
    pub(super) old: Option<Utf8PathBuf>,
    /// The path after; `None` if the file is gone.
    pub(super) new: Option<Utf8PathBuf>,
    /// Whether it is no text, so that the diff does not have its content.
    pub(super) is_binary: bool,
    hunks: Vec<Hunk>,
}

/// Neighbouring lines, each with its line break.
#[derive(Debug, Clone, PartialEq, Default)]
struct Hunk {
    /// The index of the first line.
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
    /// The lines that are still to be read, before and after.
    left: [usize; 2],
    last: char,
}

/// Reads a diff as git writes it.
pub(super) fn read(text: &str) -> Result<Vec<FilePatch>, String> {
    let mut files: Vec<FilePatch> = Vec::new();
    for line in text.split_inclusive('\n') {
        let file = files.last_mut();
        let hunk = file.and_then(|file| file.hunks.last_mut());
        if hunk.is_some_and(|hunk| hunk.take(line)) {
            continue;
        }
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(paths) = line.strip_prefix("diff --git ") {
            files.push(named(paths)?);
            continue;
        }
        let Some(file) = files.last_mut() else {
            continue;
        };
        if let Some(place) = line.strip_prefix("@@ -") {
            file.hunks.push(Hunk::begin(place)?);
        } else if line.starts_with("new file mode") {
            file.old = None;
        } else if line.starts_with("deleted file mode") {
            file.new = None;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            file.old = Some(inside(path)?);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            file.new = Some(inside(path)?);
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            file.is_binary = true;
        }
    }
    let is_whole = |hunk: &Hunk| hunk.left == [0, 0];
    match files.iter().all(|file| file.hunks.iter().all(is_whole)) {
        true => Ok(files),
        false => Err("a diff ends before its last hunk does".into()),
    }
}

/// Returns the file of `a/PATH b/PATH`. Where the paths differ, other lines name them.
fn named(paths: &str) -> Result<FilePatch, String> {
    let middle = paths.len() / 2;
    let same = paths.get(..middle).zip(paths.get(middle + 1..));
    let same = same.and_then(|(old, new)| Some((old.strip_prefix("a/")?, new.strip_prefix("b/")?)));
    let path = match same {
        Some((old, new)) if old == new => Some(inside(old)?),
        _ => None,
    };
    Ok(FilePatch {
        old: path.clone(),
        new: path,
        ..FilePatch::default()
    })
}

/// Returns a path that stays in the project.
fn inside(path: &str) -> Result<Utf8PathBuf, String> {
    let path = Utf8Path::new(path);
    let is_plain = |part| matches!(part, Utf8Component::Normal(name) if name != ".git");
    match path.components().all(is_plain) && !path.as_str().is_empty() {
        true => Ok(path.to_owned()),
        false => Err(format!("a diff names {path}, which is not in the project")),
    }
}

impl Hunk {
    /// Reads `3,7 +3,8 @@ fn main`.
    fn begin(place: &str) -> Result<Self, String> {
        let numbers = |text: &str| -> Option<[usize; 2]> {
            let (start, count) = text.split_once(',').unwrap_or((text, "1"));
            Some([start.parse().ok()?, count.parse().ok()?])
        };
        let places = place.split_once(" @@").and_then(|(place, _)| {
            let (old, new) = place.split_once(" +")?;
            Some((numbers(old)?, numbers(new)?))
        });
        let ([start, old], [_, new]) =
            places.ok_or_else(|| format!("a diff has a hunk that cannot be read: @@ -{place}"))?;
        Ok(Hunk {
            start: start.saturating_sub(1),
            left: [old, new],
            ..Hunk::default()
        })
    }

    /// Takes a line that belongs to it. Returns whether it does.
    fn take(&mut self, line: &str) -> bool {
        if line.starts_with('\\') {
            // The line before has no line break.
            let sides = [(&mut self.old, "- "), (&mut self.new, "+ ")];
            for (side, signs) in sides {
                if let Some(last) = side.last_mut().filter(|_| signs.contains(self.last)) {
                    last.truncate(last.trim_end_matches('\n').len());
                }
            }
            return true;
        }
        if self.left == [0, 0] {
            return false;
        }
        // Some tools cut the space of an empty line.
        let sign = line
            .chars()
            .next()
            .filter(|sign| *sign != '\n')
            .unwrap_or(' ');
        let content = line.strip_prefix(sign).unwrap_or(line);
        let (is_old, is_new) = (sign != '+', sign != '-');
        if !"+- ".contains(sign) {
            return false;
        }
        for (is_there, side, left) in [(is_old, &mut self.old, 0), (is_new, &mut self.new, 1)] {
            if is_there {
                side.push(content.to_owned());
                self.left[left] = self.left[left].saturating_sub(1);
            }
        }
        self.last = sign;
        true
    }
}

impl FilePatch {
    /// Returns the text after the change.
    pub(super) fn apply(&self, text: &str) -> Result<String, String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut result = String::new();
        let mut done = 0;
        for hunk in &self.hunks {
            let is_at = |at: &usize| {
                let there = lines.get(*at..*at + hunk.old.len());
                there.is_some_and(|there| there.iter().eq(&hunk.old))
            };
            let expected = Some(hunk.start).filter(|at| *at >= done);
            let at = expected
                .filter(is_at)
                .or_else(|| (done..=lines.len()).find(is_at))
                .ok_or_else(|| {
                    let path = self.old.as_deref().unwrap_or(Utf8Path::new(""));
                    format!("its diff does not fit {path} of the base commit")
                })?;
            result.extend(lines[done..at].iter().copied());
            result.extend(hunk.new.iter().map(String::as_str));
            done = at + hunk.old.len();
        }
        result.extend(lines[done..].iter().copied());
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(diff: &str, text: &str) -> Result<String, String> {
        read(diff)?[0].apply(text)
    }

    #[test]
    fn lines_are_changed_where_they_are() {
        let diff = "diff --git a/src/a.py b/src/a.py\nindex 1..2 100644\n--- a/src/a.py\n+++ b/src/a.py\n\
                    @@ -1,3 +1,4 @@ def x\n a\n-b\n+B\n+B2\n c\n@@ -5 +6 @@\n-e\n\\ No newline at end of file\n+E\n";
        let text = "a\nb\nc\nd\ne";
        assert_eq!(applied(diff, text).unwrap(), "a\nB\nB2\nc\nd\nE\n");
        assert_eq!(
            applied(diff, &format!("new\n{text}")).unwrap(),
            "new\na\nB\nB2\nc\nd\nE\n"
        );
        let error = applied(diff, "other\n").unwrap_err();
        assert!(error.contains("does not fit src/a.py"), "{error}");
    }

    #[test]
    fn files_come_go_and_move() {
        let diff = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+one\n+--- two\n\
                    diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                    diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n\
                    diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n";
        let files = read(diff).unwrap();
        let paths = |file: &FilePatch| {
            [&file.old, &file.new].map(|path| path.clone().map(Utf8PathBuf::into_string))
        };
        let some = |path: &str| Some(path.to_owned());
        let all: Vec<_> = files.iter().map(paths).collect();
        assert_eq!(
            all,
            [
                [None, some("n")],
                [some("gone"), None],
                [some("from"), some("to")],
                [some("p.png"), some("p.png")],
            ]
        );
        assert_eq!(files[0].apply("").unwrap(), "one\n--- two\n");
        assert_eq!(files[2].apply("same").unwrap(), "same");
        assert!(files[3].is_binary);
    }

    #[test]
    fn what_is_no_diff_of_the_project_is_refused() {
        for diff in [
            "diff --git a/../x b/../x\n",
            "diff --git a/.git/hooks/x b/.git/hooks/x\n",
            "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n a\n",
            "diff --git a/x b/x\n@@ -a +b @@\n",
        ] {
            assert!(read(diff).is_err(), "{diff}");
        }
    }
}
