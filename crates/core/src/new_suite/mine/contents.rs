//! Looks into the files that a commit changes: they have to be text, small, and without secrets.

use std::collections::HashMap;

use camino::Utf8PathBuf;

use super::choice::Chosen;
use super::secrets::secret_in;
use super::{Reason, Refusal};

/// The lines of tests that a commit may change, for each line of code that it may.
const TEST_LINES: usize = 3;

/// A changed file with its content on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path.
    pub path: Utf8PathBuf,
    /// The content before, empty where the file is new.
    pub old: Vec<u8>,
    /// The content after, empty where the file is gone.
    pub new: Vec<u8>,
}

/// Refuses a commit for what its files have in them.
pub fn check(
    chosen: &Chosen,
    solution: &[ChangedFile],
    tests: &[ChangedFile],
    most_lines: usize,
) -> Result<(), Refusal> {
    if let Some(kind) = secret_in(&chosen.commit.message) {
        return Err(Refusal::with(
            Reason::Secret,
            format!("{kind} in its message"),
        ));
    }
    let code = lines(solution)?;
    if code > most_lines {
        let detail = format!("{code} lines of code are changed, and {most_lines} may be");
        return Err(Refusal::with(Reason::TooLarge, detail));
    }
    let of_tests = lines(tests)?;
    if of_tests > most_lines.saturating_mul(TEST_LINES) {
        let detail = format!(
            "{of_tests} lines of tests are changed, and {} may be",
            most_lines.saturating_mul(TEST_LINES)
        );
        return Err(Refusal::with(Reason::TooLarge, detail));
    }
    Ok(())
}

/// Returns the number of changed lines.
fn lines(files: &[ChangedFile]) -> Result<usize, Refusal> {
    let mut number = 0;
    for file in files {
        let not_text = |_| Refusal::with(Reason::Binary, file.path.as_str());
        let old = std::str::from_utf8(&file.old).map_err(not_text)?;
        let new = std::str::from_utf8(&file.new).map_err(not_text)?;
        if old.contains('\0') || new.contains('\0') {
            return Err(Refusal::with(Reason::Binary, file.path.as_str()));
        }
        let changed = changed_lines(old, new);
        number += changed.len();
        if let Some(kind) = secret_in(&changed.join("\n")) {
            let detail = format!("{kind} in {}", file.path);
            return Err(Refusal::with(Reason::Secret, detail));
        }
    }
    Ok(number)
}

/// Returns the lines that only one side has. A line that moved is on both.
fn changed_lines<'a>(old: &'a str, new: &'a str) -> Vec<&'a str> {
    let mut changed = added_lines(old, new);
    changed.extend(added_lines(new, old));
    changed
}

/// Returns the lines that only the new side has.
pub(super) fn added_lines<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in old.lines() {
        *left.entry(line).or_default() += 1;
    }
    let mut added = Vec::new();
    for line in new.lines() {
        match left.get_mut(line).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => added.push(line),
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_suite::mine::commit::Commit;

    fn refused(old: &[u8], new: &[u8]) -> Option<Refusal> {
        let chosen = Chosen {
            commit: Commit {
                id: String::new(),
                parents: Vec::new(),
                seconds: 0,
                message: "Fix it".into(),
            },
            parent: String::new(),
            tests: Vec::new(),
            solution: Vec::new(),
            run: Vec::new(),
        };
        let file = ChangedFile {
            path: "a.py".into(),
            old: old.to_vec(),
            new: new.to_vec(),
        };
        check(&chosen, &[file], &[], 3).err()
    }

    #[test]
    fn files_that_are_large_or_not_text_are_refused() {
        assert_eq!(refused(b"a\nb\n", b"b\na\nc\n"), None);
        let reason = |old, new| refused(old, new).map(|refusal| refusal.reason);
        assert_eq!(reason(b"", b"1\n2\n3\n4\n"), Some(Reason::TooLarge));
        assert_eq!(reason(b"1\n2\n3\n4\n", b""), Some(Reason::TooLarge));
        assert_eq!(reason(b"", b"\0"), Some(Reason::Binary));
        assert_eq!(reason(b"\xff", b""), Some(Reason::Binary));
    }

    #[test]
    fn a_secret_is_named_by_its_kind_alone() {
        let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let text = format!("key = '{key}'\n");
        for (old, new) in [("", text.as_str()), (text.as_str(), "")] {
            let refusal = refused(old.as_bytes(), new.as_bytes()).unwrap();
            assert_eq!(
                refusal,
                Refusal::with(Reason::Secret, "a key of AWS in a.py")
            );
        }
        // The secret was there before, and is not a part of the change.
        let more = format!("{text}x\n");
        assert_eq!(refused(text.as_bytes(), more.as_bytes()), None);
    }
}
