//! The documentation is true: its commands are run, its files are loaded, what it shows is what is printed, and its
//! tables are those of the code. `documentation/directive.rs` tells how a page says what is to be done with a block.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod bad_pages;
mod check;
mod configuration;
mod directive;
#[cfg(test)]
mod fields;
mod flags;
mod links;
mod output;
mod page;
#[cfg(test)]
mod results;
mod room;
#[cfg(test)]
mod statuses;
mod tricks;
mod unpublished;
#[cfg(test)]
mod variables;
mod wording;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use flags::Flags;
use page::{Page, Part};

/// Blocks that are not tested, by page. Each says why; a new one has to be thought about here, too.
const EXEMPT: &[(&str, usize)] = &[
    ("README.md", 2),
    ("docs/add-an-agent.md", 1),
    ("docs/architecture.md", 2),
    ("docs/guides/cluster.md", 1),
    ("docs/guides/github-actions.md", 1),
    ("docs/guides/install.md", 6),
    ("docs/guides/mine-a-history.md", 7),
    ("docs/guides/replay.md", 3),
    ("docs/reference/terca-yaml.md", 1),
    ("docs/reference/pages.md", 1),
];

/// Pages whose blocks another test looks at.
const TESTED_ELSEWHERE: &[(&str, &str)] =
    &[("docs/reference/errors.md", "crates/core/tests/explain.rs")];

fn repository() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize_utf8()
        .unwrap()
}

/// The keys in a table of a page of the reference.
pub fn documented_keys(page: &str, table: &str) -> BTreeSet<String> {
    let page = Page::load(&repository(), &Utf8Path::new("docs/reference").join(page));
    let column = page.table("keys", table).first_column();
    column
        .iter()
        .flat_map(|row| row.split(", ").map(str::to_owned))
        .collect()
}

/// The pages of the book below a directory, relative to the repository and sorted.
fn pages_below(dir: &str) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Utf8PathBuf::from(dir)];
    while let Some(dir) = open.pop() {
        for entry in repository()
            .join(&dir)
            .read_dir_utf8()
            .unwrap()
            .map(Result::unwrap)
        {
            let (path, name) = (dir.join(entry.file_name()), entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                // What agents start from is theirs, and what they left in a run of an example.
                open.extend(Some(path).filter(|_| {
                    !["node_modules", ".terca"].contains(&name) && !name.starts_with('_')
                }));
            } else if path.extension() == Some("md") && name != "SUMMARY.md" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Does everything that these pages say. `TERCA_DOCS_PAGE` looks at those alone whose path has this in it.
#[track_caller]
fn are_true(pages: &[Utf8PathBuf]) {
    let flags = Flags::of_the_program();
    let chosen = std::env::var("TERCA_DOCS_PAGE").unwrap_or_default();
    let mut complaints = Vec::new();
    let pages: Vec<&Utf8PathBuf> = pages
        .iter()
        .filter(|path| path.as_str().contains(&chosen))
        .collect();
    // Some at once: a page mostly waits for its own trials.
    for some in pages.chunks(4) {
        std::thread::scope(|scope| {
            let checks: Vec<_> = some
                .iter()
                .map(|path| scope.spawn(|| complaints_about(path, &flags)))
                .collect();
            complaints.extend(checks.into_iter().flat_map(|check| check.join().unwrap()));
        });
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn complaints_about(path: &Utf8Path, flags: &Flags) -> Vec<String> {
    let mut page = Page::load(&repository(), path);
    if let Some((_, test)) = TESTED_ELSEWHERE.iter().find(|(page, _)| path == *page) {
        assert!(
            repository().join(test).exists(),
            "{path}: {test} is not there any more"
        );
        page.parts.clear();
    }
    let mut findings = check::check(&page, &repository(), flags);
    let allowed = EXEMPT
        .iter()
        .find(|(page, _)| path == *page)
        .map_or(0, |(_, number)| *number);
    if findings.exempt != allowed {
        findings.complaints.push(format!(
            "{path}: {} blocks are not tested, not {allowed}",
            findings.exempt
        ));
    }
    findings.complaints
}

#[test]
fn the_readme() {
    are_true(&["README.md".into()]);
}

/// The guide whose commands need Node and Python.
const OF_LIBRARIES: &str = "docs/guides/my-library.md";

mod thorough {
    use super::*;

    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn the_guides() {
        let mut guides = pages_below("docs/guides");
        guides.retain(|guide| guide != OF_LIBRARIES);
        are_true(&guides);
    }
}

mod needs_test_runners {
    use super::*;

    #[test]
    #[ignore = "needs Node and Python: scripts/test runs it"]
    fn the_guide_for_libraries() {
        are_true(&[OF_LIBRARIES.into()]);
    }
}

/// Whoever follows these pages types every command that they need.
#[test]
fn guides_hide_no_setup() {
    let mut pages = pages_below("docs/guides");
    pages.extend(["README.md", "docs/introduction.md", "docs/tutorial.md"].map(Utf8PathBuf::from));
    let problems = pages
        .iter()
        .flat_map(|path| Page::load(&repository(), path).hidden_setup());
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// A reader follows several guides in one clone: `cp -r` into a directory that is there makes another below it.
#[test]
fn no_two_guides_copy_to_the_same_place() {
    let mut places = BTreeMap::new();
    for path in pages_below("docs/guides") {
        let text = std::fs::read_to_string(repository().join(&path)).unwrap();
        for line in text.lines().filter(|line| line.contains("cp -r examples/")) {
            let copy = line.split("cp -r ").nth(1).unwrap();
            let place = copy.split_whitespace().nth(1).unwrap().to_owned();
            let other = places.insert(place, path.clone());
            assert_eq!(other, None, "{path}: {line}");
        }
    }
    assert!(places.len() > 8, "{places:?}");
}

#[test]
fn the_reference() {
    are_true(&pages_below("docs/reference"));
}

#[test]
fn the_other_pages() {
    let mut others = pages_below("docs");
    others.retain(|page| !page.starts_with("docs/guides") && !page.starts_with("docs/reference"));
    are_true(&others);
}

/// What stands in the repository beside the book. Its commands are run by other tests, or by nobody.
fn pages_beside_the_book() -> Vec<Utf8PathBuf> {
    let entries = repository().read_dir_utf8().unwrap().map(Result::unwrap);
    let root = entries.map(|entry| Utf8PathBuf::from(entry.file_name()));
    let root = root.filter(|path| path.extension() == Some("md"));
    let below = ["examples", "npm"].iter().flat_map(|dir| pages_below(dir));
    root.chain(below.filter(|path| path.file_name() == Some("README.md")))
        .collect()
}

#[test]
fn pages_beside_the_book_name_commands_that_there_are() {
    let flags = Flags::of_the_program();
    let mut problems = Vec::new();
    for path in pages_beside_the_book() {
        let page = Page::load(&repository(), &path);
        let blocks = page.parts.iter().filter_map(|part| match part {
            Part::Block(block) if block.language == "sh" => Some(block.text.lines()),
            _ => None,
        });
        let spans = page.code.iter().map(|spot| spot.text.as_str());
        let found = blocks
            .flatten()
            .chain(spans)
            .flat_map(|text| flags.problems(text));
        problems.extend(found.map(|problem| format!("{path}: {problem}")));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Errors are written with the code; the list of changes is history.
#[test]
fn pages_are_in_plain_english() {
    let mut pages = pages_below("docs");
    pages.extend(pages_beside_the_book());
    pages.retain(|page| page != "docs/reference/errors.md" && page != "CHANGELOG.md");
    let problems = pages.iter().flat_map(|page| {
        let text = std::fs::read_to_string(repository().join(page)).unwrap();
        wording::problems(page, &text)
    });
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Every page and every file of an example or a package that a reader may copy.
#[test]
fn nobody_is_told_to_install_what_is_not_published() {
    let output = std::process::Command::new("git")
        .args(["ls-files", "*.md", "docs", "examples", "npm", ".github"])
        .current_dir(repository())
        .output()
        .unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    assert!(files.lines().count() > 100, "{files}");
    let mut problems = Vec::new();
    for file in files.lines() {
        // What is no text, and what was removed since, installs nothing.
        if let Ok(text) = std::fs::read_to_string(repository().join(file)) {
            let found = unpublished::commands(&text);
            problems.extend(found.iter().map(|command| format!("{file}: {command}")));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let mut paths = pages_below("docs");
    paths.extend(pages_beside_the_book());
    paths.push("docs/SUMMARY.md".into());
    let pages: BTreeMap<Utf8PathBuf, Page> = paths
        .into_iter()
        .map(|path| (path.clone(), Page::load(&repository(), &path)))
        .collect();
    let problems = links::problems(&repository(), &pages);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    for page in pages
        .values()
        .filter(|page| !page.path.ends_with("SUMMARY.md"))
    {
        assert_eq!(page.titles, 1, "{}: a page has one title", page.path);
    }
}

#[test]
fn the_book_has_every_page() {
    let contents = Page::load(&repository(), Utf8Path::new("docs/SUMMARY.md"));
    let problems = links::problems_of_contents(&contents, &pages_below("docs"));
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
