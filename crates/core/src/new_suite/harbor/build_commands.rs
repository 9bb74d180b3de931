//! Tells what commands leave behind: a `RUN` of a Dockerfile, or a script that installs packages.

use std::collections::BTreeSet;

use regex::Regex;

/// Commands that leave nothing which a task could need.
const HARMLESS: &str = r"^(?:$|#|set |true$|:$|cd |export |(?:sudo )?(?:apt|apt-get|apk|yum|dnf) (?:.* )?(?:update|clean|autoremove)\b|(?:apt-get|apt) autoclean|(?:pip[\d.]*|npm|conda) (?:cache )?clean\b|rm (?:-\S+ )*/(?:var|tmp|root)/|git config )";

/// Returns whether nothing is lost when a line does not run. Directories for which `is_there` is true need not be made.
pub(super) fn is_harmless(line: &str, is_there: impl Fn(&str) -> bool) -> bool {
    let Ok(harmless) = Regex::new(HARMLESS) else {
        return false;
    };
    let mut commands = line.split("&&").flat_map(|part| part.split([';', '|']));
    commands.all(|command| {
        // `--mount=type=cache,…` is an option of the instruction.
        let words = command.split_whitespace();
        let words: Vec<&str> = words.skip_while(|word| word.starts_with("--")).collect();
        let mut paths = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let makes_nothing = words.first() == Some(&"mkdir") && paths.all(|path| is_there(path));
        makes_nothing || harmless.is_match(&words.join(" "))
    })
}

/// Returns the Debian packages that a script installs, without versions. `None` where a name depends on variables, or the
/// script does more with the package manager.
pub(super) fn debian_packages(script: &str) -> Option<BTreeSet<String>> {
    let mut packages = BTreeSet::new();
    let script = script.replace("\\\n", " ");
    let lines = script
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    for command in lines.flat_map(|line| line.split(['&', ';', '|'])) {
        let words = command.split_whitespace();
        let mut words = words.skip_while(|word| word.contains('=') || *word == "then");
        if !matches!(words.next(), Some("apt-get" | "apt")) {
            continue;
        }
        let mut words = words.filter(|word| !word.starts_with('-'));
        match words.next() {
            Some("update" | "clean" | "autoclean" | "autoremove") => {}
            Some("install") => {
                for word in words.take_while(|word| !word.contains(['>', '<', '#'])) {
                    let name = word.split('=').next().unwrap_or(word);
                    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
                    packages.insert(name.chars().all(is_plain).then(|| name.to_owned())?);
                }
            }
            _ => return None,
        }
    }
    Some(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_scripts() {
        let names = |script: &str| {
            let packages = debian_packages(script)?;
            Some(Vec::from_iter(packages).join(" "))
        };
        for (script, expected) in [
            ("apt-get update\napt-get install -y curl\n", Some("curl")),
            ("# apt-get install vim\npytest\n", Some("")),
            (
                "set -e; DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \\\n  jq=1.6-2.1 \\\n  g++ > /dev/null 2>&1 || true\n",
                Some("g++ jq"),
            ),
            ("if ! command -v jq; then apt install jq; fi\n", Some("jq")),
            ("apt-get install -y $TOOLS\n", None),
            ("apt-get remove -y git\n", None),
        ] {
            assert_eq!(names(script).as_deref(), expected, "{script}");
        }
    }
}
