//! The eval of a bug: a file in a suite whose `_base` and setup all bugs share.

use camino::Utf8Path;

use super::{Draft, EDIT_ME, EVAL, Entry, INJECTED, Recipe, Refusal, Wishes, draft, keys};
use crate::new_suite::mine::choice::Chosen;
use crate::text::prose;

/// Makes an eval of a bug, with the tree of the commit. Its `_base` has the file with the bug alone.
pub fn injected(
    chosen: Chosen,
    with_bug: &str,
    tree: &[Entry],
    recipes: &[Recipe],
    wishes: &Wishes,
) -> Result<Draft, Refusal> {
    let mut draft = draft(chosen, tree, recipes, wishes)?;
    draft.placed.retain(|placed| placed.below != "_base");
    for change in &draft.chosen.solution {
        let path = Utf8Path::new("_base").join(&change.path);
        draft.written.push((path, with_bug.to_owned()));
    }
    let own = draft.keys.lines().filter(|line| !is_shared(line));
    draft.keys = (prose::joined(own, "\n") + "\n").replace(EDIT_ME, INJECTED);
    let text = draft.eval_file(None);
    draft.written.retain(|(path, _)| path != EVAL);
    draft.written.push((EVAL.into(), text));
    Ok(draft)
}

/// Returns the keys of the suite: the setup, which all bugs share.
pub fn shared_keys(recipes: &[Recipe], wishes: &Wishes) -> String {
    let keys = keys(recipes, wishes);
    let lines = keys.lines().filter(|line| is_shared(line));
    lines.map(|line| format!("{line}\n")).collect()
}

fn is_shared(line: &str) -> bool {
    line.starts_with("prepare:") || line.starts_with("env:")
}
