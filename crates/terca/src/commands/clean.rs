//! `terca clean`: removes cached steps, old runs, and layers that no run uses, after asking.

use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use clap::Args;
use terca_core::text::Code;
use terca_core::text::prose;
use terca_engine::run::clean::{Removable, RemovableKind, removable, remove};
use terca_engine::suite::discover;

use crate::args::Common;
use crate::args::values::age;
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct CleanArgs {
    /// Remove runs whose last trial ended longer ago than this, such as 12h, 30d or 8w; 0d removes all
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = age)]
    older_than: Duration,
    /// Do not ask
    #[arg(short = 'y', long)]
    yes: bool,
}

pub(super) fn clean(args: &CleanArgs, common: &Common) -> Outcome {
    let dir = discover::canonical(&common.dir)?;
    let found = removable(&dir, args.older_than);
    if found.is_empty() {
        screen::err("there is nothing to remove");
        return Ok(0);
    }
    let list: String = found.iter().map(line).collect();
    let total = found.iter().map(|one| one.bytes).sum();
    screen::out(&format!("{list}{} in all", prose::bytes(total)));
    if !args.yes && !agrees()? {
        screen::err("nothing was removed");
        return Ok(0);
    }
    let mut gone = 0;
    let mut freed = 0;
    for one in &found {
        match remove(&dir, one) {
            Some(left) if left.is_empty() => {
                gone += 1;
                freed += one.bytes;
            }
            Some(left) => output::warn_of_leftovers(&left),
            None => screen::err(&format!("in use: {}", screen::short(&one.path))),
        }
    }
    screen::err(&format!(
        "removed {gone} of {}: {}",
        found.len(),
        prose::bytes(freed)
    ));
    Ok(0)
}

fn line(one: &Removable) -> String {
    let what = match one.kind {
        RemovableKind::Step => "cached step",
        RemovableKind::Downloads => "downloads  ",
        RemovableKind::Agents => "agents     ",
        RemovableKind::Run => "run        ",
        RemovableKind::Layers => "layers     ",
    };
    format!(
        "{what}  {:>9}  {}\n",
        prose::bytes(one.bytes),
        screen::short(&one.path)
    )
}

/// Asks; without anybody to ask, nothing is removed.
fn agrees() -> Result<bool, CliError> {
    if !std::io::stdin().is_terminal() {
        let error = CliError::misuse(
            Code::NobodyToAsk,
            "not a terminal, so `terca clean` cannot ask questions; nothing was removed",
        );
        return Err(error.help("`terca clean --yes` removes without asking"));
    }
    screen::err("Remove all of this? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
