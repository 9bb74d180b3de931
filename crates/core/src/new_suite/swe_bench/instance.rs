//! Reads instances: a list in JSON, or a JSON document on each line.

use serde_json::Value;

/// An instance of SWE-bench.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Its name.
    pub id: String,
    /// The repository, as `owner/name`.
    pub repo: String,
    /// The commit that the work begins with.
    pub base_commit: String,
    /// The task.
    pub problem: String,
    /// The diff that solves it.
    pub patch: String,
    /// The diff that adds its tests.
    pub test_patch: String,
    /// Tests that the solution makes pass.
    pub fail_to_pass: Vec<String>,
    /// Tests that passed before and have to pass still.
    pub pass_to_pass: Vec<String>,
    /// The version of the project.
    pub version: Option<String>,
}

/// Reads a file of instances. One that lacks something is the reason why.
pub fn instances(text: &str) -> Result<Vec<Result<Instance, String>>, String> {
    let rows = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(rows)) => rows,
        Ok(row @ Value::Object(_)) => vec![row],
        Ok(_) => return Err("it is neither a list nor an instance".into()),
        Err(whole) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let rows: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
            rows.map_err(|_| {
                format!("it is neither JSON nor a JSON document on each line: {whole}")
            })?
        }
    };
    Ok(rows.iter().map(instance).collect())
}

fn instance(row: &Value) -> Result<Instance, String> {
    let id = row["instance_id"].as_str().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || "_-.+".contains(c);
    if id.is_empty() || !id.chars().all(is_name) {
        return Err("an instance has no `instance_id` that can be the name of a directory".into());
    }
    let text = |key: &str| match row[key].as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(format!("{id} has no `{key}`")),
    };
    let base_commit = text("base_commit")?;
    if base_commit.len() < 40 || !base_commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(format!("`base_commit` of {id} is no hash of a commit"));
    }
    Ok(Instance {
        repo: text("repo")?,
        base_commit,
        problem: text("problem_statement")?,
        patch: text("patch")?,
        test_patch: text("test_patch")?,
        fail_to_pass: names(&row["FAIL_TO_PASS"]),
        pass_to_pass: names(&row["PASS_TO_PASS"]),
        version: text("version").ok(),
        id: id.to_owned(),
    })
}

/// Returns the names of a list, or of the text of one.
fn names(value: &Value) -> Vec<String> {
    let read = value
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    let list = read
        .as_ref()
        .unwrap_or(value)
        .as_array()
        .into_iter()
        .flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
