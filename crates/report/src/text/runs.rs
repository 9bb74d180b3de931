//! The runs so far, for `terca list`: one line each, the newest last, where the eye is.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use terca_core::analysis::metrics::UNKNOWN;
use terca_core::run::event::RunStatus;
use terca_core::run::run_file::RunKind;
use terca_core::text::prose;

use crate::term::{Answer, Grid, Role, Side, StyledLine, dim, plain, styled};

/// A run in a list.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    pub run: String,
    pub suite: String,
    /// `None` when the run's files cannot be read; then `note` says why.
    pub kind: Option<RunKind>,
    /// The names of its agents, each once.
    pub agents: Vec<String>,
    /// `None` when the run's files cannot be read.
    pub status: Option<ListedStatus>,
    pub started_at: Option<Timestamp>,
    pub trials: usize,
    pub passed: usize,
    pub partial: usize,
    pub failed: usize,
    pub errors: usize,
    /// Trials that did not run, or were interrupted.
    pub not_run: usize,
    /// The disk space of its folder.
    pub bytes: u64,
    pub note: Option<String>,
}

/// The status of a run in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListedStatus {
    /// It goes on.
    Running,
    /// All of its trials ran.
    Complete,
    /// It came to its end, and did not start all of its trials: `--fail-fast`, a budget, a variant that cannot run.
    Incomplete,
    /// A signal or a crash ended it.
    Interrupted,
}

impl ListedStatus {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            ListedStatus::Running => "running",
            ListedStatus::Complete => "complete",
            ListedStatus::Incomplete => "incomplete",
            ListedStatus::Interrupted => "interrupted",
        }
    }

    /// Returns the status of a run with so many trials that did not run.
    pub fn of(status: RunStatus, not_run: usize) -> Self {
        match status {
            RunStatus::Running => ListedStatus::Running,
            RunStatus::Interrupted => ListedStatus::Interrupted,
            RunStatus::Complete if not_run > 0 => ListedStatus::Incomplete,
            RunStatus::Complete => ListedStatus::Complete,
        }
    }
}

/// The rows as they come, which should be oldest first; times in the time zone given. What matters least is left out
/// where it would not fit: the size, then the suite, which is mostly the same, then the time, whose day is in the name.
pub fn runs_table(rows: &[RunRow], zone: &TimeZone, columns: usize) -> Answer {
    let mut answer = Answer::new(columns);
    let mut grid = Grid::titled(COLUMNS);
    for row in rows {
        grid.row(cells(row, zone));
    }
    let left_out = [&[][..], &[SIZE], &[SIZE, SUITE], &[SIZE, SUITE, STARTED]];
    let tables = left_out.map(|left_out| grid.only(|index| !left_out.contains(&COLUMNS[index].0)));
    let fitting = tables.iter().find(|table| table.fits(columns));
    if let Some(table) = fitting.or(tables.last())
        && !rows.is_empty()
    {
        answer.whole_table(table, 0);
    }
    answer
}

const SUITE: &str = "suite";
const SIZE: &str = "size";
const STARTED: &str = "started";
const COLUMNS: [(&str, Side); 11] = [
    ("run", Side::Left),
    (SUITE, Side::Left),
    ("agents", Side::Left),
    (STARTED, Side::Left),
    ("status", Side::Left),
    ("trials", Side::Right),
    ("passed", Side::Right),
    ("not passed", Side::Right),
    ("errors", Side::Right),
    (SIZE, Side::Right),
    ("", Side::Left),
];

fn cells(row: &RunRow, zone: &TimeZone) -> [StyledLine; 11] {
    [
        plain(&row.run),
        plain(&row.suite),
        agents(row),
        dim(&started(row.started_at, zone)),
        status(row.status),
        plain(&row.trials.to_string()),
        number(row.passed, Role::Good),
        number(row.partial + row.failed, Role::Bad),
        number(row.errors, Role::Trouble),
        dim(&prose::bytes(row.bytes)),
        dim(row.note.as_deref().unwrap_or_default()),
    ]
}

/// `codex`, `oracle`, or `validate` for a run that proves evals. What is no run of agents is dim.
fn agents(row: &RunRow) -> StyledLine {
    match row.kind {
        Some(RunKind::Validate) => dim("validate"),
        Some(RunKind::Controls) => dim(&row.agents.join(", ")),
        Some(RunKind::Agents) | None => plain(&row.agents.join(", ")),
    }
}

/// To the minute; a time that is not known is `–`.
fn started(at: Option<Timestamp>, zone: &TimeZone) -> String {
    let at = at.map(|at| {
        at.to_zoned(zone.clone())
            .strftime("%Y-%m-%d %H:%M")
            .to_string()
    });
    at.unwrap_or_else(|| UNKNOWN.to_owned())
}

fn status(status: Option<ListedStatus>) -> StyledLine {
    let role = match status {
        Some(ListedStatus::Complete) => Role::Plain,
        Some(ListedStatus::Running) => Role::Bold,
        Some(_) => Role::Fair,
        None => Role::Trouble,
    };
    styled(role, status.map_or("unreadable", ListedStatus::as_str))
}

/// Colour only for what there is.
fn number(number: usize, role: Role) -> StyledLine {
    let role = if number == 0 { Role::Dim } else { role };
    styled(role, &number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Palette, UNLIMITED, width};

    fn row(
        run: &str,
        status: Option<ListedStatus>,
        passed: usize,
        failed: usize,
        errors: usize,
    ) -> RunRow {
        RunRow {
            run: run.to_owned(),
            suite: "basic-js".to_owned(),
            kind: status.and(Some(RunKind::Agents)),
            agents: status.map(|_| "codex".to_owned()).into_iter().collect(),
            status,
            started_at: status.and(Some("2026-11-14T10:00:59Z".parse().unwrap())),
            trials: passed + failed + errors,
            passed,
            partial: 0,
            failed,
            errors,
            not_run: 0,
            bytes: 1_234_567,
            note: status
                .is_none()
                .then(|| "results.json: expected `,` at line 3".to_owned()),
        }
    }

    #[test]
    fn runs_in_lines() {
        let rows = [
            row("2026-11-13-001", Some(ListedStatus::Complete), 1000, 24, 0),
            row("2026-11-13-002", None, 0, 0, 0),
            row("2026-11-14-001", Some(ListedStatus::Interrupted), 3, 0, 12),
            row("2026-11-14-002", Some(ListedStatus::Running), 0, 0, 0),
            RunRow {
                kind: Some(RunKind::Validate),
                ..row("2026-11-14-003", Some(ListedStatus::Complete), 1, 2, 0)
            },
            RunRow {
                kind: Some(RunKind::Controls),
                agents: vec!["oracle".to_owned()],
                not_run: 23,
                ..row("2026-11-14-004", Some(ListedStatus::Incomplete), 0, 1, 0)
            },
        ];
        let shown = |room| runs_table(&rows, &TimeZone::UTC, room).render(Palette::new(false));
        insta::assert_snapshot!("runs", shown(UNLIMITED));
        // Without the note of what cannot be read.
        let narrow = runs_table(&rows[2..], &TimeZone::UTC, 80).render(Palette::new(false));
        assert!(
            narrow.lines().all(|line| width(line) <= 80) && !narrow.contains("MB"),
            "{narrow}"
        );
        assert!(
            narrow.contains("  12") && !shown(70).contains("basic-js"),
            "{narrow}"
        );
    }

    #[test]
    fn no_runs_are_no_table() {
        assert_eq!(
            runs_table(&[], &TimeZone::UTC, 80).render(Palette::new(false)),
            ""
        );
    }
}
