//! Tells whether a `RUN` of a Dockerfile leaves something that a task may need.

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
