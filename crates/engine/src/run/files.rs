//! The files of a run, and how one is replaced.

use std::fs::File;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

/// The journal.
pub const EVENTS: &str = "events.jsonl";
/// The results, for other programs.
pub const RESULTS: &str = "results.json";
/// The settings and the plan.
pub const RUN: &str = "run.json";
/// Earlier results, where the tests have run again.
pub const GRADINGS: &str = "gradings";

/// Returns the directory of a suite's runs.
pub fn runs_dir(suite_dir: &Utf8Path) -> Utf8PathBuf {
    suite_dir.join(".terca/runs")
}

/// Replaces a JSON file atomically: a reader finds either the old document or the new one, never a part.
pub(super) fn replace(
    dir: &Utf8Path,
    name: &str,
    document: &impl serde::Serialize,
) -> io::Result<()> {
    let new = dir.join(format!(".{name}.new"));
    let mut file = io::BufWriter::new(File::create(&new)?);
    serde_json::to_writer_pretty(&mut file, document)?;
    file.write_all(b"\n")?;
    file.flush()?;
    std::fs::rename(&new, dir.join(name))
}
