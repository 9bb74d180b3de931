//! The commands and flags that there are, by what the program itself tells: a page may name no others.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Flags by command; those of `terca` alone are under its name.
#[derive(Debug)]
pub struct Flags(BTreeMap<String, BTreeSet<String>>);

impl Flags {
    pub fn of_the_program() -> Flags {
        let help = |args: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_terca"))
                .args(args)
                .arg("--help")
                .output()
                .unwrap();
            assert!(output.status.success(), "{args:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let program = help(&[]);
        let mut flags = BTreeMap::from([("terca".to_owned(), named(&program))]);
        // Not in the help of the program: people do not start it.
        let hidden = ["worker".to_owned()];
        for command in commands(&program).into_iter().chain(hidden) {
            let text = help(&[&command]);
            let mut known = named(&text);
            for below in commands(&text) {
                known.extend(named(&help(&[&command, &below])));
            }
            flags.insert(command, known);
        }
        Flags(flags)
    }

    /// What a line, or code within a sentence, says about commands and flags that is not so.
    pub fn problems(&self, text: &str) -> Vec<String> {
        let text = text.split(" # ").next().unwrap_or_default();
        let text = text.split([';', '|', '>', '&']).next().unwrap_or_default();
        let words: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_matches(['[', ']', '`']))
            .collect();
        match words.split_first() {
            Some((&"terca", rest)) => self.problems_of_command(rest),
            Some((first, _)) if first.starts_with("--") && first.len() > 2 => {
                let flag = flag_of(first);
                let known = self.0.values().any(|flags| flags.contains(flag));
                if known {
                    Vec::new()
                } else {
                    vec![format!("no command has `{flag}`")]
                }
            }
            _ => Vec::new(),
        }
    }

    fn problems_of_command(&self, words: &[&str]) -> Vec<String> {
        let first = words.first().copied().unwrap_or_default();
        let is_name = first.starts_with(|c: char| c.is_ascii_lowercase());
        let command = if is_name { first } else { "terca" };
        let Some(flags) = self.0.get(command) else {
            return vec![format!("no command `terca {command}`")];
        };
        let given = words
            .iter()
            .filter(|word| word.starts_with('-') && word.len() > 1);
        let unknown = given
            .map(|word| flag_of(word))
            .filter(|flag| !flags.contains(*flag));
        unknown
            .map(|flag| format!("`terca {command}` has no `{flag}`"))
            .collect()
    }
}

/// `--junit=FILE` is `--junit`.
fn flag_of(word: &str) -> &str {
    word.split('=')
        .next()
        .unwrap_or(word)
        .trim_end_matches([',', ':', '.'])
}

/// The flags that a help text describes.
fn named(help: &str) -> BTreeSet<String> {
    let described = help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'));
    let words = described.flat_map(|line| {
        line.split([' ', ','])
            .take_while(|word| *word != "  ")
            .take(3)
    });
    words
        .filter(|word| word.starts_with('-'))
        .map(str::to_owned)
        .collect()
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let first = listed
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    first
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Flags;

    #[test]
    fn flags_and_commands_are_known() {
        let flags = Flags::of_the_program();
        for good in [
            "terca", "terca -t 'fib*' -n 3", "terca run --shard 1/3",
            "terca import harbor TASKS [--to DIR]", "--budget-usd 5", "terca report --html r.html",
            "cargo install --path crates/terca", "terca -C examples/quickstart check",
        ] {
            assert_eq!(flags.problems(good), [] as [&str; 0], "{good}");
        }
        for bad in [
            "terca --no-such", "terca check --html x", "terca bogus", "--no-such-flag",
            "terca compare -q",
        ] {
            assert_eq!(flags.problems(bad).len(), 1, "{bad}");
        }
    }
}
