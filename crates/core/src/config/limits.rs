//! `limits` of a suite or an eval: the most that a trial may use.

use serde::{Deserialize, Serialize};

use crate::reader::values::size;
use crate::reader::{Fields, Kind, object};

/// The most that a trial may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialLimits {
    /// The bytes on disk that an agent may leave in its workspace.
    pub disk: u64,
}

impl Default for TrialLimits {
    /// Far more than the projects have that agents work on.
    fn default() -> Self {
        TrialLimits {
            disk: 20_000_000_000,
        }
    }
}

/// `limits`.
pub(super) fn limits() -> Kind<TrialLimits> {
    object("limits", "`limits`", fields_of)
        .example("{disk: 20GB}")
        .linked("[map](terca-yaml.md#limits)")
        .kind()
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<TrialLimits> {
    let disk = fields.optional(
        "disk",
        size(),
        "The disk space that the agent may leave in its workspace, such as `20GB` or `500MB`. Holes in files are free. \
         Default: `20GB`.",
    );
    Some(TrialLimits {
        disk: disk.unwrap_or(TrialLimits::default().disk),
    })
}
