//! `terca clean`: removes layers and old runs, after asking.

use std::io::{BufRead, IsTerminal};

use terca_core::prose;
use terca_engine::clean::{Kind, Removable, removable, remove};
use terca_engine::discover;

use super::MISUSE;
use crate::args::{CleanArgs, Common};
use crate::screen;

pub(super) fn clean(args: &CleanArgs, common: &Common) -> u8 {
    let dir = match discover::canonical(&common.dir) {
        Ok(dir) => dir,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    let found = removable(&dir, args.older_than);
    if found.is_empty() {
        screen::remark("there is nothing to remove");
        return 0;
    }
    let list: String = found.iter().map(line).collect();
    let total = found.iter().map(|one| one.bytes).sum();
    screen::say(&format!("{list}{} in all", prose::bytes(total)));
    if !args.yes && !agreed() {
        return MISUSE;
    }
    let gone: Vec<&Removable> = found.iter().filter(|one| remove(one)).collect();
    let freed = gone.iter().map(|one| one.bytes).sum();
    screen::remark(&format!("removed {} of {}: {}", gone.len(), found.len(), prose::bytes(freed)));
    if gone.len() < found.len() {
        screen::remark("the others are in use, or could not be removed");
    }
    0
}

fn line(one: &Removable) -> String {
    let what = match one.kind {
        Kind::Layer => "layer",
        Kind::Run => "run  ",
    };
    format!("{what}  {:>9}  {}\n", prose::bytes(one.bytes), screen::short(&one.path))
}

/// Asks; without anybody to ask, nothing is removed.
fn agreed() -> bool {
    if !std::io::stdin().is_terminal() {
        screen::complain("nothing was removed: there is nobody to ask (--yes removes without asking)");
        return false;
    }
    screen::remark("Remove all of this? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !yes {
        screen::remark("nothing was removed");
    }
    yes
}
