//! Recordings of an agent's exchanges with its models: kept in a file, or played in the place of the models.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::MetadataExt;

use camino::Utf8PathBuf;
use terca_core::agent::Reading;
use terca_core::agent::redirect::restore_addresses;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::transcript::CostSource;
use terca_core::trial_error::{ErrorKind, TrialError};
use terca_core::wire::Wire;
use terca_core::wire::recording::{self, Header, OnMiss};
use terca_gateway::{NewRecording, Played, Replay};

use super::AgentStart;
use crate::trial::agent_request::AgentDirs;
use crate::trial::context::Context;
use crate::trial::output::new_file;
use crate::trial::stage_error::StageError;

/// Opens the recording of an agent, if its session is replayed. The agent is given the addresses that its shell had
/// when it was recorded, unless services are asked: those are the caller's to choose.
pub(super) fn open_replay(start: &mut AgentStart<'_>) -> Result<Option<Replay>, StageError> {
    let context = start.context;
    let Some(source) = &context.replay else {
        return Ok(None);
    };
    // It has the same place in its run as the agent has in this one.
    let artifacts = &start.dirs.artifacts;
    let place = artifacts.strip_prefix(&context.run_dir);
    let replay = Replay {
        recording: source.open(place.unwrap_or(artifacts))?,
        on_miss: source.on_miss,
        directory: start.dirs.root(),
        agent_version: start.version.map(str::to_owned),
        mask: context.mask.clone(),
    };
    if replay.on_miss == OnMiss::Error {
        let recorded = replay.recording.addresses();
        let of_shell = |name: &str| context.host.get(name).map(str::to_owned);
        restore_addresses(start.profile, recorded, &mut start.env, &of_shell);
    }
    Ok(Some(replay))
}

/// The recording of an agent's exchanges.
#[derive(Debug)]
pub(super) struct RecordingFile {
    file: File,
    path: Utf8PathBuf,
}

impl RecordingFile {
    /// Makes the file among the artifacts of an agent. Returns it, and what the gateway needs to write it.
    pub(super) fn create(
        dirs: &AgentDirs,
        agent_version: Option<&str>,
        addresses: BTreeMap<String, String>,
        mask: &Mask,
    ) -> io::Result<(Self, NewRecording)> {
        let path = dirs.artifacts.join(recording::FILE);
        let file = new_file(&path)?;
        let addresses = addresses.into_iter();
        let new = NewRecording {
            file: file.try_clone()?,
            header: Header {
                format: recording::FORMAT.to_owned(),
                version: recording::VERSION,
                directory: dirs.root(),
                agent_version: agent_version.map(str::to_owned),
                addresses: addresses
                    .map(|(name, address)| (name, mask.text(&address)))
                    .collect(),
            },
            mask: mask.clone(),
        };
        Ok((RecordingFile { file, path }, new))
    }

    /// Makes sure that the recording is in its place once the agent is gone. Returns a remark if it was not.
    pub(super) fn keep(mut self) -> io::Result<Option<String>> {
        let own = self.file.metadata()?;
        let in_place = fs_err::symlink_metadata(&self.path);
        if in_place.is_ok_and(|meta| (meta.dev(), meta.ino()) == (own.dev(), own.ino())) {
            return Ok(None);
        }
        self.file.rewind()?;
        io::copy(&mut self.file, &mut new_file(&self.path)?)?;
        let note = "the recording was not in its place any more, and was written again";
        Ok(Some(note.to_owned()))
    }
}

/// Returns the error of a session whose requests are not those of its recording.
pub(super) fn error(context: &Context, played: &Played) -> Option<TrialError> {
    let source = context.replay.as_ref()?;
    let divergence = played.divergence.as_ref()?;
    if source.on_miss == OnMiss::Live {
        return None;
    }
    let message = format!(
        "the session differs from that of {}: {divergence}",
        source.run
    );
    let message = context.mask.text(&message);
    Some(TrialError::new(ErrorKind::Replay, message))
}

/// Adds what a replay says about a session: it cost what went to the service, whatever the agent reports.
pub(super) fn add(played: &Played, wire: &Wire, reading: &mut Reading) {
    reading.usage.cost_usd = if played.live == 0 {
        Some(0.0)
    } else {
        wire.cost_usd
    };
    reading.cost_source = reading.usage.cost_usd.map(|_| CostSource::Computed);
    if played.live > 0 {
        let requests = prose::count(played.live, "request");
        let divergence = played.divergence.as_deref().unwrap_or_default();
        let note = format!("{requests} went to the service, since {divergence}");
        reading.notes.push(note);
    }
    if played.left > 0 {
        let requests = prose::count(played.left, "recorded request");
        let was = if played.left == 1 { "was" } else { "were" };
        reading.notes.push(format!("{requests} {was} not used"));
    }
}
