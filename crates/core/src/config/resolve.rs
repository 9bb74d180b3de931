//! From raw types to the suite: names made unique, paths checked, defaults filled in.

use std::collections::HashMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::names::{not_reserved, unique_folders};
use crate::config::paths::folder_name;
use crate::config::raw::{RawEval, RawSetup, RawSuite};
use crate::config::resolve_setup::variables;
use crate::config::resolver::Resolver;
use crate::config::suite::{Concurrency, DEFAULT_AGENT_SECONDS, Eval, Setup, Suite};
use crate::config::{
    ConfigFiles, PathKind, Surroundings, concurrency, repetitions, resolve_action, resolve_eval,
    resolve_setup,
};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::{Located, Place, Sources};

pub(super) fn suite(
    files: &ConfigFiles,
    raw: Option<RawSuite>,
    eval_files: Vec<RawEval>,
    sources: &Sources,
    surroundings: &dyn Surroundings,
    problems: &mut Diagnostics,
) -> Suite {
    let mut resolver = Resolver {
        sources,
        surroundings,
        problems,
    };
    let layers = layers(&mut resolver, &files.root, raw.as_ref());
    let mut suite = defaults(&files.root);
    suite.layers.clone_from(&layers);
    let mut inline_evals = Vec::new();
    if let Some(raw) = raw {
        inline_evals.clone_from(&raw.evals);
        apply(&mut suite, raw, &mut resolver);
    }
    suite.evals = evals(
        inline_evals,
        eval_files,
        &files.root,
        &layers,
        &mut resolver,
    );
    if suite.evals.is_empty() && !resolver.problems.has_errors() {
        no_evals(files, &mut resolver);
    }
    shared_trial_folders(&suite, &mut resolver);
    suite
}

fn defaults(root: &Utf8Path) -> Suite {
    Suite {
        name: root.file_name().unwrap_or("suite").to_owned(),
        description: None,
        root: root.to_owned(),
        repetitions: 1,
        adaptive: None,
        concurrency: Concurrency::default(),
        retries: 0,
        timeout: Duration::from_secs_f64(DEFAULT_AGENT_SECONDS),
        preamble: None,
        postamble: None,
        layers: Vec::new(),
        prepare: Vec::new(),
        before: Vec::new(),
        track_ignored: false,
        env: Vec::new(),
        evals: Vec::new(),
        environments: vec![Setup::named_default()],
        experiments: vec![Setup::named_default()],
        baseline: "default".into(),
    }
}

fn apply(suite: &mut Suite, raw: RawSuite, resolver: &mut Resolver<'_>) {
    if let Some(name) = raw.name {
        suite.name = name.value;
    }
    suite.description = raw.description.map(|text| text.value);
    if let Some(raw) = raw.repetitions {
        repetitions::resolve(raw, suite, resolver);
    }
    suite.concurrency = raw
        .concurrency
        .map(|raw| concurrency::resolve(raw, resolver))
        .unwrap_or_default();
    suite.retries = raw.retries.map_or(0, |count| count.value);
    if let Some(seconds) = raw.timeout_seconds {
        suite.timeout = Duration::from_secs_f64(seconds.value);
    }
    suite.preamble = raw.preamble.map(|text| text.value);
    suite.postamble = raw.postamble.map(|text| text.value);
    suite.prepare = resolve_action::actions(raw.prepare, &suite.layers, resolver);
    suite.before = resolve_action::actions(raw.before, &suite.layers, resolver);
    suite.track_ignored = raw.track_ignored.is_some_and(|flag| flag.value);
    suite.env = variables(raw.env);
    if let Some(sandbox) = raw.sandbox
        && sandbox.kind != "none"
    {
        resolver.not_yet(&format!("`sandbox: {}`", sandbox.kind), sandbox.place);
    }
    suite.baseline = baseline(&raw.environments, &raw.experiments, resolver);
    suite.environments = setups(raw.environments, "environment", &suite.layers, resolver);
    suite.experiments = setups(raw.experiments, "experiment", &suite.layers, resolver);
}

fn layers(
    resolver: &mut Resolver<'_>,
    root: &Utf8Path,
    raw: Option<&RawSuite>,
) -> Vec<Utf8PathBuf> {
    let mut layers: Vec<Utf8PathBuf> = resolver
        .optional_directory(root, "_base")
        .into_iter()
        .collect();
    if let Some(dir) = raw.and_then(|raw| raw.workspace_dir.as_ref())
        && let Some(dir) = resolver.existing(dir, "workspace directory", &[PathKind::Directory])
        && !layers.contains(&dir)
    {
        layers.push(dir);
    }
    layers
}

fn setups(
    raw: Vec<RawSetup>,
    what: &str,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Vec<Setup> {
    if raw.is_empty() {
        return vec![Setup::named_default()];
    }
    let names: Vec<&Located<String>> = raw.iter().filter_map(|setup| setup.name.as_ref()).collect();
    unique_folders(&names, what, resolver);
    raw.into_iter()
        .filter_map(|setup| resolve_setup::setup(setup, layers, resolver))
        .collect()
}

fn baseline(
    environments: &[RawSetup],
    experiments: &[RawSetup],
    resolver: &mut Resolver<'_>,
) -> String {
    for flag in environments
        .iter()
        .filter_map(|setup| setup.baseline.as_ref())
    {
        resolver.problems.push(
            Diagnostic::error(Code::MisplacedKey, "`baseline` belongs to an experiment")
                .at(flag.place, "an environment is not compared with others")
                .help("move it to the experiment that the others are compared with"),
        );
    }
    let marked: Vec<(&RawSetup, &Located<bool>)> = experiments
        .iter()
        .filter_map(|setup| {
            setup
                .baseline
                .as_ref()
                .filter(|flag| flag.value)
                .map(|flag| (setup, flag))
        })
        .collect();
    if let [(_, first), (_, second), ..] = marked.as_slice() {
        resolver.problems.push(
            Diagnostic::error(
                Code::TwoBaselines,
                "two experiments are marked `baseline: true`",
            )
            .at(second.place, "there can be one")
            .beside(first.place, "the first is here")
            .help("leave the mark on the one that the others are compared with"),
        );
    }
    let chosen = marked
        .first()
        .map(|(setup, _)| *setup)
        .or(experiments.first());
    chosen
        .and_then(|setup| setup.name.as_ref())
        .map_or_else(|| "default".into(), |name| name.value.clone())
}

fn evals(
    inline: Vec<RawEval>,
    files: Vec<RawEval>,
    root: &Utf8Path,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Vec<Eval> {
    let mut names = Vec::new();
    let mut evals = Vec::new();
    for (raw, is_file) in inline
        .into_iter()
        .map(|raw| (raw, false))
        .chain(files.into_iter().map(|raw| (raw, true)))
    {
        let name = resolve_eval::name(&raw, is_file, resolver);
        if let Some(name) = name {
            names.push(name.clone());
            evals.extend(resolve_eval::eval(
                raw, name.value, is_file, root, layers, resolver,
            ));
        }
    }
    unique_folders(&names.iter().collect::<Vec<_>>(), "eval", resolver);
    names.iter().for_each(|name| not_reserved(name, resolver));
    evals
}

/// `a.b` × `c` and `a` × `b.c` would lie in the same folder of a run.
fn shared_trial_folders(suite: &Suite, resolver: &mut Resolver<'_>) {
    let mut seen: HashMap<String, (&Setup, &Setup)> = HashMap::new();
    for environment in &suite.environments {
        for experiment in &suite.experiments {
            let folder = format!(
                "{}.{}",
                folder_name(&environment.name),
                folder_name(&experiment.name)
            );
            let Some(first) = seen.insert(folder.clone(), (environment, experiment)) else {
                continue;
            };
            if folder_name(&first.0.name) == folder_name(&environment.name) {
                continue; // two environments or two experiments share a folder: already said
            }
            let mut diagnostic = Diagnostic::error(
                Code::SharedFolder,
                format!("two variants would share the folder `{folder}`"),
            );
            if let (Some(second_place), Some(first_place)) = (environment.place, first.0.place) {
                diagnostic = diagnostic
                    .at(
                        second_place,
                        format!("with the experiment `{}`", experiment.name),
                    )
                    .beside(
                        first_place,
                        format!("with the experiment `{}`", first.1.name),
                    );
            }
            resolver
                .problems
                .push(diagnostic.help("rename the environment or the experiment"));
        }
    }
}

fn no_evals(files: &ConfigFiles, resolver: &mut Resolver<'_>) {
    let diagnostic = Diagnostic::error(Code::NoEvals, "the suite has no evals")
        .help("add `evals:` to terca.yaml, or a directory with an `eval.terca.yaml` (`terca create-eval`)");
    resolver.problems.push(match files.suite {
        Some(file) => diagnostic.at(
            Place {
                file,
                start: 0,
                end: 0,
            },
            "no `evals` here, and no eval.terca.yaml below",
        ),
        None => diagnostic.in_file(files.root.as_str()),
    });
}
