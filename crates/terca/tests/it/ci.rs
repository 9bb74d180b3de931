//! The pipelines in `examples/ci`: every command in them is run as the files say, job by job, by players of the services
//! that know just what these files use, and stop at everything else.

mod action;
mod github;
mod gitlab;
mod machine;

use camino::Utf8Path;
use machine::{Pipeline, Played, Rules};
use serde_json::Value;

fn file(name: &str) -> Value {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/ci")
        .join(name);
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn played(name: &str, pipeline: Pipeline) -> Played {
    match name {
        "github-actions.yml" => github::play(&file(name), pipeline),
        "gitlab-ci.yml" => gitlab::play(&file(name), pipeline),
        _ => panic!("nobody plays {name}"),
    }
}

const FILES: [&str; 2] = ["github-actions.yml", "gitlab-ci.yml"];
const JOBS: [&str; 5] = ["prove", "trials 1", "trials 2", "trials 3", "verdict"];

mod thorough {
    use super::*;

    /// All parts are joined, the report is kept, and an experiment that helps fails nothing. A layer that this pipeline made is
    /// not made again by the next one.
    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn what_is_better_passes() {
        for name in FILES {
            let played = played(name, Pipeline::new(Rules::Help));
            assert_eq!(played.failed(), Vec::<&str>::new(), "{name}: {played:#?}");
            assert_eq!(played.jobs(), JOBS, "{name}");
            assert!(
                played.said("verdict").contains("BETTER on these 6 evals"),
                "{name}: {played:#?}"
            );
            let report = played.kept("report.html");
            assert!(
                report.contains("with-rules") && report.contains("</html>"),
                "{name}"
            );
            let junit = played.kept("junit.xml");
            assert_eq!(
                junit.matches("<testcase ").count(),
                6 + 6 + 1,
                "{name}: every eval of both variants, and the verdict"
            );
            assert!(
                played.summary().contains("with-rules"),
                "{name}: {}",
                played.summary()
            );
            assert!(
                played
                    .installed()
                    .lines()
                    .all(|line| line == "install --global @anthropic-ai/claude-code"),
                "{name}"
            );

            let made = played.layers_made();
            let next = super::played(name, played.again());
            assert_eq!(next.failed(), Vec::<&str>::new(), "{name}: {next:#?}");
            assert_eq!(
                next.layers_made() - made,
                1,
                "{name}: only the job that proves the evals keeps none"
            );
        }
    }

    /// The one job that says so fails, and its report is kept all the same.
    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn what_is_worse_fails() {
        for name in FILES {
            let played = played(name, Pipeline::new(Rules::Hurt));
            assert_eq!(played.failed(), ["verdict"], "{name}: {played:#?}");
            assert!(
                played.said("verdict").contains("WORSE on these 6 evals"),
                "{name}: {played:#?}"
            );
            assert!(played.kept("report.html").contains("</html>"), "{name}");
        }
    }

    /// Trials that could not be run fail their part, the rest is joined and told, and the whole has failed.
    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn what_is_incomplete_fails_and_is_told() {
        for name in FILES {
            let played = played(name, Pipeline::new(Rules::Break));
            let failed = played.failed();
            assert!(
                failed.contains(&"verdict") && failed.len() > 1,
                "{name}: {played:#?}"
            );
            assert!(!failed.contains(&"prove"), "{name}: the evals are sound");
            assert!(played.kept("junit.xml").contains("<error "), "{name}");
        }
    }
}
