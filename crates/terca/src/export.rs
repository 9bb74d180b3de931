//! Writes a run in the formats that other programs read, and gives it to the CI system.

mod github;

use std::io::{self, BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use terca_core::analysis::results::Results;
use terca_core::text::{Code, prose};
use terca_report::github::Printed;
use terca_report::json_lines;
use terca_report::{csv, junit, markdown};

use crate::args::{CiArgs, Common, Format};
use crate::cli_error::CliError;
use crate::screen;

/// A format of a run. A new one is a line of [`FORMATS`]; its flag comes from there.
struct ExportFormat {
    flag: &'static str,
    help: &'static str,
    render: fn(&Results) -> String,
    printed: Printed,
}

const JUNIT: ExportFormat = ExportFormat {
    flag: "junit",
    help: "JUnit XML, for CI systems",
    render: junit,
    printed: Printed::Text,
};

const FORMATS: [ExportFormat; 4] = [
    JUNIT,
    ExportFormat {
        flag: "markdown",
        help: "A summary in Markdown, for a pull request (`-`: standard output)",
        render: |results| markdown(results, usize::MAX),
        printed: Printed::Text,
    },
    ExportFormat {
        flag: "csv",
        help: "One row per trial (`-`: standard output)",
        render: csv,
        printed: Printed::Text,
    },
    ExportFormat {
        flag: "jsonl",
        help: "One JSON object per trial (`-`: standard output)",
        render: json_lines,
        printed: Printed::Json,
    },
];

impl ExportFormat {
    fn write(&self, results: &Results, file: &Utf8Path) -> io::Result<()> {
        write(file, &(self.render)(results), self.printed)
    }
}

/// The files that were asked for, one for each format at most.
#[derive(Debug, Clone, Default)]
pub struct ExportArgs {
    /// In the order of [`FORMATS`].
    files: [Option<Utf8PathBuf>; FORMATS.len()],
}

impl Args for ExportArgs {
    fn augment_args(command: Command) -> Command {
        let flags = FORMATS.iter().map(|format| {
            Arg::new(format.flag)
                .long(format.flag)
                .value_name("FILE")
                .value_parser(clap::value_parser!(Utf8PathBuf))
                .help(format.help)
        });
        command.args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ExportArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(ExportArgs {
            files: FORMATS.map(|format| matches.get_one::<Utf8PathBuf>(format.flag).cloned()),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ExportArgs {
    /// Tells whether no format was asked for.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(Option::is_none)
    }

    /// Returns the flags of all formats, and further ones before them, for a message.
    pub fn flags(before: &[&str]) -> String {
        let flags = before.iter().copied();
        let flags = flags.chain(FORMATS.iter().map(|format| format.flag));
        let flags: Vec<String> = flags.map(|flag| format!("--{flag} FILE")).collect();
        prose::quoted_list(&flags, "or")
    }

    /// Writes every format that was asked for.
    pub fn write(&self, results: &Results) -> io::Result<()> {
        for (format, file) in FORMATS.iter().zip(&self.files) {
            if let Some(file) = file {
                format.write(results, file)?;
            }
        }
        Ok(())
    }
}

/// Writes what was asked for beside a run, and what GitHub Actions shows. Returns the exit status where that failed.
pub fn for_ci(results: &Results, ci: &CiArgs, format: Format, common: &Common) -> Option<u8> {
    let junit = match &ci.junit {
        Some(file) => JUNIT.write(results, file),
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

/// Tells whether GitHub Actions reads what a run prints, and is to be told of it.
pub fn is_on_github(ci: &CiArgs) -> bool {
    !ci.no_github && github::is_here()
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
