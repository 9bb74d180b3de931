//! The JSON Schemas of `terca.yaml`, `eval.terca.yaml` and `workers.yaml`, and the tables of the reference.
//!
//! All of them describe the declarations that read the files. A schema says less than the declarations (nothing
//! about paths or equal names), and nothing else.

use camino::Utf8Path;
use serde_json::Value;

use crate::config::eval::{Home, eval as eval_file};
use crate::config::suite::suite as suite_file;
use crate::config::workers::workers as workers_file;
use crate::reader::Kind;
use crate::reader::describe::Definitions;

/// Returns the schema of `terca.yaml`.
pub fn suite() -> Value {
    document(
        "terca.yaml: a suite of coding tasks for coding agents",
        &suite_file(Utf8Path::new("/")),
    )
}

/// Returns the schema of `eval.terca.yaml`.
pub fn eval() -> Value {
    document(
        "eval.terca.yaml: a prompt, and the tests that verify the work",
        &eval_file(Home::Suite),
    )
}

/// Returns the schema of `workers.yaml`.
pub fn workers() -> Value {
    document(
        "workers.yaml: machines beside this one on which trials can run",
        &workers_file(),
    )
}

fn document<T: 'static>(title: &str, file: &Kind<T>) -> Value {
    let mut definitions = Definitions::default();
    let root = file.schema(&mut definitions);
    definitions.document(title, &root)
}

/// Returns a schema as it is printed and kept in files.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Returns the name of every map with known keys, and the table of its fields in Markdown for a page of
/// `docs/reference`.
pub fn tables(page: &str) -> Vec<(&'static str, String)> {
    let mut definitions = Definitions::default();
    suite_file(Utf8Path::new("/")).schema(&mut definitions);
    let names = definitions.names();
    names
        .filter_map(|name| Some((name, definitions.get(name)?.table(page))))
        .collect()
}
