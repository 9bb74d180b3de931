//! Control groups: limits of memory, processes and processors that the kernel keeps.
//!
//! A group is made for a command, beneath a group that Terca is in itself, and is removed after it. Who is not the superuser
//! needs a part of the tree that was given to them (delegated). The kernel has two interfaces, which may be there side by
//! side.
//!
//! The names of groups have the number of the run in them, and the run's work directory has a list of the places: a run
//! that was killed leaves groups which the next one removes.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process};
use terca_core::config::suite::TrialLimits;

/// The names of groups: this, the number of the run, and the number of the group.
const NAME: &str = "terca-";
/// The file of a group that processes are put in by.
const PROCESSES: &str = "cgroup.procs";
/// The period in which the time of processors is measured, in microseconds.
const PERIOD: u64 = 100_000;
/// The file with the controllers that the groups beneath a group of version 2 have.
const ENABLED: &str = "cgroup.subtree_control";

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

    /// Returns whether a trial has a limit for it.
    pub fn is_limited(self, limits: &TrialLimits) -> bool {
        match self {
            Controller::Memory => limits.memory.is_some(),
            Controller::Processes => limits.processes.is_some(),
            Controller::Cpus => limits.cpus.is_some(),
        }
    }
}

/// A version of the kernel's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// A tree for each controller.
    One,
    /// One tree for all controllers.
    Two,
}

impl Version {
    /// Returns the file that counts the processes which were ended for want of memory.
    fn kills(self) -> &'static str {
        match self {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        }
    }

    /// Returns the files of a limit and their content. The first is always there; others are where they are needed.
    fn settings(self, controller: Controller, limits: &TrialLimits) -> Vec<(&'static str, String)> {
        // More than any machine has is as good as no limit.
        let memory = limits.memory.unwrap_or(u64::MAX).min(1 << 50).to_string();
        // The time of processors in a period.
        let quota = (limits.cpus.unwrap_or(1.0) * PERIOD as f64) as u64;
        match (controller, self) {
            (Controller::Memory, Version::One) => vec![
                ("memory.limit_in_bytes", memory.clone()),
                ("memory.memsw.limit_in_bytes", memory),
            ],
            (Controller::Memory, Version::Two) => {
                vec![("memory.max", memory), ("memory.swap.max", "0".to_owned())]
            }
            (Controller::Processes, _) => {
                vec![("pids.max", limits.processes.unwrap_or(u32::MAX).to_string())]
            }
            (Controller::Cpus, Version::One) => vec![
                ("cpu.cfs_period_us", PERIOD.to_string()),
                ("cpu.cfs_quota_us", quota.to_string()),
            ],
            (Controller::Cpus, Version::Two) => vec![("cpu.max", format!("{quota} {PERIOD}"))],
        }
    }
}

/// A group: one that others can be made beneath, or one that was made, in one of the trees.
#[derive(Debug)]
struct Place {
    dir: Utf8PathBuf,
    version: Version,
    controllers: Vec<Controller>,
}

/// The group of this process in one of the trees.
#[derive(Debug)]
struct OwnGroup {
    version: Version,
    /// The controllers of a tree of version 1.
    controllers: Vec<String>,
    /// The root of the tree, as it is mounted.
    mount: Utf8PathBuf,
    dir: Utf8PathBuf,
}

/// The groups in which a run makes its own.
#[derive(Debug)]
pub struct Cgroups {
    parents: Vec<Place>,
    /// The beginning of the names of all groups of the run.
    prefix: String,
}

impl Cgroups {
    /// Finds where groups with these controllers can be made, and tries it. `run` is the number of the run.
    pub fn find(run: &str, wanted: &[Controller]) -> Self {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}"));
        let own = own_groups(
            &read("cgroup").unwrap_or_default(),
            &read("mountinfo").unwrap_or_default(),
        );
        Cgroups::among(&own, run, wanted)
    }

    fn among(own: &[OwnGroup], run: &str, wanted: &[Controller]) -> Self {
        let mut cgroups = Cgroups {
            parents: Vec::new(),
            prefix: format!("{NAME}{run}-"),
        };
        let name = format!("{}try", cgroups.prefix);
        for group in own {
            let mut missing = wanted.to_vec();
            missing.retain(|controller| !cgroups.have(*controller));
            cgroups.parents.extend(group.place(&missing, &name));
        }
        cgroups
    }

    /// Returns whether groups can have a controller.
    pub fn have(&self, controller: Controller) -> bool {
        let mut parents = self.parents.iter();
        parents.any(|parent| parent.controllers.contains(&controller))
    }

    /// Returns a line for each place in which groups are made: the list for [`remove_left`].
    pub fn list(&self) -> String {
        let lines = self.parents.iter();
        lines.map(|parent| format!("{}\n", parent.dir)).collect()
    }

    /// Makes a group with the limits that there are controllers for. `number` must not be that of another.
    pub fn create(&self, number: u64, limits: &TrialLimits) -> io::Result<Group> {
        let mut group = Group { parts: Vec::new() };
        for parent in &self.parents {
            let mut controllers = parent.controllers.clone();
            controllers.retain(|controller| controller.is_limited(limits));
            if controllers.is_empty() {
                continue;
            }
            let part = Place {
                dir: parent.dir.join(format!("{}{number}", self.prefix)),
                version: parent.version,
                controllers,
            };
            fs_err::create_dir(&part.dir)?;
            let is_set = part.set(limits);
            // In the group first, so that it is removed if a limit is refused.
            group.parts.push(part);
            is_set?;
        }
        Ok(group)
    }
}

impl OwnGroup {
    /// Finds a place for groups with some of these controllers at which making one of this name works. A group of version 2
    /// with processes of its own can have no groups with limits beneath it, so those above are tried too.
    fn place(&self, wanted: &[Controller], name: &str) -> Option<Place> {
        let is_unified = self.version == Version::Two;
        let above = self.dir.ancestors();
        let above = above.take_while(|dir| dir.starts_with(&self.mount));
        let mut dirs = above.take(if is_unified { usize::MAX } else { 1 });
        dirs.find_map(|dir| {
            let mut controllers = wanted.to_vec();
            controllers.retain(|controller| match self.version {
                Version::One => self
                    .controllers
                    .iter()
                    .any(|name| name == controller.name()),
                Version::Two => lists(dir, "cgroup.controllers", *controller),
            });
            // Who moves a process needs a right on the group above both places.
            if controllers.is_empty() || is_unified && !can_write(dir, PROCESSES) {
                return None;
            }
            for controller in controllers.iter().filter(|_| is_unified) {
                if !lists(dir, ENABLED, *controller) {
                    // A refusal is noticed when a group is tried.
                    let _ = std::fs::write(dir.join(ENABLED), format!("+{}", controller.name()));
                }
            }
            let place = Place {
                dir: dir.join(name),
                version: self.version,
                controllers,
            };
            place.is_made_and_entered().then(|| Place {
                dir: dir.to_owned(),
                ..place
            })
        })
    }
}

fn lists(dir: &Utf8Path, file: &str, controller: Controller) -> bool {
    let text = std::fs::read_to_string(dir.join(file)).unwrap_or_default();
    text.split_whitespace()
        .any(|name| name == controller.name())
}

fn can_write(dir: &Utf8Path, file: &str) -> bool {
    access(dir.join(file).as_std_path(), Access::WRITE_OK).is_ok()
}

impl Place {
    /// Returns whether this group can be made, has its controllers, and processes can be put into it.
    fn is_made_and_entered(&self) -> bool {
        if std::fs::create_dir(&self.dir).is_err() {
            return false;
        }
        let works = can_write(&self.dir, PROCESSES)
            && self.controllers.iter().all(|controller| {
                let settings = self.version.settings(*controller, &TrialLimits::default());
                let first = settings.first();
                first.is_some_and(|(file, _)| can_write(&self.dir, file))
            });
        let _ = std::fs::remove_dir(&self.dir);
        works
    }

    fn set(&self, limits: &TrialLimits) -> io::Result<()> {
        for controller in &self.controllers {
            let settings = self.version.settings(*controller, limits);
            for (index, (file, value)) in settings.into_iter().enumerate() {
                let path = self.dir.join(file);
                // A kernel without swapping has no limit for it.
                if index == 0 || path.exists() {
                    fs_err::write(path, value)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a count from a file with a name and a number in each line, if the group has a controller.
    fn count(&self, controller: Controller, file: &str, name: &str) -> u64 {
        if !self.controllers.contains(&controller) {
            return 0;
        }
        let text = std::fs::read_to_string(self.dir.join(file)).unwrap_or_default();
        let mut lines = text.lines();
        let number = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        number.map_or(0, |number| number.trim().parse().unwrap_or(0))
    }
}

/// A group of processes with limits. It is removed with this value, and everything that still runs in it is ended.
#[derive(Debug)]
pub struct Group {
    parts: Vec<Place>,
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
        let parts = self.parts.iter();
        parts.map(|part| part.dir.join(PROCESSES)).collect()
    }

    /// Returns how often its limits were met.
    pub fn met(&self) -> Met {
        let mut met = Met::default();
        for part in &self.parts {
            met.memory += part.count(Controller::Memory, part.version.kills(), "oom_kill");
            met.processes += part.count(Controller::Processes, "pids.events", "max");
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
    let parents = list.lines().map(Utf8Path::new);
    for parent in parents.filter(|dir| is_of_cgroups(dir)) {
        for entry in parent.read_dir_utf8().into_iter().flatten().flatten() {
            if entry.file_name().starts_with(&prefix)
                && let Err(error) = remove(entry.path())
            {
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

/// Returns the group of a line of `/proc/self/cgroup`, if it is in the tree of a line of `mountinfo`. One above the root of
/// the mount cannot be reached.
fn own_group(mounted: &str, controllers: &[&str], path: &str) -> Option<OwnGroup> {
    let (place, kind) = mounted.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup" if !controllers.is_empty() => Version::One,
        "cgroup2" if controllers.is_empty() => Version::Two,
        _ => return None,
    };
    let options: Vec<&str> = kind.nth(1)?.split(',').collect();
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (place.next()?, Utf8Path::new(place.next()?));
    let inside = Utf8Path::new(path).strip_prefix(root).ok()?;
    let is_meant = controllers.iter().all(|name| options.contains(name));
    is_meant.then(|| OwnGroup {
        version,
        controllers: controllers.iter().map(|name| (*name).to_owned()).collect(),
        mount: mount.to_owned(),
        dir: mount.join(inside),
    })
}

/// Returns the groups of a process, from its `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn own_groups(groups: &str, mounts: &str) -> Vec<OwnGroup> {
    let lines = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let controllers = controllers.split(',').filter(|name| !name.is_empty());
        let controllers: Vec<&str> = controllers.collect();
        mounts
            .lines()
            .find_map(|mounted| own_group(mounted, &controllers, path))
    });
    lines.collect()
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
        assert!(!found.have(Controller::Memory));
        assert_eq!(found.list(), "");
        let left: Vec<_> = own.dir.read_dir_utf8().unwrap().flatten().collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }

    #[test]
    fn limits_are_written_as_the_kernel_reads_them() {
        let (_temporary, own) = tree("");
        let part = Place {
            dir: own.dir.clone(),
            version: Version::Two,
            controllers: Controller::ALL.to_vec(),
        };
        fs_err::write(own.dir.join("memory.swap.max"), "max").unwrap();
        let limits = TrialLimits {
            memory: Some(64_000_000),
            processes: Some(20),
            cpus: Some(1.5),
            ..TrialLimits::default()
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
        let old = Place {
            version: Version::One,
            ..part
        };
        fs_err::write(own.dir.join("cpu.cfs_quota_us"), "-1").unwrap();
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
        let part = Place {
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

    fn found(groups: &str, mounts: &str) -> Vec<(Version, String, String)> {
        own_groups(groups, mounts)
            .into_iter()
            .map(|own| {
                (
                    own.version,
                    own.controllers.join(","),
                    own.dir.into_string(),
                )
            })
            .collect()
    }

    #[test]
    fn trees_of_both_versions_are_found() {
        let mounts = "\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";
        let groups = "3:memory:/some/group\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/other\n";
        assert_eq!(
            found(groups, mounts),
            [
                (
                    Version::One,
                    "memory".to_owned(),
                    "/sys/fs/cgroup/memory/some/group".to_owned()
                ),
                (
                    Version::One,
                    "cpu,cpuacct".to_owned(),
                    "/sys/fs/cgroup/cpu,cpuacct/".to_owned()
                ),
                (
                    Version::Two,
                    String::new(),
                    "/sys/fs/cgroup/unified/other".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn a_part_of_a_tree_may_be_mounted() {
        let mounts = "32 30 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let inside = "3:memory:/docker/abc/child\n";
        assert_eq!(
            found(inside, mounts),
            [(
                Version::One,
                "memory".to_owned(),
                "/sys/fs/cgroup/memory/child".to_owned()
            )]
        );
        assert_eq!(found("3:memory:/elsewhere\n", mounts), []);
        assert_eq!(found("nonsense\n", "nonsense\n"), []);
    }
}
