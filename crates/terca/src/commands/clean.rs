//! `terca clean`: removes layers and old runs, after asking.

use std::io::{BufRead, IsTerminal};

use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_engine::run::clean::{Kind, Removable, removable, remove};
use terca_engine::suite::discover;

use super::MISUSE;
use super::refusal::{Outcome, Refusal};
use crate::args::{CleanArgs, Common};
use crate::screen;

pub(super) fn clean(args: &CleanArgs, common: &Common) -> Outcome {
    let dir = discover::canonical(&common.dir)?;
    let found = removable(&dir, args.older_than);
    if found.is_empty() {
        screen::remark("there is nothing to remove");
        return Ok(0);
    }
    let list: String = found.iter().map(line).collect();
    let total = found.iter().map(|one| one.bytes).sum();
    screen::say(&format!("{list}{} in all", prose::bytes(total)));
    if !args.yes {
        agree()?;
    }
    let gone: Vec<&Removable> = found.iter().filter(|one| remove(one)).collect();
    let freed = gone.iter().map(|one| one.bytes).sum();
    screen::remark(&format!(
        "removed {} of {}: {}",
        gone.len(),
        found.len(),
        prose::bytes(freed)
    ));
    if gone.len() < found.len() {
        screen::remark("the others are in use, or could not be removed");
    }
    Ok(0)
}

fn line(one: &Removable) -> String {
    let what = match one.kind {
        Kind::Layer => "layer",
        Kind::Run => "run  ",
    };
    format!(
        "{what}  {:>9}  {}\n",
        prose::bytes(one.bytes),
        screen::short(&one.path)
    )
}

/// Asks; without anybody to ask, nothing is removed.
fn agree() -> Result<(), Refusal> {
    if !std::io::stdin().is_terminal() {
        let refusal = Refusal::misuse(
            Code::NobodyToAsk,
            "nothing was removed: there is nobody to ask",
        );
        return Err(refusal.help("`terca clean --yes` removes without asking"));
    }
    screen::remark("Remove all of this? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    screen::remark("nothing was removed");
    Err(Refusal::told(MISUSE))
}
