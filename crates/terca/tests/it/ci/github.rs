//! Plays a workflow of GitHub Actions.

use serde_json::Value;

use crate::ci::machine::{Job, Pipeline, Played, TARBALL, copy};

pub fn play(file: &Value, pipeline: Pipeline) -> Played {
    assert_eq!(file["defaults"]["run"]["shell"], "bash");
    let dir = file["defaults"]["run"]["working-directory"]
        .as_str()
        .unwrap();
    let variables = file["env"].as_object().unwrap();
    assert_eq!(variables["TERCA_TARBALL"], "${{ vars.TERCA_TARBALL }}");
    assert_eq!(variables.len(), 1);
    let mut played = Played {
        pipeline,
        jobs: Vec::new(),
    };
    for (name, job) in file["jobs"].as_object().unwrap() {
        if !is_due(job, &played) {
            continue;
        }
        let shards = job["strategy"]["matrix"]["shard"].as_array();
        for shard in shards.map_or(vec![None], |shards| shards.iter().map(Some).collect()) {
            let shard = shard.map(Value::to_string);
            let runner = Runner {
                pipeline: &played.pipeline,
                dir,
                shard: shard.as_deref(),
            };
            let name = [Some(name.as_str()), shard.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>();
            let job = runner.job(name.join(" "), job);
            played.jobs.push(job);
        }
    }
    played
}

/// Without a condition, a job waits for those before it to pass.
fn is_due(job: &Value, played: &Played) -> bool {
    if let Some(needed) = job["needs"].as_str() {
        assert!(
            played.jobs.iter().any(|job| job.name.starts_with(needed)),
            "{needed} comes first"
        );
    }
    match job["if"].as_str() {
        Some("${{ !cancelled() && needs.trials.result != 'skipped' }}") => true,
        None | Some("${{ !github.event.pull_request.head.repo.fork }}") => {
            played.failed().is_empty()
        }
        Some(other) => panic!("what is {other}?"),
    }
}

struct Runner<'a> {
    pipeline: &'a Pipeline,
    dir: &'a str,
    shard: Option<&'a str>,
}

impl Runner<'_> {
    fn job(&self, name: String, job: &Value) -> Job {
        let mut done = Job {
            name,
            passed: true,
            said: String::new(),
        };
        let mut cached = None;
        for step in job["steps"].as_array().unwrap() {
            let always = match step["if"].as_str() {
                None => false,
                Some("${{ !cancelled() }}") => true,
                Some(other) => panic!("what is {other}?"),
            };
            if !done.passed && !always {
                continue;
            }
            match (step["run"].as_str(), step["uses"].as_str()) {
                (Some(script), None) => self.run(script, &step["env"], &mut done),
                (None, Some(action)) => self.act(action, &step["with"], &mut cached),
                _ => panic!("a step either runs or uses something: {step}"),
            }
        }
        if let Some(path) = cached.filter(|_| done.passed) {
            self.pipeline.save_cache(&path);
        }
        done
    }

    fn run(&self, script: &str, env: &Value, job: &mut Job) {
        let script = self.filled(script);
        let summary = self.pipeline.step_summary();
        let added = self.pipeline.added_paths();
        let mut env: Vec<(&str, &str)> = env
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                assert_eq!(
                    value,
                    &format!("${{{{ secrets.{name} }}}}"),
                    "a secret of the same name"
                );
                (name.as_str(), "false-key-for-tests")
            })
            .collect();
        env.extend([
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_STEP_SUMMARY", summary.as_str()),
            ("GITHUB_PATH", added.as_str()),
            ("TERCA_TARBALL", TARBALL),
        ]);
        let outcome = self.pipeline.run(self.dir, &script, &env);
        job.passed &= outcome.status == 0;
        job.said += &format!("$ {script}\n{}{}", outcome.stdout, outcome.stderr);
    }

    fn act(&self, action: &str, with: &Value, cached: &mut Option<String>) {
        match action.split('@').next().unwrap() {
            "actions/checkout" => self.pipeline.check_out(),
            "actions/setup-node" => assert!(with["node-version"].is_u64()),
            "actions/cache" => {
                assert!(with["key"].is_string() && with["restore-keys"].is_string());
                let path = with["path"].as_str().unwrap();
                self.pipeline.restore_cache(path);
                *cached = Some(path.to_owned());
            }
            "actions/upload-artifact" => self.upload(with),
            "actions/download-artifact" => self.download(with),
            _ => panic!("nobody plays {action}"),
        }
    }

    /// The content of a directory, or files by their names. What is hidden is left out unless it is asked for.
    fn upload(&self, with: &Value) {
        let artifact = self
            .pipeline
            .store()
            .join(self.filled(with["name"].as_str().unwrap()));
        std::fs::create_dir_all(&artifact).unwrap();
        let hidden = with["include-hidden-files"] == true;
        for path in with["path"]
            .as_str()
            .unwrap()
            .lines()
            .filter(|path| hidden || !path.contains("/."))
        {
            let from = self.pipeline.dir().join(path);
            if from.is_dir() {
                copy(&from.join("."), &artifact);
            } else {
                copy(&from, &artifact.join(from.file_name().unwrap()));
            }
        }
    }

    /// Each artifact into a directory of its name.
    fn download(&self, with: &Value) {
        let prefix = with["pattern"].as_str().unwrap().strip_suffix('*').unwrap();
        let to = self.pipeline.dir().join(with["path"].as_str().unwrap());
        for artifact in self.pipeline.store().read_dir_utf8().unwrap().flatten() {
            if artifact.file_name().starts_with(prefix) {
                copy(&artifact.path().join("."), &to.join(artifact.file_name()));
            }
        }
    }

    fn filled(&self, text: &str) -> String {
        let filled = text.replace("${{ matrix.shard }}", self.shard.unwrap_or("?"));
        assert!(
            !filled.contains("${{") && !filled.contains('?'),
            "what is {filled}?"
        );
        filled
    }
}
