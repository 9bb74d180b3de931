//! The pages in a real browser: opened, filtered, read; and whatever an agent wrote runs nothing and asks nobody.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so and ends")]

#[path = "browser/gallery.rs"]
mod gallery;

#[cfg(test)]
mod common;

use common::project;
use terca_testkit::{Project, browser};

/// A suite with a run in it that was made up.
fn with_run(name: &str, repetitions: u32) -> Project {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    gallery::make(&project.path(&format!(".terca/runs/{name}")), repetitions);
    project
}

#[test]
fn the_file_is_read_in_a_browser() {
    let Some(browser) = browser::require() else { return };
    let project = with_run("2026-11-14-001", 5);
    project.terca(&["report", "--html", "report.html"]).expect_status(0);
    browser.drive("file.mjs", &[("REPORT", project.path("report.html").as_str())]);
}

/// Pictures for the documentation: `TERCA_SCREENSHOTS=docs/images cargo nextest run -E 'test(pictures)'`.
#[test]
fn pictures() {
    let Some(browser) = browser::require() else { return };
    let project = with_run("2026-11-14-001", 5);
    project.terca(&["report", "--html", "report.html"]).expect_status(0);
    let dir = std::env::var("TERCA_SCREENSHOTS").unwrap_or_else(|_| project.path("pictures").into_string());
    let dir = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    std::fs::create_dir_all(&dir).unwrap();
    let whole = std::env::var("WHOLE").unwrap_or_default();
    browser.drive(
        "pictures.mjs",
        &[
            ("REPORT", project.path("report.html").as_str()),
            ("PICTURES", dir.as_str()),
            ("WHOLE", whole.as_str()),
        ],
    );
    let pictures = dir.read_dir_utf8().unwrap().flatten().filter(|entry| entry.file_name().ends_with(".png"));
    assert!(pictures.count() >= 8);
}
