//! A run in the formats that other programs read, and what a CI system gets when a run ends.

use std::io;

use camino::Utf8Path;
use terca_core::results::Results;
use terca_report::trial_rows::json_lines;
use terca_report::{csv, junit, markdown};

use super::{TROUBLE, github};
use crate::args::{ExportArgs, RunArgs};
use crate::screen;

type Render = fn(&Results) -> String;

/// Writes every format that was asked for.
pub(super) fn export(results: &Results, args: &ExportArgs) -> io::Result<()> {
    let formats: [(_, Render); 4] = [
        (&args.junit, junit),
        (&args.markdown, |results| markdown(results, usize::MAX)),
        (&args.csv, csv),
        (&args.jsonl, json_lines),
    ];
    for (file, render) in formats {
        if let Some(file) = file {
            write(file, &render(results))?;
        }
    }
    Ok(())
}

/// What was asked for beside a run, and what GitHub Actions shows. The exit status, where it could not be written.
pub(super) fn for_ci(results: &Results, args: &RunArgs) -> Option<u8> {
    let files = ExportArgs { junit: args.ci.junit.clone(), ..ExportArgs::default() };
    let written = export(results, &files);
    let told = if args.ci.no_github { Ok(()) } else { github::tell(results, args.format) };
    let errors: Vec<io::Error> = [written, told].into_iter().filter_map(Result::err).collect();
    for error in &errors {
        screen::complain(&error.to_string());
    }
    (!errors.is_empty()).then_some(TROUBLE)
}

/// `-` is standard output. Directories on the way are made.
pub(super) fn write(file: &Utf8Path, text: &str) -> io::Result<()> {
    if file == "-" {
        screen::print(text);
        return Ok(());
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{file} cannot be written: {error}"));
    if let Some(dir) = file.parent().filter(|dir| !dir.as_str().is_empty()) {
        std::fs::create_dir_all(dir).map_err(named)?;
    }
    std::fs::write(file, text).map_err(named)
}
