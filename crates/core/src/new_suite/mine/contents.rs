//! Looks into the files that a commit changes: they have to be text, small, and without secrets.

use std::collections::HashMap;

use super::choice::Chosen;
use super::commit::Change;
use super::secrets::secret_in;
use super::{Reason, Refusal};

/// Tests may change so many times the lines that the code may.
const TEST_LINES: usize = 3;

/// Returns a content as text, if it is some.
pub fn text(content: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(content).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// Refuses a commit whose files were read.
pub fn check(chosen: &Chosen, most_lines: usize) -> Result<(), Refusal> {
    if let Some(kind) = secret_in(&chosen.commit.message) {
        let detail = format!("{kind} in its message");
        return Err(Refusal::with(Reason::Secret, detail));
    }
    let most_of_tests = most_lines.saturating_mul(TEST_LINES);
    for (changes, noun, most) in [
        (&chosen.solution, "code", most_lines),
        (&chosen.tests, "tests", most_of_tests),
    ] {
        let number = lines(changes)?;
        if number > most {
            let detail = format!("{number} lines of {noun} are changed, and {most} may be");
            return Err(Refusal::with(Reason::TooLarge, detail));
        }
    }
    Ok(())
}

fn lines(changes: &[Change]) -> Result<usize, Refusal> {
    let mut number = 0;
    for change in changes {
        let [old, new] = change.texts();
        let changed = [added_lines(old, new), added_lines(new, old)].concat();
        number += changed.len();
        if let Some(kind) = secret_in(&changed.join("\n")) {
            let detail = format!("{kind} in {}", change.path);
            return Err(Refusal::with(Reason::Secret, detail));
        }
    }
    Ok(number)
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
    use crate::new_suite::mine::commit::{Commit, Kind, Object};

    fn refused(old: &str, new: &str) -> Option<Refusal> {
        let object = |text: &str| {
            Some(Object {
                kind: Kind::File(false),
                id: String::new(),
                text: text.to_owned(),
            })
        };
        let chosen = Chosen {
            commit: Commit {
                id: String::new(),
                parents: Vec::new(),
                seconds: 0,
                message: "Fix it".into(),
            },
            parent: String::new(),
            tests: Vec::new(),
            solution: vec![Change {
                path: "a.py".into(),
                old: object(old),
                new: object(new),
            }],
            run: Vec::new(),
        };
        check(&chosen, 3).err()
    }

    #[test]
    fn files_that_are_large_or_not_text_are_refused() {
        assert_eq!(refused("a\nb\n", "b\na\nc\n"), None);
        let reason = |old, new| refused(old, new).map(|refusal| refusal.reason);
        assert_eq!(reason("", "1\n2\n3\n4\n"), Some(Reason::TooLarge));
        assert_eq!(reason("1\n2\n3\n4\n", ""), Some(Reason::TooLarge));
        assert_eq!(super::text(b"\0".to_vec()), None);
        assert_eq!(super::text(b"\xff".to_vec()), None);
    }

    #[test]
    fn a_secret_is_named_by_its_kind_alone() {
        let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let text = format!("key = '{key}'\n");
        for (old, new) in [("", text.as_str()), (text.as_str(), "")] {
            let refusal = refused(old, new).unwrap();
            assert_eq!(
                refusal,
                Refusal::with(Reason::Secret, "a key of AWS in a.py")
            );
        }
        // The secret was there before, and is not a part of the change.
        let more = format!("{text}x\n");
        assert_eq!(refused(&text, &more), None);
    }
}
