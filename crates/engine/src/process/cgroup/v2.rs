//! Version 2 of the kernel's interface: one tree for all controllers.

use camino::Utf8Path;
use rustix::fs::{Access, access};
use terca_core::config::suite::TrialLimits;

use super::{Controller, OwnGroup, PERIOD, PROCESSES, Place, Version, memory, quota};

/// The file with the controllers that the groups beneath a group have.
const ENABLED: &str = "cgroup.subtree_control";

pub(super) static V2: Version = Version {
    number: "2",
    kills: "memory.events",
    settings,
    find,
};

/// Returns the files of a limit and their content.
fn settings(controller: Controller, limits: &TrialLimits) -> Vec<(&'static str, String)> {
    match controller {
        Controller::Memory => vec![
            ("memory.max", memory(limits)),
            ("memory.swap.max", "0".to_owned()),
        ],
        Controller::Processes => super::processes(limits),
        Controller::Cpus => vec![("cpu.max", format!("{} {PERIOD}", quota(limits)))],
    }
}

/// A group with processes of its own can have no groups with limits beneath it, so those above are tried too.
fn find(
    own: &OwnGroup,
    wanted: &[Controller],
    works: &dyn Fn(&Utf8Path, &[Controller]) -> bool,
) -> Option<Place> {
    let above = own.dir.ancestors();
    above
        .take_while(|dir| dir.starts_with(&own.mount))
        .find_map(|dir| {
            let mut controllers = wanted.to_vec();
            controllers.retain(|controller| lists(dir, "cgroup.controllers", *controller));
            // Who moves a process needs a right on the group above both places.
            let can_move = access(dir.join(PROCESSES).as_std_path(), Access::WRITE_OK).is_ok();
            if controllers.is_empty() || !can_move {
                return None;
            }
            for controller in &controllers {
                if !lists(dir, ENABLED, *controller) {
                    // A refusal is noticed when a group is tried.
                    let _ = std::fs::write(dir.join(ENABLED), format!("+{}", controller.name()));
                }
            }
            works(dir, &controllers).then(|| Place {
                dir: dir.to_owned(),
                version: &V2,
                controllers,
            })
        })
}

fn lists(dir: &Utf8Path, file: &str, controller: Controller) -> bool {
    let text = std::fs::read_to_string(dir.join(file)).unwrap_or_default();
    text.split_whitespace()
        .any(|name| name == controller.name())
}
