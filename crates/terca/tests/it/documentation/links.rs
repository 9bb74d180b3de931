//! Links lead somewhere, and the book has every page.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::documentation::page::Page;

/// What is wrong with the links of these pages. Those of the book stay within the book, which is read without the
/// rest of the repository.
pub fn problems(repository: &Utf8Path, pages: &BTreeMap<Utf8PathBuf, Page>) -> Vec<String> {
    let mut found = Vec::new();
    for page in pages.values() {
        for link in &page.links {
            if let Some(problem) = problem(repository, pages, page, &link.text) {
                found.push(format!(
                    "{}:{}: {}: {problem}",
                    page.path, link.line, link.text
                ));
            }
        }
    }
    found
}

fn problem(
    repository: &Utf8Path,
    pages: &BTreeMap<Utf8PathBuf, Page>,
    page: &Page,
    link: &str,
) -> Option<String> {
    if link.starts_with("https://") {
        return None;
    }
    if link.contains("://") {
        return Some("not an https address".into());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let Some(target) = target(page, file) else {
        return Some("leads out of the repository".into());
    };
    if page.path.starts_with("docs") && !target.starts_with("docs") {
        return Some("leads out of the book".into());
    }
    if !pages.contains_key(&target) && !repository.join(&target).exists() {
        return Some("there is no such file".into());
    }
    if anchor.is_empty() {
        return None;
    }
    let known = pages
        .get(&target)
        .is_some_and(|page| page.anchors.iter().any(|known| known == anchor));
    (!known).then(|| "there is no such heading".into())
}

fn target(page: &Page, file: &str) -> Option<Utf8PathBuf> {
    if file.is_empty() {
        return Some(page.path.clone());
    }
    let mut target = page.path.parent()?.to_owned();
    for part in Utf8Path::new(file).components() {
        match part {
            Utf8Component::Normal(name) => target.push(name),
            Utf8Component::ParentDir if target.pop() => {}
            Utf8Component::CurDir => {}
            _ => return None,
        }
    }
    Some(target)
}

/// What is wrong with the table of contents: each page stands in it once.
pub fn problems_of_contents(contents: &Page, pages: &[Utf8PathBuf]) -> Vec<String> {
    let listed: Vec<Utf8PathBuf> = contents
        .links
        .iter()
        .filter_map(|link| target(contents, &link.text))
        .collect();
    let mut found = Vec::new();
    for page in pages {
        match listed.iter().filter(|listed| *listed == page).count() {
            1 => {}
            times => found.push(format!(
                "{page} stands {times} times in the table of contents"
            )),
        }
    }
    let unknown = listed.iter().filter(|listed| !pages.contains(listed));
    found.extend(unknown.map(|listed| format!("{listed} is listed and is not there")));
    found
}
