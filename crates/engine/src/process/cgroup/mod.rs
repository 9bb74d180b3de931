//! Control groups: limits of memory, processes and processors that the kernel keeps.
//!
//! A group is made for a command, beneath a group that Terca is in itself, and is removed after it. In version 2 of the
//! kernel's interface a group with processes of its own can have no groups with limits beneath it, so the groups above are
//! looked at too. Who is not the superuser needs a part of the tree that was given to them (delegated).
//!
//! The names of groups have the number of the run in them, and the run's work directory has a list of the places: a run
//! that was killed leaves groups which the next one removes.

mod places;

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process};

use places::OwnGroup;
pub use places::Version;

/// The names of groups: this, the number of the run, and the number of the group.
const NAME: &str = "terca-";
/// The file of a group that processes are put in by.
const PROCESSES: &str = "cgroup.procs";
/// The period in which the time of processors is measured, in microseconds.
const PERIOD: u64 = 100_000;

/// A resource that the kernel can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Memory.
    Memory,
    /// Processes and threads.
    Processes,
    /// The time of processors.
    Cpus,
}

impl Controller {
    /// All of them.
    pub const ALL: [Controller; 3] = [Controller::Memory, Controller::Processes, Controller::Cpus];

    /// Returns the kernel's name for it.
    fn name(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Processes => "pids",
            Controller::Cpus => "cpu",
        }
    }
}

/// The limits of a group.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupLimits {
    /// Bytes.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Processors.
    pub cpus: Option<f64>,
}

impl GroupLimits {
    fn has(&self, controller: Controller) -> bool {
        match controller {
            Controller::Memory => self.memory.is_some(),
            Controller::Processes => self.processes.is_some(),
            Controller::Cpus => self.cpus.is_some(),
        }
    }
}

/// A group in which others can be made.
#[derive(Debug, Clone)]
struct Parent {
    dir: Utf8PathBuf,
    version: Version,
    controllers: Vec<Controller>,
}

/// The groups in which a run makes its own.
#[derive(Debug)]
pub struct Cgroups {
    parents: Vec<Parent>,
    /// The beginning of the names of all groups of the run.
    prefix: String,
}

impl Cgroups {
    /// Finds where groups with these controllers can be made, and tries it. `run` is the number of the run.
    pub fn find(run: &str, wanted: &[Controller]) -> Self {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}"));
        let own = places::own_groups(
            &read("cgroup").unwrap_or_default(),
            &read("mountinfo").unwrap_or_default(),
        );
        Cgroups::among(&own, run, wanted)
    }

    fn among(own: &[OwnGroup], run: &str, wanted: &[Controller]) -> Self {
        let prefix = format!("{NAME}{run}-");
        let name = format!("{prefix}try");
        let mut parents: Vec<Parent> = Vec::new();
        for group in own {
            let missing: Vec<Controller> = wanted
                .iter()
                .copied()
                .filter(|controller| {
                    !parents
                        .iter()
                        .any(|made| made.controllers.contains(controller))
                })
                .collect();
            parents.extend(match group.version {
                Version::One => parent_of_version_1(group, &missing, &name),
                Version::Two => parent_of_version_2(group, &missing, &name),
            });
        }
        Cgroups { parents, prefix }
    }

    /// Returns the version of the interface that has a controller, if there is one.
    pub fn version_of(&self, controller: Controller) -> Option<Version> {
        let parent = self
            .parents
            .iter()
            .find(|parent| parent.controllers.contains(&controller))?;
        Some(parent.version)
    }

    /// Returns a line for each place in which groups are made: the list for [`remove_left`].
    pub fn list(&self) -> String {
        let lines = self
            .parents
            .iter()
            .map(|parent| format!("{}\n", parent.dir));
        lines.collect()
    }

    /// Makes a group with the limits that there are controllers for. `number` must not be that of another.
    pub fn create(&self, number: u64, limits: &GroupLimits) -> io::Result<Group> {
        let mut group = Group { parts: Vec::new() };
        for parent in &self.parents {
            let asked: Vec<Controller> = parent
                .controllers
                .iter()
                .copied()
                .filter(|controller| limits.has(*controller))
                .collect();
            if asked.is_empty() {
                continue;
            }
            let dir = parent.dir.join(format!("{}{number}", self.prefix));
            fs_err::create_dir(&dir)?;
            let part = Part {
                dir,
                version: parent.version,
                controllers: asked,
            };
            // In the group first, so that it is removed if a limit is refused.
            group.parts.push(part);
            if let Some(part) = group.parts.last() {
                part.set(limits)?;
            }
        }
        Ok(group)
    }
}

fn parent_of_version_1(own: &OwnGroup, wanted: &[Controller], name: &str) -> Option<Parent> {
    let controllers: Vec<Controller> = wanted
        .iter()
        .copied()
        .filter(|controller| own.controllers.iter().any(|name| name == controller.name()))
        .collect();
    let can_make =
        !controllers.is_empty() && is_made_and_entered(&own.dir, name, &controllers, Version::One);
    can_make.then(|| Parent {
        dir: own.dir.clone(),
        version: Version::One,
        controllers,
    })
}

/// Looks at the own group and those above it.
fn parent_of_version_2(own: &OwnGroup, wanted: &[Controller], name: &str) -> Option<Parent> {
    for dir in own
        .dir
        .ancestors()
        .take_while(|dir| dir.starts_with(&own.mount))
    {
        let available = std::fs::read_to_string(dir.join("cgroup.controllers")).unwrap_or_default();
        let controllers: Vec<Controller> = wanted
            .iter()
            .copied()
            .filter(|controller| {
                available
                    .split_whitespace()
                    .any(|name| name == controller.name())
            })
            .collect();
        // Who moves a process needs a right on the group above both places.
        if controllers.is_empty()
            || access(dir.join(PROCESSES).as_std_path(), Access::WRITE_OK).is_err()
        {
            continue;
        }
        let enabled =
            std::fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default();
        for controller in &controllers {
            if !enabled
                .split_whitespace()
                .any(|name| name == controller.name())
            {
                // A group with processes of its own refuses it, and the next one above is tried.
                let _ = std::fs::write(
                    dir.join("cgroup.subtree_control"),
                    format!("+{}", controller.name()),
                );
            }
        }
        if is_made_and_entered(dir, name, &controllers, Version::Two) {
            return Some(Parent {
                dir: dir.to_owned(),
                version: Version::Two,
                controllers,
            });
        }
    }
    None
}

/// Returns whether a group can be made that has these controllers and that processes can be put into.
fn is_made_and_entered(
    parent: &Utf8Path,
    name: &str,
    controllers: &[Controller],
    version: Version,
) -> bool {
    let dir = parent.join(name);
    if std::fs::create_dir(&dir).is_err() {
        return false;
    }
    let can_write = |name: &str| access(dir.join(name).as_std_path(), Access::WRITE_OK).is_ok();
    let works = can_write(PROCESSES)
        && controllers
            .iter()
            .all(|controller| can_write(limit_file(*controller, version)));
    let _ = std::fs::remove_dir(&dir);
    works
}

/// Returns the file that a limit is written to.
fn limit_file(controller: Controller, version: Version) -> &'static str {
    match (controller, version) {
        (Controller::Memory, Version::One) => "memory.limit_in_bytes",
        (Controller::Memory, Version::Two) => "memory.max",
        (Controller::Processes, _) => "pids.max",
        (Controller::Cpus, Version::One) => "cpu.cfs_quota_us",
        (Controller::Cpus, Version::Two) => "cpu.max",
    }
}

/// A group of processes with limits. It is removed with this value, and everything that still runs in it is ended.
#[derive(Debug)]
pub struct Group {
    parts: Vec<Part>,
}

/// The directory of a group in one of the trees.
#[derive(Debug)]
struct Part {
    dir: Utf8PathBuf,
    version: Version,
    controllers: Vec<Controller>,
}

impl Part {
    fn set(&self, limits: &GroupLimits) -> io::Result<()> {
        for controller in &self.controllers {
            match controller {
                Controller::Memory => self.set_memory(limits.memory.unwrap_or(u64::MAX))?,
                Controller::Processes => {
                    let most = limits.processes.unwrap_or(u64::MAX);
                    self.write("pids.max", &most.to_string())?;
                }
                Controller::Cpus => {
                    let quota = (limits.cpus.unwrap_or(1.0) * PERIOD as f64) as u64;
                    match self.version {
                        Version::One => {
                            self.write("cpu.cfs_period_us", &PERIOD.to_string())?;
                            self.write("cpu.cfs_quota_us", &quota.to_string())?;
                        }
                        Version::Two => self.write("cpu.max", &format!("{quota} {PERIOD}"))?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Limits memory, and leaves no way around it by swapping.
    fn set_memory(&self, bytes: u64) -> io::Result<()> {
        // More than any machine has is as good as no limit.
        let bytes = bytes.min(1 << 50).to_string();
        self.write(limit_file(Controller::Memory, self.version), &bytes)?;
        let (swap, most) = match self.version {
            Version::One => ("memory.memsw.limit_in_bytes", bytes.as_str()),
            Version::Two => ("memory.swap.max", "0"),
        };
        if self.dir.join(swap).exists() {
            self.write(swap, most)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        fs_err::write(self.dir.join(name), value)
    }

    /// Reads a count from a file with a name and a number in each line.
    fn count(&self, file: &str, name: &str) -> u64 {
        let text = std::fs::read_to_string(self.dir.join(file)).unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse().ok())
            .unwrap_or(0)
    }
}

/// The number of times that the processes of a group have met its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Met {
    /// Processes that the kernel has ended for want of memory.
    pub memory: u64,
    /// Processes and threads that could not be started.
    pub processes: u64,
}

impl Group {
    /// Returns the files that a process writes to, to put itself into the group.
    pub fn entrances(&self) -> Vec<Utf8PathBuf> {
        self.parts
            .iter()
            .map(|part| part.dir.join(PROCESSES))
            .collect()
    }

    /// Returns how often its limits were met.
    pub fn met(&self) -> Met {
        let mut met = Met::default();
        for part in &self.parts {
            for controller in &part.controllers {
                match (controller, part.version) {
                    (Controller::Memory, Version::One) => {
                        met.memory = part.count("memory.oom_control", "oom_kill");
                    }
                    (Controller::Memory, Version::Two) => {
                        met.memory = part.count("memory.events", "oom_kill");
                    }
                    (Controller::Processes, _) => met.processes = part.count("pids.events", "max"),
                    (Controller::Cpus, _) => {}
                }
            }
        }
        met
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for part in &self.parts {
            // What is left has the number of this run in its name, and the next one removes it.
            let _ = remove(&part.dir);
        }
    }
}

/// Removes the groups of a dead run, which made them at the places of a list. Returns a line for each that could not be
/// removed.
pub fn remove_left(list: &str, run: &str) -> Vec<String> {
    let prefix = format!("{NAME}{run}-");
    let mut left = Vec::new();
    for parent in list
        .lines()
        .map(Utf8Path::new)
        .filter(|dir| is_of_cgroups(dir))
    {
        let Ok(entries) = parent.read_dir_utf8() else {
            continue;
        };
        for entry in entries.flatten() {
            if !entry.file_name().starts_with(&prefix) {
                continue;
            }
            if let Err(error) = remove(entry.path()) {
                left.push(format!("{}: {error}", entry.path()));
            }
        }
    }
    left
}

/// Returns whether a directory is in a tree of groups. The list could be anybody's.
fn is_of_cgroups(dir: &Utf8Path) -> bool {
    dir.is_absolute() && dir.join(PROCESSES).is_file() && is_kernels(dir)
}

#[cfg(target_os = "linux")]
fn is_kernels(dir: &Utf8Path) -> bool {
    const MAGIC: [u64; 2] = [0x0027_e0eb, 0x6367_7270];
    rustix::fs::statfs(dir.as_std_path())
        .is_ok_and(|system| MAGIC.contains(&(system.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
fn is_kernels(_dir: &Utf8Path) -> bool {
    false
}

/// Ends everything in a group, and removes it.
fn remove(dir: &Utf8Path) -> io::Result<()> {
    const ROUNDS: usize = 100;
    let mut result = fs_err::remove_dir(dir);
    for _ in 0..ROUNDS {
        match &result {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => {}
        }
        let inside = std::fs::read_to_string(dir.join(PROCESSES)).unwrap_or_default();
        for pid in inside
            .lines()
            .filter_map(|line| Pid::from_raw(line.trim().parse().ok()?))
        {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
        result = fs_err::remove_dir(dir);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of version 2 that is made of plain files.
    fn tree(controllers: &str) -> (tempfile::TempDir, OwnGroup) {
        let temporary = tempfile::tempdir().unwrap();
        let mount = Utf8Path::from_path(temporary.path()).unwrap().to_owned();
        let dir = mount.join("session");
        fs_err::create_dir(&dir).unwrap();
        for place in [&mount, &dir] {
            fs_err::write(place.join("cgroup.controllers"), controllers).unwrap();
            fs_err::write(place.join("cgroup.subtree_control"), "").unwrap();
            fs_err::write(place.join(PROCESSES), "").unwrap();
        }
        let own = OwnGroup {
            version: Version::Two,
            controllers: Vec::new(),
            mount,
            dir,
        };
        (temporary, own)
    }

    #[test]
    fn a_tree_in_which_no_controller_can_be_had_is_not_used() {
        // A directory that is made in it has no file for a limit.
        let (_temporary, own) = tree("memory pids\n");
        let found = Cgroups::among(std::slice::from_ref(&own), "0000abcd", &Controller::ALL);
        assert_eq!(found.version_of(Controller::Memory), None);
        assert_eq!(found.list(), "");
        let left: Vec<_> = own.dir.read_dir_utf8().unwrap().flatten().collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }

    #[test]
    fn limits_are_written_as_the_kernel_reads_them() {
        let (_temporary, own) = tree("");
        let part = Part {
            dir: own.dir.clone(),
            version: Version::Two,
            controllers: Controller::ALL.to_vec(),
        };
        fs_err::write(own.dir.join("memory.swap.max"), "max").unwrap();
        let limits = GroupLimits {
            memory: Some(64_000_000),
            processes: Some(20),
            cpus: Some(1.5),
        };
        part.set(&limits).unwrap();
        for (file, expected) in [
            ("memory.max", "64000000"),
            ("memory.swap.max", "0"),
            ("pids.max", "20"),
            ("cpu.max", "150000 100000"),
        ] {
            assert_eq!(
                fs_err::read_to_string(own.dir.join(file)).unwrap(),
                expected
            );
        }
        let old = Part {
            version: Version::One,
            ..part
        };
        old.set(&limits).unwrap();
        for (file, expected) in [
            ("memory.limit_in_bytes", "64000000"),
            ("cpu.cfs_period_us", "100000"),
            ("cpu.cfs_quota_us", "150000"),
        ] {
            assert_eq!(
                fs_err::read_to_string(own.dir.join(file)).unwrap(),
                expected
            );
        }
    }

    #[test]
    fn limits_that_were_met_are_counted() {
        let (_temporary, own) = tree("");
        let events = "low 0\nhigh 0\nmax 40\noom 3\noom_kill 2\noom_group_kill 0\n";
        fs_err::write(own.dir.join("memory.events"), events).unwrap();
        fs_err::write(own.dir.join("pids.events"), "max 7\n").unwrap();
        let part = Part {
            dir: own.dir,
            version: Version::Two,
            controllers: Controller::ALL.to_vec(),
        };
        let group = Group { parts: vec![part] };
        assert_eq!(
            group.met(),
            Met {
                memory: 2,
                processes: 7
            }
        );
        std::mem::forget(group);
    }

    #[test]
    fn a_list_of_other_directories_is_not_believed() {
        let (_temporary, own) = tree("");
        let victim = own.dir.join("terca-0000abcd-1");
        fs_err::create_dir(&victim).unwrap();
        assert_eq!(remove_left(&format!("{}\n", own.dir), "0000abcd"), [""; 0]);
        assert!(victim.exists());
    }
}
