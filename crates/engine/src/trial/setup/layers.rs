//! Layers that `prepare` makes once for many trials.
//!
//! They are taken from the cache, or made by the first trial that needs them, in its own workspace, before anything
//! else is there.

use std::collections::{BTreeSet, HashSet};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use memchr::memmem::Finder;
use terca_core::plan::fingerprint::Fingerprinter;
use terca_core::plan::{Case, Layer, PreparedLayer};
use terca_core::run::event::EventKind;
use terca_core::text::sha256;
use terca_core::trial_error::ErrorKind;

use super::actions::{self, Part};
use crate::host::steady_clock;
use crate::tree::{Dir, Kind, Limits, TreeError, Visit, make_readable, move_dir, remove, walk};
use crate::trial::context::Context;
use crate::trial::log::Stream;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::base_layers::copy_visible;
use crate::workspace::layers::{LastingError, SHARED};
use crate::workspace::tree_hash::TreeHashes;

/// The digits of the hashes of image and path in the name of a layer.
const DIGITS: usize = 16;

/// Returns the directories that layers are copied from, lowest first.
pub(super) fn directories(
    run: &mut TrialRun<'_>,
    layers: &[Layer],
) -> Result<Vec<Utf8PathBuf>, StageError> {
    let mut directories = Vec::new();
    // A layer that is made from all files below it has it already.
    if !matches!(layers.first(), Some(Layer::Prepared(layer)) if layer.only_files.is_empty()) {
        directories.extend(of_image(run)?);
    }
    for layer in layers {
        directories.push(match layer {
            Layer::Directory(dir) => run.context.sealed.open(dir)?,
            Layer::Prepared(layer) => prepared(run, layer)?,
        });
    }
    Ok(directories)
}

/// Keeps the layers of the workspace for all runs. This is done before the agent starts: it could change the files that
/// a layer is made from.
pub(super) fn keep(run: &mut TrialRun<'_>, dirs: &[Utf8PathBuf]) -> Result<(), StageError> {
    let context = run.context;
    let layers = context.kept_layers(dirs, &context.suite_tree());
    run.layers = layers.map_err(|error| {
        StageError::setup_tree("the base of the workspace could not be kept", error)
    })?;
    Ok(())
}

/// Mounts the layers as the workspace, where this machine can and it pays. Returns whether it did.
pub(super) fn mount(run: &mut TrialRun<'_>) -> Result<bool, StageError> {
    let context = run.context;
    let layers = run.layers.clone();
    if !context.overlays.pays(&layers) || !context.overlays.may_mount(run.contained_by()) {
        return Ok(false);
    }
    let Some(space) = context.overlays.space(&context.work) else {
        return Ok(false);
    };
    if let Err(error) = run.dirs.mount(space, &layers.places) {
        let line = format!("the workspace is a copy: it cannot be mounted: {error}");
        run.log.line(&line)?;
        return Ok(false);
    }
    run.folder.link_workspace(&run.dirs)?;
    run.log
        .section("workspace: mounted, so that only changes are written")?;
    Ok(true)
}

/// Copies a layer into the workspace.
pub(super) fn copy(run: &TrialRun<'_>, layer: &Utf8Path) -> Result<(), StageError> {
    let to = Dir::open_no_link(&run.dirs.workspace)?;
    let options = run.context.suite_tree();
    Dir::open(layer)
        .and_then(|from| copy_visible(&from, &to, &options, &mut |_| Ok(())))
        .map_err(|error| StageError::setup_tree(&format!("the cached step {layer}"), error))
}

fn prepared(run: &mut TrialRun<'_>, layer: &PreparedLayer) -> Result<Utf8PathBuf, StageError> {
    let below = directories(run, &layer.below)?;
    let context = run.context;
    let key = name_in_cache(context, &run.spec.case, layer);
    let log = run.folder.log();
    let mut took = None;
    let make = |tree: &Utf8Path| -> Result<(), StageError> {
        let begun = steady_clock::now();
        make(run, layer, &below, tree)?;
        took = Some(steady_clock::now().duration_since(begun));
        Ok(())
    };
    let lasting = |error: &StageError| lasting(error, &log);
    let mut other_log = None;
    let failed = |error: LastingError| {
        other_log = Some(error.log);
        StageError::new(ErrorKind::Setup, error.message)
    };
    let interrupt = &context.interrupt;
    let tree = context.layers.get(&key, interrupt, make, lasting, failed);
    if let Some(other) = other_log {
        // A trial is understood from its own log.
        run.log.section("prepare: tried by another trial")?;
        run.log.raw(Stream::Out, other.as_bytes())?;
    }
    let tree = tree?;
    match took {
        Some(took) => (run.progress.emit)(EventKind::StepMade {
            trial: run.spec.id,
            eval: layer.eval.clone(),
            seconds: took.as_secs_f64(),
        }),
        None => run
            .log
            .section(&format!("prepare: cached step {key}, made before"))?,
    }
    Ok(tree)
}

/// Returns the files that a built image has where the workspace will be, if there is such an image.
fn of_image(run: &TrialRun<'_>) -> Result<Option<Utf8PathBuf>, StageError> {
    let context = run.context;
    let asked = run.spec.case.variant.sandbox.as_ref();
    let (Some(id), Some(workdir)) = (
        context.sandboxes.image_id(asked),
        context.sandboxes.workdir(asked),
    ) else {
        return Ok(None);
    };
    let make = |tree: &Utf8Path| -> Result<(), StageError> {
        let copied = context.sandboxes.copy_workdir(asked, tree);
        copied.map_err(|words| StageError::setup(&format!("{workdir} of the image"), &words))?;
        let options = context.own_tree(Limits::NONE);
        Ok(make_readable(&Dir::open_no_link(tree)?, &options)?)
    };
    let key = format!("image-{}", id.strip_prefix("sha256:").unwrap_or(id));
    let failed = |error: LastingError| StageError::new(ErrorKind::Setup, error.message);
    let lasting = |error: &StageError| lasting(error, &run.folder.log());
    let tree = (context.layers).get(&key, &context.interrupt, make, lasting, failed)?;
    Ok(Some(tree))
}

/// Counts the layers of these cases that are in the cache, for the display. Returns `None` if there is none.
pub(crate) fn found<'a>(
    context: &Context,
    cases: impl Iterator<Item = &'a Case>,
) -> Option<EventKind> {
    let mut names = BTreeSet::new();
    // Cases share their layers.
    let mut seen = HashSet::new();
    for case in cases {
        let sandbox = case.variant.sandbox.as_ref();
        let contained_by = context.sandboxes.contained_by(sandbox);
        let image = context.sandboxes.image_id(sandbox);
        for layer in all_prepared(&case.layers) {
            if seen.insert((Arc::as_ptr(layer), contained_by, image)) {
                names.insert(name_in_cache(context, case, layer));
            }
        }
    }
    let now = steady_clock::now();
    let made = names.iter().filter_map(|name| context.layers.made_at(name));
    let ages: Vec<f64> = made
        .map(|made| now.duration_since(made).as_secs_f64().max(0.0))
        .collect();
    (!ages.is_empty()).then(|| EventKind::StepsFound {
        steps: ages.len(),
        age_seconds: ages.iter().copied().fold(0.0, f64::max),
        to_make: names.len() - ages.len(),
    })
}

fn all_prepared(layers: &[Layer]) -> Vec<&Arc<PreparedLayer>> {
    let mut all = Vec::new();
    for layer in layers {
        if let Layer::Prepared(prepared) = layer {
            all.extend(all_prepared(prepared.replaced()));
            all.push(prepared);
        }
    }
    all
}

/// Returns the name of a layer in the cache. The programs that make it are those of the image, and it may name the path of
/// the workspace.
fn name_in_cache(context: &Context, case: &Case, layer: &PreparedLayer) -> String {
    let sandbox = case.variant.sandbox.as_ref();
    let image = context.sandboxes.image_id(sandbox);
    let image = image.and_then(|id| id.strip_prefix("sha256:"));
    let path = context.shown_root(sandbox, true);
    let path = path.map(|path| sha256(path.as_str().as_bytes()));
    let mut name = match layer.only_files.is_empty() {
        true => key(context, layer),
        false => format!("{SHARED}{}", key(context, layer)),
    };
    for hash in image.into_iter().chain(path.as_deref()) {
        name = format!("{name}-{}", &hash[..hash.len().min(DIGITS)]);
    }
    name
}

/// Returns the hash of everything that a layer is made from.
fn key(context: &Context, layer: &PreparedLayer) -> String {
    let sealed = &context.sealed;
    sealed.fingerprint(&context.mask, None, |fingerprinter| {
        fingerprinter.layer_key(layer)
    })
}

/// Refuses a layer whose commands may have read other files than its name says: they use the suite itself, because
/// a layer may keep paths of it for later runs.
fn check_unchanged(context: &Context, layer: &PreparedLayer) -> Result<(), StageError> {
    let hashes = TreeHashes::default();
    let now = Fingerprinter {
        suite_dir: &context.suite_dir,
        root: None,
        mask: &context.mask,
        content: &|path| hashes.get(path),
        // A file that its commands have made is none that they have read.
        script: &|path| {
            context
                .sealed
                .script_hash(path)
                .and_then(|_| hashes.file(path))
        },
    };
    if now.layer_key(layer) == key(context, layer) {
        return Ok(());
    }
    Err(StageError::setup(
        "prepare",
        &"the suite's files for this step changed while it ran; run again with the suite as it is now",
    ))
}

/// Returns an error that every other trial would meet too, with the log of the trial that met it. An interrupt is not one.
fn lasting(error: &StageError, log: &Utf8Path) -> Option<LastingError> {
    match error {
        StageError::Error(error) => Some(LastingError {
            message: error.message.clone(),
            // It is for people: without it the message remains.
            log: fs_err::read_to_string(log).unwrap_or_default(),
        }),
        StageError::Interrupted => None,
    }
}

fn make(
    run: &mut TrialRun<'_>,
    layer: &PreparedLayer,
    below: &[Utf8PathBuf],
    tree: &Utf8Path,
) -> Result<(), StageError> {
    fs_err::create_dir(&run.dirs.layer_home)?;
    let registries = run.place_registries(&run.dirs.layer_home)?;
    let package_caches = run.place_package_caches(&run.dirs.layer_home)?;
    let made = fill_workspace(run, layer, below).and_then(|()| empty_workspace_into(tree, run));
    registries.remove()?;
    package_caches.remove()?;
    let home = &run.dirs.layer_home;
    let removed = remove(home, &run.context.own_tree(Limits::NONE))?;
    removed.into_result(home.as_std_path())?;
    made
}

fn fill_workspace(
    run: &mut TrialRun<'_>,
    layer: &PreparedLayer,
    below: &[Utf8PathBuf],
) -> Result<(), StageError> {
    match layer.only_files.as_slice() {
        [] => below.iter().try_for_each(|dir| copy(run, dir))?,
        files => {
            for file in files {
                actions::copy_from_layers(run, below, file)?;
            }
        }
    }
    for action in &layer.actions {
        actions::execute(run, Part::Prepare(layer), action)?;
    }
    // A layer is files: a process that runs on would be there for one trial alone.
    run.supervisor.sweep()?;
    check_portable(run)?;
    check_unchanged(run.context, layer)
}

/// Refuses a layer that names the path of this trial's directory, which other trials do not have.
fn check_portable(run: &TrialRun<'_>) -> Result<(), StageError> {
    if run.dirs.fixed_root.is_some() {
        return Ok(());
    }
    let root = Finder::new(run.dirs.root.as_str());
    let mut found = None;
    let options = run.context.own_tree(Limits::NONE);
    walk(
        &Dir::open_no_link(&run.dirs.workspace)?,
        &options,
        &mut |entry, meta| {
            let names_root = match entry.kind {
                Kind::Link => root
                    .find(entry.read_link()?.as_os_str().as_bytes())
                    .is_some(),
                _ if meta.is_file() => {
                    let mut bytes = Vec::new();
                    let read = entry.open()?.read_to_end(&mut bytes);
                    read.map_err(|error| TreeError::io(entry.path, error))?;
                    root.find(&bytes).is_some()
                }
                _ => false,
            };
            if names_root {
                found = Some(entry.path.display().to_string());
                return Ok(Visit::End);
            }
            Ok(Visit::Continue)
        },
    )?;
    match found {
        None => Ok(()),
        Some(path) => Err(StageError::setup(
            "prepare",
            &format!(
                "its file {path} names the path of this trial's workspace, which other trials do not have, and this machine \
                 gives all workspaces the same path only in a sandbox: write `sandbox: auto`, or move the step to `before`"
            ),
        )),
    }
}

/// Moves the files of the workspace into the layer.
fn empty_workspace_into(tree: &Utf8Path, run: &TrialRun<'_>) -> Result<(), StageError> {
    let options = run.context.own_tree(Limits::NONE);
    let workspace = &run.dirs.workspace;
    // Several trials will read it at once.
    make_readable(&Dir::open_no_link(workspace)?, &options)?;
    fs_err::remove_dir(tree)?;
    let draft = Dir::open(tree.parent().unwrap_or(tree))?;
    let name = tree.file_name().unwrap_or_default().as_ref();
    let root = Dir::open(&run.dirs.root)?;
    let own_name = workspace.file_name().unwrap_or_default().as_ref();
    move_dir(&root, own_name, &draft, name, &options)?;
    Ok(fs_err::create_dir(workspace)?)
}
