//! Plays a pipeline of GitLab CI.

use serde_json::Value;

use crate::ci::machine::{Job, Pipeline, Played, TARBALL, copy};

/// What a file says beside its jobs.
const KEYWORDS: [&str; 2] = ["stages", "default"];

pub fn play(file: &Value, pipeline: Pipeline) -> Played {
    let mut played = Played {
        pipeline,
        jobs: Vec::new(),
    };
    let jobs = file
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !KEYWORDS.contains(&name.as_str()));
    let jobs: Vec<_> = jobs.collect();
    let before = lines(&file["default"]["before_script"]);
    for stage in file["stages"].as_array().unwrap() {
        // Jobs of a stage do not wait for each other.
        let sound = played.failed().is_empty();
        for (name, job) in jobs.iter().filter(|(_, job)| &job["stage"] == stage) {
            let due = match job["when"].as_str() {
                None => sound,
                Some("always") => true,
                Some(other) => panic!("what is {other}?"),
            };
            for index in 1..=job["parallel"]
                .as_u64()
                .unwrap_or(1)
                .min(if due { 99 } else { 0 })
            {
                let done = run(&played.pipeline, name, job, &before, index);
                played.jobs.push(done);
            }
        }
    }
    played
}

fn run(pipeline: &Pipeline, name: &str, job: &Value, before: &str, index: u64) -> Job {
    pipeline.check_out();
    let parallel = job["parallel"].as_u64();
    let parts = pipeline.store();
    if job["stage"] == "verdict" {
        copy(&parts.join("."), &pipeline.dir());
    }
    let cached = job["cache"]["paths"].as_array();
    let cached: Vec<&str> = cached
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let cached = cached.join("\n");
    pipeline.restore_cache(&cached);
    let (number, of) = (index.to_string(), parallel.unwrap_or(1).to_string());
    let env = [
        ("TERCA_TARBALL", TARBALL),
        ("CI_NODE_INDEX", number.as_str()),
        ("CI_NODE_TOTAL", of.as_str()),
    ];
    let script = format!("{before}{}", lines(&job["script"]));
    let outcome = pipeline.run(
        ".",
        &script,
        if parallel.is_some() { &env } else { &env[..1] },
    );
    let passed = outcome.status == 0;
    if passed {
        pipeline.save_cache(&cached);
    }
    let artifacts = &job["artifacts"];
    if passed || artifacts["when"] == "always" {
        keep(pipeline, artifacts);
    }
    let name = parallel.map_or(name.to_owned(), |_| format!("{name} {index}"));
    Job {
        name,
        passed,
        said: format!("$ {script}\n{}{}", outcome.stdout, outcome.stderr),
    }
}

/// Artifacts keep their places, and those of all jobs come to the same ones.
fn keep(pipeline: &Pipeline, artifacts: &Value) {
    let paths = artifacts["paths"]
        .as_array()
        .into_iter()
        .flatten()
        .chain(artifacts["reports"].get("junit"));
    for path in paths.filter_map(Value::as_str) {
        std::fs::create_dir_all(pipeline.store()).unwrap();
        let script = format!("cp -a --parents {path} {}", pipeline.store());
        assert_eq!(
            pipeline.run(".", &script, &[]).status,
            0,
            "{path} was not there to be kept"
        );
    }
}

fn lines(script: &Value) -> String {
    script
        .as_array()
        .unwrap()
        .iter()
        .map(|line| format!("{}\n", line.as_str().unwrap()))
        .collect()
}
