//! `fileExists`: files that must be there.

use std::time::Duration;

use serde_json::json;

use super::declaration::{TestKindDeclaration, settings};
use super::grades::Grade;
use super::test::{Question, TestKind};
use crate::reader::patterns::{PathPattern, path_pattern};
use crate::reader::{Value, one_or_more};
use crate::text::{Code, Diagnostic, prose};

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "fileExists",
    about: "Each path must exist, and each glob must match a file.",
    settings: || {
        let paths = one_or_more(path_pattern("path or glob")).checked(|node, reader| {
            if node.value != Value::List(Vec::new()) {
                return Some(());
            }
            reader.refuse(
                Diagnostic::error(Code::AsksNothing, "`fileExists` names no file")
                    .at(node.place, "expected a path or a list of paths"),
            )
        });
        settings(paths.with("minItems", json!(1)).map(FileExists))
    },
};

/// The paths that must exist.
#[derive(Debug)]
struct FileExists(Vec<PathPattern>);

impl TestKind for FileExists {
    fn question(&self, _: Duration) -> Question<'_> {
        Question::Files {
            patterns: &self.0,
            judge: Box::new(|found| Ok(self.judge(found))),
        }
    }
}

impl FileExists {
    fn judge(&self, found: &[bool]) -> Grade {
        let all: Vec<&str> = self.0.iter().map(|path| path.written.as_str()).collect();
        let missing: Vec<&str> = all
            .iter()
            .zip(found)
            .filter(|(_, found)| !**found)
            .map(|(written, _)| *written)
            .collect();
        match (missing.len(), all.len()) {
            (0, 1) => Grade::pass(format!("{} exists", all[0])),
            (0, _) => Grade::pass(format!("{} exist", prose::list(&all, "and"))),
            (1, _) => Grade::fail(format!("{} does not exist", missing[0])),
            _ => Grade::fail(format!("{} do not exist", prose::list(&missing, "and"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let asked = FileExists(vec![
            PathPattern::new("a.js", "a.js".into()).unwrap(),
            PathPattern::new("b.js", "b.js".into()).unwrap(),
        ]);
        for (found, verdict) in [
            ([true, true], Grade::pass("a.js and b.js exist")),
            ([true, false], Grade::fail("b.js does not exist")),
            ([false, false], Grade::fail("a.js and b.js do not exist")),
        ] {
            assert_eq!(asked.judge(&found), verdict);
        }
    }
}
