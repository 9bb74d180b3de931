//! What a run is written as, and what is read of other programs.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// One file with everything in it, for a browser (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub export: ExportArgs,
}

#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// Only print the address; open no browser
    #[arg(long)]
    pub no_open: bool,
    /// The port to listen on (default: one that is free)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
}

/// The formats that other programs read.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportArgs {
    /// JUnit XML, for CI systems
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// A summary in Markdown, for a pull request (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Utf8PathBuf>,
    /// One row per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<Utf8PathBuf>,
    /// One JSON object per trial (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub jsonl: Option<Utf8PathBuf>,
}

impl ExportArgs {
    pub fn is_empty(&self) -> bool {
        [&self.junit, &self.markdown, &self.csv, &self.jsonl]
            .iter()
            .all(|file| file.is_none())
    }
}

#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    pub from: ImportFrom,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ImportFrom {
    /// Tasks in the format of Harbor and Terminal-Bench 2 (task.toml, instruction.md, tests/test.sh)
    Harbor(HarborArgs),
}

#[derive(Debug, Clone, Args)]
pub struct HarborArgs {
    /// A task's directory, or one that has tasks below it
    #[arg(value_name = "TASKS")]
    pub tasks: Utf8PathBuf,
    /// Where the evals go, each into a directory of its own (default: the suite's directory)
    #[arg(long, value_name = "DIR")]
    pub to: Option<Utf8PathBuf>,
}
