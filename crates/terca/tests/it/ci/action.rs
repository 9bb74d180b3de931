//! Plays `action.yml` of this repository, step by step, as a job on a pull request does.

use camino::Utf8Path;
use serde_json::Value;

use crate::ci::machine::{Job, Pipeline, Rules};

const TARBALL: &str = "https://example.com/other.tar.gz";
const SUMS: &str = "https://example.com/SHA256SUMS";

/// Plays the action once. The comments of the pull request are files of the runner.
fn played(pipeline: &Pipeline, fail_on: &str) -> Job {
    let place = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(place.join("action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(action["runs"]["using"], "composite");
    let home = pipeline.home();
    let filled = |text: &str| {
        let mut text = text.to_owned();
        for (name, input) in action["inputs"].as_object().unwrap() {
            let own = match name.as_str() {
                "tarball" => TARBALL,
                "agent" => "some-agent",
                "fail-on" => fail_on,
                _ => input["default"].as_str().unwrap(),
            };
            text = text.replace(&format!("${{{{ inputs.{name} }}}}"), own);
        }
        for (name, value) in [
            ("github.token", "false-token-for-tests"),
            ("github.event.pull_request.number", "7"),
            ("github.run_id", "1"),
            ("runner.os", "Linux"),
            ("runner.temp", home.as_str()),
        ] {
            text = text.replace(&format!("${{{{ {name} }}}}"), value);
        }
        assert!(!text.contains("${{"), "what is {text}?");
        text
    };
    let mut job = Job {
        name: "action".to_owned(),
        passed: true,
        said: String::new(),
    };
    for step in action["runs"]["steps"].as_array().unwrap() {
        let condition = step["if"].as_str().unwrap_or_default();
        if !job.passed && !condition.contains("!cancelled()") {
            continue;
        }
        let Some(script) = step["run"].as_str() else {
            assert!(
                filled(&step["with"].to_string()).contains(".terca")
                    || step["uses"].as_str().unwrap().contains("upload")
            );
            continue;
        };
        assert_eq!(step["shell"], "bash");
        let own = step["env"].as_object().into_iter().flatten();
        let own: Vec<(String, String)> = own
            .map(|(name, value)| (name.clone(), filled(value.as_str().unwrap())))
            .collect();
        let (summary, added) = (pipeline.step_summary(), pipeline.added_paths());
        let mut env: Vec<(&str, &str)> = vec![
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_ACTION_PATH", place.as_str()),
            ("GITHUB_STEP_SUMMARY", summary.as_str()),
            ("GITHUB_PATH", added.as_str()),
            ("GITHUB_REPOSITORY", "me/library"),
            ("RUNNER_OS", "Linux"),
            ("RUNNER_TEMP", home.as_str()),
        ];
        env.extend(own.iter().map(|(name, value)| (&**name, &**value)));
        let outcome = pipeline.run(".", script, &env);
        job.passed &= outcome.status == 0;
        job.said += &format!("$ {script}\n{}{}", outcome.stdout, outcome.stderr);
    }
    job
}

fn pipeline(rules: Rules) -> Pipeline {
    let pipeline = Pipeline::new(rules);
    let home = pipeline.home();
    // Requests are noted, and the comment that was written is the one that is found.
    let pack = format!(
        "cd {home} && tar -czf other.tar.gz -C release terca-some-target-v1 && sha256sum other.tar.gz > SHA256SUMS"
    );
    assert_eq!(pipeline.run(".", &pack, &[]).status, 0);
    pipeline.program(
        "curl",
        &format!(
            "case \"$1 $2 $3\" in '-fsSL {TARBALL} -o') exec cp {home}/other.tar.gz \"$4\";; \
             '-fsSL {SUMS} -o') exec cp {home}/SHA256SUMS \"$4\";; esac\nexit 22"
        ),
    );
    pipeline.program("sudo", &format!("echo \"$@\" >> {home}/sudo"));
    pipeline.program("bwrap", "exit 1");
    pipeline.program(
        "gh",
        &format!(
            "echo \"$GH_TOKEN $*\" >> {home}/gh\ncase \"$*\" in *--paginate*) [ ! -e {home}/comment ] || echo 5;; *) touch {home}/comment;; esac"
        ),
    );
    pipeline
}

#[test]
fn a_comparison_that_helps_is_green() {
    let pipeline = pipeline(Rules::Help);
    let home = pipeline.home();
    let job = played(&pipeline, "worse");
    assert!(job.passed, "{}", job.said);
    assert!(!job.said.contains("::error"), "{}", job.said);
    assert!(
        job.said.contains("::notice title=with-rules"),
        "{}",
        job.said
    );
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    let junit = read("terca-report/junit.xml");
    assert_eq!(junit.matches("<testcase ").count(), 6 + 6 + 1, "{junit}");
    assert_eq!(junit.matches("<failure").count(), 0, "{junit}");
    assert!(read("terca-report/report.html").contains("</html>"));
    assert!(read("terca-report/comment.md").starts_with("<!-- terca -->\n"));
    assert!(read("terca-report/comment.md").contains("BETTER"));
    assert!(read("sudo").contains("kernel.apparmor_restrict_unprivileged_userns=0"));
    assert_eq!(read("npm"), "install --global some-agent\n");
    assert!(
        read("gh")
            .contains("false-token-for-tests api --method POST repos/me/library/issues/7/comments")
    );
    let again = played(&pipeline, "not-better");
    assert!(again.passed, "{}", again.said);
    assert!(read("gh").contains("--method PATCH repos/me/library/issues/comments/5"));
}

#[test]
fn one_that_hurts_is_red_and_told() {
    let pipeline = pipeline(Rules::Hurt);
    let job = played(&pipeline, "worse");
    assert!(!job.passed, "{}", job.said);
    assert!(
        job.said.contains("::error title=with-rules"),
        "{}",
        job.said
    );
    let comment = std::fs::read_to_string(pipeline.home().join("terca-report/comment.md"));
    assert!(comment.unwrap().contains("WORSE"));
    let green = played(&pipeline, "errors");
    assert!(green.passed, "{}", green.said);
}

#[test]
fn a_tarball_with_another_checksum_is_not_run() {
    let pipeline = pipeline(Rules::Help);
    std::fs::write(pipeline.home().join("other.tar.gz"), "something else").unwrap();
    let job = played(&pipeline, "worse");
    assert!(!job.passed, "{}", job.said);
    assert!(job.said.contains("nothing was installed"), "{}", job.said);
    assert!(!job.said.contains("BETTER"), "{}", job.said);
}
