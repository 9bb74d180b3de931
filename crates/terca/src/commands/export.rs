//! `terca report`: a run in the formats that other programs read, and what a CI system gets when a run ends.

use std::io;

use camino::Utf8Path;
use terca_core::results::Results;
use terca_engine::{discover, runs};
use terca_report::trial_rows::json_lines;
use terca_report::{csv, junit, markdown};

use super::{MISUSE, TROUBLE, github};
use crate::args::{Common, ExportArgs, ReportArgs, RunArgs};
use crate::screen;

pub(super) fn report(args: &ReportArgs, common: &Common) -> u8 {
    if args.export.is_empty() {
        screen::complain(
            "nothing to write\nhelp: ask for `--junit FILE`, `--markdown FILE`, `--csv FILE` or `--jsonl FILE`",
        );
        return MISUSE;
    }
    let run = discover::canonical(&common.dir).map_err(|error| (MISUSE, error.to_string())).and_then(|dir| {
        runs::open(&dir, args.run.as_deref()).map_err(|error| {
            let is_misuse = matches!(error, runs::RunsError::None(_) | runs::RunsError::Unknown { .. });
            (if is_misuse { MISUSE } else { TROUBLE }, error.to_string())
        })
    });
    match run {
        Ok(run) => match export(&run.results(), &run.dir, &args.export) {
            Ok(()) => 0,
            Err(error) => {
                screen::complain(&error.to_string());
                TROUBLE
            }
        },
        Err((status, error)) => {
            screen::complain(&error);
            status
        }
    }
}

type Render = fn(&Results) -> String;

/// Writes every format that was asked for.
pub(super) fn export(results: &Results, _run_dir: &Utf8Path, args: &ExportArgs) -> io::Result<()> {
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
pub(super) fn for_ci(results: &Results, run_dir: &Utf8Path, args: &RunArgs) -> Option<u8> {
    let files = ExportArgs { junit: args.ci.junit.clone(), ..ExportArgs::default() };
    let written = export(results, run_dir, &files);
    let told = if args.ci.no_github { Ok(()) } else { github::tell(results, args.format) };
    let errors: Vec<io::Error> = [written, told].into_iter().filter_map(Result::err).collect();
    for error in &errors {
        screen::complain(&error.to_string());
    }
    (!errors.is_empty()).then_some(TROUBLE)
}

/// `-` is standard output. Directories on the way are made.
fn write(file: &Utf8Path, text: &str) -> io::Result<()> {
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
