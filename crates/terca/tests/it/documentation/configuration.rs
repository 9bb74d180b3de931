//! YAML that a page shows: whole files, parts of files, and what is written for CI systems.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::documentation::room::Room;

/// The suite that a file belongs to, if it is one of its configuration files.
pub fn suite_of(file: &Utf8Path) -> Option<Utf8PathBuf> {
    match file.file_name()? {
        "terca.yaml" => file.parent().map(Utf8Path::to_owned),
        "eval.terca.yaml" => {
            let above = file.ancestors().skip(2);
            let suite = above
                .into_iter()
                .find(|dir| dir.join("terca.yaml").exists());
            suite
                .or(file.parent().and_then(Utf8Path::parent))
                .map(Utf8Path::to_owned)
        }
        _ => None,
    }
}

/// What Terca has against a suite as the page has left it.
pub fn problem_of_suite(room: &Room, dir: &Utf8Path) -> Option<String> {
    // `check` also looks for the agents, which are not on every machine.
    let said = room.run("sh", &format!("terca --dry-run -C '{dir}' > /dev/null"));
    // Warnings are mistakes too; notes are not.
    let is_note = |line: &str| line.trim().is_empty() || line.starts_with("note:");
    let fine = said.status == 0 && said.output.lines().all(is_note);
    (!fine).then(|| format!("terca check: {}", said.output))
}

/// What Terca has against a part of a file, with what the part leaves out put around it.
pub fn problem_of_part(room: &Room, of: &str, text: &str) -> Option<String> {
    // Beside the page's own files, which the part may name.
    let dir = room.root().join("part");
    let said = room.run(
        "sh",
        &format!("rm -rf {dir} && cp -a . {dir} && rm -rf {dir}/.terca"),
    );
    assert_eq!(said.status, 0, "{}", said.output);
    let has = |key: &str| {
        text.lines()
            .any(|line| line.starts_with(&format!("{key}:")))
    };
    let unless = |there: bool, otherwise: &'static str| if there { "" } else { otherwise };
    match of {
        "terca.yaml" => {
            let environments = unless(
                has("environments"),
                "environments: [{name: default, agent: nop}]\n",
            );
            let evals = unless(
                has("evals"),
                "evals: [{name: part, prompt: none, allowWarnings: no-tests}]\n",
            );
            room.write(
                dir.join("terca.yaml").as_str(),
                &format!("{text}\n{environments}{evals}"),
            );
        }
        "eval.terca.yaml" => {
            let prompt = unless(
                has("prompt") || has("promptFile"),
                "prompt: none\nallowWarnings: no-tests\n",
            );
            room.write(
                dir.join("terca.yaml").as_str(),
                "environments: [{name: default, agent: nop}]\n",
            );
            room.write(
                dir.join("part/eval.terca.yaml").as_str(),
                &format!("{text}\n{prompt}"),
            );
        }
        other => {
            return Some(format!(
                "there are parts of terca.yaml and of eval.terca.yaml, not of {other}"
            ));
        }
    }
    problem_of_suite(room, &dir)
}

/// The lines in a workflow's scripts that start Terca.
pub fn commands_of_workflow(text: &str) -> Vec<String> {
    let document: Value = serde_saphyr::from_str(text).unwrap_or_default();
    let mut scripts = Vec::new();
    collect(&document, &mut scripts);
    let lines = scripts
        .iter()
        .flat_map(|script| script.lines())
        .map(str::trim);
    lines
        .filter(|line| line.starts_with("terca ") || *line == "terca")
        .map(str::to_owned)
        .collect()
}

/// `run` of a step on GitHub, `script` and the like on GitLab.
fn collect(value: &Value, scripts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, scripts)),
        Value::Object(entries) => {
            let in_order = ["run", "before_script", "script", "after_script"];
            for script in in_order.iter().filter_map(|key| entries.get(*key)) {
                match script {
                    Value::String(text) => scripts.push(text.clone()),
                    Value::Array(lines) => {
                        scripts.extend(lines.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
            }
            let others = entries
                .iter()
                .filter(|(key, _)| !in_order.contains(&key.as_str()));
            others.for_each(|(_, value)| collect(value, scripts));
        }
        _ => {}
    }
}
