//! Version 1 of the kernel's interface: a tree for each controller.

use camino::Utf8Path;
use terca_core::config::suite::TrialLimits;

use super::{Controller, OwnGroup, PERIOD, Place, Version, memory, quota};

pub(super) static V1: Version = Version {
    number: "1",
    kills: "memory.oom_control",
    settings,
    find,
};

/// Returns the files of a limit and their content.
fn settings(controller: Controller, limits: &TrialLimits) -> Vec<(&'static str, String)> {
    match controller {
        Controller::Memory => vec![
            ("memory.limit_in_bytes", memory(limits)),
            ("memory.memsw.limit_in_bytes", memory(limits)),
        ],
        Controller::Processes => super::processes(limits),
        Controller::Cpus => vec![
            ("cpu.cfs_period_us", PERIOD.to_string()),
            ("cpu.cfs_quota_us", quota(limits).to_string()),
        ],
    }
}

/// Groups are made beneath the own one.
fn find(
    own: &OwnGroup,
    wanted: &[Controller],
    works: &dyn Fn(&Utf8Path, &[Controller]) -> bool,
) -> Option<Place> {
    let mut controllers = wanted.to_vec();
    controllers.retain(|controller| own.controllers.iter().any(|name| name == controller.name()));
    let can_be_made = !controllers.is_empty() && works(&own.dir, &controllers);
    can_be_made.then(|| Place {
        dir: own.dir.clone(),
        version: &V1,
        controllers,
    })
}
