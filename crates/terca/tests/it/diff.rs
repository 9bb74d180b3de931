//! `changes.diff` can be applied with git, whatever the agent did.

use crate::common::project;
use terca_testkit::{Outcome, Project};

/// Applies the diff of the one trial to the layer that its workspace started from.
fn apply(project: &Project) -> Outcome {
    let output = std::process::Command::new("git")
        .args(["apply", project.trial_path("changes.diff").as_str()])
        .current_dir(project.path("_base"))
        .env("GIT_CEILING_DIRECTORIES", project.dir())
        .output();
    match output {
        Ok(output) => output.into(),
        Err(error) => Outcome {
            status: 127,
            stdout: String::new(),
            stderr: format!("git is needed: {error}"),
        },
    }
}

#[test]
fn links_are_as_git_has_them() {
    let project = project()
        .agent("ln -s a new; ln -sfn b old; rm file; ln -s a file")
        .symlink("_base/old", "a")
        .file("_base/file", "x\n")
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    for (link, target) in [("new", "a"), ("old", "b"), ("file", "a")] {
        assert_eq!(
            project.path("_base").join(link).read_link_utf8().unwrap(),
            target
        );
    }
}

#[test]
fn odd_names_are_quoted() {
    let project = project()
        .agent("echo n > \"$(printf 'new\\nline')\"; echo q > 'q\"x'; echo t > \"$(printf 'tab\\tx')\"; echo b > \"$(printf 'bad\\377')\"")
        .directory("_base")
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    assert!(project.path("_base/new\nline").exists());
}

#[test]
fn edits_additions_deletions_and_modes_arrive() {
    let project = project()
        .agent("echo 'zwei' >> edited; rm gone; chmod +x tool; mkdir -p deep/er; echo new > deep/er/file; printf 'no end' > open")
        .file("_base/edited", "eins\n")
        .file("_base/gone", "x\n")
        .file("_base/tool", "#!/bin/sh\n")
        .file("_base/open", "no end of line")
        .file("fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n");
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    assert_eq!(project.read("_base/edited"), "eins\nzwei\n");
    assert_eq!(project.read("_base/deep/er/file"), "new\n");
    assert_eq!(project.read("_base/open"), "no end");
    assert!(!project.path("_base/gone").exists());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(project.path("_base/tool"))
            .unwrap()
            .permissions(),
    );
    assert_eq!(mode & 0o111, 0o111);
}

#[test]
fn a_file_with_another_name_is_a_rename() {
    let lines: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let project = project()
        .agent("mkdir -p new; mv moved.txt new/moved.txt; mv edited.txt new/edited-too.txt; echo end >> new/edited-too.txt; mv pic.bin new/pic.bin; mv tool.sh 'new/tool\tx.sh'; chmod +x new/tool*; rm a.txt; echo other > b.txt")
        .file("_base/moved.txt", &lines)
        .file("_base/edited.txt", lines.replace("line", "row"))
        .file("_base/pic.bin", [0u8, 1, 2, 255])
        .file("_base/tool.sh", "#!/bin/sh\n")
        .file("_base/a.txt", "quite another thing\nthat has nothing to do with it\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n  - {name: both, changedFiles: {never: [moved.txt]}}\n  - {name: names, changedFiles: {never: [new/moved.txt]}}\n",
        );
    project.terca(&[]).expect_status(1);
    let diff = project.trial_file("changes.diff");
    for expected in [
        "diff --git a/moved.txt b/new/moved.txt\nsimilarity index 100%\nrename from moved.txt\nrename to new/moved.txt\ndiff --git",
        "deleted file mode 100644\n--- a/edited.txt\n+++ /dev/null\n",
        "new file mode 100644\n--- /dev/null\n+++ b/new/edited-too.txt\n",
        "rename from pic.bin\nrename to new/pic.bin\n",
        "old mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from tool.sh\n",
        "deleted file mode 100644\n--- a/a.txt\n",
        "new file mode 100644\n--- /dev/null\n+++ b/b.txt\n",
    ] {
        assert!(diff.contains(expected), "{expected}\n\nin\n\n{diff}");
    }
    apply(&project).expect_status(0);
    assert_eq!(project.read("_base/new/moved.txt"), lines);
    assert_eq!(
        project.read("_base/new/edited-too.txt"),
        lines.replace("line", "row") + "end\n"
    );
    assert!(project.path("_base/new/pic.bin").exists() && !project.path("_base/tool.sh").exists());
    // To `changedFiles` a rename is a change in both places.
    let tests = &project.only_trial()["tests"];
    assert_eq!(
        (&tests["both"]["score"], &tests["names"]["score"]),
        (&0.0.into(), &0.0.into()),
        "{tests}"
    );
}

#[test]
fn binary_files_are_named() {
    let project = project()
        .agent("printf '\\0\\1' > new.bin; printf 'x\\0' > old.bin; rm gone.bin; touch empty")
        .file("_base/old.bin", [0u8, 1])
        .file("_base/gone.bin", [0u8, 7, 7])
        .file(
            "fib/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\n",
        );
    project.terca(&[]).expect_status(0);
    let diff = project.trial_file("changes.diff");
    for expected in [
        "diff --git a/new.bin b/new.bin\nnew file mode 100644\nBinary files",
        "diff --git a/old.bin b/old.bin\nBinary files a/old.bin and b/old.bin differ\n",
        "diff --git a/gone.bin b/gone.bin\ndeleted file mode 100644\nBinary files",
        "diff --git a/empty b/empty\nnew file mode 100644\n",
    ] {
        assert!(diff.contains(expected), "{expected}\n\nin\n\n{diff}");
    }
}

#[test]
fn what_is_ignored_is_counted_unless_it_is_asked_for() {
    let agent = "mkdir -p node_modules/x dist/deep src; echo 1 > node_modules/x/a.js; echo 2 > dist/deep/b.js; echo l > a.log; \
                 echo s > src/a.js; echo k > keep.log; git init -q .; echo hidden > secret.txt; echo secret.txt >> .gitignore";
    for (track, shown, notes) in [
        (
            "",
            &["src/a.js", "keep.log", "secret.txt", ".gitignore"][..],
            true,
        ),
        (
            "trackIgnored: true\n",
            &[
                "src/a.js", "node_modules/x/a.js", "dist/deep/b.js", "a.log", ".git/HEAD",
            ],
            false,
        ),
    ] {
        let project = project()
            .agent(agent)
            .file("_base/.gitignore", "node_modules/\n/dist\n*.log\n!keep.log\n")
            .file(
                "fib/eval.terca.yaml",
                "prompt: go\ntests:\n  - {name: only, changedFiles: {only: ['src/**', keep.log, secret.txt, .gitignore]}}\n  - {name: never, changedFiles: {never: [secret.txt]}}\n",
            );
        let suite = project.read("terca.yaml");
        let project = project.file("terca.yaml", format!("{track}{suite}"));
        project.terca(&[]).expect_status(1);
        let diff = project.trial_file("changes.diff");
        for path in shown {
            assert!(diff.contains(&format!(" b/{path}\n")), "{path}: {diff}");
        }
        let note = diff.lines().last().unwrap_or_default();
        assert_eq!(
            note.ends_with("changed files not shown: ignored by .gitignore, or git's own"),
            notes,
            "{note}"
        );
        assert_eq!(diff.contains("node_modules"), !notes, "{diff}");
        // `changedFiles` sees what the diff shows, and what an agent wants ignored from now on is not.
        let tests = &project.only_trial()["tests"];
        assert_eq!(
            tests["only"]["score"],
            if notes { 1.0 } else { 0.0 },
            "{tests}"
        );
        assert_eq!(tests["never"]["score"], 0.0, "{tests}");
        assert!(
            project.trial_path("workspace/node_modules/x/a.js").exists(),
            "the workspace has everything"
        );
    }
}

#[test]
fn a_crash_after_work_that_is_ignored_is_judged() {
    let project = project()
        .agent("mkdir dist; echo x > dist/a; exit 1")
        .file("_base/.gitignore", "dist\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: dist/a}]\n",
        );
    project.terca(&[]).expect_status(0);
}

#[test]
fn the_diff_is_bounded_and_says_so() {
    let project = project()
        .agent("head -c 3000000 /dev/zero | tr '\\0' 'x' > big.txt; mkdir many; cd many; head -c 900000 /dev/zero | tr '\\0' 'y' > 1; for n in $(seq 2 40); do cp 1 $n; done")
        .file("fib/eval.terca.yaml", "prompt: go\ntests: [{changedFiles: {never: [many/9]}}]\n");
    project.terca(&[]).expect_status(1);
    let diff = project.trial_file("changes.diff");
    assert!(diff.len() < 20_000_000, "{}", diff.len());
    assert!(
        diff.contains("b/big.txt differ\n# too large to be shown: 3.0M bytes\n"),
        "{}",
        &diff[..300]
    );
    let note = diff.lines().last().unwrap_or_default();
    assert!(
        note.ends_with("more changed files not shown: the diff would be too large"),
        "{note}"
    );
    assert!(!diff.contains("b/many/9\n"), "what is not shown");
    let message = project.only_trial()["tests"]["changedFiles-1"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        message.contains("many/9"),
        "is looked at all the same: {message}"
    );
}
