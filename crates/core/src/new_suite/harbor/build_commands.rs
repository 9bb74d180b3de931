//! What the eval lacks when a `RUN` of a Dockerfile does not run.

use std::collections::BTreeSet;

use regex::Regex;

use super::losses::Loss;

/// Commands that install packages.
const INSTALLS: &str = r"^(?:\S+=\S* )*(?:sudo )?(?:\S*python[\d.]* -m )?\S*\b(?:apt|apt-get|apk|yum|dnf|microdnf|zypper|pacman|pip[\d.]*|pipx|uv|npm|pnpm|yarn|bun|conda|mamba|micromamba|poetry|cargo|rustup|go|gem|brew|opam|cpanm|corepack)\b.*?(?: (?:install|add|get|sync|ci|enable)\b| -S)";
/// Commands that leave nothing which a task could need.
const HARMLESS: &str = r"^(?:$|#|set |true$|:$|cd |export |(?:sudo )?(?:apt|apt-get|apk|yum|dnf) (?:.* )?(?:update|clean|autoremove)\b|(?:apt-get|apt) autoclean|(?:pip[\d.]*|npm|conda) (?:cache )?clean\b|rm (?:-\S+ )*/(?:var|tmp|root)/|git config )";

/// Returns what is lost: packages, or whatever the commands would have made. Directories for which `is_there` is true are
/// not lost.
pub(super) fn losses(line: &str, is_there: impl Fn(&str) -> bool) -> BTreeSet<Loss> {
    let [Ok(installs), Ok(harmless)] = [INSTALLS, HARMLESS].map(Regex::new) else {
        return BTreeSet::from([Loss::Commands]);
    };
    let commands = line.split("&&").flat_map(|part| part.split([';', '|']));
    let mut losses = BTreeSet::new();
    for command in commands {
        // `--mount=type=cache,…` is an option of the instruction.
        let words = command.split_whitespace();
        let words: Vec<&str> = words.skip_while(|word| word.starts_with("--")).collect();
        let command = words.join(" ");
        let mut paths = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let makes_nothing = words.first() == Some(&"mkdir") && paths.all(|path| is_there(path));
        if installs.is_match(&command) {
            losses.insert(Loss::Packages);
        } else if !makes_nothing && !harmless.is_match(&command) {
            losses.insert(Loss::Commands);
        }
    }
    losses
}
