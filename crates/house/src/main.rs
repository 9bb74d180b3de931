//! `scripts/house`: prints the figures of Terca's source, or checks it for circles.

use std::io::Write;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Parser;
use terca_house::budget::{Budget, raises_without_reason};
use terca_house::circles::circles;
use terca_house::figures::Figures;
use terca_house::modules::Crate;
use terca_house::text::{describe, table};
use terca_house::{Error, OWN_CHECKOUT, PRODUCT_CRATES};

/// Measures Terca's own source
#[derive(Debug, Parser)]
struct Arguments {
    /// Measures another checkout
    #[arg(long, value_name = "DIR", default_value = OWN_CHECKOUT, hide_default_value = true)]
    root: Utf8PathBuf,
    /// Prints only circles and figures above their limits, and exits with 1 if there are any
    #[arg(long)]
    check: bool,
}

fn main() -> Result<ExitCode, Error> {
    let arguments = Arguments::parse();
    let mut all = Figures::default();
    let mut columns = Vec::new();
    let mut found = String::new();
    for name in PRODUCT_CRATES {
        let tree = Crate::read(&arguments.root.join("crates").join(name))?;
        let circles = circles(&tree);
        let mut figures = Figures::default();
        figures.add(&tree, &circles);
        all.add(&tree, &circles);
        columns.push((name, figures));
        for circle in &circles {
            found += &describe(name, circle, &arguments.root);
        }
    }
    let budget = Budget::read(&arguments.root)?;
    found += &budget.exceeded(&columns, &all);
    found += &raises_without_reason(&arguments.root)?;
    columns.push(("all", all));

    let mut out = std::io::stdout().lock();
    if !arguments.check {
        writeln!(out, "{}", table(&columns))?;
    }
    if found.is_empty() {
        writeln!(
            out,
            "No circles among the modules of {}, and no figure above its limit.",
            PRODUCT_CRATES.join(", ")
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(out, "{found}")?;
    Ok(ExitCode::from(u8::from(arguments.check)))
}
