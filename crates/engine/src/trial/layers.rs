//! Layers that `prepare` makes once for many trials: taken from the cache, or made by the first trial that needs
//! them, in its own workspace, before anything else is there.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::plan::{Layer, PreparedLayer};
use terca_core::trial_error::ErrorKind;

use super::Stop;
use super::actions::{self, failed};
use super::bench::Bench;
use crate::workspace::layers::Unmade;
use crate::workspace::tree;

/// The directories that layers are to be copied from, lowest first.
pub(super) fn directories(
    bench: &mut Bench<'_>,
    layers: &[Layer],
) -> Result<Vec<Utf8PathBuf>, Stop> {
    let mut directories = Vec::new();
    for layer in layers {
        directories.push(match layer {
            Layer::Directory(dir) => dir.clone(),
            Layer::Prepared(layer) => prepared(bench, layer)?,
        });
    }
    Ok(directories)
}

fn prepared(bench: &mut Bench<'_>, layer: &Arc<PreparedLayer>) -> Result<Utf8PathBuf, Stop> {
    let below = directories(bench, &layer.below)?;
    let context = bench.context;
    let known = context
        .layer_keys
        .iter()
        .find(|(known, _)| Arc::ptr_eq(known, layer));
    let Some((_, key)) = known else {
        return Err(Stop::error(
            ErrorKind::Internal,
            "a layer without a key (a bug in Terca)",
        ));
    };
    let mut made = false;
    let make = |tree: &Utf8Path| {
        made = true;
        make(bench, layer, &below, tree)
    };
    // Another trial would meet the same; whoever was interrupted has not found out.
    let lasting = |stop: &Stop| match stop {
        Stop::Error(error) => Some(error.message.clone()),
        Stop::Interrupted => None,
    };
    let tree = context
        .cache
        .get(key, &context.interrupt, make, lasting)
        .map_err(|unmade| match unmade {
            Unmade::Maker(stop) => stop,
            Unmade::Interrupted => Stop::Interrupted,
            Unmade::Failed(reason) => Stop::error(ErrorKind::Setup, reason),
            Unmade::Machine(error) => failed("the cache of layers", &error),
        })?;
    if !made {
        bench
            .log
            .section(&format!("prepare: the layer {key}, made before"))?;
    }
    Ok(tree)
}

fn make(
    bench: &mut Bench<'_>,
    layer: &Arc<PreparedLayer>,
    below: &[Utf8PathBuf],
    tree: &Utf8Path,
) -> Result<(), Stop> {
    fs_err::create_dir(&bench.room.layer_home)?;
    let made = fill_workspace(bench, layer, below).and_then(|()| Ok(take_out(bench, tree)?));
    tree::remove(&bench.room.layer_home)?;
    made
}

fn fill_workspace(
    bench: &mut Bench<'_>,
    layer: &Arc<PreparedLayer>,
    below: &[Utf8PathBuf],
) -> Result<(), Stop> {
    for dir in below {
        let laid = tree::copy_visible_tree(dir, &bench.room.workspace);
        laid.map_err(|error| failed(&format!("the layer {dir}"), &error))?;
    }
    let env = |bench: &Bench<'_>, beside: &Utf8Path| {
        bench.context.host.for_layer(
            bench.room.for_layer(),
            layer,
            &bench.context.suite_dir,
            beside,
        )
    };
    for action in &layer.actions {
        actions::carry_out(bench, "prepare", action, &env)?;
    }
    // A layer is files: what runs on would be there for one trial alone.
    bench.supervisor.sweep()?;
    Ok(())
}

/// Moves what the workspace holds into the layer, and leaves it empty.
fn take_out(bench: &Bench<'_>, tree: &Utf8Path) -> std::io::Result<()> {
    let workspace = &bench.room.workspace;
    tree::make_readable(workspace.as_std_path())?;
    fs_err::remove_dir(tree)?;
    tree::move_dir(workspace, tree)?;
    fs_err::create_dir(workspace)
}
