//! Libraries in Python.

use serde_json::Value;

use super::workspace::{Identity, Manager, Patterns, Workspace, patterns, texts};
use super::{
    Delivery, Files, Language, Library, Runner, Source, build_sources, is_plain, joined, plain,
};
use crate::text::prose;

const MANIFEST: &str = "pyproject.toml";
/// The interpreter of a virtual environment in the library's directory.
const PYTHON: &str = ".venv/bin/python";

/// Workspaces of uv.
pub(super) const MANAGER: Manager = Manager { members, identity };

pub(super) fn read(files: &Files<'_>) -> Option<Library> {
    let manifest = manifest(files)?;
    let project = project(&manifest);
    let name = plain(&project["name"])?;
    let (import, path) = package(&name, files).unzip();
    let workspace = Workspace::around(MANAGER, files);
    if import.is_none() && Workspace::at(MANAGER, files).is_some() {
        // A root without code of its own.
        return None;
    }
    let has_pytest = files.has(PYTHON) && files.has(".venv/bin/pytest");
    let is_pure = !has_dependencies(project) && !is_compiled(&manifest, files);
    let copied = path.filter(|_| is_pure);
    let fetcher = fetcher(files, workspace.as_ref());
    let fetches = copied.is_none().then_some(fetcher);
    let delivery = match copied {
        Some(path) => {
            let to = path.strip_prefix("src/").unwrap_or(&path).to_owned();
            Delivery::Copies(vec![(path, to)])
        }
        None => installed(files, workspace.as_ref(), fetcher, &manifest),
    };
    Some(Library {
        language: Language::Python,
        manifest: MANIFEST,
        import: import.unwrap_or_else(|| import_name(&name)),
        name,
        version: plain(&project["version"]),
        runner: if has_pytest {
            Runner::Pytest
        } else {
            Runner::Unittest
        },
        installed_runner: has_pytest.then(|| PYTHON.to_owned()),
        delivery,
        has_dependencies: has_dependencies(project),
        fetches,
        ..Library::default()
    })
}

fn manifest(files: &Files<'_>) -> Option<Value> {
    toml::from_str(&files.text(MANIFEST)?).ok()
}

fn project(manifest: &Value) -> &Value {
    let project = manifest.get("project");
    project.unwrap_or(&manifest["tool"]["poetry"])
}

fn identity(files: &Files<'_>) -> Option<Identity> {
    let manifest = manifest(files)?;
    let project = project(&manifest);
    let needs = texts(&project["dependencies"]).into_iter().map(|wanted| {
        let is_sign = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.');
        wanted.split(is_sign).next().unwrap_or_default().to_owned()
    });
    Some((plain(&project["name"])?, needs.collect()))
}

fn members(files: &Files<'_>) -> Option<Patterns> {
    let manifest = manifest(files)?;
    manifest["tool"]["uv"].get("workspace").map(patterns)
}

/// Finds the code: `src/NAME`, `NAME` or `NAME.py`, or the only package below `src` or at the top. Returns its name and its
/// path.
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
    ["src", ""].into_iter().find_map(|dir| {
        let names = files.surroundings.names_in(&files.dir.join(dir));
        let is_package = |name: &String| {
            let is_other = ["tests", "test", "docs", "examples"].contains(&name.as_str());
            is_plain(name)
                && !is_other
                && files.has_file(&joined(dir, &format!("{name}/__init__.py")))
        };
        let mut packages: Vec<String> = names.into_iter().filter(is_package).collect();
        let import = packages.pop().filter(|_| packages.is_empty())?;
        let path = joined(dir, &import);
        Some((import, path))
    })
}

fn import_name(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

/// Returns the package manager that installs the library: uv where the project uses it and it is on this machine.
fn fetcher(files: &Files<'_>, workspace: Option<&Workspace>) -> &'static str {
    let root = workspace.map(|workspace| files.way_to(&workspace.root));
    let lock = joined(&root.unwrap_or_default(), "uv.lock");
    match files.has(&lock) && files.has_program("uv") {
        true => "uv",
        false => "pip",
    }
}

/// Installs the library and what it needs into the workspace, from a copy: a build writes beside its sources.
fn installed(
    files: &Files<'_>,
    workspace: Option<&Workspace>,
    fetcher: &str,
    manifest: &Value,
) -> Delivery {
    let sources = files.packages(workspace, build_sources);
    let has_own = files.are_seen() && files.has(PYTHON);
    let python = match (fetcher, has_own) {
        ("uv", true) => format!("--python \"@library@/{PYTHON}\" "),
        ("uv", false) => "--python python3 ".to_owned(),
        (_, true) if files.has(".venv/bin/pip") => format!("\"@library@/{PYTHON}\""),
        // The program behind a shim of pyenv or asdf, which would write into its own directory after pip.
        _ => "\"$(python3 -c 'import sys; print(sys.executable)')\"".to_owned(),
    };
    let copies = prose::joined(sources.iter().map(Source::copy), " ");
    let install = match fetcher {
        "uv" => format!("uv pip install --quiet --no-sources {python}--target . {copies}"),
        _ => format!("{python} -m pip install --quiet --target . {copies}"),
    };
    // Its version is in tags of git, which are not in the copy.
    let text = manifest.to_string();
    let is_tagged = [
        "setuptools_scm", "setuptools-scm", "hatch-vcs", "versioningit", "pbr",
    ];
    let version = match is_tagged.iter().any(|tool| text.contains(tool)) {
        true => "SETUPTOOLS_SCM_PRETEND_VERSION=0.0.0 PBR_VERSION=0.0.0 ",
        false => "",
    };
    Delivery::Script {
        sources,
        links: Vec::new(),
        lines: vec![format!("{version}{install}")],
    }
}

fn has_dependencies(project: &Value) -> bool {
    let is_dynamic = texts(&project["dynamic"])
        .iter()
        .any(|part| part == "dependencies");
    is_dynamic
        || match &project["dependencies"] {
            Value::Array(list) => !list.is_empty(),
            Value::Object(table) => table.keys().any(|name| name != "python"),
            _ => false,
        }
}

/// Returns whether some of the library is made by a compiler.
fn is_compiled(manifest: &Value, files: &Files<'_>) -> bool {
    let backend = manifest["build-system"]["requires"].to_string();
    let compilers = [
        "maturin", "cython", "Cython", "scikit-build", "meson", "cffi", "rust", "pybind11", "mypyc",
    ];
    let setup = files.text("setup.py").unwrap_or_default();
    compilers.iter().any(|name| backend.contains(name)) || setup.contains("ext_modules")
}
