//! Fingerprints: a few hashes that tell if two runs tested the same thing, and what differs if not.
//!
//! The hashes do not depend on the directory of the suite, nor on the values of secrets.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::mcp::McpServer;
use crate::config::sandbox::{Build, Sandbox};
use crate::config::settings;
use crate::config::suite::Action;
use crate::plan::{Case, Layer, Plan, PreparedLayer};
use crate::text::mask::Mask;
use crate::text::sha256;
use crate::text::{json, prose};

/// Part of a case → hash.
pub type Fingerprint = BTreeMap<String, String>;

/// The fingerprint of one case of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseFingerprint {
    /// The eval's name.
    pub eval: String,
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The hashes of its parts.
    pub fingerprint: Fingerprint,
}

impl CaseFingerprint {
    /// Returns a hash of the tests, with the scripts that they name; `None` where a part is not known.
    pub fn tests(&self) -> Option<String> {
        let parts = [TESTS, TEST_SCRIPTS].map(|part| self.fingerprint.get(part));
        let [Some(tests), Some(scripts)] = parts else {
            return None;
        };
        Some(format!("{tests} {scripts}"))
    }
}

/// The part with the variables of the suite.
pub const VARIABLES: &str = "variables";
const TESTS: &str = "tests";
const TEST_SCRIPTS: &str = "tests' scripts";

/// Takes fingerprints.
#[expect(missing_debug_implementations, reason = "functions have no form")]
pub struct Fingerprinter<'a> {
    /// The suite's directory, which is left out of all texts.
    pub suite_dir: &'a Utf8Path,
    /// On a worker: the directory that has all files of the suite at their absolute paths. It is left out, too.
    pub root: Option<&'a Utf8Path>,
    /// The secrets, which are left out too.
    pub mask: &'a Mask,
    /// Returns the hash of a file or a tree.
    pub content: &'a dyn Fn(&Utf8Path) -> String,
    /// Returns the hash of a file that a command may name; `None` if there is no such file.
    pub script: &'a dyn Fn(&Utf8Path) -> Option<String>,
}

impl Fingerprinter<'_> {
    /// Returns the fingerprints of a plan's cases, in its order.
    pub fn plan(&self, plan: &Plan) -> Vec<CaseFingerprint> {
        plan.cases().map(|case| self.case(case)).collect()
    }

    fn case(&self, case: &Case) -> CaseFingerprint {
        let variant = &case.variant;
        let layers: Vec<String> = case.layers.iter().map(|layer| self.layer(layer)).collect();
        let parts = [
            ("agent", self.hash(&variant.agent)),
            ("agent's program", self.agent_program(case)),
            ("model", self.hash(&variant.model)),
            ("rules", self.hash(&self.contents(&variant.rules))),
            ("skills", self.hash(&self.contents(&variant.skills))),
            ("MCP servers", self.mcp_servers(&variant.mcp_servers)),
            ("config", self.hash(&variant.config)),
            ("command", self.hash(&variant.command)),
            ("prompt", self.hash(&case.prompt)),
            ("files", self.hash(&layers)),
            ("set-up", self.setup(case)),
            (VARIABLES, self.hash(&case.env)),
            ("time limit", self.hash(&case.timeout.as_secs_f64())),
            ("limits", self.hash(&case.limits)),
            (TESTS, self.tests(case)),
            (TEST_SCRIPTS, self.hash(&self.test_scripts(case))),
        ];
        let mut fingerprint: Fingerprint = parts
            .into_iter()
            .map(|(part, hash)| (part.to_owned(), hash))
            .collect();
        if let Some(build) = variant.sandbox.as_ref().and_then(Sandbox::build) {
            fingerprint.insert("image".to_owned(), self.build_key(build));
        }
        for (key, value) in case.suite.settings() {
            let part = match key.as_str() {
                "trackIgnored" => "ignored files".to_owned(),
                "passRegistries" => "registries".to_owned(),
                key => format!("`{key}`"),
            };
            fingerprint.insert(part, self.hash(&value));
        }
        let others = settings(&variant.setup).into_iter();
        for (key, value) in others.filter(|(key, _)| !OF_VARIANT.contains(&key.as_str())) {
            let part = format!("{VARIANT_SETTING}`{key}`");
            fingerprint.insert(part, self.hash(&value));
        }
        CaseFingerprint {
            eval: case.eval.name.clone(),
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            fingerprint,
        }
    }

    /// Hashes what is done before the agent starts.
    fn setup(&self, case: &Case) -> String {
        let actions = self.actions(&case.actions);
        if case.services.is_empty() {
            return self.hash(&actions);
        }
        let services: Vec<_> = (case.services.iter())
            .map(|service| {
                let commands = [service.source.command(), service.ready.as_deref()];
                let commands = commands.into_iter().flatten();
                let scripts = commands.flat_map(|line| self.scripts(line, &service.dir));
                // The JSON of a service has the names of its variables only.
                (service, &service.env, scripts.collect::<Vec<_>>())
            })
            .collect();
        self.hash(&(actions, services))
    }

    /// Hashes all that the tests ask for, and the files that they bring.
    fn tests(&self, case: &Case) -> String {
        let tests: Vec<(Value, &Utf8Path)> = (case.eval.tests.iter())
            .map(|test| (test.document(), test.dir.as_path()))
            .collect();
        let hidden = case.eval.tests_layer.as_deref().map(self.content);
        self.hash(&(tests, hidden, &case.judge_env))
    }

    /// Hashes MCP servers. The JSON of a server has the names of its variables and headers only.
    fn mcp_servers(&self, servers: &[(String, McpServer<String>)]) -> String {
        let servers: Vec<_> = (servers.iter())
            .map(|(name, server)| (name, server, server.values()))
            .collect();
        self.hash(&servers)
    }

    /// Hashes the suite's files that are the agent, where it is a command.
    fn agent_program(&self, case: &Case) -> String {
        let command = case.variant.agent.command.as_deref().unwrap_or_default();
        self.hash(&self.scripts(command, &case.suite.root))
    }

    /// Hashes the suite's files that the commands of tests name.
    fn test_scripts(&self, case: &Case) -> Vec<String> {
        let commands = case.commands().filter(|command| command.is_of_test);
        commands
            .flat_map(|command| self.scripts(command.line, command.dir))
            .collect()
    }

    fn layer(&self, layer: &Layer) -> String {
        match layer {
            Layer::Directory(dir) => (self.content)(dir),
            Layer::Prepared(layer) => self.layer_key(layer),
        }
    }

    /// Returns the key of a prepared layer. Two layers have the same key if building them gives the same files.
    pub fn layer_key(&self, layer: &PreparedLayer) -> String {
        let of_files = |below: &Layer| match below {
            Layer::Directory(dir) if !layer.only_files.is_empty() => {
                let files = layer.only_files.iter();
                files.map(|file| (self.content)(&dir.join(file))).collect()
            }
            below => vec![self.layer(below)],
        };
        let below: Vec<_> = layer.below.iter().flat_map(of_files).collect();
        let actions = self.actions(&layer.actions);
        self.hash(&(
            below,
            actions,
            &layer.env,
            (&layer.eval, &layer.only_files),
            std::env::consts::ARCH,
            // A layer that was made without access may lack what comes from a private registry.
            layer.pass_registries,
        ))
    }

    /// Returns the key of an image that is built. Two have the same key if they are built from the same files.
    pub fn build_key(&self, build: &Build) -> String {
        let context = build.context.as_deref();
        let inside = context.and_then(|context| build.file.strip_prefix(context).ok());
        self.hash(&(
            (self.content)(&build.file),
            context.map(self.content),
            inside,
        ))
    }

    fn contents(&self, paths: &[Utf8PathBuf]) -> Vec<String> {
        paths.iter().map(|path| (self.content)(path)).collect()
    }

    /// Returns actions with the hashes of all files that they read.
    fn actions<'a>(&self, actions: &'a [Action]) -> Vec<(&'a Action, Vec<String>)> {
        let with_files = actions.iter().map(|action| {
            let files = match action {
                Action::Copy { source, .. } => vec![(self.content)(source)],
                Action::Write { .. } => Vec::new(),
                Action::Run(command) => {
                    let mut files = self.scripts(&command.command, &command.dir);
                    for input in &command.inputs {
                        files.extend([input.name.clone(), (self.content)(&input.path)]);
                    }
                    files
                }
            };
            (action, files)
        });
        with_files.collect()
    }

    /// Hashes the files of the suite that a command names: its text alone does not say what it does.
    fn scripts(&self, command: &str, dir: &Utf8Path) -> Vec<String> {
        let command = suite_variable_unquoted(command);
        let paths = words(&command).filter_map(|word| {
            let in_suite = ["$TERCA_SUITE_DIR/", "${TERCA_SUITE_DIR}/"];
            match in_suite.iter().find_map(|prefix| word.strip_prefix(prefix)) {
                Some(rest) => Some(self.suite_dir.join(rest)),
                None if Utf8Path::new(word).starts_with(self.suite_dir) => Some(word.into()),
                None => (!word.starts_with(['/', '-'])).then(|| dir.join(word)),
            }
        });
        // Each once: a path in quotes is a word with them and without.
        let mut named: Vec<Utf8PathBuf> = Vec::new();
        for path in paths {
            if !named.contains(&path) {
                named.push(path);
            }
        }
        let scripts = named.iter().filter_map(|path| (self.script)(path));
        scripts.collect()
    }

    /// Hashes the JSON of a part. Its keys are in the order of the alphabet.
    fn hash(&self, part: &impl Serialize) -> String {
        let document = match serde_json::to_value(part) {
            Ok(document) => json::with_texts(document, &|text| self.without_places(text)),
            Err(error) => Value::String(error.to_string()),
        };
        sha256(document.to_string().as_bytes())[..16].to_owned()
    }

    /// Returns a text without secrets and directories of this machine.
    fn without_places(&self, text: &str) -> String {
        let text = self.mask.text(text).replace(self.suite_dir.as_str(), "");
        match self.root {
            Some(root) => text.replace(root.as_str(), ""),
            None => text,
        }
    }
}

/// Returns a command without the quotes around the variable of the suite's directory: quotes separate words elsewhere.
pub fn suite_variable_unquoted(command: &str) -> String {
    command
        .replace("\"$TERCA_SUITE_DIR\"", "$TERCA_SUITE_DIR")
        .replace("\"${TERCA_SUITE_DIR}\"", "$TERCA_SUITE_DIR")
}

/// Returns the words of a command that may be names of files. A word in quotes is one with its spaces; beside it are its
/// parts, since it may be a command itself.
pub fn words(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(is_separator).filter(|word| !word.is_empty());
    quoted(command).chain(parts)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "'\"`;|&()<>=".contains(c)
}

/// Returns the texts between quotes that have a separator in them.
fn quoted(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = command;
    std::iter::from_fn(move || {
        loop {
            let begin = rest.find(['\'', '"'])?;
            let quote = rest[begin..].chars().next()?;
            let inner = &rest[begin + 1..];
            let end = inner.find(quote)?;
            rest = &inner[end + 1..];
            let text = &inner[..end];
            if text.starts_with('/') && text.contains(is_separator) {
                return Some(text);
            }
        }
    })
}

/// The beginning of the name of a part that is a setting of a variant.
const VARIANT_SETTING: &str = "variant's ";

/// Parts of a variant, which are equal in every eval.
const OF_VARIANT: [&str; 8] = [
    "agent", "agent's program", "model", "rules", "skills", "MCP servers", "config", "command",
];

fn is_of_variant(part: &str) -> bool {
    OF_VARIANT.contains(&part) || part.starts_with(VARIANT_SETTING)
}

/// Says in lines how two plans differ. There are none when they are the same.
pub fn differences(before: &[CaseFingerprint], now: &[CaseFingerprint]) -> Vec<String> {
    let mut lines = Changes::between(before, now).words();
    let (before, now) = (by_case(before), by_case(now));
    for (some, all, what) in [
        (&now, &before, "is not in the suite any more"),
        (&before, &now, "is new"),
    ] {
        let missing = all.keys().filter(|case| !some.contains_key(*case));
        lines.extend(missing.map(|[eval, environment, experiment]| {
            format!("{eval} in {environment}.{experiment} {what}")
        }));
    }
    lines
}

/// The parts that changed, of the cases that two plans have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// Changed parts by eval.
    pub evals: BTreeMap<String, BTreeSet<String>>,
    /// Changed parts by variant.
    pub variants: BTreeMap<String, BTreeSet<String>>,
}

impl Changes {
    /// Compares two plans.
    pub fn between(before: &[CaseFingerprint], now: &[CaseFingerprint]) -> Self {
        let now = by_case(now);
        let mut changes = Changes::default();
        for (case, old) in by_case(before) {
            let Some(new) = now.get(&case) else { continue };
            let [eval, environment, experiment] = case;
            let is_changed = |part: &str, hash: &String| new.get(part) != Some(hash);
            for (part, _) in old.iter().filter(|(part, hash)| is_changed(part, hash)) {
                let parts = if is_of_variant(part) {
                    (changes.variants).entry(format!("{environment}.{experiment}"))
                } else {
                    changes.evals.entry(eval.to_owned())
                };
                parts.or_default().insert(part.clone());
            }
        }
        changes
    }

    /// Returns lines such as `fib: the prompt and tests changed`.
    pub fn words(&self) -> Vec<String> {
        let words = |(whose, parts): (&String, &BTreeSet<String>)| {
            format!("{whose}: the {} changed", prose::list(parts.iter(), "and"))
        };
        self.evals.iter().chain(&self.variants).map(words).collect()
    }
}

/// Fingerprints by the names of eval, environment and experiment.
fn by_case(cases: &[CaseFingerprint]) -> BTreeMap<[&str; 3], &Fingerprint> {
    let named = cases.iter().map(|case| {
        let name = [&case.eval, &case.environment, &case.experiment];
        (name.map(String::as_str), &case.fingerprint)
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::suite::TrialLimits;

    #[test]
    fn a_setting_is_the_variants_or_the_evals() {
        let before = print("fib", "control", &[("`a`", "1"), ("variant's `b`", "1")]);
        let now = print("fib", "control", &[("`a`", "2"), ("variant's `b`", "2")]);
        assert_eq!(
            differences(&[before], &[now]),
            [
                "fib: the `a` changed",
                "gemini.control: the variant's `b` changed",
            ]
        );
    }

    /// A renamed key would make every older run differ from this suite.
    #[test]
    fn hashes_are_pinned() {
        let fingerprinter = Fingerprinter {
            suite_dir: Utf8Path::new("/suite"),
            root: None,
            mask: &Mask::new(["a secret value"]),
            content: &|path| format!("content of {path}"),
            script: &|_| None,
        };
        let limits = TrialLimits {
            disk: 1,
            memory: Some(2),
            processes: None,
            cpus: Some(1.5),
        };
        assert_eq!(fingerprinter.hash(&limits), "9950310dbdb3adda");
        let actions = [
            Action::Copy {
                source: "/suite/a".into(),
                destination: "b".into(),
            },
            Action::Write {
                destination: "c".into(),
                content: "a secret value".into(),
            },
        ];
        let hash = fingerprinter.hash(&fingerprinter.actions(&actions));
        assert_eq!(hash, "3a7c0278a1409d89");
        let server = |value: &str| McpServer::Stdio {
            command: "docs".into(),
            args: vec!["/suite/index".into()],
            env: vec![("KEY".into(), value.into())],
            cwd: None,
        };
        let hash = |value| fingerprinter.mcp_servers(&[("docs".into(), server(value))]);
        assert_eq!(hash("a secret value"), "d741064d82b62077");
        assert_eq!(hash("a secret value"), hash("***"));
        assert_ne!(hash("one value"), hash("another"));
    }

    fn print(eval: &str, experiment: &str, parts: &[(&str, &str)]) -> CaseFingerprint {
        CaseFingerprint {
            eval: eval.into(),
            environment: "gemini".into(),
            experiment: experiment.into(),
            fingerprint: parts
                .iter()
                .map(|(part, hash)| ((*part).into(), (*hash).into()))
                .collect(),
        }
    }

    #[test]
    fn what_differs_is_said_once_and_by_whose_it_is() {
        let before = [
            print(
                "fib",
                "control",
                &[("prompt", "1"), ("tests", "1"), ("rules", "1")],
            ),
            print(
                "fib",
                "rules",
                &[("prompt", "1"), ("tests", "1"), ("rules", "1")],
            ),
            print("sort", "control", &[("prompt", "1"), ("rules", "1")]),
            print("sort", "rules", &[("prompt", "1"), ("rules", "1")]),
        ];
        assert_eq!(differences(&before, &before), [""; 0]);
        let now = [
            print(
                "fib",
                "control",
                &[("prompt", "2"), ("tests", "2"), ("rules", "1")],
            ),
            print(
                "fib",
                "rules",
                &[("prompt", "2"), ("tests", "2"), ("rules", "2")],
            ),
            print("sort", "rules", &[("prompt", "1"), ("rules", "2")]),
            print("new", "rules", &[]),
        ];
        assert_eq!(
            differences(&before, &now),
            [
                "fib: the prompt and tests changed",
                "gemini.rules: the rules changed",
                "sort in gemini.control is not in the suite any more",
                "new in gemini.rules is new",
            ]
        );
    }
}
