//! Figures beside their targets.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

/// What a figure must be.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for what it says; nothing was promised.
    None,
}

#[derive(Debug)]
pub struct Row {
    pub what: String,
    pub figure: f64,
    pub unit: &'static str,
    pub target: Target,
    /// What the figure was made of.
    pub detail: String,
}

impl Row {
    pub fn is_missed(&self) -> bool {
        match self.target {
            Target::AtMost(most) => self.figure > most,
            Target::AtLeast(least) => self.figure < least,
            Target::None => false,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = format!("{:.2}{}", self.figure, self.unit);
        let target = match self.target {
            Target::AtMost(most) => format!("≤ {most}{}", self.unit),
            Target::AtLeast(least) => format!("≥ {least}{}", self.unit),
            Target::None => String::new(),
        };
        let verdict = match self.target {
            Target::None => "",
            _ if self.is_missed() => "missed",
            _ => "ok",
        };
        write!(
            formatter,
            "{:<52} {figure:>12} {target:>12}  {verdict:<7} {}",
            self.what, self.detail
        )
    }
}

/// Shows rows as they are measured, and remembers whether one was missed.
#[derive(Debug, Default)]
pub struct Table {
    missed: bool,
}

impl Table {
    pub fn new() -> io::Result<Self> {
        writeln!(
            io::stdout(),
            "{:<52} {:>12} {:>12}",
            "what",
            "figure",
            "target"
        )?;
        Ok(Table::default())
    }

    pub fn add(&mut self, row: &Row) -> io::Result<()> {
        self.missed |= row.is_missed();
        writeln!(io::stdout(), "{row}")?;
        io::stdout().flush()
    }

    pub fn is_missed(&self) -> bool {
        self.missed
    }
}

/// `12.3 ms`, `4.56 s`.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1000.0)
    } else {
        format!("{seconds:.2} s")
    }
}

pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
