//! What a case came to, in a few hashes: whether two runs tested the same thing, and what differs if not.
//!
//! The hashes do not depend on where the suite lies, nor on the values of secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::agent::delivery::sha256;
use crate::config::suite::{Action, ShellCommand};
use crate::plan::{Case, Layer, Plan, PreparedLayer};
use crate::text::mask::Mask;
use crate::text::prose;

/// Part of a case → hash.
pub type Fingerprint = BTreeMap<String, String>;

/// The cases of a plan, in its order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CasePrint {
    pub eval: String,
    pub environment: String,
    pub experiment: String,
    pub fingerprint: Fingerprint,
}

/// What is needed to take fingerprints.
pub struct Press<'a> {
    pub suite_dir: &'a Utf8Path,
    pub mask: &'a Mask,
    /// The hash of a file or a tree.
    pub content: &'a dyn Fn(&Utf8Path) -> String,
    pub is_file: &'a dyn Fn(&Utf8Path) -> bool,
}

impl std::fmt::Debug for Press<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Press")
            .field("suite_dir", &self.suite_dir)
            .finish_non_exhaustive()
    }
}

impl Press<'_> {
    pub fn plan(&self, plan: &Plan) -> Vec<CasePrint> {
        let cases = plan.trials.chunk_by(|a, b| Arc::ptr_eq(&a.case, &b.case));
        cases.map(|trials| self.case(&trials[0].case)).collect()
    }

    fn case(&self, case: &Case) -> CasePrint {
        let Case {
            eval,
            variant,
            prompt,
            layers,
            actions,
            env,
            judge_env,
            timeout,
            track_ignored,
        } = case;
        let contents = |paths: &[Utf8PathBuf]| {
            paths
                .iter()
                .map(|path| (self.content)(path))
                .collect::<Vec<_>>()
        };
        let hidden = eval.tests_layer.as_deref().map(self.content);
        let actions: Vec<String> = actions.iter().map(|action| self.action(action)).collect();
        let parts = [
            (
                "agent",
                self.hash(&(variant.agent.agent.profile().name, &variant.agent.command)),
            ),
            ("model", self.hash(&variant.model)),
            ("rules", self.hash(&contents(&variant.rules))),
            ("skills", self.hash(&contents(&variant.skills))),
            ("MCP servers", self.hash(&variant.mcp_servers)),
            ("config", self.hash(&variant.config)),
            ("command", self.hash(&variant.command)),
            ("prompt", self.hash(prompt)),
            (
                "files",
                self.hash(
                    &layers
                        .iter()
                        .map(|layer| self.layer(layer))
                        .collect::<Vec<_>>(),
                ),
            ),
            ("set-up", self.hash(&actions)),
            ("variables", self.hash(env)),
            ("time limit", self.hash(timeout)),
            ("ignored files", self.hash(track_ignored)),
            ("tests", self.hash(&(&eval.tests, hidden, judge_env))),
        ];
        CasePrint {
            eval: eval.name.clone(),
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            fingerprint: parts
                .into_iter()
                .map(|(part, hash)| (part.to_owned(), hash))
                .collect(),
        }
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
        let actions: Vec<String> = layer
            .actions
            .iter()
            .map(|action| self.action(action))
            .collect();
        self.hash(&(
            below,
            actions,
            &layer.env,
            &layer.eval,
            std::env::consts::ARCH,
        ))
    }

    fn action(&self, action: &Action) -> String {
        match action {
            Action::Copy { source, .. } => format!("{action:?} {}", (self.content)(source)),
            Action::Write { .. } => format!("{action:?}"),
            Action::Run(command) => format!("{action:?} {:?}", self.scripts(command)),
        }
    }

    /// The content of the files beside the suite that a command names: its text alone does not say what it does.
    fn scripts(&self, command: &ShellCommand) -> Vec<String> {
        let separators = |c: char| c.is_whitespace() || "'\"`;|&()<>=".contains(c);
        let words = command
            .command
            .split(separators)
            .filter(|word| !word.is_empty());
        let paths = words.filter_map(|word| {
            let in_suite = ["$TERCA_SUITE_DIR/", "${TERCA_SUITE_DIR}/"];
            match in_suite.iter().find_map(|prefix| word.strip_prefix(prefix)) {
                Some(rest) => Some(self.suite_dir.join(rest)),
                None => (!word.starts_with(['/', '-'])).then(|| command.dir.join(word)),
            }
        });
        paths
            .filter(|path| (self.is_file)(path))
            .map(|path| (self.content)(&path))
            .collect()
    }

    fn hash(&self, part: &impl std::fmt::Debug) -> String {
        let text = self
            .mask
            .text(&format!("{part:?}"))
            .replace(self.suite_dir.as_str(), "");
        sha256(text.as_bytes())[..16].to_owned()
    }
}

/// Parts that belong to a variant, whatever the eval.
const OF_VARIANT: [&str; 7] = [
    "agent",
    "model",
    "rules",
    "skills",
    "MCP servers",
    "config",
    "command",
];

/// What differs, a line each; nothing when the two plans are the same.
pub fn differences(before: &[CasePrint], now: &[CasePrint]) -> Vec<String> {
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

/// What changed of what two plans have in common: which parts of which eval, or of which variant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    pub evals: BTreeMap<String, BTreeSet<String>>,
    pub variants: BTreeMap<String, BTreeSet<String>>,
}

impl Changes {
    pub fn between(before: &[CasePrint], now: &[CasePrint]) -> Self {
        let now = by_case(now);
        let mut changes = Changes::default();
        for (case, old) in by_case(before) {
            let Some(new) = now.get(&case) else { continue };
            for (part, _) in old
                .iter()
                .filter(|(part, hash)| new.get(*part) != Some(hash))
            {
                let of_variant = OF_VARIANT.contains(&part.as_str());
                let parts = if of_variant {
                    changes.variants.entry(case.variant())
                } else {
                    changes.evals.entry(case.eval.to_owned())
                };
                parts.or_default().insert(part.clone());
            }
        }
        changes
    }

    /// `fib: the prompt and tests changed`.
    pub fn words(&self) -> Vec<String> {
        let words = |(whose, parts): (&String, &BTreeSet<String>)| {
            let parts: Vec<&String> = parts.iter().collect();
            format!("{whose}: the {} changed", prose::list(&parts, "and"))
        };
        self.evals.iter().chain(&self.variants).map(words).collect()
    }
}

/// Which case a fingerprint is of.
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

fn by_case(cases: &[CasePrint]) -> ByCase<'_> {
    let named = cases.iter().map(|case| {
        let CasePrint {
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

    fn print(eval: &str, experiment: &str, parts: &[(&str, &str)]) -> CasePrint {
        CasePrint {
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
