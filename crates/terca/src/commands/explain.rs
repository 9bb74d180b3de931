//! `terca explain`: what an error means, what it usually comes from, and what to do next.

use clap::Args;
use serde_json::{Value, json};
use terca_core::text::{Code, explain, prose};

use crate::args::TableFormat;
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// An error code, such as `unknown-key`, or the kind of a trial's error (default: list them all)
    #[arg(value_name = "CODE")]
    codes: Vec<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
}

pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    let named = args.codes.iter().map(|word| find(word));
    let codes = named.collect::<Result<Vec<Code>, CliError>>()?;
    match (args.format, codes.as_slice()) {
        (TableFormat::Table, []) => screen::out(&format!(
            "{}\n`terca explain CODE` explains one.",
            explain::overview()
        )),
        (TableFormat::Table, codes) => {
            let texts: Vec<String> = codes.iter().copied().map(explain::brief).collect();
            screen::out(&prose::joined(
                texts.iter().map(|text| text.trim_matches('\n')),
                "\n\n",
            ));
        }
        (TableFormat::Json, []) => output::json(&explained(Code::ALL))?,
        (TableFormat::Json, codes) => output::json(&explained(codes))?,
    }
    Ok(0)
}

/// Returns the texts about codes, for programs.
fn explained(codes: &[Code]) -> Value {
    let texts = codes.iter().map(|code| {
        json!({
            "code": code.as_str(),
            "title": code.title(),
            "topic": code.topic(),
            "text": code.body(),
        })
    });
    texts.collect()
}

/// Also as it was copied, with its brackets.
fn find(word: &str) -> Result<Code, CliError> {
    let bare = word
        .trim()
        .trim_start_matches("error")
        .trim_start_matches("warning");
    let bare = bare.trim_matches(|c: char| matches!(c, '[' | ']' | ':' | '`'));
    if let Some(code) = Code::find(bare) {
        return Ok(code);
    }
    let error = CliError::misuse(Code::Usage, format!("no error has the code `{word}`"));
    let meant = prose::meant(bare, Code::ALL.iter().map(|code| code.as_str()));
    Err(error.help(
        meant
            .as_deref()
            .unwrap_or("`terca explain` lists all codes"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_be_copied_with_what_stands_around_it() {
        for word in [
            "no-runs", "error[no-runs]", "[no-runs]:", "`no-runs`", "No_Runs",
        ] {
            assert_eq!(find(word).ok(), Some(Code::NoRuns), "{word}");
        }
        for word in ["", "error", "norun-s-at-all"] {
            assert!(find(word).is_err(), "{word}");
        }
    }
}
