use super::*;
use crate::new_suite::mine::choice::{Language, choose};
use crate::new_suite::mine::commit::Commit;
use crate::new_suite::mine::recipe::{Project, recipes};
use serde_json::Value;

fn side(id: &str) -> Option<Object> {
    Some(Object {
        kind: Kind::File(false),
        id: id.to_owned(),
        text: String::new(),
    })
}

fn change(path: &str, old: Option<Object>, new: Option<Object>) -> Change {
    Change {
        path: path.into(),
        old,
        new,
    }
}

fn chosen() -> Chosen {
    let commit = Commit {
        id: "0123456789abcdef0123456789abcdef01234567".into(),
        parents: vec!["p".into()],
        seconds: 1_700_000_000,
        message: "Parse empty lines: as no lines (#12)\n\nSigned-off-by: A <a@b>\n".into(),
    };
    let changes = vec![
        change("parse.py", side("1"), side("2")),
        change("old.py", side("3"), None),
        change("tests/test_parse.py", side("4"), side("5")),
        change("tests/test_old.py", side("6"), None),
    ];
    choose(commit, "p", changes).unwrap()
}

fn tree() -> Vec<Entry> {
    let files = [
        ("parse.py", "1"),
        ("old.py", "3"),
        ("tests/test_parse.py", "4"),
        ("tests/test_old.py", "6"),
        ("tests/data.json", "7"),
        ("pytest.ini", "8"),
    ];
    let entry = |(path, id): (&str, &str)| Entry {
        path: path.into(),
        object: side(id).unwrap(),
        size: 1,
    };
    files.map(entry).to_vec()
}

fn made(wishes: &Wishes) -> Draft {
    let chosen = chosen();
    let files = tree().iter().map(|entry| entry.path.clone()).collect();
    let project = Project {
        files: &files,
        text: &|_| Some("import unittest\n".into()),
    };
    let recipes = recipes(&chosen.run, &project);
    draft(chosen, &tree(), &recipes, wishes).unwrap()
}

const WISHES: Wishes = Wishes {
    setup: None,
    test_command: None,
    test_seconds: 60.0,
    issues: Issues::NONE,
};

fn text<'a>(draft: &'a Draft, path: &str) -> &'a str {
    let file = draft.written.iter().find(|(own, _)| own == path);
    file.map_or("", |(_, text)| text)
}

#[test]
fn each_file_has_its_place() {
    let draft = made(&WISHES);
    assert_eq!(draft.folder, "parse-empty-lines-as-no-lines-012345678");
    let mut places: Vec<(String, &str)> = draft
        .placed
        .iter()
        .filter(|placed| placed.below != "_base")
        .map(|placed| {
            let path = format!("{}/{}", placed.below, placed.path);
            (path, placed.object.id.as_str())
        })
        .collect();
    places.sort_unstable();
    assert_eq!(
        places,
        [
            ("_solution/parse.py", "2"),
            ("_tests/pytest.ini", "8"),
            ("_tests/tests/data.json", "7"),
            ("_tests/tests/test_parse.py", "5"),
        ]
        .map(|(path, id)| (path.to_owned(), id))
    );
    let base = draft.placed.iter().filter(|placed| placed.below == "_base");
    assert_eq!(base.count(), 6);
    assert!(text(&draft, "_solution.sh").contains("rm -rf -- old.py\n"));
    let check = text(&draft, "_tests/.mined/check.sh");
    assert!(check.contains("rm -rf -- tests/test_old.py\n"), "{check}");
    assert!(check.contains("rm -rf -- conftest.py\n"), "{check}");
    assert!(!check.contains("pytest.ini"), "{check}");
}

#[test]
fn the_eval_says_where_it_comes_from() {
    let draft = made(&WISHES);
    let eval = text(&draft, "eval.terca.yaml");
    assert!(eval.contains("EDIT ME"), "{eval}");
    assert!(
        eval.contains("tags: [ \"python\", \"mined\", \"edit-me\" ]"),
        "{eval}"
    );
    let read: Value = serde_saphyr::from_str(eval).unwrap();
    assert_eq!(
        read["x-mined"]["commit"],
        "0123456789abcdef0123456789abcdef01234567"
    );
    assert_eq!(read["tests"][0]["timeoutSeconds"], 60);
    assert!(!text(&draft, "prompt.md").contains("Signed-off"));
}

#[test]
fn commands_of_the_user_take_the_place_of_the_known_ones() {
    let wishes = Wishes {
        setup: Some("make deps".into()),
        test_command: Some("make check FILES='{files}'".into()),
        ..WISHES
    };
    let draft = made(&wishes);
    let read: Value = serde_saphyr::from_str(text(&draft, "eval.terca.yaml")).unwrap();
    assert_eq!(read["prepare"], json!([{ "command": "make deps" }]));
    let check = text(&draft, "_tests/.mined/check.sh");
    assert!(
        check.ends_with("make check FILES='tests/test_parse.py'\n"),
        "{check}"
    );
}

#[test]
fn steps_are_there_once_and_unknown_tests_are_refused() {
    let recipe = Recipe {
        tag: "rust",
        setup: vec![Step::new("cargo vendor")],
        check: "true\n".into(),
        ..Recipe::default()
    };
    // Two crates of one workspace have the same step.
    let recipes = [recipe.clone(), recipe];
    let draft = draft(chosen(), &tree(), &recipes, &WISHES).unwrap();
    let read: Value = serde_saphyr::from_str(text(&draft, "eval.terca.yaml")).unwrap();
    assert_eq!(read["prepare"], json!([{ "command": "cargo vendor" }]));
    let refused = super::draft(chosen(), &tree(), &[], &WISHES).unwrap_err();
    assert_eq!(refused.reason, Reason::UnknownTests);
    assert_eq!(chosen().run[0].0, Language::Python);
}

#[test]
fn tools_that_commands_of_the_user_do_not_need() {
    let needed = |setup: Option<&str>, test: Option<&str>| {
        let wishes = Wishes {
            setup: setup.map(str::to_owned),
            test_command: test.map(str::to_owned),
            test_seconds: 1.0,
            issues: Issues::NONE,
        };
        made(&wishes).tools
    };
    assert_eq!(needed(None, None), ["python3"]);
    assert_eq!(needed(Some("make"), None), [""; 0]);
    // There is nothing to install, so that nothing needs it.
    assert_eq!(needed(None, Some("make check")), [""; 0]);
}
