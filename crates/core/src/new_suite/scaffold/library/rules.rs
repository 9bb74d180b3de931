//! A rule that a search in the text of a program can check: one that names code to use, or code not to use.

/// A rule of a file with rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its line, without the sign of a list.
    pub text: String,
    /// A name that programs have to use.
    pub used: Option<String>,
    /// A name that they must not use.
    pub avoided: Option<String>,
}

/// Programs, which are not used in the text of a program.
const PROGRAMS: [&str; 30] = [
    "npm", "npx", "pnpm", "yarn", "bun", "node", "deno", "tsc", "vitest", "jest", "eslint",
    "prettier", "biome", "python", "python3", "pip", "uv", "poetry", "pytest", "ruff", "black",
    "mypy", "tox", "nox", "cargo", "rustfmt", "clippy", "go", "git", "make",
];
/// Words of the solutions that a new suite has, which cannot be avoided there.
const OWN: [&str; 12] = [
    "library", "console", "log", "typeof", "print", "println", "hasattr", "stringify", "main",
    "fmt", "Println", "import",
];
/// Ends of files' names.
const FILES: [&str; 12] = [
    "md", "json", "js", "mjs", "ts", "py", "rs", "go", "toml", "yaml", "yml", "sh",
];

impl Rule {
    /// Returns the first such rule of a text. A name that is a part of the library's own cannot be searched for.
    pub(super) fn first(text: &str, import: &str) -> Option<Self> {
        let lines = text.lines().map(str::trim_start);
        let items = lines.filter_map(|line| {
            let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_numbered = number.len() < line.len();
            let numbered = number.strip_prefix(". ").filter(|_| is_numbered);
            line.strip_prefix("- ")
                .or(line.strip_prefix("* "))
                .or(numbered)
        });
        items
            .into_iter()
            .find_map(|item| Rule::of(item.trim(), import))
    }

    fn of(text: &str, import: &str) -> Option<Self> {
        let mut rule = Rule {
            text: text.to_owned(),
            used: None,
            avoided: None,
        };
        // Words and names take turns.
        let parts: Vec<&str> = text.split('`').collect();
        for pair in parts.chunks_exact(2) {
            let [words, code] = pair else { continue };
            let Some(name) = name(code).filter(|name| !import.contains(name)) else {
                continue;
            };
            let words = words.to_lowercase();
            let has = |all: &[&str]| all.iter().any(|word| words.contains(word));
            let is_own = OWN.contains(&name);
            let place = if has(&[
                "never", "not ", "n't ", "avoid", "instead of", "rather than",
            ]) {
                if is_own {
                    return None;
                }
                &mut rule.avoided
            } else if has(&["use ", "prefer", "call ", "import ", "always"]) {
                &mut rule.used
            } else {
                continue;
            };
            place.get_or_insert(name.to_owned());
        }
        let is_clear = rule.used != rule.avoided;
        is_clear.then_some(rule)
    }
}

/// Returns the name that code in a rule is about: `last` of `list.last(items)`.
fn name(code: &str) -> Option<&str> {
    let path = code.split('(').next()?.trim_end_matches('!');
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let name = path.rsplit(['.', ':']).next()?;
    let is_name = path.chars().all(is_path)
        && name.len() > 1
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let is_file = path.contains('.') && FILES.contains(&name);
    (is_name && !is_file && !PROGRAMS.contains(&path)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::Rule;

    #[test]
    fn rules_that_name_code() {
        let found = |text: &str| {
            let rule = Rule::first(text, "tinyq")?;
            Some((rule.used, rule.avoided))
        };
        let name = |name: &str| Some(name.to_owned());
        for (text, expected) in [
            (
                "# Rules\n\n- Be good.\n- Use `last(list)`.",
                Some((name("last"), None)),
            ),
            (
                "1. Prefer `q.first`, never `list[0]`.",
                Some((name("first"), None)),
            ),
            ("* Do not use `eval` here.", Some((None, name("eval")))),
            (
                "- Use `last` instead of `at`.",
                Some((name("last"), name("at"))),
            ),
            (
                "- Don't call `std::process::exit`.",
                Some((None, name("exit"))),
            ),
            ("- Use `pnpm`, not `npm`.", None),
            ("- Use `tinyq` for lists.\n- Use `npm test`.", None),
            ("- Never edit `AGENTS.md` or `src/lib.rs`.", None),
            ("Use `last` in prose.", None),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
