//! Libraries in Python.

use serde_json::Value;

use super::{Delivery, Files, Language, Library, is_plain, plain};

const MANIFEST: &str = "pyproject.toml";
/// The interpreter of a virtual environment in the library's directory, where pytest is installed in it.
const PYTHON: &str = ".venv/bin/python";

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let manifest: Value = toml::from_str(&files.text(MANIFEST)?).ok()?;
    let project = manifest.get("project");
    let project = project.unwrap_or(&manifest["tool"]["poetry"]);
    let name = plain(&project["name"])?;
    let has_pytest = files.has(PYTHON) && files.has(".venv/bin/pytest");
    let (import, path) = package(&name, files).unzip();
    let (delivery, remark) = delivery(project, path, files);
    Some(Library {
        language: Language::Python,
        manifest: MANIFEST,
        import: import.unwrap_or_else(|| import_name(&name)),
        name,
        version: plain(&project["version"]),
        runner: if has_pytest { "pytest" } else { "unittest" },
        installed_runner: has_pytest.then_some(PYTHON),
        delivery,
        remark,
        has_dependencies: has_dependencies(project),
        ..Library::default()
    })
}

/// Finds the code: `src/NAME`, `NAME` or `NAME.py`, or the only package below `src`. Returns its name and its path.
fn package(name: &str, files: &Files<'_>) -> Option<(String, String)> {
    let import = import_name(name);
    for path in [format!("src/{import}"), import.clone()] {
        let module = format!("{path}.py");
        if files.has_file(&format!("{path}/__init__.py")) {
            return Some((import, path));
        }
        if files.has_file(&module) {
            return Some((import, module));
        }
    }
    let inits = files.below("src").into_iter().filter_map(|path| {
        let parts: Vec<&str> = path.components().map(|part| part.as_str()).collect();
        match parts.as_slice() {
            ["src", package, "__init__.py"] if is_plain(package) => Some((*package).to_owned()),
            _ => None,
        }
    });
    let mut inits: Vec<String> = inits.collect();
    let import = inits.pop().filter(|_| inits.is_empty())?;
    let path = format!("src/{import}");
    Some((import, path))
}

fn import_name(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

fn delivery(
    project: &Value,
    path: Option<String>,
    files: &Files<'_>,
) -> (Delivery, Option<&'static str>) {
    if let Some(path) = path.filter(|_| !has_dependencies(project)) {
        let to = path.strip_prefix("src/").unwrap_or(&path).to_owned();
        let remark = "copies the package as it is; one that has to be compiled needs `python3 -m pip install --target .`";
        return (Delivery::Copies(vec![(path, to)]), Some(remark));
    }
    let lines = vec!["python3 -m pip install --quiet --target . @library@".to_owned()];
    let inputs = files.existing([MANIFEST, "src", "setup.py", "setup.cfg", "README.md"]);
    (Delivery::Script { lines, inputs }, None)
}

fn has_dependencies(project: &Value) -> bool {
    match &project["dependencies"] {
        Value::Array(list) => !list.is_empty(),
        Value::Object(table) => table.keys().any(|name| name != "python"),
        _ => false,
    }
}
