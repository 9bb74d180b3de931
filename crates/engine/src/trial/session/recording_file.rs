//! The file of a recording, held open so that nothing the agent does to it is lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::MetadataExt;

use camino::Utf8PathBuf;
use terca_core::recording::{self, Header};
use terca_core::text::mask::Mask;
use terca_gateway::NewRecording;

use super::agent_dirs::AgentDirs;
use crate::trial::output::new_file;

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
                directory: dirs.root().to_string(),
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
