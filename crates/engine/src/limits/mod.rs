//! `limits` of a trial, kept while its commands run.
//!
//! Memory, processes and processors are kept by the kernel, in a control group for each command
//! ([`cgroup`](crate::process::cgroup)). Where no group can be made, Terca looks at memory and processes about ten times a
//! second and ends what is beyond them; processors are then not limited, which is said. Disk space is always looked at.
//!
//! Rejected: the kernel's limits for processes (`RLIMIT_AS`, `RLIMIT_NPROC`) alone. The first counts addresses, of which Node
//! takes many gigabytes without using them; the second counts all processes of the user, Terca's caller included, and does
//! not hold for the superuser. Neither says afterwards that it was met. The second is a backstop where Terca watches.

mod disk;
mod nameless;
mod usage;
mod watch;
mod watched_dir;

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Pid;
use terca_core::config::suite::{KeptBy, LimitsKeptBy, TrialLimits};
use terca_core::text::prose;

use crate::process::cgroup::{Cgroups, Controller, Group, GroupLimits, Version};
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::supervise::{Enclosure, Turn};
use crate::workspace::trial_dirs::WorkDir;
use watch::Watch;
pub use watched_dir::WatchedDir;

/// Keeps the limits of a run's trials.
#[derive(Debug, Default)]
pub struct LimitKeeper {
    /// `None` if no trial has a limit that groups are for.
    cgroups: Option<Cgroups>,
    wanted: Vec<Controller>,
    /// The number of groups that were made.
    made: AtomicU64,
}

impl LimitKeeper {
    /// Settles, once for a run, how the limits that it asks for are kept. Nothing is made where there is none.
    pub fn set_up(
        asked: impl IntoIterator<Item = TrialLimits>,
        work: &WorkDir,
    ) -> io::Result<Self> {
        let mut wanted = Vec::new();
        for limits in asked {
            for controller in Controller::ALL {
                if is_asked(&limits, controller) && !wanted.contains(&controller) {
                    wanted.push(controller);
                }
            }
        }
        if wanted.is_empty() {
            return Ok(LimitKeeper::default());
        }
        let cgroups = Cgroups::find(work.number(), &wanted);
        // Before there is a group: whoever finds this run dead looks there.
        work.list_cgroups(&cgroups.list())?;
        Ok(LimitKeeper {
            cgroups: Some(cgroups),
            wanted,
            made: AtomicU64::new(0),
        })
    }

    fn way(&self, controller: Controller) -> KeptBy {
        let has_group =
            (self.cgroups.as_ref()).is_some_and(|cgroups| cgroups.version_of(controller).is_some());
        match controller {
            _ if has_group => KeptBy::Cgroup,
            Controller::Memory | Controller::Processes if usage::is_known() => KeptBy::Watch,
            Controller::Memory | Controller::Processes | Controller::Cpus => KeptBy::Nothing,
        }
    }

    /// Returns how the limits of a trial are kept, in a container or not. `None` if it has none but that of its disk.
    pub fn kept_by(&self, limits: &TrialLimits, in_container: bool) -> Option<LimitsKeptBy> {
        let way = |controller| match in_container {
            _ if !is_asked(limits, controller) => None,
            true => Some(KeptBy::Container),
            false => Some(self.way(controller)),
        };
        let kept = LimitsKeptBy {
            memory: way(Controller::Memory),
            processes: way(Controller::Processes),
            cpus: way(Controller::Cpus),
        };
        (kept != LimitsKeptBy::default()).then_some(kept)
    }

    /// Returns a sentence for each limit of the run that the kernel does not keep here.
    pub fn shortcomings(&self) -> Vec<String> {
        let mut watched = Vec::new();
        let mut not_kept = Vec::new();
        for controller in &self.wanted {
            match self.way(*controller) {
                KeptBy::Cgroup | KeptBy::Container => {}
                KeptBy::Watch => watched.push(field(*controller)),
                KeptBy::Nothing => not_kept.push(field(*controller)),
            }
        }
        let mut sentences = Vec::new();
        if !watched.is_empty() {
            sentences.push(format!(
                "{}: no control group can be made here, so Terca checks ten times a second and ends processes beyond \
                 the limit",
                prose::list(&watched, "and")
            ));
        }
        if !not_kept.is_empty() {
            let verb = if not_kept.len() == 1 { "is" } else { "are" };
            sentences.push(format!(
                "{} {verb} not enforced: no control group can be made here",
                prose::list(&not_kept, "and")
            ));
        }
        sentences
    }

    /// Begins to keep the limits of one command, which has this enclosure. The disk space of `dirs`, each with its
    /// name, is
    /// looked at.
    pub(crate) fn begin(
        &self,
        limits: &TrialLimits,
        enclosure: Option<Enclosure>,
        dirs: Vec<WatchedDir>,
    ) -> io::Result<LimitedCommand> {
        let container = enclosure
            .as_ref()
            .and_then(|enclosure| enclosure.container.as_ref());
        let in_container = container.is_some();
        let kept_by = self.kept_by(limits, in_container).filter(|_| !in_container);
        let Some(kept_by) = kept_by else {
            return Ok(LimitedCommand {
                enclosure: enclosure.map(|enclosure| in_engine(enclosure, limits)),
                group: None,
                watch: Watch::new(None, None, limits.disk, dirs),
                limits: *limits,
            });
        };
        let has_wall = enclosure
            .as_ref()
            .is_some_and(|enclosure| enclosure.program != OWN_PROGRAM);
        // The supervisor and the program that makes its walls are none of the command's.
        let own_processes: u64 = if has_wall { 2 } else { 1 };
        let processes = limits.processes.map(|most| u64::from(most) + own_processes);
        let cgroups = self.cgroups.as_ref();
        let group = cgroups
            .map(|cgroups| {
                let number = self.made.fetch_add(1, Ordering::Relaxed);
                let asked = GroupLimits {
                    memory: limits.memory,
                    processes,
                    cpus: limits.cpus,
                };
                cgroups.create(number, &asked)
            })
            .transpose()?;
        let confinement = Confinement {
            groups: group.as_ref().map(Group::entrances).unwrap_or_default(),
            user_processes: limits
                .processes
                .filter(|_| kept_by.processes == Some(KeptBy::Watch))
                .map(most_of_user),
            ..Confinement::default()
        };
        let memory = limits
            .memory
            .filter(|_| kept_by.memory == Some(KeptBy::Watch));
        let processes = processes.filter(|_| kept_by.processes == Some(KeptBy::Watch));
        Ok(LimitedCommand {
            enclosure: Some(Enclosure::confined(enclosure, &confinement)),
            group,
            watch: Watch::new(memory, processes, limits.disk, dirs),
            limits: *limits,
        })
    }
}

/// Lets the engine of a container keep limits. Everything else stays as it is.
fn in_engine(enclosure: Enclosure, limits: &TrialLimits) -> Enclosure {
    if enclosure.container.is_none() {
        return enclosure;
    }
    let mut options = Vec::new();
    if let Some(memory) = limits.memory {
        // No way around it by swapping.
        options.push(format!("--memory={memory}b"));
        options.push(format!("--memory-swap={memory}b"));
    }
    if let Some(processes) = limits.processes {
        // The supervisor is none of the command's.
        options.push(format!("--pids-limit={}", u64::from(processes) + 1));
    }
    if let Some(cpus) = limits.cpus {
        options.push(format!("--cpus={cpus}"));
    }
    enclosure.with_options(&options)
}

/// Returns, for people, how limits are kept on this machine.
pub fn on_this_machine() -> String {
    let number = format!("{:08x}", std::process::id());
    let cgroups = Cgroups::find(&number, &Controller::ALL);
    let mut versions = BTreeSet::new();
    let mut by_kernel = Vec::new();
    let mut others = Vec::new();
    for controller in Controller::ALL {
        match cgroups.version_of(controller) {
            Some(version) => {
                versions.insert(match version {
                    Version::One => "1",
                    Version::Two => "2",
                });
                by_kernel.push(field(controller));
            }
            None => others.push(field(controller)),
        }
    }
    let versions: Vec<&str> = versions.into_iter().collect();
    let versions = prose::list(&versions, "and");
    if others.is_empty() {
        return format!(
            "✓ limits: the kernel enforces {} (control groups, version {versions})",
            prose::list(&by_kernel, "and")
        );
    }
    let kept = if by_kernel.is_empty() {
        String::new()
    } else {
        format!(
            "the kernel enforces {} (control groups, version {versions}); ",
            prose::list(&by_kernel, "and")
        )
    };
    format!(
        "! limits: {kept}no control group can be made for {}: Terca watches memory and processes itself, and \
         `limits.cpus` has no effect",
        prose::list(&others, "and")
    )
}

/// Returns the most processes of the user while a command runs whose processes are watched. A fork bomb can double
/// every few
/// milliseconds, and nobody would get to look any more. Far beyond the limit, since other trials and everything
/// else of the
/// user count too. It does not hold for the superuser.
fn most_of_user(processes: u32) -> u64 {
    usage::of_user().tasks + u64::from(processes) * 8 + 500
}

fn is_asked(limits: &TrialLimits, controller: Controller) -> bool {
    match controller {
        Controller::Memory => limits.memory.is_some(),
        Controller::Processes => limits.processes.is_some(),
        Controller::Cpus => limits.cpus.is_some(),
    }
}

fn field(controller: Controller) -> &'static str {
    match controller {
        Controller::Memory => "`limits.memory`",
        Controller::Processes => "`limits.processes`",
        Controller::Cpus => "`limits.cpus`",
    }
}

/// A command whose limits are kept.
#[derive(Debug)]
pub(crate) struct LimitedCommand {
    /// Its enclosure, which may be there for its limits alone.
    pub(crate) enclosure: Option<Enclosure>,
    group: Option<Group>,
    watch: Watch,
    limits: TrialLimits,
}

impl LimitedCommand {
    /// Takes the enclosure out.
    pub(crate) fn take_enclosure(&mut self) -> Option<Enclosure> {
        self.enclosure.take()
    }

    /// Looks whether the command is beyond its limits, if it is time to look. `root` is the process above all of its
    /// own.
    pub(crate) fn on_turn(&mut self, root: Option<Pid>) -> Turn {
        if self.watch.is_beyond(root) {
            Turn::Kill
        } else {
            Turn::Wait
        }
    }

    /// Returns whether it was ended because it was beyond its limits.
    pub(crate) fn was_ended(&self) -> bool {
        self.watch.beyond().is_some()
    }

    /// Returns a sentence for each limit that was met. `who` met it.
    pub(crate) fn met(&self, who: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(beyond) = self.watch.beyond() {
            sentences.push(beyond.sentence(who, &self.limits));
        }
        let met = self.group.as_ref().map(Group::met).unwrap_or_default();
        if let Some(limit) = self.limits.memory
            && met.memory > 0
        {
            let ended = prose::count(met.memory as usize, "process");
            let verb = if met.memory == 1 { "was" } else { "were" };
            let limit = prose::bytes(limit);
            sentences.push(format!(
                "{who} reached limits.memory ({limit}): {ended} {verb} ended by the kernel"
            ));
        }
        if let Some(limit) = self.limits.processes
            && met.processes > 0
        {
            sentences.push(format!(
                "{who} reached limits.processes ({limit}): no more could be started"
            ));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::supervise::Container;

    #[test]
    fn the_engine_of_a_container_keeps_its_limits() {
        let enclosure = Enclosure {
            program: "docker".into(),
            args: vec!["run".to_owned(), "image".to_owned()],
            supervisor: "/terca".into(),
            outlet: None,
            container: Some(Container {
                name: "terca-1".to_owned(),
                env: Vec::new(),
                meeting: "/meeting".into(),
                inside: "/inside".into(),
            }),
        };
        let limits = TrialLimits {
            memory: Some(64_000_000),
            processes: Some(20),
            cpus: Some(1.5),
            ..TrialLimits::default()
        };
        let keeper = LimitKeeper::default();
        let limited = keeper.begin(&limits, Some(enclosure), Vec::new()).unwrap();
        assert_eq!(
            limited.enclosure.unwrap().args,
            [
                "run", "--memory=64000000b", "--memory-swap=64000000b", "--pids-limit=21",
                "--cpus=1.5", "image"
            ]
        );
        let kept = keeper.kept_by(&limits, true).unwrap();
        assert_eq!(kept.memory, Some(KeptBy::Container));
    }
}
