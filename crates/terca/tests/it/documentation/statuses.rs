//! The page about exit statuses has those that the program tells, and shows each of them.

use std::collections::BTreeSet;
use std::process::Command;

use camino::Utf8Path;

use crate::documentation::page::{Page, Part};
use crate::documentation::repository;

#[test]
fn every_exit_status_is_documented_and_shown() {
    let output = Command::new(env!("CARGO_BIN_EXE_terca"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, told) = help.split_once("Exit status: ").unwrap();
    let there: BTreeSet<String> = told
        .split([' ', '\n', ','])
        .filter(|word| word.parse::<u8>().is_ok())
        .map(str::to_owned)
        .collect();
    assert!(there.len() > 3, "{told}");
    let page = Page::load(
        &repository(),
        Utf8Path::new("docs/reference/exit-statuses.md"),
    );
    assert_eq!(page.table("values", "status").first_column(), there);
    let shown = page.parts.iter().filter_map(|part| match part {
        Part::Directive(directive) if directive.verb == "status" => {
            Some(directive.argument.clone())
        }
        _ => None,
    });
    // What ends with 0 needs no word.
    assert_eq!(
        shown.chain(["0".to_owned()]).collect::<BTreeSet<_>>(),
        there
    );
}
