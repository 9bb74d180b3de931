//! `terca schema`: what editors need to know of the configuration files.

use clap::{Args, ValueEnum};
use terca_core::config::schema as core;

use crate::cli_error::Outcome;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// The file: `terca` for terca.yaml, `eval` for eval.terca.yaml, `workers` for workers.yaml
    #[arg(value_enum, default_value_t = ConfigFile::Terca)]
    file: ConfigFile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFile {
    Terca,
    Eval,
    Workers,
}

pub(super) fn schema(args: &SchemaArgs) -> Outcome {
    let schema = match args.file {
        ConfigFile::Terca => core::suite(),
        ConfigFile::Eval => core::eval(),
        ConfigFile::Workers => core::workers(),
    };
    screen::out(&core::text(&schema));
    Ok(0)
}
