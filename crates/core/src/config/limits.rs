//! `limits` of a suite, an environment, an experiment or an eval: the most that a trial may use.

use serde::{Deserialize, Serialize};

use crate::reader::{Fields, Kind, count, object, processors, size, size_from};

/// The least memory that can be asked for. Terca's own supervisor counts, and takes a part of it.
const LEAST_MEMORY: u64 = 16_000_000;

/// `limits` as they are written. What is not written is left to the level around it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LimitSettings {
    /// Bytes on disk.
    pub disk: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
    /// Processors.
    pub cpus: Option<f64>,
}

impl LimitSettings {
    /// Returns these limits, with those of the level around them where they say nothing.
    #[must_use]
    pub fn over(self, below: LimitSettings) -> LimitSettings {
        LimitSettings {
            disk: self.disk.or(below.disk),
            memory: self.memory.or(below.memory),
            processes: self.processes.or(below.processes),
            cpus: self.cpus.or(below.cpus),
        }
    }
}

/// The most that a trial may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialLimits {
    /// The bytes on disk that each directory of an agent may take.
    pub disk: u64,
    /// The bytes of memory of the agent, and of each test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The processes and threads of the agent, and of each test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// The processors that the agent, and each test, may use at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
}

impl Default for TrialLimits {
    fn default() -> Self {
        LimitSettings::default().into()
    }
}

impl From<LimitSettings> for TrialLimits {
    fn from(settings: LimitSettings) -> Self {
        /// Far more than the projects have that agents work on.
        const DISK: u64 = 20_000_000_000;
        let LimitSettings {
            disk,
            memory,
            processes,
            cpus,
        } = settings;
        TrialLimits {
            disk: disk.unwrap_or(DISK),
            memory,
            processes,
            cpus,
        }
    }
}

/// The way in which a limit is kept on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptBy {
    /// The kernel keeps it, by a control group.
    Cgroup,
    /// The engine of a container keeps it.
    Container,
    /// Terca looks about ten times a second, and ends what is beyond it.
    Watch,
    /// Nothing: it is not kept.
    Nothing,
}

/// The ways in which the limits of a trial were kept. A limit that was not asked for has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsKeptBy {
    /// `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<KeptBy>,
    /// `processes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<KeptBy>,
    /// `cpus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<KeptBy>,
}

/// `limits`.
pub(super) fn limits() -> Kind<LimitSettings> {
    object("limits", "`limits`", fields_of)
        .example("{memory: 4GB, processes: 500, disk: 20GB, cpus: 2}")
        .linked("[map](terca-yaml.md#limits)")
        .kind()
}

fn fields_of(fields: &mut Fields<'_, '_>) -> Option<LimitSettings> {
    Some(LimitSettings {
        disk: fields.optional(
            "disk",
            size(),
            "The disk space that each directory of the agent (its workspace, its home, its temporary files, its output) may \
             take, such as `20GB` or `500MB`. Holes in files are free. Default: `20GB`.",
        ),
        memory: fields.optional(
            "memory",
            size_from(
                LEAST_MEMORY,
                "a size of at least 16MB, such as `500MB` or `4GB`",
            ),
            "The memory that all processes of the agent, or of a test, may use together, such as `4GB`.",
        ),
        processes: fields
            .optional(
                "processes",
                count(),
                "The processes and threads that the agent, or a test, may have at once.",
            )
            .map(|count| count.value),
        cpus: fields
            .optional(
                "cpus",
                processors(),
                "The processors that the agent, or a test, may keep busy, such as `2` or `0.5`.",
            )
            .map(|cpus| cpus.value),
    })
}
