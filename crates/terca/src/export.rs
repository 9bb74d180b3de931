//! Writes a run in the formats that other programs read, and gives it to the CI system.

mod github;

use std::io::{self, BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use terca_core::analysis::results::Results;
use terca_core::text::Code;
use terca_report::github::Printed;
use terca_report::json_lines;
use terca_report::{csv, junit, markdown};

use crate::args::{CiArgs, Common, Format};
use crate::cli_error::CliError;
use crate::screen;

/// Makes a document of a run.
type Render = fn(&Results) -> String;

/// The files that were asked for, one for each format at most.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportArgs {
    /// JUnit XML, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<Utf8PathBuf>,
    /// A summary in Markdown, for a pull request (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    markdown: Option<Utf8PathBuf>,
    /// One row per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<Utf8PathBuf>,
    /// One JSON object per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    jsonl: Option<Utf8PathBuf>,
}

impl ExportArgs {
    /// Tells whether no format was asked for.
    pub fn is_empty(&self) -> bool {
        let files = [&self.junit, &self.markdown, &self.csv, &self.jsonl];
        files.into_iter().all(Option::is_none)
    }

    /// Writes every format that was asked for.
    pub fn write(&self, results: &Results) -> io::Result<()> {
        let formats: [(_, Render, _); 4] = [
            (&self.junit, junit, Printed::Text),
            (
                &self.markdown,
                |results| markdown(results, usize::MAX),
                Printed::Text,
            ),
            (&self.csv, csv, Printed::Text),
            (&self.jsonl, json_lines, Printed::Json),
        ];
        for (file, render, printed) in formats {
            if let Some(file) = file {
                write(file, &render(results), printed)?;
            }
        }
        Ok(())
    }
}

/// Writes what was asked for beside a run, and what GitHub Actions shows. Returns the exit status where that failed.
pub fn for_ci(results: &Results, ci: &CiArgs, format: Format, common: &Common) -> Option<u8> {
    let junit = match &ci.junit {
        Some(file) => write(file, &junit(results), Printed::Text),
        None => Ok(()),
    };
    let github = if ci.no_github {
        Ok(())
    } else {
        github::add(results, format, common)
    };
    let errors = [junit, github].into_iter().filter_map(Result::err);
    errors.map(|error| unwritten(error).show(common)).last()
}

/// Returns the error of a file that could not be written.
pub fn unwritten(error: io::Error) -> CliError {
    CliError::trouble(Code::CannotWrite, error)
        .help("choose a file that you can write; the run itself is saved")
}

/// Writes a document to a file, or to standard output where that is `-`. Directories on the way are made.
pub fn write(file: &Utf8Path, text: &str, printed: Printed) -> io::Result<()> {
    if file == "-" {
        screen::out_document(text, printed);
        return Ok(());
    }
    write_file(file, |to| to.write_all(text.as_bytes()))?;
    Ok(())
}

/// Writes a document to a file in pieces. Directories on the way are made. Returns the length of the file.
pub fn write_file(
    file: &Utf8Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<u64> {
    let written = || -> io::Result<u64> {
        if let Some(dir) = file.parent().filter(|dir| !dir.as_str().is_empty()) {
            std::fs::create_dir_all(dir)?;
        }
        let mut to = BufWriter::new(std::fs::File::create(file)?);
        write(&mut to)?;
        to.flush()?;
        Ok(to.get_ref().metadata()?.len())
    };
    written()
        .map_err(|error| io::Error::new(error.kind(), format!("{file} cannot be written: {error}")))
}
