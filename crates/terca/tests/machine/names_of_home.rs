//! Other names of the home and the suite, which show nothing more than their own: `..`, links, and links to links.

use std::os::unix::fs::symlink;

use camino::Utf8PathBuf;
use terca_testkit::{Outcome, Project, write_program};

use crate::common::project;
use crate::suite_in_sandbox::open_file;

/// The places of one project, which a row of the table names.
struct Places {
    home: Utf8PathBuf,
    /// A directory of everybody's, with a link `me` to the home and a link `suite` to the suite.
    data: Utf8PathBuf,
    suite: Utf8PathBuf,
}

/// A way in which a user's own settings name the home or the suite.
#[derive(Default)]
struct Way {
    name: &'static str,
    /// The words after `sh`, or a program; the suite's own agent where it is empty.
    command: &'static str,
    /// A directory before those of `PATH`.
    path: &'static str,
    /// Another variable with a path.
    variable: (&'static str, &'static str),
}

impl Places {
    fn filled(&self, text: &str) -> String {
        text.replace("HOME", self.home.as_str())
            .replace("DATA", self.data.as_str())
            .replace("SUITE", self.suite.as_str())
    }

    /// Shell commands, each of which succeeds if something secret is in reach.
    fn attempts(&self) -> Vec<String> {
        let secrets = [
            "HOME/.ssh/id_rsa", "HOME/proj/.env", "DATA/me/.ssh/id_rsa", "HOME/bin/../.ssh/id_rsa",
            "HOME/.aws/other",
        ];
        secrets.map(|path| self.filled(path)).to_vec()
    }
}

fn ways() -> Vec<Way> {
    let command = |name, command| Way {
        name,
        command,
        ..Way::default()
    };
    let path = |name, path| Way {
        name,
        path,
        ..Way::default()
    };
    let java = |name, value| Way {
        name,
        variable: ("JAVA_HOME", value),
        ..Way::default()
    };
    vec![
        path("PATH with ..", "HOME/bin/.."),
        path("PATH with .. of a deeper one", "HOME/proj/src/../.."),
        path("PATH with a link", "DATA/me"),
        path("PATH with a link and ..", "DATA/me/bin/.."),
        path("PATH with the suite by a link", "DATA/suite"),
        path("PATH with what contains home and suite", "HOME/bin/../.."),
        path("PATH with a link to a link", "DATA/again"),
        path("PATH with links to the home in it", "DATA/links"),
        command("program with ..", "HOME/proj/../agent.sh"),
        command("program by a link", "DATA/me/agent.sh"),
        command("program in the home", "HOME/agent.sh"),
        command("argument with ..", "HOME/agent.sh HOME/proj/.."),
        command("argument above the home", "HOME/agent.sh HOME/.."),
        command("argument is a link", "HOME/agent.sh DATA/me"),
        command(
            "argument is the suite",
            "HOME/agent.sh DATA/suite HOME/../suite/fib",
        ),
        command(
            "argument is data",
            "HOME/agent.sh --cfg=HOME/.aws/credentials",
        ),
        command("script by a link", "sh DATA/me/agent.sh"),
        java("JAVA_HOME with ..", "HOME/bin/.."),
        java("JAVA_HOME with a link", "DATA/me"),
        java("JAVA_HOME with the home", "HOME"),
    ]
}

/// A suite whose agent, and whose test, read what they can. What was in reach is in `reached.txt`.
fn project_with(way: &Way) -> (Project, Places) {
    let project = project();
    let root = project.home().parent().unwrap().to_owned();
    let places = Places {
        home: project.home(),
        data: root.join("data"),
        suite: project.dir(),
    };
    for secret in [".ssh/id_rsa", ".aws/credentials", ".aws/other", "proj/.env"] {
        open_file(&places.home.join(secret));
    }
    for dir in ["bin", "proj/src"] {
        std::fs::create_dir_all(places.home.join(dir)).unwrap();
    }
    std::fs::create_dir_all(places.data.join("links")).unwrap();
    symlink(&places.home, places.data.join("me")).unwrap();
    symlink(places.data.join("me"), places.data.join("again")).unwrap();
    symlink(&places.suite, places.data.join("suite")).unwrap();
    symlink(places.home.join("agent.sh"), places.data.join("links/tool")).unwrap();
    symlink(&places.home, places.data.join("links/dir")).unwrap();
    write_program(&places.home.join("bin/tool"), "#!/bin/sh\n");
    let mut script = "#!/bin/sh\n".to_owned();
    let of_suite = [
        "SUITE/fib/_tests/hidden.txt", "DATA/suite/fib/_tests/hidden.txt",
    ];
    let of_suite = of_suite.map(|path| places.filled(path));
    for path in places.attempts().iter().chain(&of_suite) {
        script += &format!("if cat {path} >/dev/null 2>&1; then echo {path}; fi >> reached.txt\n");
    }
    write_program(&places.home.join("agent.sh"), &script);
    let tests: Vec<String> = places
        .attempts()
        .iter()
        .map(|path| format!("- commandSuccess: '! cat {path}'\n"))
        .collect();
    let command = match way.command {
        "" => "./agent.sh".to_owned(),
        named => places.filled(named),
    };
    let path = format!(
        "{}:{}",
        places.filled(way.path),
        std::env::var("PATH").unwrap()
    );
    let project = project
        .env("PATH", path.trim_start_matches(':'))
        .executable("agent.sh", &script)
        .file("fib/_tests/hidden.txt", "secret")
        .file(
            "terca.yaml",
            format!(
                "environments: [{{name: e, agent: {{name: command, command: '{command}'}}}}]\n"
            ),
        )
        .file(
            "fib/eval.terca.yaml",
            format!("prompt: x\ntests:\n{}", tests.concat()),
        );
    let project = match way.variable {
        ("", _) => project,
        (name, value) => project.env(name, &places.filled(value)),
    };
    (project, places)
}

/// Checks that each way shows nothing of home and suite, to the agent and to tests.
pub(crate) fn show_nothing_more(sandbox: &str) {
    for way in ways() {
        let (project, places) = project_with(&way);
        let args = ["run", "--sandbox", sandbox];
        let outcome = project.terca(&args);
        let reached = project.trial_file("workspace/reached.txt");
        assert_eq!(reached, "", "{}", way.name);
        assert_eq!(
            project.only_trial()["score"],
            1.0,
            "{}: {}",
            way.name,
            outcome.stdout
        );
        assert_eq!(project.only_trial()["containedBy"], sandbox);
        drop(places);
    }
    // Without a sandbox everything is there, so that each attempt can fail.
    let (project, places) = project_with(&Way::default());
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(1);
    let reached = project.trial_file("workspace/reached.txt");
    for path in places.attempts() {
        assert!(reached.contains(path.as_str()), "{path}: {reached}");
    }
}

/// Checks that a home whose name is a link is the home, also where it is a git repository with the suite in it.
pub(crate) fn a_home_that_is_a_link(sandbox: &str) {
    let project = project().directory(".git").file(".ssh/id_rsa", "secret");
    let home = project.home().join("linked");
    symlink(project.dir(), &home).unwrap();
    let look = format!("! cat {}/.ssh/id_rsa", project.dir());
    let project = project.env("HOME", home.as_str()).file(
        "evals/terca.yaml",
        format!(
            "environments: [{{name: e, agent: {{name: command, command: 'true'}}}}]\n\
             evals: [{{name: a, prompt: x, tests: [{{commandSuccess: '{look}'}}]}}]\n"
        ),
    );
    let mut command = project.command(&["run", "--sandbox", sandbox]);
    let output = command.current_dir(project.path("evals")).output().unwrap();
    Outcome::from(output).expect_status(0);
}

/// Checks that programs, packages and files are found by names with links and `..`.
pub(crate) fn programs_are_found(sandbox: &str) {
    let project = project();
    let root = project.home().parent().unwrap().to_owned();
    let tools = root.join("tools");
    for dir in ["bin", "lib", "scripts"] {
        std::fs::create_dir_all(tools.join(dir)).unwrap();
    }
    symlink(&tools, root.join("by-link")).unwrap();
    write_program(
        &tools.join("bin/tool"),
        "#!/bin/sh\nexec cat \"$(dirname \"$(readlink -f \"$0\")\")/../lib/words\"\n",
    );
    std::fs::write(tools.join("lib/words"), "found\n").unwrap();
    std::fs::write(tools.join("scripts/run.sh"), ". \"${0%/*}/part.sh\"\n").unwrap();
    std::fs::write(tools.join("scripts/part.sh"), "tool\ncat \"$1\"\n").unwrap();
    std::fs::write(tools.join("scripts/data.json"), "data\n").unwrap();
    let command = format!(
        "sh {root}/by-link/scripts/run.sh {root}/by-link/bin/../scripts/data.json > said.txt"
    );
    let path = format!(
        "{root}/by-link/lib/../bin:{root}/by-link/bin:{}",
        std::env::var("PATH").unwrap()
    );
    let suite = format!(
        "environments: [{{name: e, agent: {{name: command, command: '{command}'}}}}]\n\
         evals: [{{name: a, prompt: x, tests: [{{commandSuccess: 'tool && cat said.txt'}}]}}]\n"
    );
    let project = project.env("PATH", &path).file("terca.yaml", suite);
    let outcome = project.terca(&["run", "--sandbox", sandbox]);
    assert_eq!(
        project.trial_file("workspace/said.txt"),
        "found\ndata\n",
        "{}",
        outcome.stdout
    );
    assert_eq!(project.only_trial()["score"], 1.0, "{}", outcome.stdout);
}
