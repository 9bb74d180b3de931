//! `terca init` in libraries with packages of the real registries: its suite is proven, in git and outside, by bubblewrap
//! and by Landlock. And agents that Terca installs from there.

mod agent_versions;

use std::process::Command;

use terca_testkit::Project;

use crate::common::layouts::{Layout, OF_REGISTRIES};

/// Passes the registries that this machine is set up for.
fn with_registries(mut project: Project) -> Project {
    let asked = [
        (
            "PIP_INDEX_URL", "python3", "-m pip config get global.index-url",
        ),
        ("PIP_CERT", "python3", "-m pip config get global.cert"),
        (
            "UV_DEFAULT_INDEX", "python3", "-m pip config get global.index-url",
        ),
        ("NPM_CONFIG_REGISTRY", "npm", "config get registry"),
        ("NPM_CONFIG_CAFILE", "npm", "config get cafile"),
    ];
    for (variable, program, args) in asked {
        let said = Command::new(program)
            .args(args.split(' '))
            .output()
            .expect(program);
        let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        // npm's word for a setting that there is not.
        if !said.is_empty() && said != "null" {
            project = project.env(variable, &said);
        }
    }
    project
}

/// Makes a layout, as its author has it.
fn made(layout: &Layout) -> Project {
    let project = with_registries(layout.make());
    let installed = project
        .other("sh", &["-c", layout.installed_by])
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&installed.stderr);
    assert!(installed.status.success(), "{}: {said}", layout.name);
    project
}

fn is_proven_everywhere(layouts: &[Layout]) {
    for layout in layouts {
        let project = made(layout).directory(".git").env("TERCA_SANDBOX", "bwrap");
        layout.init(&project, &[]);
        layout.assert_written(&project);
        layout.prove(&project, "landlock");
        let project = made(layout).env("TERCA_SANDBOX", "landlock");
        layout.init(&project, &[]);
        layout.assert_checked(&project);
        layout.prove(&project, "bwrap");
    }
}

#[test]
#[ignore = "needs npm, Python, bubblewrap, Landlock and the registries"]
fn packages_of_javascript() {
    is_proven_everywhere(&OF_REGISTRIES[..3]);
}

#[test]
#[ignore = "needs npm, Python, bubblewrap, Landlock and the registries"]
fn workspaces_of_javascript() {
    is_proven_everywhere(&OF_REGISTRIES[3..5]);
}

#[test]
#[ignore = "needs npm, Python, bubblewrap, Landlock and the registries"]
fn packages_of_python() {
    is_proven_everywhere(&OF_REGISTRIES[5..7]);
}

#[test]
#[ignore = "needs npm, Python, bubblewrap, Landlock and the registries"]
fn more_packages_of_python() {
    is_proven_everywhere(&OF_REGISTRIES[7..]);
}

/// pyenv's `python3` is a script that writes into its own directory after pip has installed something.
#[test]
#[ignore = "needs npm, Python, bubblewrap, Landlock and the registries"]
fn the_program_behind_a_shim_installs() {
    let layout = &OF_REGISTRIES[7];
    let real = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .expect("Python");
    let real = String::from_utf8_lossy(&real.stdout).trim().to_owned();
    let shim = format!(
        "#!/bin/sh\n\"{real}\" \"$@\" || exit\ncase \"$*\" in *pip*install*) echo 'cannot rehash' >&2; exit 1 ;; esac\n"
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let project = made(layout).executable("shims/python3", &shim);
    let shims = project.path("shims");
    let path = format!("{shims}:{path}");
    let project = project.env("PATH", &path).env("TERCA_SANDBOX", "bwrap");
    layout.init(&project, &[]);
}
