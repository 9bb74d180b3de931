//! Finds commands of `prepare` that read files outside of the suite without saying so.
//!
//! A cached step is made again when one of its inputs changes. Terca knows the files of the suite by itself, and other
//! files only from `inputs`.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::suite::{Action, ShellCommand};
use crate::plan::fingerprint::{suite_variable_unquoted, words};
use crate::reader::paths::beside;
use crate::reader::{PathKind, Surroundings};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;

/// Directories of the system and of files that do not last. A build may read them without being about them.
const OF_THE_SYSTEM: &[&str] = &[
    "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr",
    "/var",
];

/// Warns of each command of `prepare` that names a path outside of the suite and has no `inputs`.
pub(super) fn check<T>(
    prepare: &[Action<T>],
    suite_dir: &Utf8Path,
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    let commands = prepare.iter().filter_map(|action| match action {
        Action::Run(command) if command.inputs.is_empty() => Some(command),
        _ => None,
    });
    let warnings = commands.filter_map(|command| {
        let outside = paths_outside(&command.command, suite_dir, surroundings);
        (!outside.is_empty()).then(|| warning(command, &outside, suite_dir))
    });
    warnings.collect()
}

fn warning(command: &ShellCommand, outside: &[Utf8PathBuf], suite_dir: &Utf8Path) -> Diagnostic {
    let names: Vec<String> = outside
        .iter()
        .map(|path| seen_from(&command.dir, path).into_string())
        .collect();
    let (verb, it) = match names.len() {
        1 => ("is", "it changes"),
        _ => ("are", "they change"),
    };
    let message = format!(
        "a command of `prepare` names {}, which {verb} outside of the suite, and has no `inputs`",
        prose::quoted_list(&names, "and")
    );
    // An input that has the suite in it is refused.
    let inputs = match outside.iter().any(|path| suite_dir.starts_with(path)) {
        true => "../src, ../package.json".to_owned(),
        false => names.join(", "),
    };
    Diagnostic::warning(Code::MissingInputs, message)
        .at(
            command.place,
            format!("the cached step is not made again when {it}"),
        )
        .help(format!(
            "name the files that it reads beside `command`, such as `inputs: [{inputs}]`"
        ))
}

/// Returns the paths outside of the suite that a command reads, each once.
///
/// The command runs in the workspace. A path such as `../x` is therefore above the workspace, where no file of the
/// user is, unless the command has gone to a directory of the suite before.
fn paths_outside(
    command: &str,
    suite_dir: &Utf8Path,
    surroundings: &dyn Surroundings,
) -> Vec<Utf8PathBuf> {
    let command = suite_variable_unquoted(&without_outputs(command));
    let mut outside: Vec<Utf8PathBuf> = Vec::new();
    let mut went_to: Option<Utf8PathBuf> = None;
    let mut last = "";
    for word in words(&command) {
        let path = match in_suite(word) {
            Some(rest) => Some(beside(suite_dir, rest)),
            None if word.starts_with('/') => {
                Some(beside(suite_dir, word)).filter(|path| is_file_of_the_user(path, surroundings))
            }
            None => went_to
                .as_ref()
                .filter(|_| word.starts_with(".."))
                .map(|dir| beside(dir, word)),
        };
        if last == "cd" {
            went_to.clone_from(&path);
        }
        last = word;
        outside.extend(path.filter(|path| !path.starts_with(suite_dir) && !outside.contains(path)));
    }
    outside
}

/// Returns the rest of a word after the variable of the suite's directory: `../src` of `file:$TERCA_SUITE_DIR/../src`.
fn in_suite(word: &str) -> Option<&str> {
    let (_, rest) = word
        .split_once("$TERCA_SUITE_DIR")
        .or_else(|| word.split_once("${TERCA_SUITE_DIR}"))?;
    // `PATH=$TERCA_SUITE_DIR/bin:$PATH`.
    let rest = rest.split(':').next().unwrap_or_default();
    match rest.strip_prefix('/') {
        Some(path) => Some(path.trim_start_matches('/')),
        None => rest.is_empty().then_some(""),
    }
}

/// Returns whether something is at an absolute path that is neither the system's nor a program. Words such as `/x/d`
/// of `sed` are no paths at all.
fn is_file_of_the_user(path: &Utf8Path, surroundings: &dyn Surroundings) -> bool {
    let is_of_the_system = OF_THE_SYSTEM.iter().any(|dir| path.starts_with(dir));
    match surroundings.kind(path) {
        _ if is_of_the_system || path.parent().is_none() => false,
        PathKind::File => !surroundings.is_executable(path),
        PathKind::Directory => true,
        _ => false,
    }
}

/// Returns a command without the files that it writes with `>` and `>>`.
fn without_outputs(command: &str) -> String {
    let mut pieces = command.split('>');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start().split_once(char::is_whitespace);
        kept.push(' ');
        kept.push_str(rest.map_or("", |(_, rest)| rest));
    }
    kept
}

/// Returns a path as it is written in `inputs` of a file in `dir`.
fn seen_from(dir: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let common = dir
        .components()
        .zip(path.components())
        .take_while(|(one, other)| one == other)
        .count();
    // Far away, the absolute path is easier to read.
    if common <= 1 {
        return path.to_owned();
    }
    let up = dir.components().skip(common).map(|_| "..");
    let down = path.components().skip(common).map(|part| part.as_str());
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with these paths. A name that ends with a slash is a directory; one with a star is a program.
    struct Made(&'static [&'static str]);

    impl Surroundings for Made {
        fn kind(&self, path: &Utf8Path) -> PathKind {
            let has = |end: &str| self.0.contains(&format!("{path}{end}").as_str());
            match () {
                () if has("/") => PathKind::Directory,
                () if has("") || has("*") => PathKind::File,
                () => PathKind::Missing,
            }
        }
        fn link_target(&self, _: &Utf8Path) -> Option<Utf8PathBuf> {
            None
        }
        fn read_text(&self, _: &Utf8Path) -> Result<String, String> {
            Err("no text".to_owned())
        }
        fn variable(&self, _: &str) -> Option<String> {
            None
        }
        fn files_below(&self, _: &Utf8Path) -> Vec<Utf8PathBuf> {
            Vec::new()
        }
        fn names_in(&self, _: &Utf8Path) -> Vec<String> {
            Vec::new()
        }
        fn is_executable(&self, path: &Utf8Path) -> bool {
            self.0.contains(&format!("{path}*").as_str())
        }
    }

    fn outside(command: &str) -> Vec<String> {
        let machine = Made(&[
            "/home/me/lib/", "/home/me/lib/dist/", "/home/me/my data.txt", "/home/me/tool*",
            "/home/me/lib/evals/setup.sh", "/usr/share/dict/", "/tmp/x/",
        ]);
        let found = paths_outside(command, Utf8Path::new("/home/me/lib/evals"), &machine);
        found.into_iter().map(Utf8PathBuf::into_string).collect()
    }

    #[test]
    fn paths_that_are_outside_of_the_suite() {
        for (command, paths) in [
            ("npm pack \"$TERCA_SUITE_DIR/..\"", &["/home/me/lib"][..]),
            (
                "cp -r \"$TERCA_SUITE_DIR\"/../dist .",
                &["/home/me/lib/dist"],
            ),
            ("cp ${TERCA_SUITE_DIR}/../a b", &["/home/me/lib/a"]),
            (
                "npm i file:$TERCA_SUITE_DIR/../dist",
                &["/home/me/lib/dist"],
            ),
            ("make --from=$TERCA_SUITE_DIR/../src", &["/home/me/lib/src"]),
            (
                "cd $TERCA_SUITE_DIR && cp ../a ../b/c out",
                &["/home/me/lib/a", "/home/me/lib/b/c"],
            ),
            (
                "cd $TERCA_SUITE_DIR/sub && cp ../../a ../inside .",
                &["/home/me/lib/a"],
            ),
            ("cp -r /home/me/lib/dist .", &["/home/me/lib/dist"]),
            ("cp \"/home/me/my data.txt\" .", &["/home/me/my data.txt"]),
            (
                "ls $TERCA_SUITE_DIR/.. && ls $TERCA_SUITE_DIR/..",
                &["/home/me/lib"],
            ),
        ] {
            assert_eq!(outside(command), paths, "{command}");
        }
    }

    #[test]
    fn words_that_are_no_paths_outside_of_the_suite() {
        for command in [
            "npm ci",
            "cp ../dist .",
            "cd src && cp ../a b",
            "cp ./x src/../y .",
            "sh \"$TERCA_SUITE_DIR/setup.sh\"",
            "cat $TERCA_SUITE_DIR/a/../b",
            "sh /home/me/lib/evals/setup.sh",
            "PATH=$TERCA_SUITE_DIR/bin:$PATH make",
            "echo $TERCA_SUITE_DIRECTORY/../x",
            "curl https://example.com/home/me/lib",
            "sed '/home/d' a",
            "tr / _ < a",
            "/home/me/tool --fast",
            "cp -r /usr/share/dict /tmp/x .",
            "npm test > $TERCA_SUITE_DIR/../log 2>&1",
            "echo x >> /home/me/lib/dist",
            "make --cache=/nowhere",
        ] {
            assert_eq!(outside(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn inputs_are_written_as_the_yaml_file_names_them() {
        for (path, written) in [
            ("/home/me/lib/dist", "../dist"),
            ("/home/me/lib", ".."),
            ("/home/me/other/a", "../../other/a"),
            ("/opt/data", "/opt/data"),
        ] {
            let dir = Utf8Path::new("/home/me/lib/evals");
            assert_eq!(seen_from(dir, Utf8Path::new(path)), written);
        }
    }
}
