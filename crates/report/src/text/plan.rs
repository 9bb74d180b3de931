//! A plan before it runs, for `terca check` and `--dry-run`.

use std::collections::BTreeMap;

use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::Remark;
use terca_core::run::event::TrialHead;
use terca_core::text::prose;

use crate::names::Names;
use crate::shape::Shape;
use crate::term::grid::{Grid, Side};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

/// A plan that is shown.
#[derive(Debug, Clone, Copy)]
pub struct PlanOverview<'a> {
    /// Its trials.
    pub heads: &'a [TrialHead],
    /// Sentences about its variants.
    pub remarks: &'a [Remark],
    /// The descriptions of evals, environments and experiments.
    pub descriptions: &'a Descriptions,
}

/// The matrix in brief, its evals, its variants.
pub fn plan_overview(plan: PlanOverview<'_>, palette: Palette) -> String {
    let heads = plan.heads;
    let shape = Shape::of(heads);
    let total = prose::count(shape.trials, "trial");
    let mut summary = StyledLine::of(Role::Bold, &total);
    let words = shape.in_words();
    if !words.is_empty() {
        summary.push(Role::Plain, &format!(": {words}"));
    }
    let descriptions = plan.descriptions;
    let mut text = summary.render(palette) + "\n\n";
    if let Some(about) = &descriptions.suite {
        text.insert_str(0, &(described(about, 0).render(palette) + "\n"));
    }
    let parts = [
        ("evals", evals(plan)),
        ("variants", variants(plan)),
        ("environments", setups(&descriptions.environments)),
        ("experiments", setups(&descriptions.experiments)),
    ];
    let parts: Vec<String> = parts
        .iter()
        .map(|(title, grid)| (title, grid.render(2, palette)))
        .filter(|(_, list)| !list.is_empty())
        .map(|(title, list)| format!("{}\n{list}", palette.bold(title)))
        .collect();
    text + &parts.join("\n")
}

/// A description in one line, below what it is about.
fn described(text: &str, indent: usize) -> StyledLine {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = format!("{}{}", " ".repeat(indent), words.join(" "));
    StyledLine::of(Role::Dim, &line)
}

/// Names with their descriptions.
fn setups(descriptions: &BTreeMap<String, String>) -> Grid {
    let mut grid = Grid::new(&[Side::Left]);
    for (name, description) in descriptions {
        grid.row([StyledLine::plain(name), described(description, 0)]);
    }
    grid
}

/// Every trial, in the order given: positions in `heads`.
pub fn plan_trials(heads: &[TrialHead], order: &[usize], palette: Palette) -> String {
    let mut grid = Grid::new(&[Side::Right]);
    for head in order.iter().filter_map(|index| heads.get(*index)) {
        let mut row = vec![
            StyledLine::of(Role::Dim, &head.id.to_string()),
            StyledLine::plain(head.dir.as_str()),
        ];
        row.extend(agent(head));
        grid.row(row);
    }
    grid.render(0, palette)
}

fn evals(plan: PlanOverview<'_>) -> Grid {
    let mut grid = Grid::new(&[Side::Left]);
    for (eval, repetitions) in in_order(plan.heads, |head| head.eval.clone()) {
        let most = repetitions
            .iter()
            .map(|head| head.repetition)
            .max()
            .unwrap_or(0);
        let trials = prose::count(repetitions.len(), "trial");
        let repeated = if most > 1 {
            format!("{trials}, {}", prose::count(most as usize, "repetition"))
        } else {
            trials
        };
        grid.row([
            StyledLine::plain(&eval),
            StyledLine::of(Role::Dim, &repeated),
        ]);
        if let Some(description) = plan.descriptions.evals.get(&eval) {
            grid.line(described(description, 2));
        }
    }
    grid
}

fn variants(plan: PlanOverview<'_>) -> Grid {
    let names = Names::of(plan.heads);
    let mut grid = Grid::new(&[Side::Left]);
    for (_, trials) in in_order(plan.heads, |head| {
        (head.environment.clone(), head.experiment.clone())
    }) {
        let Some(head) = trials.first() else { continue };
        let name = names.variant(&head.environment, &head.experiment);
        let mut row = vec![StyledLine::plain(if name.is_empty() {
            "default"
        } else {
            &name
        })];
        row.extend(agent(head));
        grid.row(row);
        let is_about = |remark: &&Remark| {
            remark.environment == head.environment && remark.experiment == head.experiment
        };
        for remark in plan.remarks.iter().filter(is_about) {
            let line = format!("  {}", remark.sentence);
            grid.line(StyledLine::of(Role::Fair, &line));
        }
    }
    grid
}

fn agent(head: &TrialHead) -> [StyledLine; 2] {
    let model = head.model.as_deref().unwrap_or("the agent's own model");
    [
        StyledLine::plain(&head.agent),
        StyledLine::of(Role::Dim, model),
    ]
}

/// Heads by some key, in the order in which keys first appear.
fn in_order<K: Ord + Clone>(
    heads: &[TrialHead],
    key: impl Fn(&TrialHead) -> K,
) -> Vec<(K, Vec<&TrialHead>)> {
    let mut groups: Vec<(K, Vec<&TrialHead>)> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for head in heads {
        let key = key(head);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[place].1.push(head);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const PALETTE: Palette = Palette { colour: false };

    fn shown(heads: &[TrialHead]) -> String {
        let plan = PlanOverview {
            heads,
            remarks: &[],
            descriptions: &Descriptions::default(),
        };
        plan_overview(plan, PALETTE)
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
        insta::assert_snapshot!("plan_trials", plan_trials(&heads, &order, PALETTE));
    }
}
