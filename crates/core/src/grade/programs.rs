//! Finds the programs that a shell command names, as far as its text tells.
//!
//! Asked only when a shell has said "not found" (exit status 127), to tell a machine without `node` from an agent
//! that did not write `./run.sh`. The agent has no say in it: the text is the suite's, the machine the user's.

use camino::Utf8Path;

/// Words of the shell, which are no programs. Those of `LEAD_ON` are passed over before.
const WORDS_OF_THE_SHELL: [&str; 41] = [
    ".", "alias", "bg", "break", "case", "cd", "continue", "done", "echo", "esac", "eval", "exit",
    "export", "false", "fg", "fi", "for", "function", "getopts", "hash", "in", "jobs", "kill",
    "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test",
    "times", "trap", "true", "type", "ulimit", "umask", "unset", "wait",
];

/// After these the next word is in the program's place again.
const LEAD_ON: [&str; 12] = [
    "!", "{", "do", "then", "else", "elif", "if", "while", "until", "time", "exec", "command",
];

/// Returns the bare names of programs: the first word of each simple command.
pub fn programs_named(command: &str) -> Vec<&str> {
    let mut programs: Vec<&str> = command
        .split(['\n', ';', '|', '&', '(', ')'])
        .filter_map(program_of)
        .collect();
    programs.dedup();
    programs
}

/// Programs that bring files along which the command does not name.
const BRING_FILES: &[&str] = &[
    "7z", "bsdtar", "cp", "curl", "degit", "docker", "gh", "git", "hg", "ln", "mv", "npx", "rsync",
    "svn", "tar", "unzip", "wget",
];

/// Tells whether a shell command may bring files into the workspace that it does not name.
pub fn may_bring_files(command: &str) -> bool {
    let mut programs = programs_named(command).into_iter();
    programs.any(|program| BRING_FILES.contains(&program))
}

/// Returns the relative paths with a `/` that a shell command calls as programs, as long as it has not gone to another
/// directory and has not brought files along.
pub fn script_paths_named(command: &str) -> Vec<&Utf8Path> {
    let here = first_words(command)
        .take_while(|word| !matches!(*word, "cd" | "pushd") && !BRING_FILES.contains(word));
    here.filter_map(program_path)
        .filter(|path| path.is_relative())
        .collect()
}

/// Returns the absolute paths that a shell command calls as programs.
pub fn absolute_programs_named(command: &str) -> Vec<&Utf8Path> {
    first_words(command)
        .filter_map(program_path)
        .filter(|path| path.is_absolute())
        .collect()
}

/// The ends of the names of scripts.
const SCRIPTS: [&str; 7] = ["sh", "bash", "py", "js", "mjs", "rb", "pl"];

/// Returns the bare names of scripts, such as `setup.sh`, that a shell command calls as programs.
pub fn bare_scripts_named(command: &str) -> Vec<&str> {
    let mut names = programs_named(command);
    names.retain(|name| {
        let end = Utf8Path::new(name).extension();
        end.is_some_and(|end| SCRIPTS.contains(&end))
    });
    names
}

fn first_words(command: &str) -> impl Iterator<Item = &str> {
    let simple = command.split(['\n', ';', '|', '&', '(', ')']);
    simple.filter_map(first_word)
}

fn program_path(word: &str) -> Option<&Utf8Path> {
    let is_path = word.contains('/') && word.chars().all(|c| c == '/' || is_plain(c));
    is_path.then(|| Utf8Path::new(word))
}

fn first_word(simple: &str) -> Option<&str> {
    simple
        .split_whitespace()
        .find(|word| !is_assignment(word) && !LEAD_ON.contains(word))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')
}

fn program_of(simple: &str) -> Option<&str> {
    let word = first_word(simple)?;
    (word.chars().all(is_plain) && !WORDS_OF_THE_SHELL.contains(&word)).then_some(word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_that_are_bare_names() {
        for (command, programs) in [
            ("node test.js", &["node"][..]),
            ("./run.sh --all", &[]),
            ("cd app && CI=1 npm test | tee log", &["npm", "tee"]),
            ("if test -f x; then pytest; fi", &["pytest"]),
            ("A=1 B='x y' go test", &[]),
            ("$TOOL x; \"my prog\"", &[]),
            ("! grep -q TODO a.txt", &["grep"]),
            ("out=$(python3 a.py) && test \"$out\" = 1", &["python3"]),
        ] {
            assert_eq!(programs_named(command), programs, "{command}");
        }
    }

    #[test]
    fn first_words_that_are_relative_paths() {
        for (command, paths) in [
            ("./setup.sh --all", &["./setup.sh"][..]),
            ("CI=1 scripts/x.sh | ./y", &["scripts/x.sh", "./y"]),
            ("cd app && ./gradlew test", &[]),
            ("./a && git clone --depth 1 x . && ./gradlew test", &["./a"]),
            ("sh ./x.sh; /bin/true; node a/b.js; $D/x; \"a b/c\"", &[]),
        ] {
            assert_eq!(script_paths_named(command), paths, "{command}");
        }
        let command = "cd a && /opt/x/run | setup.sh; node b.js; ./c.sh /d";
        assert_eq!(absolute_programs_named(command), ["/opt/x/run"]);
        assert_eq!(bare_scripts_named(command), ["setup.sh"]);
    }
}
