//! `limits` of a trial, kept while its commands run.
//!
//! Memory, processes and processors are kept by the kernel, in a control group for each command
//! ([`cgroup`](crate::process::cgroup)). Where no group can be made, Terca looks at memory and processes about ten times a
//! second and ends what is beyond them; processors are then not limited, which is said. Disk space is always looked at.
//!
//! Rejected: the kernel's limits for processes (`RLIMIT_AS`, `RLIMIT_NPROC`) alone. The first counts addresses, of which Node
//! takes many gigabytes without using them; the second counts all processes of the user, Terca's caller included, and does
//! not hold for the superuser. Neither says afterwards that it was met. The second is a backstop where Terca watches.

mod watch;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Pid;
use terca_core::config::suite::{KeptBy, LimitsKeptBy, TrialLimits};
use terca_core::text::prose;

use crate::process::cgroup::{Cgroups, Controller, Group};
use crate::process::confine::{Confinement, OWN_PROGRAM};
use crate::process::supervise::{Enclosure, Turn};
use crate::workspace::trial_dirs::WorkDir;
use watch::Watch;
pub use watch::WatchedDir;

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
        let asked: Vec<TrialLimits> = asked.into_iter().collect();
        let mut wanted = Controller::ALL.to_vec();
        wanted.retain(|controller| asked.iter().any(|limits| controller.is_limited(limits)));
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
        let cgroups = self.cgroups.as_ref();
        let has_group = cgroups.is_some_and(|cgroups| cgroups.have(controller));
        match controller {
            _ if has_group => KeptBy::Cgroup,
            Controller::Cpus => KeptBy::Nothing,
            Controller::Memory | Controller::Processes if watch::sees_processes() => KeptBy::Watch,
            Controller::Memory | Controller::Processes => KeptBy::Nothing,
        }
    }

    /// Returns how the limits of a trial are kept, in a container or not. `None` if it has none but that of its disk.
    pub fn kept_by(&self, limits: &TrialLimits, in_container: bool) -> Option<LimitsKeptBy> {
        let way = |controller: Controller| match in_container {
            _ if !controller.is_limited(limits) => None,
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

    /// Begins to keep the limits of one command, which has this enclosure. The disk space of `dirs` is looked at.
    pub(crate) fn begin(
        &self,
        limits: &TrialLimits,
        enclosure: Option<Enclosure>,
        dirs: Vec<WatchedDir>,
    ) -> io::Result<LimitedCommand> {
        let in_container = enclosure
            .as_ref()
            .is_some_and(|enclosure| enclosure.container.is_some());
        let Some(kept_by) = self.kept_by(limits, false).filter(|_| !in_container) else {
            let disk_alone = TrialLimits {
                disk: limits.disk,
                ..TrialLimits::default()
            };
            return Ok(LimitedCommand {
                enclosure: enclosure.map(|enclosure| in_engine(enclosure, limits)),
                group: None,
                watch: Watch::new(disk_alone, 0, dirs),
                limits: *limits,
            });
        };
        let has_wall = enclosure
            .as_ref()
            .is_some_and(|enclosure| enclosure.program != OWN_PROGRAM);
        // The supervisor and the program that makes its walls are none of the command's.
        let own_processes = if has_wall { 2 } else { 1 };
        let in_group = TrialLimits {
            processes: limits
                .processes
                .map(|most| most.saturating_add(own_processes)),
            ..*limits
        };
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let group = self.cgroups.as_ref();
        let group = group
            .map(|cgroups| cgroups.create(number, &in_group))
            .transpose()?;
        let watched = TrialLimits {
            memory: limits
                .memory
                .filter(|_| kept_by.memory == Some(KeptBy::Watch)),
            processes: (limits.processes).filter(|_| kept_by.processes == Some(KeptBy::Watch)),
            ..*limits
        };
        let confinement = Confinement {
            groups: group.as_ref().map(Group::entrances).unwrap_or_default(),
            user_processes: watched.processes.map(watch::most_of_user),
            ..Confinement::default()
        };
        Ok(LimitedCommand {
            enclosure: Some(Enclosure::confined(enclosure, &confinement)),
            group,
            watch: Watch::new(watched, u64::from(own_processes), dirs),
            limits: *limits,
        })
    }
}

/// Lets the engine of a container keep limits. Everything else stays as it is.
fn in_engine(mut enclosure: Enclosure, limits: &TrialLimits) -> Enclosure {
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
    // After the command of the engine, which is `run`.
    enclosure.args.splice(1..1, options);
    enclosure
}

/// Returns, for people, how limits are kept on this machine.
pub fn on_this_machine() -> String {
    let number = format!("{:08x}", std::process::id());
    let cgroups = Cgroups::find(&number, &Controller::ALL);
    let (by_kernel, others): (Vec<Controller>, Vec<Controller>) = Controller::ALL
        .iter()
        .partition(|controller| cgroups.have(**controller));
    let [kept, others] = [by_kernel, others]
        .map(|controllers| prose::list(controllers.into_iter().map(field), "and"));
    let kept = match kept.as_str() {
        "" => kept,
        kept => format!("the kernel enforces {kept} (control groups)"),
    };
    match others.as_str() {
        "" => format!("✓ limits: {kept}"),
        others => format!(
            "! limits: {kept}{}no control group can be made for {others}: Terca watches memory and processes itself, \
             and `limits.cpus` has no effect",
            if kept.is_empty() { "" } else { "; " }
        ),
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
    pub enclosure: Option<Enclosure>,
    group: Option<Group>,
    watch: Watch,
    limits: TrialLimits,
}

impl LimitedCommand {
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
        self.watch.beyond.is_some()
    }

    /// Returns a sentence for each limit that was met. `who` met it.
    pub(crate) fn met(&self, who: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(limit) = &self.watch.beyond {
            sentences.push(format!("{who} exceeded {limit}, and was ended"));
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
            has_fixed_root: false,
            has_filter: false,
            program: "docker".into(),
            args: vec!["run".to_owned(), "image".to_owned()],
            supervisor: "/terca".into(),
            outlet: None,
            container: Some(Container {
                name: "terca-1".to_owned(),
                env: Default::default(),
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
