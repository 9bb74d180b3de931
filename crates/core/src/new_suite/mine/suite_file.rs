//! `terca.yaml` of a suite that is made from a history.

use camino::Utf8Path;
use serde_json::json;

use crate::new_suite::scaffold::{NewFile, SUITE_SCHEMA, editor_line, schemas};
use crate::text::json::yaml_line;

/// The line by which such a suite is known.
pub const MARK: &str = "x-mined: true";

/// Returns the first files of the suite.
pub fn suite_file(name: &str) -> Vec<NewFile> {
    let editor = editor_line(Utf8Path::new("terca.yaml"), SUITE_SCHEMA);
    let name = yaml_line(&json!(name));
    let text = format!(
        "{editor}\
         # Evals from the history of a repository, made by `terca mine`. Each is a draft until you have read its prompt.\n\
         #   terca -t tag:edit-me --dry-run    the drafts whose prompts you have not read\n\
         #   terca validate                    check the evals again, after a change\n\
         #   terca                             run them\n\n\
         name: {name}\n{MARK}\n\
         # The project's own code runs in every trial: never without a sandbox.\n\
         sandbox: auto\n\
         timeoutSeconds: 900\n\
         # Downloads of the setup are kept for all evals.\n\
         cache: [npm, pip, uv, cargo]\n\n\
         environments:\n  - name: nop\n    \
         # `nop` is built in: replace it by an agent (`terca doctor` lists them)\n    agent: nop\n"
    );
    let mut files = vec![NewFile::new("terca.yaml", text)];
    files.extend(schemas());
    files
}

/// Returns the line by which a suite of bugs in a commit is known.
pub fn bugs_mark(commit: &str) -> String {
    format!("x-mined: bugs in {commit}")
}

/// Returns the first files of a suite of bugs, with the keys that all of them share.
pub fn bugs_file(name: &str, commit: &str, keys: &str) -> Vec<NewFile> {
    let mut files = suite_file(name);
    if let Some(file) = files.first_mut() {
        let text = file.content.replace(MARK, &bugs_mark(commit));
        let text = text.replace(
            "# Evals from the history of a repository, made by `terca mine`. Each is a draft until you have read its prompt.\n\
             #   terca -t tag:edit-me --dry-run    the drafts whose prompts you have not read\n",
            "# Bugs in a repository, made by `terca mine --inject`. `_base` is the project without them.\n",
        );
        file.content = format!("{text}{keys}");
    }
    files
}

/// Returns the text of `terca.yaml` in which drafts are proven: that of the suite, with limits against code that nobody
/// has looked at.
pub fn proof_file(files: &[NewFile]) -> String {
    let text = files.first().map_or("", |file| file.content.as_str());
    format!("{text}limits: {{ memory: 8GB, processes: 2000, disk: 10GB }}\n")
}
