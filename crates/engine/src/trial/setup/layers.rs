//! Layers that `prepare` makes once for many trials.
//!
//! They are taken from the cache, or made by the first trial that needs them, in its own workspace, before anything
//! else is there.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::plan::fingerprint::Fingerprinter;
use terca_core::plan::{Layer, PreparedLayer};
use terca_core::trial_error::ErrorKind;

use super::actions::{self, Part};
use crate::trial::context::Context;
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::layers::LayerError;
use crate::workspace::tree::{self, Copied};
use crate::workspace::tree_hash::TreeHashes;
use crate::workspace::trial_dirs::TrialDirs;

/// Returns the directories that layers are copied from, lowest first.
pub(super) fn directories(
    run: &mut TrialRun<'_>,
    layers: &[Layer],
) -> Result<Vec<Utf8PathBuf>, StageError> {
    let mut directories = Vec::new();
    for layer in layers {
        directories.push(match layer {
            Layer::Directory(dir) => run.context.sealed.open(dir)?,
            Layer::Prepared(layer) => prepared(run, layer)?,
        });
    }
    Ok(directories)
}

/// Copies a layer into a workspace.
pub(super) fn copy(layer: &Utf8Path, workspace: &Utf8Path) -> Result<Vec<Copied>, StageError> {
    tree::copy_visible_tree(layer, workspace)
        .map_err(|error| StageError::setup(&format!("the layer {layer}"), &error))
}

fn prepared(run: &mut TrialRun<'_>, layer: &PreparedLayer) -> Result<Utf8PathBuf, StageError> {
    let below = directories(run, &layer.below)?;
    let context = run.context;
    let key = key(context, layer);
    let mut made = false;
    let make = |tree: &Utf8Path| {
        made = true;
        make(run, layer, &below, tree)
    };
    let tree = context
        .layers
        .get(&key, &context.interrupt, make, lasting)
        .map_err(|error| match error {
            LayerError::Maker(error) => error,
            LayerError::Interrupted => StageError::Interrupted,
            LayerError::Failed(reason) => StageError::new(ErrorKind::Setup, reason),
            LayerError::Machine(error) => StageError::setup("the cache of layers", &error),
        })?;
    if !made {
        run.log
            .section(&format!("prepare: the layer {key}, made before"))?;
    }
    Ok(tree)
}

/// Returns the name of a layer in the cache. It changes with everything that the layer is made from.
fn key(context: &Context, layer: &PreparedLayer) -> String {
    let sealed = &context.sealed;
    sealed.fingerprint(&context.mask, |fingerprinter| {
        fingerprinter.layer_key(layer)
    })
}

/// Refuses a layer whose commands may have read other files than its name says: they use the suite itself, because
/// a layer may keep paths of it for later runs.
fn check_unchanged(context: &Context, layer: &PreparedLayer) -> Result<(), StageError> {
    let hashes = TreeHashes::default();
    let now = Fingerprinter {
        suite_dir: &context.suite_dir,
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
        &"the suite's files for it changed while the layer was made; run again with the suite as it is now",
    ))
}

/// Returns the message of an error that every other trial would meet too. An interrupt is not one.
fn lasting(error: &StageError) -> Option<String> {
    match error {
        StageError::Error(error) => Some(error.message.clone()),
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
    let made =
        fill_workspace(run, layer, below).and_then(|()| Ok(empty_workspace_into(tree, &run.dirs)?));
    tree::remove(&run.dirs.layer_home)?;
    made
}

fn fill_workspace(
    run: &mut TrialRun<'_>,
    layer: &PreparedLayer,
    below: &[Utf8PathBuf],
) -> Result<(), StageError> {
    for dir in below {
        copy(dir, &run.dirs.workspace)?;
    }
    for action in &layer.actions {
        actions::execute(run, Part::Prepare(layer), action)?;
    }
    // A layer is files: a process that runs on would be there for one trial alone.
    run.supervisor.sweep()?;
    check_unchanged(run.context, layer)
}

/// Moves the files of the workspace into the layer.
fn empty_workspace_into(tree: &Utf8Path, dirs: &TrialDirs) -> io::Result<()> {
    tree::make_readable(dirs.workspace.as_std_path())?;
    fs_err::remove_dir(tree)?;
    tree::move_dir(&dirs.workspace, tree)?;
    fs_err::create_dir(&dirs.workspace)
}
