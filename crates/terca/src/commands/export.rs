//! A run in the formats that other programs read, and what a CI system gets when a run ends.

use std::io;

use camino::Utf8Path;
use terca_core::analysis::results::Results;
use terca_core::text::explain::Code;
use terca_report::github::Printed;
use terca_report::json_lines;
use terca_report::{csv, junit, markdown};

use super::github;
use super::refusal::Refusal;
use crate::args::{Common, ExportArgs, RunArgs};
use crate::screen;

type Render = fn(&Results) -> String;

/// Writes every format that was asked for.
pub(super) fn export(results: &Results, args: &ExportArgs) -> io::Result<()> {
    let formats: [(_, Render, Printed); 4] = [
        (&args.junit, junit, Printed::Text),
        (
            &args.markdown,
            |results| markdown(results, usize::MAX),
            Printed::Text,
        ),
        (&args.csv, csv, Printed::Text),
        (&args.jsonl, json_lines, Printed::Json),
    ];
    for (file, render, printed) in formats {
        if let Some(file) = file {
            write(file, &render(results), printed)?;
        }
    }
    Ok(())
}

/// What was asked for beside a run, and what GitHub Actions shows. The exit status, where it could not be written.
pub(super) fn for_ci(results: &Results, args: &RunArgs, common: &Common) -> Option<u8> {
    let files = ExportArgs {
        junit: args.ci.junit.clone(),
        ..ExportArgs::default()
    };
    let written = export(results, &files);
    let told = if args.ci.no_github {
        Ok(())
    } else {
        github::tell(results, args.format)
    };
    let errors = [written, told].into_iter().filter_map(Result::err);
    errors.map(|error| unwritten(error).say(common)).last()
}

pub(super) fn unwritten(error: io::Error) -> Refusal {
    Refusal::trouble(Code::CannotWrite, error)
        .help("name a file that you may write; the run itself is saved")
}

/// `-` is standard output. Directories on the way are made.
pub(super) fn write(file: &Utf8Path, text: &str, printed: Printed) -> io::Result<()> {
    if file == "-" {
        screen::print(text, printed);
        return Ok(());
    }
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("{file} cannot be written: {error}"))
    };
    if let Some(dir) = file.parent().filter(|dir| !dir.as_str().is_empty()) {
        std::fs::create_dir_all(dir).map_err(named)?;
    }
    std::fs::write(file, text).map_err(named)
}
