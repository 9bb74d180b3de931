//! `terca schema`: what editors need to know of the configuration files.

use clap::Args;
use terca_core::config::schema as core;

use crate::cli_error::Outcome;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// The file: `terca` for terca.yaml, `eval` for eval.terca.yaml, `workers` for workers.yaml
    #[arg(default_value = "terca", value_parser = ["terca", "eval", "workers"])]
    file: String,
}

pub(super) fn schema(args: &SchemaArgs) -> Outcome {
    let schema = match args.file.as_str() {
        "eval" => core::eval(),
        "workers" => core::workers(),
        _ => core::suite(),
    };
    screen::out(&core::text(&schema));
    Ok(0)
}
