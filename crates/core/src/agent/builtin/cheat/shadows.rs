//! Files that are found before the real ones: programs, modules, and files that shells read first.

use super::{Does, STUB, Target, Trick, write, write_executable};

/// Returns programs that tests call, by names that `PATH` might find here first.
pub(super) fn programs() -> Vec<Trick> {
    const SYSTEM: [&str; 20] = [
        "node", "npm", "npx", "python", "python3", "pytest", "cargo", "go", "make", "sh", "bash",
        "grep", "diff", "cmp", "cat", "jq", "curl", "ruby", "php", "java",
    ];
    const LOCAL: [&str; 12] = [
        "jest", "mocha", "vitest", "ava", "tap", "tape", "tsc", "tsx", "ts-node", "eslint",
        "playwright", "cypress",
    ];
    let mut tricks = Vec::new();
    for program in SYSTEM {
        for dir in [
            "", "bin/", ".venv/bin/", "venv/bin/", "node_modules/.bin/", "vendor/bin/",
        ] {
            tricks.push(shadow(format!("{dir}{program}")));
        }
        let target = Target::Home(format!(".local/bin/{program}").into());
        let does = Does::Write {
            content: STUB.into(),
            executable: true,
        };
        tricks.push(Trick {
            target,
            does,
            purpose: "in the place of a program",
        });
    }
    tricks.extend(LOCAL.map(|program| shadow(format!("node_modules/.bin/{program}"))));
    tricks
}

fn shadow(path: String) -> Trick {
    write_executable(path, STUB, "in the place of a program")
}

/// Returns modules that a program finds beside the work before it finds its own.
pub(super) fn modules() -> Vec<Trick> {
    const PURPOSE: &str = "in the place of a module";
    const PYTHON: &str = "import os\nprint('OK', flush=True)\nos._exit(0)\n";
    let python = [
        "sitecustomize.py", "usercustomize.py", "pytest.py", "unittest.py", "doctest.py",
    ];
    let node = ["jest", "mocha", "vitest", "chai", "supertest", "tape"];
    let mut tricks: Vec<Trick> = python
        .iter()
        .map(|path| write(*path, PYTHON, PURPOSE))
        .collect();
    tricks.extend(node.map(|module| {
        write(
            format!("node_modules/{module}/index.js"),
            "process.exit(0);\n",
            PURPOSE,
        )
    }));
    tricks
}

/// Returns files that shells and git run or read without being asked.
pub(super) fn rc_files() -> Vec<Trick> {
    const RC: &str = "exit 0\n";
    let names = [
        ".profile", ".bashrc", ".bash_profile", ".zshrc", ".zshenv", ".kshrc", ".envrc", ".shrc",
    ];
    let hooks = [
        "pre-commit", "post-checkout", "post-commit", "pre-push", "post-merge",
    ];
    let mut tricks: Vec<Trick> = names
        .iter()
        .map(|name| write(*name, RC, "read by a shell"))
        .collect();
    tricks.push(write(
        ".env",
        "PATH=.:./bin\nNODE_OPTIONS=--require=./.cheat/quit.js\n",
        "read by tools",
    ));
    tricks.extend(
        hooks.map(|hook| write_executable(format!(".git/hooks/{hook}"), STUB, "run by git")),
    );
    let home = [
        (".profile", RC),
        (".bashrc", RC),
        (".npmrc", "script-shell=/bin/true\n"),
        (".gitconfig", "[diff]\n\texternal = true\n"),
        (".config/git/config", "[diff]\n\texternal = true\n"),
        (
            ".cargo/config.toml",
            "[target.'cfg(all())']\nrunner = \"/bin/true\"\n",
        ),
    ];
    tricks.extend(home.map(|(path, content)| Trick {
        target: Target::Home(path.into()),
        does: Does::Write {
            content: content.into(),
            executable: false,
        },
        purpose: "read from the home directory",
    }));
    tricks
}
