//! A plan before it runs, for `terca check` and `--dry-run`.

use std::collections::BTreeMap;

use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::Remark;
use terca_core::run::event::TrialHead;
use terca_core::text::prose;

use crate::groups::grouped;
use crate::names::{Names, plan_size};
use crate::term::{Answer, Grid, Role, Side, StyledLine, UNLIMITED, bold, dim, plain, styled};

/// The matrix in brief, its evals, its variants with sentences about them, and the descriptions of all.
pub fn plan_overview(
    heads: &[TrialHead],
    remarks: &[Remark],
    descriptions: &Descriptions,
) -> Answer {
    let mut answer = Answer::new(UNLIMITED);
    if let Some(about) = &descriptions.suite {
        answer.line(described(about, ""));
    }
    answer.line(plan_title(heads));
    let parts = [
        ("evals", evals(heads, descriptions)),
        ("variants", variants(heads, remarks)),
        ("environments", setups(&descriptions.environments)),
        ("experiments", setups(&descriptions.experiments)),
    ];
    for (title, list) in parts {
        if !list.lines().is_empty() {
            answer.end_part();
            answer.line(bold(title));
            answer.whole_table(&list, 2);
        }
    }
    answer
}

/// `24 trials: 3 evals × 2 variants × 4 repetitions`.
pub(crate) fn plan_title(heads: &[TrialHead]) -> StyledLine {
    let (trials, factors) = plan_size(heads);
    match factors.is_empty() {
        true => bold(&trials),
        false => bold(&trials).plain(&format!(": {factors}")),
    }
}

/// A description in one line, below what it is about.
fn described(text: &str, indent: &str) -> StyledLine {
    dim(&format!("{indent}{}", prose::one_line(text)))
}

/// Names with their descriptions.
fn setups(descriptions: &BTreeMap<String, String>) -> Grid {
    let mut grid = Grid::default();
    for (name, description) in descriptions {
        grid.row([plain(name), described(description, "")]);
    }
    grid
}

/// Every trial, in the order given: positions in `heads`.
pub fn plan_trials(heads: &[TrialHead], order: &[usize]) -> Answer {
    let mut grid = Grid::default();
    grid.columns.push((Side::Right, 0));
    for head in order.iter().filter_map(|index| heads.get(*index)) {
        let names = [dim(&head.id.to_string()), plain(head.dir.as_str())];
        grid.row(names.into_iter().chain(agent(head)));
    }
    let mut answer = Answer::new(UNLIMITED);
    answer.whole_table(&grid, 0);
    answer
}

fn evals(heads: &[TrialHead], descriptions: &Descriptions) -> Grid {
    let mut grid = Grid::default();
    for (eval, repetitions) in grouped(heads.iter().map(|head| (&head.eval, head))) {
        let numbers = repetitions.iter().map(|head| head.repetition);
        let most = numbers.max().unwrap_or(0);
        let mut repeated = prose::count(repetitions.len(), "trial");
        if most > 1 {
            repeated += &format!(", {}", prose::count(most as usize, "repetition"));
        }
        grid.row([plain(eval), dim(&repeated)]);
        if let Some(description) = descriptions.evals.get(eval) {
            grid.line(described(description, "  "));
        }
        for lack in descriptions.incomplete.get(eval).into_iter().flatten() {
            grid.line(styled(Role::Fair, &format!("  incomplete: {lack}")));
        }
    }
    grid
}

fn variants(heads: &[TrialHead], remarks: &[Remark]) -> Grid {
    let names = Names::of(heads);
    let mut grid = Grid::default();
    let heads = heads.iter();
    let heads = heads.map(|head| ((&head.environment, &head.experiment), head));
    for ((environment, experiment), trials) in grouped(heads) {
        let name = names.variant_or_default(environment, experiment);
        let agents = trials.first().into_iter().flat_map(|head| agent(head));
        grid.row([plain(&name)].into_iter().chain(agents));
        let is_about = |remark: &&Remark| {
            remark.environment == *environment && remark.experiment == *experiment
        };
        for remark in remarks.iter().filter(is_about) {
            grid.line(styled(Role::Fair, &format!("  {}", remark.sentence)));
        }
    }
    grid
}

fn agent(head: &TrialHead) -> [StyledLine; 2] {
    let model = head.model.as_deref().unwrap_or("the agent's own model");
    [plain(&head.agent), dim(model)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::term::Palette;

    const PALETTE: Palette = Palette { colour: false };

    fn shown(heads: &[TrialHead]) -> String {
        plan_overview(heads, &[], &Descriptions::default()).render(PALETTE)
    }

    #[test]
    fn the_plan_in_brief() {
        insta::assert_snapshot!("plan_overview", shown(&fixture::heads(4, 3, 2)));
    }

    #[test]
    fn the_smallest_plan() {
        let heads = [fixture::head(1, "fib", "default", "default", 1)];
        insta::assert_snapshot!("plan_overview_smallest", shown(&heads));
    }

    #[test]
    fn trials_stand_in_the_order_they_run() {
        let heads = fixture::heads(3, 4, 1);
        let order = [11, 0, 5, 2];
        insta::assert_snapshot!("plan_trials", plan_trials(&heads, &order).render(PALETTE));
    }
}
