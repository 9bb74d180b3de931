//! Fingerprints: a few hashes that tell if two runs tested the same thing, and what differs if not.
//!
//! The hashes do not depend on the directory of the suite, nor on the values of secrets.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::agent::AgentChoice;
use crate::agent::delivery::sha256;
use crate::config::settings;
use crate::config::suite::{Action, Input};
use crate::grade::Question;
use crate::plan::{Case, Layer, Plan, PreparedLayer};
use crate::text::mask::Mask;
use crate::text::prose;

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

    /// Tells whether anything but the tests differs.
    pub fn has_other_inputs(&self, other: &CaseFingerprint) -> bool {
        let inputs = |case: &CaseFingerprint| -> Fingerprint {
            let mut parts = case.fingerprint.clone();
            parts.retain(|part, _| part != TESTS && part != TEST_SCRIPTS);
            parts
        };
        inputs(self) != inputs(other)
    }
}

/// The part with the variables of the suite.
pub const VARIABLES: &str = "variables";
const TESTS: &str = "tests";
const TEST_SCRIPTS: &str = "tests' scripts";

/// Takes fingerprints.
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

impl std::fmt::Debug for Fingerprinter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fingerprinter")
            .field("suite_dir", &self.suite_dir)
            .finish_non_exhaustive()
    }
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
            ("agent", self.agent(&variant.agent)),
            ("agent's program", self.agent_program(case)),
            ("model", self.hash(&variant.model)),
            ("rules", self.of_files(&self.contents(&variant.rules))),
            ("skills", self.of_files(&self.contents(&variant.skills))),
            ("MCP servers", self.hash(&variant.mcp_servers)),
            ("config", self.hash(&variant.config)),
            ("command", self.hash(&variant.command)),
            ("prompt", self.hash(&case.prompt)),
            ("files", self.of_files(&layers)),
            ("set-up", self.of_files(&self.actions(&case.actions))),
            (VARIABLES, self.hash(&case.env)),
            ("time limit", self.hash(&case.timeout)),
            ("limits", self.hash(&case.limits)),
            ("injected faults", self.hash(&case.inject)),
            (TESTS, self.tests(case)),
            (TEST_SCRIPTS, self.hash(&self.test_scripts(case))),
        ];
        let mut fingerprint: Fingerprint = parts
            .into_iter()
            .map(|(part, hash)| (part.to_owned(), hash))
            .collect();
        for (key, value) in settings(&*case.suite) {
            let part = match key.as_str() {
                "trackIgnored" => "ignored files".to_owned(),
                "passRegistries" => "registries".to_owned(),
                key => format!("`{key}`"),
            };
            fingerprint.insert(part, self.hash_text(&value.to_string()));
        }
        for (key, value) in settings(&variant.setup) {
            let part = format!("{VARIANT_SETTING}`{key}`");
            fingerprint.insert(part, self.hash_text(&value.to_string()));
        }
        CaseFingerprint {
            eval: case.eval.name.clone(),
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            fingerprint,
        }
    }

    /// Hashes the agent. A part that is not given does not count, so that hashes of older versions stay the same.
    fn agent(&self, choice: &AgentChoice) -> String {
        let agent = choice.agent.profile().name;
        match (&choice.program, &choice.rules_file) {
            (None, None) => self.hash(&(agent, &choice.command)),
            own => self.hash(&(agent, &choice.command, own)),
        }
    }

    /// Hashes all that the tests ask for, and the files that they bring.
    fn tests(&self, case: &Case) -> String {
        let tests: Vec<(String, &Utf8Path)> = (case.eval.tests.iter())
            .map(|test| (test.document().to_string(), test.dir.as_path()))
            .collect();
        let hidden = case.eval.tests_layer.as_deref().map(self.content);
        self.of_files(&(tests, hidden, &case.judge_env))
    }

    /// Hashes a part that has hashes of files in it.
    fn of_files(&self, part: &impl std::fmt::Debug) -> String {
        format!("{FROM_FILES}{}", self.hash(part))
    }

    /// Hashes the suite's files that are the agent, where it is a command.
    fn agent_program(&self, case: &Case) -> String {
        let command = case.variant.agent.command.as_deref().unwrap_or_default();
        self.hash(&self.scripts(command, &case.suite.root))
    }

    /// Hashes the suite's files that the commands of tests name.
    fn test_scripts(&self, case: &Case) -> Vec<String> {
        let commands = case
            .eval
            .tests
            .iter()
            .filter_map(|test| match test.question() {
                Question::Command { command, .. } => Some((command, test.dir.as_path())),
                _ => None,
            });
        commands
            .flat_map(|(command, dir)| self.scripts(command, dir))
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
        let below: Vec<String> = layer.below.iter().map(|layer| self.layer(layer)).collect();
        let actions = self.actions(&layer.actions);
        let arch = std::env::consts::ARCH;
        // A layer that was made without access may lack what comes from a private registry. Keys of other layers stay.
        if layer.pass_registries {
            return self.hash(&(below, actions, &layer.env, &layer.eval, arch, "registries"));
        }
        self.hash(&(below, actions, &layer.env, &layer.eval, arch))
    }

    fn contents(&self, paths: &[Utf8PathBuf]) -> Vec<String> {
        paths.iter().map(|path| (self.content)(path)).collect()
    }

    fn actions(&self, actions: &[Action]) -> Vec<String> {
        actions
            .iter()
            .map(|action| match action {
                Action::Copy { source, .. } => format!("{action:?} {}", (self.content)(source)),
                Action::Write { .. } => format!("{action:?}"),
                Action::Run(command) => {
                    let scripts = self.scripts(&command.command, &command.dir);
                    let own = format!("{action:?} {scripts:?}");
                    // Hashes of commands without inputs stay as they were.
                    match self.inputs(&command.inputs) {
                        inputs if inputs.is_empty() => own,
                        inputs => format!("{own} {inputs:?}"),
                    }
                }
            })
            .collect()
    }

    fn inputs<'a>(&self, inputs: &'a [Input]) -> Vec<(&'a str, String)> {
        let hashed = inputs
            .iter()
            .map(|input| (input.name.as_str(), (self.content)(&input.path)));
        hashed.collect()
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

    fn hash(&self, part: &impl std::fmt::Debug) -> String {
        self.hash_text(&format!("{part:?}"))
    }

    fn hash_text(&self, text: &str) -> String {
        let mut text = self.mask.text(text).replace(self.suite_dir.as_str(), "");
        if let Some(root) = self.root {
            text = text.replace(root.as_str(), "");
        }
        sha256(text.as_bytes())[..16].to_owned()
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

/// The beginning of a hash of files. It changes with the way in which files and tests are hashed.
const FROM_FILES: &str = "files2-";

/// Returns true when two hashes of a part are known to differ. Hashes that were taken in two ways tell nothing.
fn differ(before: &str, now: &str) -> bool {
    before != now && way(before) == way(now)
}

/// Returns the way in which a hash was taken, which is written before it.
fn way(hash: &str) -> Option<&str> {
    hash.rsplit_once('-').map(|(way, _)| way)
}

/// The beginning of the name of a part that is a setting of a variant.
const VARIANT_SETTING: &str = "variant's ";

/// Parts of a variant, which are equal in every eval.
const OF_VARIANT: [&str; 9] = [
    "agent", "agent's program", "model", "rules", "skills", "MCP servers", "config", "command",
    "injected faults",
];

fn is_of_variant(part: &str) -> bool {
    OF_VARIANT.contains(&part) || part.starts_with(VARIANT_SETTING)
}

/// Says in lines how two plans differ. There are none when they are the same.
pub fn differences(before: &[CaseFingerprint], now: &[CaseFingerprint]) -> Vec<String> {
    let changed = Changes::between(before, now);
    let (before, now) = (by_case(before), by_case(now));
    changed
        .words()
        .into_iter()
        .chain(
            missing_from(&now, &before).map(|case| format!("{case} is not in the suite any more")),
        )
        .chain(missing_from(&before, &now).map(|case| format!("{case} is new")))
        .collect()
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
            let is_changed =
                |part: &str, hash: &str| new.get(part).is_none_or(|now| differ(hash, now));
            for (part, _) in old.iter().filter(|(part, hash)| is_changed(part, hash)) {
                let parts = if is_of_variant(part) {
                    changes.variants.entry(case.variant())
                } else {
                    changes.evals.entry(case.eval.to_owned())
                };
                parts.or_default().insert(part.clone());
            }
        }
        changes
    }

    /// Returns lines such as `fib: the prompt and tests changed`.
    pub fn words(&self) -> Vec<String> {
        let words = |(whose, parts): (&String, &BTreeSet<String>)| {
            let parts: Vec<&String> = parts.iter().collect();
            format!("{whose}: the {} changed", prose::list(&parts, "and"))
        };
        self.evals.iter().chain(&self.variants).map(words).collect()
    }
}

/// The name of a case.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CaseName<'a> {
    eval: &'a str,
    environment: &'a str,
    experiment: &'a str,
}

impl CaseName<'_> {
    fn variant(&self) -> String {
        format!("{}.{}", self.environment, self.experiment)
    }
}

type ByCase<'a> = BTreeMap<CaseName<'a>, &'a Fingerprint>;

fn by_case(cases: &[CaseFingerprint]) -> ByCase<'_> {
    let named = cases.iter().map(|case| {
        let CaseFingerprint {
            eval,
            environment,
            experiment,
            fingerprint,
        } = case;
        (
            CaseName {
                eval,
                environment,
                experiment,
            },
            fingerprint,
        )
    });
    named.collect()
}

fn missing_from(some: &ByCase<'_>, all: &ByCase<'_>) -> impl Iterator<Item = String> {
    let missing = all.keys().filter(|case| !some.contains_key(case));
    missing
        .map(|case| format!("{} in {}", case.eval, case.variant()))
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_that_were_taken_in_two_ways_do_not_differ() {
        assert!(differ("1", "2"));
        assert!(differ("json-1", "json-2"));
        assert!(!differ("json-1", "json-1"));
        assert!(!differ("1", "json-2"), "of a run of an older version");
        assert!(
            !differ("json-1", "files2-2"),
            "of a run of an older version"
        );
    }

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
