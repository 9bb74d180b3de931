//! Figures and circles as text.

use camino::Utf8Path;

use crate::circles::Circle;
use crate::figures::Figures;

/// Returns the figures as a table with a column for each crate.
pub fn table(columns: &[(&str, Figures)]) -> String {
    let mut text = row("", columns.iter().map(|(name, _)| (*name).to_owned()));
    for (title, show) in ROWS {
        text += &row(title, columns.iter().map(|(_, figures)| show(figures)));
    }
    text
}

/// Returns a circle's members and the lines that close it, with files named from `root` on.
pub fn describe(crate_name: &str, circle: &Circle, root: &Utf8Path) -> String {
    let names: Vec<&str> = circle.members.iter().map(String::as_str).collect();
    let level = match circle.level.as_str() {
        "" => format!("at the root of {crate_name}"),
        path => format!("in {crate_name}::{path}"),
    };
    let mut text = format!("circle {level}: {}\n", names.join(", "));
    for edge in &circle.closing {
        text += &format!("  {} uses {}\n", edge.from, edge.to);
        for place in &edge.places {
            let file = place.file.strip_prefix(root).unwrap_or(&place.file);
            text += &format!("    {file}:{}\n", place.line);
        }
    }
    text
}

type Show = fn(&Figures) -> String;

const ROWS: [(&str, Show); 18] = [
    ("modules in circles, root", |it| {
        it.modules_in_root_circles.to_string()
    }),
    ("modules in circles, nested", |it| {
        it.modules_in_nested_circles.to_string()
    }),
    ("modules entangled with parent", |it| {
        it.modules_entangled_with_parent.to_string()
    }),
    ("root modules", |it| it.root_modules.to_string()),
    ("product lines", |it| it.product_lines.to_string()),
    ("product tokens", |it| it.product_tokens.to_string()),
    ("code lines", |it| it.code_lines.to_string()),
    ("comment share", |it| {
        share(it.comment_lines, it.comment_lines + it.code_lines)
    }),
    ("files", |it| it.file_lines.len().to_string()),
    ("file lines, p50/90/99/max", |it| quantiles(&it.file_lines)),
    ("functions", |it| it.function_lines.len().to_string()),
    ("lines per function, p50/90/99/max", |it| {
        quantiles(&it.function_lines)
    }),
    ("tokens per function, p50/90/99/max", |it| {
        quantiles(&it.function_tokens)
    }),
    ("types of one name, most", |it| {
        it.type_names
            .values()
            .max()
            .copied()
            .unwrap_or_default()
            .to_string()
    }),
    ("public items documented", |it| {
        share(it.documented_items, it.public_items)
    }),
    ("docs that open with a clause", |it| {
        share(it.clause_openings, it.doc_comments)
    }),
    ("named closures per 1,000 lines", |it| {
        per_thousand(it.named_closures, it.code_lines)
    }),
    ("tuple lets per 1,000 lines", |it| {
        per_thousand(it.tuple_lets, it.code_lines)
    }),
];

fn row(title: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!("  {cell:>15}")).collect();
    format!("{title:<34}{cells}\n")
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

fn per_thousand(count: usize, lines: usize) -> String {
    format!("{:.1}", 1000.0 * count as f64 / lines.max(1) as f64)
}

/// Returns the median, the 90th and 99th percentile and the greatest value, by nearest rank.
fn quantiles(values: &[usize]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let ranks = [50, 90, 99, 100].map(|percent| (sorted.len() * percent).div_ceil(100));
    let picked = ranks.map(|rank| {
        sorted
            .get(rank.saturating_sub(1))
            .map_or_else(|| "-".to_owned(), usize::to_string)
    });
    picked.join("/")
}
