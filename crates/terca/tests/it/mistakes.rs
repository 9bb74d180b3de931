//! The 73 mistakes that a newcomer made, and the grade of the answer that each gets. `crates/core/tests/diagnostics.rs` has
//! more of those that can be told from the text of a file alone.

mod commands;
mod evals;
mod further;
mod programs;
mod services;
mod suites;

use std::os::unix::fs::PermissionsExt;

use crate::common::project;
use terca_testkit::{Outcome, Project};

use Grade::{A, B, C, D, F};

/// A file: `+x name` is executable, `link -> target` a symbolic link, `dir/` a directory, `mode 555 name` gets this mode,
/// `utf-16 name` is encoded so, `$NAME` is a variable, `> words` is a command that comes before, `run/name` is in its
/// run, and `~/name` is a program in the home directory, which is `{home}` in a text.
type File = (&'static str, &'static str);

const SUITE: File = (
    "terca.yaml",
    "environments: [{name: default, agent: nop}]\n",
);
const EVAL: File = (
    "fib/eval.terca.yaml", "prompt: go\ntests: [fileExists: a]\n",
);

/// How good an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// It says where, what and what to do.
    A,
    /// One of these is missing.
    B,
    /// Two are missing.
    C,
    /// It says the wrong thing: another exit status than the right one.
    D,
    /// It says nothing.
    F,
}

/// One way to make a mistake.
struct Way {
    files: Vec<File>,
    /// Arguments, with spaces between.
    command: &'static str,
    status: i32,
    /// The place, the cause and the next step, as the answer has them.
    said: [&'static str; 3],
}

struct Mistake {
    name: &'static str,
    grade: Grade,
    ways: Vec<Way>,
}

fn way(files: &[File], command: &'static str, status: i32, said: [&'static str; 3]) -> Way {
    Way {
        files: files.to_vec(),
        command,
        status,
        said,
    }
}

fn mistake(name: &'static str, grade: Grade, ways: impl Into<Vec<Way>>) -> Mistake {
    Mistake {
        name,
        grade,
        ways: ways.into(),
    }
}

/// A file of the suite, or of its eval `fib`, with this text.
fn suite(text: &'static str) -> File {
    ("terca.yaml", text)
}

fn eval(text: &'static str) -> File {
    ("fib/eval.terca.yaml", text)
}

fn utf_16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

fn made(files: &[File]) -> Project {
    // No agent of this machine is found.
    let mut project = project().env("PATH", "/usr/bin:/bin");
    for (path, text) in files {
        let text = &text.replace("{home}", project.home().as_str());
        let (kind, rest) = path.split_once(' ').unwrap_or(("", path));
        project = match (kind, path.split_once(" -> ")) {
            (_, Some((link, target))) => project.symlink(link, target),
            ("+x", _) => project.executable(rest, text),
            ("utf-16", _) => project.file(rest, utf_16(text)),
            ("mode", _) => continue,
            (">", _) => {
                project.terca(&rest.split_whitespace().collect::<Vec<_>>());
                project
            }
            _ if path.starts_with('$') => project.env(&path[1..], text),
            _ if path.starts_with("~/") => project.executable(&path.replace('~', "../home"), text),
            _ if path.starts_with("run/") => {
                std::fs::write(project.run_dir().join(&path[4..]), text).unwrap();
                project
            }
            _ if path.ends_with('/') => project.directory(path),
            _ => project.file(path, text),
        };
    }
    project
}

/// Makes the mistake. Modes count for everybody but the superuser, and are set for the command alone.
fn answer(way: &Way) -> Outcome {
    let project = made(&way.files);
    let args: Vec<&str> = way.command.split_whitespace().collect();
    let modes: Vec<(&str, &str)> = (way.files.iter())
        .filter_map(|(path, _)| path.strip_prefix("mode ")?.split_once(' '))
        .collect();
    if modes.is_empty() {
        return project.terca(&args);
    }
    let mut command = project.command_without_privileges(&args);
    let set = |path: &str, mode: u32| {
        std::fs::set_permissions(project.path(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    for (mode, path) in &modes {
        set(path, u32::from_str_radix(mode, 8).unwrap());
    }
    let outcome = command.output().unwrap().into();
    modes.iter().for_each(|(_, path)| set(path, 0o755));
    outcome
}

/// Grades the answer, and says why.
fn graded(way: &Way) -> (Grade, String) {
    let outcome = answer(way);
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    let names = ["place", "cause", "next step"];
    let missing: Vec<String> = (names.iter().zip(way.said))
        .filter(|(_, words)| !all.contains(words))
        .map(|(name, words)| format!("no {name}: {words:?}"))
        .collect();
    let grade = match (missing.len(), outcome.status == way.status) {
        (3.., _) => F,
        (_, false) => D,
        (2, _) => C,
        (1, _) => B,
        (_, true) => A,
    };
    let why = format!(
        "{grade:?}: terca {}: exit status {}; {}\n{all}",
        way.command,
        outcome.status,
        missing.join(", ")
    );
    (grade, why)
}

#[test]
fn the_answers_to_mistakes_have_their_grades() {
    let mistakes: Vec<Mistake> = [
        suites::mistakes(),
        evals::mistakes(),
        programs::mistakes(),
        services::mistakes(),
        commands::mistakes(),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert_eq!(mistakes.len(), 73);
    let mut grades = Vec::new();
    let mut other = Vec::new();
    for Mistake { name, grade, ways } in &mistakes {
        let answers: Vec<(Grade, String)> = ways.iter().map(graded).collect();
        // A mistake is answered as well as in the worst of its ways.
        let worst = answers.iter().map(|(grade, _)| *grade).max().unwrap();
        if worst != *grade {
            let whys = answers.into_iter().filter(|(grade, _)| *grade == worst);
            other.extend(whys.map(|(_, why)| format!("{name}, expected {grade:?}, is {why}")));
        }
        grades.push(worst);
    }
    let count = |grade| grades.iter().filter(|one| **one == grade).count();
    let [a, b, c, d, f] = [A, B, C, D, F].map(count);
    let summary = format!("{a} A, {b} B, {c} C, {d} D, {f} F");
    assert!(other.is_empty(), "{summary}\n\n{}", other.join("\n\n"));
    assert!(a >= 65 && d + f == 0, "{summary}");
}
