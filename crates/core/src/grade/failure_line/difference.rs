//! The output of `diff`: the first line that differs, in both files.

use std::sync::LazyLock;

use regex::Regex;

/// The beginnings of a difference, of `diff` and of `diff -u`.
static BEGINNINGS: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    Some([
        Regex::new(r"^(?<line>\d+)(?:,\d+)?[acd]\d+(?:,\d+)?$").ok()?,
        Regex::new(r"^@@ -(?<line>\d+)(?:,\d+)? \+\d+(?:,\d+)? @@").ok()?,
    ])
});

/// Returns the first line that differs: `line 2: "b" in expected.txt, "c" in out.txt`.
pub(super) fn complaint(lines: &[String]) -> Option<String> {
    let [normal, unified] = BEGINNINGS.as_ref()?;
    let (at, line, is_unified) = lines.iter().enumerate().find_map(|(at, line)| {
        let found = normal.captures(line);
        let is_unified = found.is_none();
        let found = found.or_else(|| unified.captures(line))?;
        Some((at, found["line"].parse::<usize>().ok()?, is_unified))
    })?;
    let below = &lines[at + 1..];
    let [removed, added] = if is_unified { ["-", "+"] } else { ["< ", "> "] };
    let same = below
        .iter()
        .take_while(|line| is_unified && line.starts_with(' '))
        .count();
    let mut changed = below[same..].iter().take_while(|line| {
        let is_between = *line == "---" || line.starts_with('\\');
        is_between || line.starts_with(removed) || line.starts_with(added)
    });
    let first = |sign: &str| {
        let found = changed.clone().find_map(|line| line.strip_prefix(sign));
        found.map_or_else(|| "nothing".to_owned(), |line| format!("{line:?}"))
    };
    let (one, other) = (first(removed), first(added));
    changed.next()?;
    let name = |sign: &str, without: &str| {
        let mut above = lines[..at].iter().rev();
        let named = above.find_map(|line| line.strip_prefix(sign));
        let named = named.filter(|_| is_unified).unwrap_or(without);
        named.split('\t').next().unwrap_or(named).to_owned()
    };
    let files = [name("--- ", "the first file"), name("+++ ", "the second")];
    let line = line + same;
    Some(format!(
        "line {line}: {one} in {}, {other} in {}",
        files[0], files[1]
    ))
}
