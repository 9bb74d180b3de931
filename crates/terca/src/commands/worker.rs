//! `terca worker`: runs trials for a Terca on another machine, which starts it.

use std::io::IsTerminal;

use terca_core::text::Code;
use terca_engine::{machine_check, workers};

use crate::cli_error::{CliError, Outcome};

pub(super) fn worker() -> Outcome {
    if std::io::stdin().is_terminal() {
        return Err(CliError::misuse(
            Code::Usage,
            "`terca worker` is started by another Terca, not by hand",
        )
        .help("`terca run --on NAME` starts the workers that `workers` in terca.yaml defines"));
    }
    Ok(workers::serve(machine_check::inspect))
}
