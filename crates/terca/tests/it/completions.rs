//! `terca completions` in real shells, `terca schema` and `terca man`.

use camino::Utf8Path;

use crate::common::completion::{complete_everything, shell, with_a_run};
use crate::common::project;

#[test]
fn a_real_bash_completes() {
    let (project, run) = with_a_run();
    let mut terminal = shell(
        &project,
        "bash",
        &["--noprofile", "--norc", "-i"],
        "source <(terca completions bash)",
    );
    complete_everything(&mut terminal, &run);
    terminal.type_in("exit\n");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    let project = project();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = project
            .terca(&["completions", shell])
            .expect_status(0)
            .stdout;
        assert!(
            script.contains("TERCA_COMPLETE") && script.contains("terca"),
            "{shell}: {script}"
        );
    }
    let outcome = project.terca(&["completions", "csh"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("possible values: bash, zsh, fish, powershell"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_suite_that_is_broken_or_missing_is_no_trouble() {
    let project = project().file("broken/terca.yaml", "name: [\n");
    for dir in [".", "broken", "nowhere"] {
        let mut command = project.command(&["--", "terca", "-C", dir, "run", "-t", ""]);
        let output = command
            .env("TERCA_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", "5")
            .output()
            .unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.len()),
            (Some(0), 0),
            "{dir}: {output:?}"
        );
    }
}

#[test]
fn schemas_are_printed_as_they_are_committed() {
    let schemas = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (args, file) in [
        (&["schema"][..], "terca.schema.json"),
        (&["schema", "terca"], "terca.schema.json"),
        (&["schema", "eval"], "eval.schema.json"),
        (&["schema", "workers"], "workers.schema.json"),
    ] {
        let printed = project().terca(args).expect_status(0).stdout;
        assert_eq!(
            printed,
            std::fs::read_to_string(schemas.join(file)).unwrap(),
            "{args:?}"
        );
    }
    project().terca(&["schema", "other"]).expect_status(2);
}

#[test]
fn the_manual_has_every_command_and_flag() {
    let project = project();
    let help = project.terca(&["--help"]).expect_status(0).stdout;
    let page = project.terca(&["man"]).expect_status(0).stdout;
    assert!(page.contains(".TH terca 1"), "{page}");
    let commands = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    let names = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        assert!(
            page.contains(&format!("terca\\-{}(1)", name.replace('-', "\\-"))),
            "{name}\n{page}"
        );
    }
    let run = project.terca(&["man", "run"]).expect_status(0).stdout;
    assert!(
        run.contains(".TH terca-run 1") && run.contains("\\-\\-fail\\-under"),
        "{run}"
    );
    let outcome = project.terca(&["man", "nothing"]).expect_status(2);
    assert!(
        outcome.stderr.contains("`create-eval`"),
        "{}",
        outcome.stderr
    );
}
