use serde_json::Value;

use super::*;

fn row(more: &Value) -> Value {
    let mut row = json!({
        "instance_id": "me__twice-1", "repo": "me/twice", "base_commit": "a".repeat(40), "problem_statement": "Double it.",
        "patch": "diff", "test_patch": "diff", "FAIL_TO_PASS": "[\"tests/test_twice.py::test_two\"]",
        "PASS_TO_PASS": ["tests/test_other.py::test_one"], "version": "1.2",
    });
    for (key, value) in more.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn imported(row: &Value, more: &[(&str, &str)], wishes: &Wishes) -> Result<Imported, String> {
    let mut texts = BTreeMap::from([
        ("twice.py", "def twice(n):\n    return n\n"),
        ("old.py", "x = 1\n"),
        ("tests/conftest.py", "# settings\n"),
        ("tests/test_other.py", "def test_one():\n    pass\n"),
    ]);
    texts.extend(more.iter().copied());
    let files: BTreeSet<Utf8PathBuf> = texts.keys().map(|path| (*path).into()).collect();
    let text = |path: &Utf8Path| texts.get(path.as_str()).map(|text| (*text).to_owned());
    let instance = instances(&row.to_string())?.remove(0)?;
    let project = Project {
        files: &files,
        text: &text,
    };
    let changed = |path: &str, text: &str, removed: Option<&str>| Changed {
        texts: BTreeMap::from([(path.into(), text.to_owned())]),
        removed: removed.into_iter().map(Utf8PathBuf::from).collect(),
        binary: Vec::new(),
    };
    let solution = changed(
        "twice.py",
        "def twice(n):\n    return 2 * n\n",
        Some("old.py"),
    );
    let tests = changed("tests/test_twice.py", "def test_two():\n    pass\n", None);
    import(&instance, &project, &solution, &tests, wishes)
}

#[test]
fn an_instance_has_its_place_in_an_eval() {
    let eval = imported(&row(&json!({})), &[], &Wishes::default()).unwrap();
    assert_eq!(
        (eval.folder.as_str(), eval.notes.as_slice()),
        ("me__twice-1", [].as_slice())
    );
    assert_eq!(
        eval.text_of("_solution/twice.py"),
        "def twice(n):\n    return 2 * n\n"
    );
    assert!(eval.text_of("_solution.sh").ends_with("rm -rf -- old.py\n"));
    assert_eq!(
        eval.text_of("_tests/tests/test_twice.py"),
        "def test_two():\n    pass\n"
    );
    assert_eq!(eval.text_of("_tests/tests/conftest.py"), "# settings\n");
    let names = eval.text_of("_tests/.swe-bench/tests.json");
    assert_eq!(
        names,
        "[\n  \"tests/test_twice.py::test_two\",\n  \"tests/test_other.py::test_one\"\n]\n"
    );
    let check = eval.text_of("_tests/.swe-bench/check.sh");
    assert!(
        check.contains("tests.json tests/test_other.py tests/test_twice.py\n"),
        "{check}"
    );
    assert!(check.contains("rm -rf -- pytest.ini\n"), "{check}");
    let file = eval.text_of("eval.terca.yaml");
    assert!(file.contains("tags: [ \"swe-bench\", \"twice\" ]\nprepare:\n  - { \"command\": \"python3 -m venv .venv && "), "{file}");
}

#[test]
fn a_project_without_a_history_is_told_its_version() {
    let manifest = (
        "pyproject.toml",
        "requires = [\"setuptools-scm\"]\n[project]\ndependencies = []\n",
    );
    let eval = imported(&row(&json!({})), &[manifest], &Wishes::default()).unwrap();
    let file = eval.text_of("eval.terca.yaml");
    let command =
        "export SETUPTOOLS_SCM_PRETEND_VERSION=1.2; .venv/bin/python -m pip install -q -e .";
    assert!(file.contains(command), "{file}");
}

#[test]
fn tests_of_another_runner_need_a_command() {
    let odd = row(&json!({ "FAIL_TO_PASS": ["test_two (tests.Twice)"] }));
    let eval = imported(&odd, &[], &Wishes::default()).unwrap();
    assert_eq!(eval.notes[0].loss, Some(Loss::Tests));
    assert!(
        eval.notes[0].text.contains("test_two (tests.Twice)"),
        "{}",
        eval.notes[0].text
    );
    let wishes = Wishes {
        setup: Some("make venv".into()),
        test_command: Some("runtests {files}".into()),
    };
    let eval = imported(&odd, &[], &wishes).unwrap();
    assert_eq!(eval.notes, []);
    assert!(
        eval.text_of("_tests/.swe-bench/check.sh")
            .ends_with("\nruntests tests/test_other.py tests/test_twice.py\n")
    );
    assert!(
        eval.text_of("eval.terca.yaml")
            .contains("prepare:\n  - { \"command\": \"make venv\" }\n")
    );
}

#[test]
fn instances_are_read_as_a_list_or_by_lines() {
    let (one, other) = (
        row(&json!({})),
        row(&json!({ "instance_id": "me__twice-2" })),
    );
    let lines = format!("{one}\n\n{other}\n");
    let list = json!([one, other]).to_string();
    for text in [lines, list] {
        let ids: Vec<String> = instances(&text)
            .unwrap()
            .into_iter()
            .map(|row| row.unwrap().id)
            .collect();
        assert_eq!(ids, ["me__twice-1", "me__twice-2"]);
    }
    assert!(instances("a,b\n").is_err());
    for (key, value) in [
        ("instance_id", "../x"),
        ("patch", ""),
        ("base_commit", "main"),
    ] {
        let read = instances(&row(&json!({ key: value })).to_string()).unwrap();
        assert!(read[0].is_err(), "{key}");
    }
}

#[test]
fn a_diff_is_cut_to_its_texts() {
    let text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-Binary files\n+diff --git\n";
    let image = "diff --git a/p.png b/p.png\nnew file mode 100644\nBinary files /dev/null and b/p.png differ\n";
    let both = format!("{image}{text}{}", text.trim_end());
    let expected = (text.repeat(2), vec!["p.png".to_owned()]);
    assert_eq!(text_part(&both), expected);
    assert_eq!(text_part(""), (String::new(), Vec::new()));
}
