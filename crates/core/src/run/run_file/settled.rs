//! The sandboxes of a run. They are settled when it is started and stay the same until its end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunFile, RunVariant};
use crate::config::sandbox::{ContainedBy, Image, Sandbox};

/// The sandbox of a case's commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseSandbox {
    /// The kind.
    pub contained_by: ContainedBy,
    /// The image of a container.
    pub image: Option<Image>,
}

/// The sandboxes of those who leave the choice to the machine, as a run settled it at its start. `None` where the run does
/// not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledSandboxes {
    /// The sandbox of those who do not say.
    pub unsaid: Option<Sandbox>,
    /// The sandbox of those who ask for the best one.
    pub auto: Option<Sandbox>,
}

impl RunFile {
    /// Returns what was settled when the run was started.
    pub fn settled_sandboxes(&self) -> SettledSandboxes {
        let of = |asked: Option<&str>| {
            let variants = self.cases.iter().map(|case| &case.variant);
            let mut asking = variants.filter(|variant| {
                variant.settings.get("sandbox").map(Value::as_str) == asked.map(Some)
            });
            asking.find_map(RunVariant::sandbox)
        };
        SettledSandboxes {
            unsaid: of(None),
            auto: of(Some("auto")),
        }
    }
}

impl RunVariant {
    /// Returns the sandbox that its commands were in, as it is asked for by name.
    pub(super) fn sandbox(&self) -> Option<Sandbox> {
        Some(match self.contained_by? {
            ContainedBy::None => Sandbox::None,
            ContainedBy::Bwrap => Sandbox::Bwrap,
            ContainedBy::Landlock => Sandbox::Landlock,
            ContainedBy::Docker => Sandbox::Docker(self.image.clone()?),
            ContainedBy::Podman => Sandbox::Podman(self.image.clone()?),
        })
    }
}
