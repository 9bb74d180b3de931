use super::*;
use crate::new_suite::imported::made;

fn imported(name: &str, files: &[(&str, &str)]) -> Result<Imported, String> {
    made::read(name, files, import)
}

#[test]
fn an_exercise_in_go_has_hidden_tests_and_an_example() {
    let config = r#"{"blurb": "Sum: numbers", "files": {"solution": ["sum.go"], "test": ["sum_test.go"],
        "example": [".meta/example.go"], "editor": ["cases_test.go"], "invalidator": ["go.mod"]}}"#;
    let eval = imported(
        "sum",
        &[
            (".approaches/introduction.md", "x"),
            (".docs/instructions.md", "# Instructions\n\nSum.\n"),
            (".docs/instructions.append.md", "# More\n"),
            (".docs/introduction.md", "Once.\n"),
            (".meta/config.json", config),
            (".meta/example.go", ""),
            ("cases_test.go", ""),
            ("go.mod", "module sum\n"),
            ("sum.go", ""),
            ("sum_test.go", ""),
        ],
    )
    .unwrap();
    assert_eq!(eval.folder, "go-sum");
    assert_eq!(eval.notes, []);
    assert_eq!(
        eval.copies(),
        [
            ("cases_test.go", "_tests/cases_test.go"),
            ("go.mod", "_base/go.mod"),
            ("go.mod", "_tests/go.mod"),
            ("sum.go", "_base/sum.go"),
            ("sum_test.go", "_tests/sum_test.go"),
            (".meta/example.go", "_solution/sum.go"),
        ]
    );
    let prompt = eval.text_of("prompt.md");
    assert!(
        prompt.starts_with("Once.\n\n# Instructions\n\nSum.\n\n# More\n"),
        "{prompt}"
    );
    assert!(
        prompt.contains("Write the solution in `sum.go`."),
        "{prompt}"
    );
    let file = eval.text_of("eval.terca.yaml");
    let start = "# Imported from the exercise sum (go).\ndescription: \"Sum: numbers\"\npromptFile: \"prompt.md\"\n\
                 tags: [ \"go\", \"exercism\" ]\nprepare:\n";
    assert!(file.starts_with(start), "{file}");
    let check = eval.text_of("_tests/.exercism/check.sh");
    assert!(check.contains("go test -count=1 -json . >"), "{check}");
    let report = "{ \"command\": \"sh .exercism/check.sh\", \"report\": \".exercism/report\" }";
    assert!(file.contains(report), "{file}");
}

#[test]
fn skipped_tests_run() {
    let tracks = [
        (
            "a.js",
            "xtest('a');\nxit('b', x);\ntest.skip('c');\nexit(1);\n",
            "test('a');\nit('b', x);\ntest('c');\nexit(1);\n",
        ),
        (
            "a.rs", "#[test]\n#[ignore]\nfn a() {}\n", "#[test]\nfn a() {}\n",
        ),
        ("A.java", "@Disabled(\"Remove\")\n@Test\n", "\n@Test\n"),
    ];
    for (file, before, after) in tracks {
        let track = Track::of(Utf8Path::new(file)).unwrap();
        assert_eq!(track.without_skips(before).as_deref(), Some(after));
        assert_eq!(track.without_skips(after), None);
    }
}

#[test]
fn crates_of_an_example_are_those_of_the_agent() {
    let config = r#"{"files": {"solution": ["src/lib.rs", "Cargo.toml"], "test": ["tests/draw.rs"], "example": [".meta/example.rs"]}}"#;
    let mut files = vec![
        (".docs/instructions.md", "Draw."),
        (".meta/config.json", config),
        (".meta/example.rs", ""),
        ("Cargo.toml", "[package]\nname = \"draw\"\n"),
        ("src/lib.rs", ""),
        ("tests/draw.rs", "#[test]\nfn a() {}\n"),
    ];
    let eval = imported("draw", &files).unwrap();
    assert!(!eval.text_of("eval.terca.yaml").contains("cargo vendor"));
    assert!(
        eval.copies()
            .contains(&(".meta/example.rs", "_solution/src/lib.rs"))
    );
    let manifest = "[package]\nname = \"draw\"\n[dependencies]\nrand = \"0.8\"\n";
    files.push((EXAMPLE_MANIFEST, manifest));
    let eval = imported("draw", &files).unwrap();
    assert_eq!(eval.text_of("_base/Cargo.toml"), manifest);
    let file = eval.text_of("eval.terca.yaml");
    assert!(
        file.contains("\"onlyFiles\": [ \"Cargo.toml\" ] }\n  - { \"command\": \"[ -d vendor ] || { cargo vendor"),
        "{file}"
    );
    assert_eq!(
        eval.notes.iter().filter(|note| note.loss.is_some()).count(),
        0
    );
}

#[test]
fn what_is_missing_is_told() {
    let config = r#"{"files": {"solution": ["src/main/java/A.java", "src/main/java/B.java"], "test": ["src/test/java/ATest.java"],
        "example": [".meta/src/reference/java/A.java", ".meta/src/reference/java/C.java"]}}"#;
    let eval = imported(
        "a",
        &[
            (".docs/instructions.md", "A."),
            (".meta/config.json", config),
            (".meta/src/reference/java/A.java", ""),
            (".meta/src/reference/java/C.java", ""),
            ("src/main/java/A.java", ""),
            ("src/test/java/ATest.java", ""),
        ],
    )
    .unwrap();
    let losses: Vec<_> = eval.notes.iter().filter_map(|note| note.loss).collect();
    assert_eq!(losses, [Loss::Files, Loss::Packages]);
    assert!(eval.notes[0].text.contains("src/main/java/B.java"));
    let copied = eval.copies();
    for (from, to) in [("A", "A"), ("C", "C")] {
        let from = format!(".meta/src/reference/java/{from}.java");
        let to = format!("_solution/src/main/java/{to}.java");
        assert!(copied.contains(&(&from, &to)), "{copied:#?}");
    }
    for (config, reason) in [
        ("{", "is not JSON"),
        ("{}", "names no `files.solution`"),
        (
            r#"{"files": {"solution": ["a.rb"], "test": ["b.rb"]}}"#,
            "its language is not known by a.rb",
        ),
        (
            r#"{"files": {"solution": ["a.py"], "test": ["b.py"]}}"#,
            "none of the tests",
        ),
    ] {
        let error = imported("a", &[(".meta/config.json", config), ("a.py", "")]).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}
