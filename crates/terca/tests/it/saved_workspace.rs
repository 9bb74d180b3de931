//! Saved workspaces: as what changed, and as a whole.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::Project;

use crate::common::hostile_tree::{HOSTILE, tree, with_hostile_base};
use crate::common::project;

fn hostile() -> Project {
    let suite = project().agent(HOSTILE).file(
        "task/eval.terca.yaml",
        "prompt: x\ntests: [{fileExists: new/empty}, {fileContains: {path: src/changed.txt, text: more}}]\n",
    );
    with_hostile_base(suite)
}

fn folder(project: &Project) -> Utf8PathBuf {
    project.run_dir().join("task/default.default.01")
}

/// Returns the number of layers that the suite keeps.
fn layers(project: &Project) -> usize {
    let layers = project.path(".terca/layers").read_dir_utf8();
    layers.map_or(0, Iterator::count)
}

/// Returns the disk space of everything below a directory.
fn allocated(dir: &Utf8Path) -> u64 {
    let mut sum = 0;
    let mut open = vec![dir.as_std_path().to_owned()];
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        sum += meta.blocks() * 512;
        if meta.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    sum
}

#[test]
fn the_same_tree_comes_back_from_changes_and_from_a_whole_workspace() {
    assert_same_tree(&hostile());
}

/// Where trials work on another file system, files are copied instead of moved.
#[test]
fn the_same_tree_comes_back_where_files_cannot_be_moved() {
    let memory = ["/dev/shm", "/tmp"].into_iter().find(|dir| {
        let device = |dir: &str| std::fs::metadata(dir).map(|meta| meta.dev()).ok();
        device(dir).is_some_and(|found| Some(found) != device("/var/tmp"))
    });
    let work = tempfile::tempdir_in(memory.unwrap_or("/var/tmp")).unwrap();
    assert_same_tree(&hostile().env("TERCA_WORK_DIR", work.path().to_str().unwrap()));
}

/// Runs the suite twice, and compares the whole workspace with the one that is made again.
fn assert_same_tree(project: &Project) {
    project.terca(&["--keep", "all"]).expect_status(0);
    let whole = folder(project).join("workspace");
    assert!(whole.is_dir() && !project.run_dir().join("layers").exists());
    let expected = tree(&whole);
    assert!(
        expected
            .keys()
            .any(|path| path.as_os_str().as_bytes().contains(&0xff))
    );
    project.terca(&[]).expect_status(0);
    assert!(!folder(project).join("workspace").exists());
    let restored = tree(&project.workspace_of(&folder(project)));
    let differs = |path: &&PathBuf| expected.get(*path) != restored.get(*path);
    let paths: Vec<&PathBuf> = expected
        .keys()
        .chain(restored.keys())
        .filter(differs)
        .collect();
    assert!(paths.is_empty(), "{paths:?}");
}

#[test]
fn those_who_are_not_the_superuser_save_the_same() {
    let project = hostile();
    let run = |args: &[&str]| {
        let output = project.command_without_privileges(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let made = |name: &str, run: &str| project.path("../home").join(format!("{name}-{run}"));
    run(&["--keep", "all"]);
    run(&["workspace", "1", "--to", made("made", "1").as_str()]);
    run(&[]);
    run(&["workspace", "2", "--to", made("made", "2").as_str()]);
    run(&["regrade"]);
    let (whole, changed) = (tree(&made("made", "1")), tree(&made("made", "2")));
    assert!(whole.len() > 300);
    let paths = whole.keys().chain(changed.keys());
    let paths: Vec<&PathBuf> = paths
        .filter(|path| whole.get(*path) != changed.get(*path))
        .collect();
    assert!(paths.is_empty(), "{paths:?}");
}

#[test]
fn forty_trials_take_the_space_of_one_base_and_their_changes() {
    let project = project()
        .agent("echo $RANDOM > answer.txt; echo x >> src/a.txt")
        .file(
            "task/eval.terca.yaml",
            "prompt: x\ntests: [{fileExists: answer.txt}]\n",
        )
        .file("task/_base/src/a.txt", "a\n")
        .file("task/_base/data/large", "0123456789abcde\n".repeat(300_000));
    for number in 0..100 {
        let name = format!("task/_base/lib/{}/{number}", number % 10);
        std::fs::create_dir_all(project.path(&name).parent().unwrap()).unwrap();
        std::fs::write(project.path(&name), "x".repeat(4000)).unwrap();
    }
    project.terca(&["-n", "40"]).expect_status(0);
    let base = allocated(&project.path("task/_base"));
    let layers = allocated(&project.path(".terca/layers"));
    assert!(layers < base + base / 10, "{layers} for {base}");
    for number in 1..=40 {
        let trial = project
            .run_dir()
            .join(format!("task/default.default.{number:02}"));
        let changes = trial.join("workspace.changes");
        // Two files, their directories and the record.
        let most = 5 * 4096 + 4096;
        assert!(allocated(&changes) <= most, "{}", allocated(&changes));
        assert!(!trial.join("workspace").exists());
        assert!(changes.join("tree/answer.txt").is_file());
        assert!(!changes.join("tree/lib").exists());
    }
    let restored = project.workspace_of(&project.run_dir().join("task/default.default.40"));
    assert_eq!(
        std::fs::read_to_string(restored.join("src/a.txt")).unwrap(),
        "a\nx\n"
    );
    assert_eq!(
        std::fs::metadata(restored.join("data/large"))
            .unwrap()
            .len(),
        4_800_000
    );
}

#[test]
fn a_workspace_is_graded_again_alike_from_both() {
    let mut scores = Vec::new();
    for keep in ["all", "changed"] {
        let project = hostile();
        project.terca(&["--keep", keep]).expect_status(0);
        let before = tree(&folder(&project));
        let tests = "prompt: x\ntests:\n  - {fileExists: new/empty}\n  - {fileExists: src/removed.txt}\n  \
                     - {commandSuccess: 'test -f was-dir && test -d was-file && test -d twice'}\n  \
                     - {commandSuccess: 'test $(stat -c %a src/mode.txt) = 600'}\n  \
                     - {fileContains: {path: src/forged.txt, text: FORGED}}\n";
        let project = project.file("task/eval.terca.yaml", tests);
        project.terca(&["regrade"]).expect_status(1);
        let trial = project.only_trial();
        let grades: Vec<_> = trial["tests"].as_object().unwrap().values().collect();
        let grades: Vec<_> = grades.iter().map(|grade| grade["score"].clone()).collect();
        scores.push((trial["score"].clone(), grades));
        project.assert_nothing_left();
        let saved = ["workspace", "workspace.changes"];
        let of_saved = |tree: &BTreeMap<PathBuf, String>| -> Vec<(PathBuf, String)> {
            let entries = tree
                .iter()
                .filter(|(path, _)| saved.iter().any(|name| path.starts_with(name)));
            entries
                .map(|(path, fact)| (path.clone(), fact.clone()))
                .collect()
        };
        assert_eq!(
            of_saved(&tree(&folder(&project))),
            of_saved(&before),
            "it stays as it was"
        );
    }
    assert_eq!(scores[0], scores[1]);
    assert_eq!(scores[0].0, 0.8);
}

#[test]
fn what_a_setup_made_is_a_change_and_a_prepared_step_is_a_layer() {
    let project = project()
        .agent("echo agent > agent.txt")
        .file(
            "task/eval.terca.yaml",
            "prompt: x\nprepare: [{command: 'mkdir lib; echo built > lib/built; rm start'}]\n\
             before: [{command: 'echo setup > setup.txt'}]\ntests: [{fileExists: agent.txt}]\n",
        )
        .file("task/_base/start", "start");
    project.terca(&["-n", "2"]).expect_status(0);
    assert_eq!(layers(&project), 1);
    let changes = folder(&project).join("workspace.changes/tree");
    let saved: Vec<PathBuf> = tree(&changes).into_keys().collect();
    assert_eq!(saved, ["", "agent.txt", "setup.txt"].map(PathBuf::from));
    let restored: Vec<PathBuf> = tree(&project.workspace_of(&folder(&project)))
        .into_keys()
        .collect();
    let all = ["", "agent.txt", "lib", "lib/built", "setup.txt"];
    assert_eq!(restored, all.map(PathBuf::from));
}

#[test]
fn the_command_prints_the_place_and_touches_nothing_that_is_there() {
    let project = project()
        .agent("echo done > done.txt; test $TRY = fail && exit 1; true")
        .env("TRY", "pass");
    let project = project.file(
        "fib/eval.terca.yaml",
        "prompt: x\ntests: [{fileExists: done.txt}]\n",
    );
    let temporary = project.path("../home");
    project.terca(&["-n", "2"]).expect_status(0);
    let several = project.terca(&["workspace"]).expect_status(2).stderr;
    assert!(
        several.contains("has 2 trials") && several.contains("terca workspace EVAL"),
        "{several}"
    );
    let made = project
        .terca_with(
            &[("TMPDIR", temporary.as_str())],
            &["workspace", "default.default.02"],
        )
        .expect_status(0)
        .stdout;
    let made = Utf8PathBuf::from(made.trim());
    assert_eq!(made.file_name(), Some("fib.default.default.02"));
    assert_eq!(
        std::fs::read_to_string(made.join("done.txt")).unwrap(),
        "done\n"
    );
    assert_eq!(
        made.parent().unwrap().metadata().unwrap().mode() & 0o777,
        0o700
    );

    let to = |dir: &str| project.terca(&["workspace", "1", "default.default.01", "--to", dir]);
    assert_eq!(
        to("../home/new/deep").expect_status(0).stdout,
        "../home/new/deep\n"
    );
    let refused = to("../home/new/deep").expect_status(2).stderr;
    assert!(
        refused.contains("is there already") && refused.contains("help:"),
        "{refused}"
    );
    let refused = to("terca.yaml").expect_status(2).stderr;
    assert!(refused.contains("terca.yaml is there already"), "{refused}");
    std::fs::create_dir(project.path("../home/empty")).unwrap();
    to("../home/empty").expect_status(0);
    assert!(project.path("../home/empty/done.txt").is_file());
}

#[test]
fn a_workspace_that_was_not_kept_is_told_so() {
    let suite = "environments: [{name: default, agent: nop}]\n";
    let project = project()
        .file("terca.yaml", suite)
        .file("a-passes/_base/other", "y")
        .file(
            "a-passes/eval.terca.yaml",
            "prompt: x\ntests: [{commandSuccess: 'true'}]\n",
        )
        .file(
            "b-fails/eval.terca.yaml",
            "prompt: x\ntests: [{commandSuccess: 'false'}]\n",
        )
        .file("b-fails/_base/file", "x");
    project.terca(&["--keep", "failed"]).expect_status(1);
    let refused = project
        .terca(&["workspace", "a-passes"])
        .expect_status(2)
        .stderr;
    assert!(
        refused.contains("a-passes/default.default.01: the workspace was not kept"),
        "{refused}"
    );
    assert!(
        refused.contains("error[no-workspace]") && refused.contains("changes.diff"),
        "{refused}"
    );
    let failed = project.run_dir().join("b-fails/default.default.01");
    assert!(project.workspace_of(&failed).join("file").is_file());
    project.terca(&["--keep", "none"]).expect_status(1);
    project.terca(&["workspace", "b-fails"]).expect_status(2);
}

#[test]
fn damage_is_named_and_nothing_is_graded_from_it() {
    let project = hostile();
    project.terca(&[]).expect_status(0);
    let journal = project.journal();
    let layers = project.path(".terca/layers");
    let layer = layers
        .read_dir_utf8()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .into_path();
    let kept = layer.join("src/kept.txt");
    let record = folder(&project).join("workspace.changes/changes.json");
    let text = std::fs::read_to_string(&record).unwrap();
    let refuses = |words: &str| {
        for args in [&["regrade"][..], &["workspace", "--to", "../home/made"]] {
            let said = project.terca(args).expect_status(3).stderr;
            assert!(
                said.contains(words) && said.contains("help:"),
                "{words}: {said}"
            );
            assert!(said.contains("error[damaged-run]"), "{said}");
            assert!(!project.path("../home/made").exists());
        }
        assert_eq!(project.journal(), journal);
    };
    std::fs::write(&kept, "other").unwrap();
    refuses(&format!("{} is damaged", layer.file_name().unwrap()));
    std::fs::write(&kept, "before").unwrap();
    for (content, words) in [
        ("{", "changes.json is damaged"),
        (
            &*text.replace("\"version\": 1", "\"version\": 9"),
            "another version of Terca",
        ),
        (
            &*text.replace(layer.file_name().unwrap(), "../../../../home"),
            "is no name in layers",
        ),
    ] {
        std::fs::write(&record, content).unwrap();
        refuses(words);
    }
    std::fs::write(&record, text).unwrap();
    let aside = project.path("../home/layer");
    std::fs::rename(&layer, &aside).unwrap();
    refuses("is missing");
    std::os::unix::fs::symlink(&aside, &layer).unwrap();
    refuses("symbolic link");
    std::fs::remove_file(&layer).unwrap();
    std::fs::rename(&aside, &layer).unwrap();
    project.terca(&["regrade"]).expect_status(0);
}

#[test]
fn merged_parts_share_their_layers() {
    let project = hostile();
    for shard in ["1/2", "2/2"] {
        project
            .terca(&["-n", "2", "--shard", shard])
            .expect_status(0);
    }
    project.terca(&["merge", "1", "2"]).expect_status(0);
    assert_eq!(layers(&project), 1);
    project.terca(&["regrade"]).expect_status(0);
    for number in 1..=2 {
        let trial = project
            .run_dir()
            .join(format!("task/default.default.0{number}"));
        assert!(project.workspace_of(&trial).join("was-file/in").is_file());
    }
}

#[test]
fn a_draft_of_a_killed_run_is_removed_by_the_next_run() {
    let project = hostile();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(600);
    let drafts = [".terca/.new-0123abcd", ".terca/layers/.new-4567abcd"];
    for draft in drafts.map(|draft| project.path(draft)) {
        std::fs::create_dir_all(draft.join("src")).unwrap();
        let opened = std::fs::File::open(&draft).unwrap();
        opened.set_modified(long_ago).unwrap();
    }
    project.terca(&[]).expect_status(0);
    for draft in drafts {
        assert!(!project.path(draft).exists(), "{draft}");
    }
}
