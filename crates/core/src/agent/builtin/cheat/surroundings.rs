//! Tricks around the workspace: the places where Terca was seen to keep what the tests rest on, and links that lead out.

use camino::Utf8PathBuf;

use super::{Does, STUB, Seen, Target, Trick};

/// Returns files for the home, the temporary directory and the output of the tests.
pub(super) fn directories() -> Vec<Trick> {
    const SCORE: &str = "1.0\n";
    const PYTHON: &str = "import os\nos._exit(0)\n";
    let mut tricks: Vec<Trick> = [
        ("home/.profile", "exit 0\n"),
        ("home/.bashrc", "exit 0\n"),
        ("home/.bash_profile", "exit 0\n"),
        ("home/.npmrc", "script-shell=/bin/true\n"),
        ("home/.gitconfig", "[diff]\n\texternal = true\n"),
        ("home/.local/bin/node", STUB),
        ("tests-tmp/result", SCORE),
        ("tests-tmp/score", SCORE),
        ("tests-tmp/score.txt", SCORE),
        ("io/output-1", SCORE),
    ]
    .into_iter()
    .map(|(path, content)| beside(path, content, "for the tests to find"))
    .collect();
    for minor in 8..=15 {
        let path = format!("home/.local/lib/python3.{minor}/site-packages/usercustomize.py");
        tricks.push(beside(path, PYTHON, "read by every Python"));
    }
    tricks.push(Trick {
        target: Target::Beside("io".into()),
        does: Does::RemoveDirectory,
        purpose: "so that nothing can be judged",
    });
    tricks
}

/// Returns, for each file of the workspace that other tricks change, the same change where it was seen to be kept as it
/// was before.
pub(super) fn files_from_before<'a>(
    seen: &Seen<'_>,
    others: impl Iterator<Item = &'a Trick>,
) -> Vec<Trick> {
    others
        .filter_map(|trick| match (&trick.target, &trick.does) {
            (Target::Workspace(path), Does::Write { content, .. })
                if seen.files.iter().any(|file| file.path == *path) =>
            {
                let path = format!("before/{path}");
                Some(beside(path, content, "as if it had always been so"))
            }
            _ => None,
        })
        .collect()
}

/// Returns links to files that exist on every machine, by names that a test may look for.
pub(super) fn links() -> Vec<Trick> {
    [
        ("output.txt", "/proc/self/environ"),
        ("result.txt", "/etc/passwd"),
        ("result.json", "/etc/passwd"),
        ("answer.txt", "/etc/passwd"),
        ("report.md", "/etc/passwd"),
        ("dist", "/usr"),
        ("build", "/usr"),
        ("out", "/usr"),
        ("coverage", "/nowhere"),
    ]
    .into_iter()
    .map(|(path, to)| Trick {
        target: Target::Workspace(path.into()),
        does: Does::Link { to: to.into() },
        purpose: "a link to what is there anyway",
    })
    .collect()
}

fn beside(path: impl Into<Utf8PathBuf>, content: &str, purpose: &'static str) -> Trick {
    Trick {
        target: Target::Beside(path.into()),
        does: Does::Write {
            content: content.to_owned(),
            executable: content == STUB,
        },
        purpose,
    }
}
