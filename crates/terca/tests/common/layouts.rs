//! Libraries as they are on disks: their files, and what their authors have installed.

use terca_testkit::Project;

use super::project;

/// A layout of a library, or of a workspace with several.
pub struct Layout {
    pub name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// A command that its author has run.
    #[allow(dead_code, reason = "tests that need more of the machine run it")]
    pub installed_by: &'static str,
    /// The package of a workspace that evals are made for, and its directory.
    pub package: Option<(&'static str, &'static str)>,
    /// Words of the suite's files in a git repository.
    pub written: &'static [&'static str],
    pub evals: usize,
}

const RULES: (&str, &str) = (
    "AGENTS.md",
    "# Rules\n\n- Be short.\n- Use `add(a, b)` for sums, never `reduce`.\n",
);
const CARGO_WORKSPACE: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/wsa\", \"crates/wsb\"]\nresolver = \"2\"\n\n[workspace.package]\nversion = \"3.1.0\"\n\
         edition = \"2021\"\n\n[workspace.dependencies]\nwsb = { path = \"crates/wsb\" }\n",
    ),
    (
        "crates/wsa/Cargo.toml",
        "[package]\nname = \"wsa\"\nversion.workspace = true\nedition.workspace = true\n\n[dependencies]\nwsb.workspace = true\n",
    ),
    (
        "crates/wsa/src/lib.rs",
        "pub fn two() -> u32 {\n    wsb::one() + 1\n}\n",
    ),
    (
        "crates/wsb/Cargo.toml",
        "[package]\nname = \"wsb\"\nversion.workspace = true\nedition.workspace = true\n",
    ),
    ("crates/wsb/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
    ("AGENTS.md", "- Never use `unsafe`.\n"),
];

/// Layouts that need nothing but Rust.
pub const OF_RUST: [Layout; 2] = [
    Layout {
        name: "a crate",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"rsq\"\nversion = \"0.3.1\"\nedition = \"2021\"\n",
            ),
            (
                "src/lib.rs",
                "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n",
            ),
            ("benches/slow.rs", "fn main() {}\n"),
            RULES,
        ],
        installed_by: "",
        package: None,
        written: &["../src: library/src", "grep -qw 'add' src/main.rs"],
        evals: 3,
    },
    Layout {
        name: "a member of a Cargo workspace",
        files: CARGO_WORKSPACE,
        installed_by: "",
        package: Some(("wsa", "crates/wsa")),
        written: &[
            "../../wsb/src: library/crates/wsb/src", "rules: ../../../AGENTS.md ",
        ],
        evals: 3,
    },
];

/// Layouts of JavaScript and Python, with packages of the registries.
pub const OF_REGISTRIES: [Layout; 9] = [
    Layout {
        name: "JavaScript with vitest",
        files: &[
            (
                "package.json",
                r#"{"name": "jsv", "version": "1.0.0", "type": "module", "main": "src/index.js", "devDependencies": {"vitest": "^3"}}"#,
            ),
            ("src/index.js", "export const add = (a, b) => a + b;\n"),
            RULES,
        ],
        installed_by: "npm install --silent --no-audit --no-fund",
        package: None,
        written: &["/../node_modules/vitest/vitest.mjs\" run", "expect(found)"],
        evals: 3,
    },
    Layout {
        name: "JavaScript with jest",
        files: &[
            (
                "package.json",
                r#"{"name": "jsj", "version": "1.0.0", "main": "index.js", "devDependencies": {"jest": "^29"}}"#,
            ),
            ("index.js", "exports.add = (a, b) => a + b;\n"),
        ],
        installed_by: "npm install --silent --no-audit --no-fund",
        package: None,
        written: &[
            "/../node_modules/jest/bin/jest.js\"", "hidden/exports.test.cjs", "expect(found)",
        ],
        evals: 2,
    },
    Layout {
        name: "TypeScript with a dependency",
        files: &[
            (
                "package.json",
                r#"{"name": "tsq", "version": "1.0.0", "type": "module", "exports": "./dist/index.js", "files": ["dist"],
                    "scripts": {"build": "tsc"}, "dependencies": {"ms": "^2.1.3"}, "devDependencies": {"typescript": "^5", "@types/ms": "^2"}}"#,
            ),
            (
                "tsconfig.json",
                r#"{"compilerOptions": {"outDir": "dist", "rootDir": "src", "module": "nodenext", "target": "es2022"}, "include": ["src"]}"#,
            ),
            (
                "src/index.ts",
                "import ms from 'ms';\nexport const days = (n: number): number => n * (ms('1d') as number);\n",
            ),
        ],
        installed_by: "npm install --silent --no-audit --no-fund",
        package: None,
        written: &["npm run build", "passRegistries: true\ncache: npm\n"],
        evals: 2,
    },
    Layout {
        name: "a package of an npm workspace",
        files: &[
            (
                "package.json",
                r#"{"name": "mono", "private": true, "workspaces": ["packages/*"]}"#,
            ),
            (
                "packages/core/package.json",
                r#"{"name": "@mono/core", "version": "1.0.0", "type": "module", "exports": "./index.js", "dependencies": {"@mono/utils": "^1.0.0"}}"#,
            ),
            (
                "packages/core/index.js",
                "import { one } from '@mono/utils';\nexport const two = () => one() + 1;\n",
            ),
            (
                "packages/utils/package.json",
                r#"{"name": "@mono/utils", "version": "1.0.0", "type": "module", "exports": "./index.js"}"#,
            ),
            ("packages/utils/index.js", "export const one = () => 1;\n"),
            RULES,
        ],
        installed_by: "",
        package: Some(("core", "packages/core")),
        written: &["rules: ../../../AGENTS.md ", "- ../../utils/index.js\n"],
        evals: 3,
    },
    Layout {
        name: "a package of a pnpm workspace",
        files: &[
            ("package.json", r#"{"name": "mono", "private": true}"#),
            (
                "pnpm-workspace.yaml",
                "packages:\n  - packages/*\n  - '!**/test/**'\n",
            ),
            (
                "packages/core/package.json",
                r#"{"name": "@pm/core", "version": "1.0.0", "type": "module", "exports": "./dist/index.js", "files": ["dist"],
                    "scripts": {"build": "mkdir -p dist && cp src/index.js dist"}, "dependencies": {"@pm/utils": "workspace:*", "ms": "^2.1.3"}}"#,
            ),
            (
                "packages/core/src/index.js",
                "import { one } from '@pm/utils';\nimport ms from 'ms';\nexport const two = () => one() + ms('1s');\n",
            ),
            (
                "packages/utils/package.json",
                r#"{"name": "@pm/utils", "version": "1.0.0", "type": "module", "exports": "./index.js"}"#,
            ),
            ("packages/utils/index.js", "export const one = () => 1;\n"),
        ],
        // As pnpm leaves it.
        installed_by: "mkdir -p packages/core/node_modules/@pm && ln -s ../../../utils packages/core/node_modules/@pm/utils",
        package: Some(("@pm/core", "packages/core")),
        written: &["workspace:", "npm run build"],
        evals: 2,
    },
    Layout {
        name: "Python with pytest in .venv",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname = \"pyv\"\nversion = \"1.0.0\"\n",
            ),
            ("src/pyv/__init__.py", "def add(a, b):\n    return a + b\n"),
            RULES,
        ],
        installed_by: "python3 -m venv .venv && .venv/bin/pip install --quiet pytest",
        package: None,
        written: &["/../.venv/bin/python\" -I -m pytest", "../src/pyv: pyv"],
        evals: 3,
    },
    Layout {
        name: "Python with setuptools and a dependency",
        files: &[
            (
                "pyproject.toml",
                "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\n\
                 name = \"pydep\"\nversion = \"1.0.0\"\ndependencies = [\"attrs>=22\"]\n",
            ),
            (
                "src/pydep/__init__.py",
                "import attrs\n\n\ndef add(a, b):\n    return a + b\n",
            ),
        ],
        installed_by: "",
        package: None,
        written: &[
            "pip install --quiet --target . \"$TMPDIR/library\"",
            "passRegistries: true\ncache: pip\n",
        ],
        evals: 2,
    },
    Layout {
        name: "Python with hatchling and a dependency",
        files: &[
            (
                "pyproject.toml",
                "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n\n[project]\nname = \"pyh\"\n\
                 version = \"1.0.0\"\nreadme = \"README.md\"\ndependencies = [\"attrs>=22\"]\n",
            ),
            ("README.md", "# pyh\n"),
            (
                "src/pyh/__init__.py",
                "import attrs\n\n\ndef add(a, b):\n    return a + b\n",
            ),
        ],
        installed_by: "",
        package: None,
        written: &["- ../README.md\n"],
        evals: 2,
    },
    Layout {
        name: "a package of a uv workspace",
        files: &[
            (
                "pyproject.toml",
                "[project]\nname = \"uvroot\"\nversion = \"0\"\n\n[tool.uv.workspace]\nmembers = [\"packages/*\"]\n",
            ),
            (
                "packages/core/pyproject.toml",
                "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n\n[project]\nname = \"uvcore\"\n\
                 version = \"1.0.0\"\ndependencies = [\"uvutils\"]\n\n[tool.uv.sources]\nuvutils = { workspace = true }\n",
            ),
            (
                "packages/core/src/uvcore/__init__.py",
                "import uvutils\n\ntwo = uvutils.one + 1\n",
            ),
            (
                "packages/utils/pyproject.toml",
                "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n\n[project]\nname = \"uvutils\"\n\
                 version = \"1.0.0\"\n",
            ),
            ("packages/utils/src/uvutils/__init__.py", "one = 1\n"),
        ],
        installed_by: "",
        package: Some(("uvcore", "packages/core")),
        written: &["\"$TMPDIR/library/packages/core\" \"$TMPDIR/library/packages/utils\""],
        evals: 2,
    },
];

/// Layouts of Go.
pub const OF_GO: [Layout; 2] = [
    Layout {
        name: "a Go module",
        files: &[
            ("go.mod", "module example.com/tiny\n\ngo 1.18\n"),
            (
                "tiny.go",
                "// Package tiny is small.\npackage tiny\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
            ),
            ("AGENTS.md", "- Use `tiny.Add` for sums.\n"),
        ],
        installed_by: "",
        package: None,
        written: &["grep -qw 'Add' main.go"],
        evals: 3,
    },
    Layout {
        name: "a module of a Go workspace",
        files: &[
            ("go.work", "go 1.18\n\nuse (\n\t./a\n\t./b\n)\n"),
            (
                "a/go.mod",
                "module example.com/a\n\ngo 1.18\n\nrequire example.com/b v0.0.0\n",
            ),
            (
                "a/a.go",
                "// Package a is small.\npackage a\n\nimport \"example.com/b\"\n\n// Two is two.\nfunc Two() int { return b.One() + 1 }\n",
            ),
            ("b/go.mod", "module example.com/b\n\ngo 1.18\n"),
            (
                "b/b.go",
                "package b\n\n// One is one.\nfunc One() int { return 1 }\n",
            ),
        ],
        installed_by: "",
        package: Some(("a", "a")),
        written: &["replace example.com/b => ./library/b\n"],
        evals: 2,
    },
];

impl Layout {
    /// Makes it, as its author has it.
    pub fn make(&self) -> Project {
        let mut made = project();
        for (path, text) in self.files {
            made = made.file(path, text);
        }
        made
    }

    /// Returns the suite's directory.
    pub fn suite(&self) -> String {
        let (_, dir) = self.package.unwrap_or(("", "."));
        format!("{dir}/evals")
    }

    /// Makes its suite.
    #[track_caller]
    pub fn init(&self, project: &Project, flags: &[&str]) {
        let mut args = vec!["init", "--yes", "--agent", "oracle"];
        args.extend(
            self.package
                .iter()
                .flat_map(|(name, _)| ["--package", name]),
        );
        args.extend(flags);
        let told = project.terca(&args);
        assert_eq!(
            told.status, 0,
            "{}: {}{}",
            self.name, told.stdout, told.stderr
        );
    }

    /// Checks that the files are as they are to be, and that nothing warns of them.
    #[track_caller]
    pub fn assert_written(&self, project: &Project) {
        let all = all_text(&project.path(&self.suite()));
        for words in self.written {
            assert!(all.contains(words), "{}: {words}\n{all}", self.name);
        }
        assert!(!all.contains('@') || !all.contains("@name@"), "{all}");
        self.assert_checked(project);
    }

    #[track_caller]
    pub fn assert_checked(&self, project: &Project) {
        let checked = project.terca(&["-C", &self.suite(), "check"]);
        assert_eq!(checked.status, 0, "{}: {}", self.name, checked.stderr);
        assert!(
            !checked.stderr.contains("warning"),
            "{}: {}",
            self.name,
            checked.stderr
        );
    }

    /// Proves all evals, in a sandbox.
    #[track_caller]
    pub fn prove(&self, project: &Project, sandbox: &str) {
        let args = ["-C", &self.suite(), "validate"];
        let proven = project.terca_with(&[("TERCA_SANDBOX", sandbox)], &args);
        let lines = proven.stdout.lines();
        let count = lines
            .filter(|line| line.ends_with(super::proof::SOUND))
            .count();
        assert_eq!(
            (proven.status, count),
            (0, self.evals),
            "{}: {}{}",
            self.name,
            proven.stdout,
            proven.stderr
        );
    }
}

/// Returns the texts of all files of a suite but its schemas and its runs.
fn all_text(dir: &camino::Utf8Path) -> String {
    let mut all = String::new();
    for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name().starts_with('.') => {}
            true => all += &all_text(entry.path()),
            false => {
                all += &format!(
                    "{}\n{}",
                    entry.path(),
                    std::fs::read_to_string(entry.path()).unwrap()
                );
            }
        }
    }
    all
}
