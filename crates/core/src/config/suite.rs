//! A suite: `terca.yaml` and the evals.
//!
//! Names are unique, paths exist and defaults are filled in. Two things wait for the plan, because they depend on
//! the selection: experiments are applied to environments, and `${NAME}` is replaced.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};

use crate::config::ConfigFiles;
use crate::config::action::{Runs, actions};
use crate::config::eval::{Home, ReadEval, eval};
use crate::config::gateway::{GatewaySettings, gateway_settings};
use crate::config::limits::limits;
use crate::config::names::{not_reserved, one_folder, unique};
use crate::config::network::{hosts, network};
use crate::config::package_cache::{self, PackageCache};
use crate::config::sandbox::{Sandbox, sandbox};
use crate::config::service::services;
use crate::config::setup::{Role, setup};
use crate::config::suite_settings::{
    ABOUT, allowed_warnings, concurrency, mcp_preflight, prices, repetitions,
};
use crate::config::variables::trial_variables;
use crate::config::verdict::verdict_settings;
use crate::config::workers::{ReadWorkers, joined, workers};
use crate::prices::Prices;
use crate::reader::{
    Fields, Kind, Node, PathKind, Presence, Reader, boolean, filled_text, object, positive, text,
    times,
};
use crate::text::{Code, Diagnostic, Located, Place};
use crate::wire::network::{HostPattern, Network};
use crate::worker_pool::WorkerPool;

pub use crate::config::action::{Action, Input, ShellCommand};
pub use crate::config::eval::Eval;
pub use crate::config::limits::{KeptBy, LimitSettings, LimitsKeptBy, TrialLimits};
pub use crate::config::mcp_server::McpServers;
pub use crate::config::service::{Service, ServiceScope, ServiceSource};
pub use crate::config::setup::{AppliedSetup, Setup};
pub use crate::config::suite_settings::{Concurrency, McpPreflight, Repetitions};
pub use crate::config::variables::{Template, Variables};
pub use crate::config::verdict::VerdictSettings;

const DEFAULT_AGENT_SECONDS: f64 = 300.0;

/// A suite as resolved.
///
/// A new field is also in [`settings`](Suite::settings), unless the plan makes something else of it, or it does not change what
/// is tested.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// A text for people.
    pub description: Option<String>,
    /// The suite's directory.
    pub root: Utf8PathBuf,
    /// The number of repetitions of each eval in each variant.
    pub repetitions: Repetitions,
    /// Trials to run at once.
    pub concurrency: Concurrency,
    /// The number of further attempts after a trial that ended in an error.
    pub retries: u32,
    /// The agent's time limit.
    pub timeout: Duration,
    /// The most that a trial may use.
    pub limits: LimitSettings,
    /// The sandbox of variants that ask for none of their own.
    pub sandbox: Option<Sandbox>,
    /// The network of variants that ask for none of their own; `None` is the default of their sandbox.
    pub network: Option<Network>,
    /// Further hosts that every agent reaches.
    pub allow: Vec<HostPattern>,
    /// Text before every prompt.
    pub preamble: Option<String>,
    /// Text after every prompt.
    pub postamble: Option<String>,
    /// Directories that every workspace starts from, lowest first.
    pub layers: Vec<Utf8PathBuf>,
    /// The one of them that `workspaceDir` names, and its place.
    pub workspace_dir: Option<(Utf8PathBuf, Place)>,
    /// Actions that run once. Every workspace starts from the result.
    pub prepare: Vec<Action<Template>>,
    /// Actions that run in every trial, before the agent.
    pub before: Vec<Action<Template>>,
    /// Programs beside every trial, such as databases.
    pub services: Vec<Service<Template>>,
    /// Show changes to files that `.gitignore` ignores too.
    pub track_ignored: bool,
    /// Pass the registries of packages that this machine is set up for to the suite's own commands.
    pub pass_registries: bool,
    /// Package managers whose downloads are kept. It changes nothing about the task.
    pub package_caches: Vec<PackageCache>,
    /// Those that tests get a copy of. They are among the others.
    pub test_caches: Vec<PackageCache>,
    /// Asks each MCP server before an agent is started with it. It changes nothing about the task.
    pub mcp_preflight: McpPreflight,
    /// The part of the gateway in trials whose environment and experiment do not say. It changes nothing
    /// about the task.
    pub gateway: GatewaySettings,
    /// A trial whose rules or skills were in no request to a model is an error, where its environment and
    /// experiment do not
    /// say. It changes nothing about the task.
    pub require_delivery: bool,
    /// The prices of models. They change nothing about the task.
    pub prices: Prices,
    /// Variables of every command of a trial.
    pub env: Variables,
    /// The evals of `terca.yaml`, then those with a file of their own.
    pub evals: Vec<Arc<Eval>>,
    /// The environments; at least one.
    pub environments: Vec<Setup>,
    /// The experiments; at least one.
    pub experiments: Vec<Setup>,
    /// The name of the experiment that the others are compared with.
    pub baseline: String,
    /// Warnings that are not shown.
    pub allowed_warnings: Vec<Code>,
    /// The figure that experiments are compared by, and the smallest difference that matters.
    pub verdict: VerdictSettings,
    /// The pools of workers that `--on` can name. They are about machines, and change nothing about the task.
    pub workers: Vec<WorkerPool>,
    /// Trials to run at once on this machine, where `--on` names `local` and the suite says how many.
    pub local_slots: Option<u32>,
    /// The beginning of its file, where it has one.
    pub place: Option<Place>,
    /// The keys of its file. They are for messages.
    pub keys: Vec<Located<String>>,
}

impl Suite {
    /// Returns the place of the first of these keys in the suite's file, or else the beginning of the file.
    pub(crate) fn place_of(&self, keys: &[&str]) -> Option<Place> {
        let mut found = self.keys.iter();
        let found = found.find(|key| keys.contains(&key.value.as_str()));
        found.map(|key| key.place).or(self.place)
    }

    /// Returns the settings that reach every trial unchanged, by key. They are in `run.json` and in fingerprints.
    pub fn settings(&self) -> Map<String, Value> {
        let mut settings = Map::new();
        settings.insert("trackIgnored".into(), self.track_ignored.into());
        if self.pass_registries {
            settings.insert("passRegistries".into(), true.into());
        }
        settings
    }
}

/// Loads the suite's file and those of the evals.
pub(super) fn load(files: &ConfigFiles, reader: &mut Reader<'_>) -> Option<Suite> {
    let document = suite(&files.root);
    let node = files.suite.and_then(|file| reader.optional_document(file));
    let read = node.and_then(|node| document.read(node, reader));
    // A suite without a file has the defaults; so has one that cannot be read, whose evals still can.
    let (mut suite, mut evals, mut pools) =
        read.or_else(|| document.read(Node::empty_map(), reader))?;
    suite.place = files.suite.map(|file| Place {
        file,
        ..Place::default()
    });
    if let Some(node) = files
        .workers
        .and_then(|file| reader.optional_document(file))
    {
        pools.extend(workers().read(node, reader).unwrap_or_default());
    }
    (suite.workers, suite.local_slots) = joined(pools, reader);
    for &file in &files.evals {
        if let Some(node) = reader.document(file) {
            evals.extend(eval(Home::OwnFile(files.root.clone())).read(node, reader));
        }
    }
    tell_apart(&mut evals);
    let names = evals.iter();
    let names = names.map(|read| Located::new(read.eval.name.clone(), read.place));
    let names: Vec<Located<String>> = names.collect();
    unique(&names, "eval", one_folder, reader);
    names.iter().for_each(|name| not_reserved(name, reader));
    suite.evals = (evals.into_iter())
        .map(|read| Arc::new(read.eval))
        .collect();
    if suite.evals.is_empty() && !reader.problems.has_errors() {
        no_evals(files, reader);
    }
    shared_trial_folders(&suite, reader);
    Some(suite)
}

/// Names evals by their paths where several directories have the same name and none is written.
fn tell_apart(evals: &mut [ReadEval]) {
    let mut named: HashMap<String, usize> = HashMap::new();
    for read in evals.iter() {
        *named.entry(one_folder(&read.eval.name)).or_default() += 1;
    }
    for ReadEval { eval, is_named, .. } in evals {
        let is_shared = named.get(&one_folder(&eval.name)) > Some(&1);
        if let Some(path) = eval.path.as_ref().filter(|_| is_shared && !*is_named) {
            eval.name = path.to_string();
        }
    }
}

/// A suite without its evals and workers, and those of its own file.
type ReadSuite = (Suite, Vec<ReadEval>, ReadWorkers);

/// The document `terca.yaml`.
pub(super) fn suite(root: &Utf8Path) -> Kind<ReadSuite> {
    let root = root.to_owned();
    object("suite", "a suite", move |fields| fields_of(fields, &root)).kind()
}

fn fields_of(fields: &mut Fields<'_, '_>, root: &Utf8Path) -> Option<ReadSuite> {
    let mut suite = Suite {
        root: root.to_owned(),
        keys: fields.keys(),
        layers: Vec::from_iter((fields.reader).optional_path(root, "_base", PathKind::Directory)),
        ..Suite::default()
    };
    conduct(fields, &mut suite);
    let evals = parts(fields, &mut suite);
    surroundings(fields, &mut suite);
    let workers = fields.optional(
        "workers",
        workers(),
        "Machines beside this one on which trials can run with `--on NAME`. They can also be in a file of their own, \
         `workers.yaml` beside this one.",
    );
    suite.allowed_warnings = fields.defaulted("allowWarnings", allowed_warnings(), ABOUT);
    Some((suite, evals, workers.unwrap_or_default()))
}

/// Declares how the suite runs its trials.
fn conduct(fields: &mut Fields<'_, '_>, suite: &mut Suite) {
    let name = fields.optional(
        "name",
        filled_text().value(),
        "The suite's name. Default: the directory's name.",
    );
    suite.name = name.unwrap_or_else(|| suite.root.file_name().unwrap_or("suite").to_owned());
    suite.description = fields.optional("description", text().value(), "A text for people.");
    suite.repetitions = fields.defaulted(
        "repetitions",
        repetitions(),
        "How often each eval is run in each variant (default 1), or `{min, max, until: conclusive}` to repeat until \
         the comparison is decided.",
    );
    suite.concurrency = fields.defaulted(
        "concurrency",
        concurrency(),
        "Trials to run at once (default: the number of CPUs, or of slots with `--on`), or a number for each agent: \
         `{default: 8, claude-code: 2}`. Agents that are not named share `default`.",
    );
    suite.retries = fields.or(
        "retries",
        times(),
        0,
        "How often a trial that ended in an error is \
         [tried again](../explanations/failed-or-not-judged.md#errors-are-tried-again-judgements-never). A trial \
         that was judged never is.",
    );
    let timeout = fields.or(
        "timeoutSeconds",
        positive(),
        DEFAULT_AGENT_SECONDS,
        "The agent's time limit in one trial.",
    );
    suite.timeout = Duration::from_secs_f64(timeout);
    suite.limits = fields.defaulted("limits", limits(), "The most that a trial may use.");
    suite.preamble = fields.optional(
        "preamble",
        text().value(),
        "Text before every [prompt](terca-yaml.md#the-prompt).",
    );
    suite.postamble = fields.optional("postamble", text().value(), "Text after every prompt.");
    suite.prepare = actions(
        fields,
        "prepare",
        Runs::Once,
        "Actions that run once. Every trial starts from \
         [a copy of the result](eval-yaml.md#prepare-once-for-all-trials).",
    );
    suite.before = actions(
        fields,
        "before",
        Runs::InEveryTrial,
        "Actions that run in every trial, before the agent.",
    );
    suite.services = fields.defaulted(
        "services",
        services(),
        "Programs beside every trial, such as a [database](terca-yaml.md#services).",
    );
}

/// Declares evals, environments and experiments. Returns the evals.
fn parts(fields: &mut Fields<'_, '_>, suite: &mut Suite) -> Vec<ReadEval> {
    let evals = fields.renamed_list(
        "evals",
        &["tests"],
        Presence::Optional,
        eval(Home::Suite).with("required", json!(["name"])),
        "Evals that are written here, beside those that are found in directories. Each needs a `name`.",
    );
    let environments = fields.list(
        "environments",
        setup(Role::Environment),
        "The setups that the evals run in. Default: one, named `default`, with the only agent that is installed.",
    );
    let experiments = fields.list(
        "experiments",
        setup(Role::Experiment),
        "Changes that are applied to every environment, to be compared. Default: one without changes, named \
         `default`.",
    );
    suite.verdict = verdict_settings(fields);
    suite.baseline = baseline(&experiments, fields.reader);
    suite.environments = setups(environments, "environment", fields.reader);
    suite.experiments = setups(experiments, "experiment", fields.reader);
    evals
}

/// Declares what surrounds the commands of a trial.
fn surroundings(fields: &mut Fields<'_, '_>, suite: &mut Suite) {
    suite.env = fields.defaulted(
        "env",
        trial_variables(),
        "[Environment variables](terca-yaml.md#variables) of every command of a trial, the agent included.",
    );
    suite.sandbox = fields.optional(
        "sandbox",
        sandbox(),
        "The [sandbox](terca-yaml.md#sandbox) of every command of a trial. Default: `auto` where the machine can \
         make one.",
    );
    suite.network = fields.optional(
        "network",
        network(),
        "The [network](terca-yaml.md#network) of an agent in a sandbox. Default: `model`.",
    );
    suite.allow = fields.defaulted(
        "allow",
        hosts(),
        "Hosts that an agent in a sandbox reaches beside its [network](terca-yaml.md#network), such as \
         `registry.npmjs.org`, `*.example.com` or `localhost:5432`.",
    );
    let layer = fields.optional(
        "workspaceDir",
        filled_text().called("path").then(|path, reader| {
            let dir = reader.existing(&path, "workspace directory", &[PathKind::Directory]);
            dir.map(|dir| (dir, path.place))
        }),
        "A directory that is copied into every workspace, after `_base/`. It must not have the suite or its `_tests` in it.",
    );
    suite.workspace_dir = layer.filter(|(layer, _)| !suite.layers.contains(layer));
    let layer = suite.workspace_dir.iter().map(|(layer, _)| layer.clone());
    suite.layers.extend(layer);
    fields.allow_foreign();
    suite.track_ignored = fields.or(
        "trackIgnored",
        boolean(),
        false,
        "Let `changes.diff` and `changedFiles` also see files that the workspace's `.gitignore` ignores.",
    );
    suite.pass_registries = fields.or(
        "passRegistries",
        boolean(),
        false,
        "Pass the registries of packages that this machine is set up for to `prepare`, `before` and tests, \
         [tokens included](terca-yaml.md#private-registries). The agent does not get them.",
    );
    (suite.package_caches, suite.test_caches) = package_cache::read(fields);
    suite.mcp_preflight = fields.defaulted(
        "mcpPreflight",
        mcp_preflight(),
        "Start each MCP server once and do its handshake before an agent that needs it is started. Default: `true`.",
    );
    suite.gateway = fields.defaulted(
        "gateway",
        gateway_settings(),
        "`meter` lets requests to models pass through [Terca's gateway](../explanations/gateway.md), which keeps the \
         key from the agent and counts tokens; `record` also keeps every exchange with the trial, for `terca replay`. \
         Default: `meter` for agents in a sandbox whose network is `model`, else `off`.",
    );
    suite.require_delivery = fields.or(
        "requireDelivery",
        boolean(),
        false,
        "Make it an [error](../explanations/delivery.md) if the rules or skills of a trial are in no request to a model. It turns \
         the gateway on.",
    );
    suite.prices = fields.defaulted(
        "prices",
        prices(),
        "[Prices](terca-yaml.md#prices) of models, instead of those that Terca ships.",
    );
}

fn setups(setups: Vec<Setup>, what: &str, reader: &mut Reader<'_>) -> Vec<Setup> {
    if setups.is_empty() {
        return vec![Setup::named_default()];
    }
    let named = setups.iter().map(|setup| {
        let place = setup.place.unwrap_or_default();
        Located::new(setup.name.clone(), place)
    });
    unique(&named.collect::<Vec<_>>(), what, one_folder, reader);
    setups
}

/// Returns the name of the experiment that is marked, or else of the first.
fn baseline(experiments: &[Setup], reader: &mut Reader<'_>) -> String {
    let marked: Vec<(&Setup, Place)> = experiments
        .iter()
        .filter_map(|experiment| Some((experiment, experiment.baseline?)))
        .collect();
    if let [(_, first), (_, second), ..] = marked.as_slice() {
        reader.problems.push(
            Diagnostic::error(
                Code::TwoBaselines,
                "two experiments are marked `baseline: true`",
            )
            .at(*second, "there can be one")
            .beside(*first, "the first is here")
            .help("keep the mark on the experiment that the others are compared with"),
        );
    }
    let marked = marked.first().map(|(experiment, _)| *experiment);
    let chosen = marked.or(experiments.first());
    chosen.map_or_else(|| "default".into(), |chosen| chosen.name.clone())
}

/// Refuses variants that would share a folder of a run, such as `a.b` × `c` and `a` × `b.c`.
fn shared_trial_folders(suite: &Suite, reader: &mut Reader<'_>) {
    if reader.problems.has_errors() {
        return; // two environments or two experiments may share a folder, which is reported as such
    }
    let named = suite.environments.iter().flat_map(|environment| {
        let place = environment.place.unwrap_or_default();
        let experiments = suite.experiments.iter();
        experiments.map(move |experiment| {
            Located::new(format!("{} × {}", environment.name, experiment.name), place)
        })
    });
    let folder = |name: &str| one_folder(&name.replace(" × ", "."));
    unique(&named.collect::<Vec<_>>(), "variant", folder, reader);
}

fn no_evals(files: &ConfigFiles, reader: &mut Reader<'_>) {
    let problem = Diagnostic::error(Code::NoEvals, "the suite has no evals")
        .help("add `evals:` to terca.yaml, or a directory with an `eval.terca.yaml` (`terca create-eval`)");
    reader.problems.push(match files.suite {
        Some(file) => problem.at(
            Place {
                file,
                start: 0,
                end: 0,
            },
            "no `evals` here, and no eval.terca.yaml below",
        ),
        None => problem.in_file(files.root.as_str()),
    });
}
