//! A Slurm cluster of this machine's own, for one test: Debian's daemons, as root, on loopback.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Output, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::daemon::{Daemon, free_ports};
use crate::node::Node;
use crate::patience::wait_for;
use crate::processes::Process;
use crate::project::Project;

/// The processors of each node, as it is told to Slurm.
pub const SLURM_NODE_CPUS: usize = 8;

/// A controller, nodes `n1`, `n2`, …, and a service that knows them by a key. All of it ends with the test.
#[derive(Debug)]
pub struct SlurmCluster {
    // Dropped in this order: the nodes first, their files last.
    nodes: Vec<Node>,
    controller: Daemon,
    _munge: Daemon,
    conf: Utf8PathBuf,
    _dir: TempDir,
}

/// A job in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmJob {
    pub id: String,
    /// As `squeue` has it: `PENDING`, `RUNNING`, `COMPLETING`.
    pub state: String,
    /// Empty while it waits.
    pub node: String,
}

impl SlurmCluster {
    /// Starts a cluster, and waits until all its nodes are idle.
    ///
    /// # Panics
    /// When it does not come up; with what its daemons said.
    #[track_caller]
    pub fn start(nodes: usize) -> Self {
        // Nodes have another directory at /var/tmp.
        let guard = tempfile::Builder::new()
            .prefix("terca-slurm-")
            .tempdir_in("/tmp")
            .expect("a temporary directory");
        let dir = Utf8Path::from_path(guard.path()).expect("a UTF-8 path");
        let conf = write_conf(dir, nodes);
        let munge = start_munge(dir);
        let controller = Daemon::start(
            &["slurmctld", "-D", "-f", conf.as_str()],
            &dir.join("slurmctld.log"),
        );
        let start = |number: usize| {
            let name = format!("n{number}");
            std::fs::create_dir(dir.join(format!("spool.{name}"))).expect("a directory");
            let daemon = ["slurmd", "-D", "-f", conf.as_str(), "-N", &name];
            Node::start(&name, dir, &[], "slurm", &daemon)
        };
        let cluster = SlurmCluster {
            nodes: (1..=nodes).map(start).collect(),
            controller,
            _munge: munge,
            conf,
            _dir: guard,
        };
        wait_for(
            || format!("the cluster does not come up\n{}", cluster.words()),
            || cluster.is_idle().then_some(()),
        );
        cluster
    }

    /// The file that leads Slurm's programs to the cluster, as `SLURM_CONF`.
    pub fn conf(&self) -> &Utf8Path {
        &self.conf
    }

    /// The variables that lead Slurm's programs to the cluster.
    pub fn env(&self) -> [(&'static str, &str); 1] {
        [("SLURM_CONF", self.conf.as_str())]
    }

    /// Leads a project to the cluster.
    pub fn with(&self, project: Project) -> Project {
        project.env("SLURM_CONF", self.conf.as_str())
    }

    /// One of Slurm's programs, not started yet.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).envs(self.env()).stdin(Stdio::null());
        command
    }

    /// What one of Slurm's programs prints.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    pub fn ask(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program, args).output();
        let Output {
            status,
            stdout,
            stderr,
        } = output.expect("the program starts");
        let errors = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "{program} {args:?}: {errors}");
        String::from_utf8_lossy(&stdout).trim().to_owned()
    }

    /// The jobs that wait, run or are about to end.
    pub fn jobs(&self) -> Vec<SlurmJob> {
        let queue = self.ask("squeue", &["--noheader", "--format=%i|%T|%N"]);
        let job = |line: &str| {
            let mut words = line.split('|').map(|word| word.trim().to_owned());
            Some(SlurmJob {
                id: words.next()?,
                state: words.next()?,
                node: words.next()?,
            })
        };
        queue.lines().filter_map(job).collect()
    }

    pub fn cancel(&self, job: &str) {
        self.ask("scancel", &[job]);
    }

    /// Submits jobs that take all processors, and waits until they have them. They end when they are cancelled.
    #[track_caller]
    pub fn fill(&self) -> Vec<String> {
        let cpus = format!("--cpus-per-task={SLURM_NODE_CPUS}");
        let args = ["--parsable", "--output=/dev/null", "--chdir=/", &cpus];
        let args = [&args[..], &["--wrap=exec sleep infinity"]].concat();
        let submit = |_: &Node| self.ask("sbatch", &args);
        let jobs: Vec<String> = self.nodes.iter().map(submit).collect();
        let runs = |job: &SlurmJob| job.state == "RUNNING" && jobs.contains(&job.id);
        wait_for(
            || format!("the cluster is not full: {:?}", self.jobs()),
            || (self.jobs().iter().filter(|job| runs(job)).count() == jobs.len()).then_some(()),
        );
        jobs
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What jobs have started on the nodes and what still runs, Slurm's own processes left out.
    pub fn processes(&self) -> Vec<Process> {
        self.nodes.iter().flat_map(Node::processes).collect()
    }

    /// Ends the daemon of one job step with SIGKILL, wherever one is found. What it has started goes on.
    ///
    /// # Panics
    /// When there is none for long.
    #[track_caller]
    pub fn kill_step_daemon(&self) {
        let is_step = |process: &Process| process.command.starts_with("slurmstepd: [");
        let step = wait_for(
            || format!("no step runs: {:?}", self.jobs()),
            || self.nodes.iter().flat_map(Node::all).find(is_step),
        );
        let pid = Pid::from_raw(step.pid).expect("a process id");
        kill_process(pid, Signal::KILL).expect("it is there to be killed");
    }

    /// Ends everything on a node at once.
    pub fn kill_node(&mut self, name: &str) {
        let node = self.nodes.iter_mut().find(|node| node.name() == name);
        node.expect("a node of that name").fail();
    }

    fn is_idle(&self) -> bool {
        let args = ["--noheader", "--states=idle", "--format=%D"];
        let output = self.command("sinfo", &args).output().expect("sinfo starts");
        let count = String::from_utf8_lossy(&output.stdout).trim().parse();
        count == Ok(self.nodes.len())
    }

    fn words(&self) -> String {
        let nodes = self.nodes.iter().map(Node::words);
        let all = [self.controller.words()].into_iter().chain(nodes);
        all.collect::<Vec<_>>().join("\n")
    }
}

fn write_conf(dir: &Utf8Path, nodes: usize) -> Utf8PathBuf {
    std::fs::create_dir(dir.join("state")).expect("a directory");
    let ports = free_ports(nodes + 1);
    let mut text = include_str!("../slurm/slurm.conf")
        .replace("@DIR@", dir.as_str())
        .replace("@PORT@", &ports[0].to_string());
    for (port, number) in ports[1..].iter().zip(1..) {
        text += &format!(
            "NodeName=n{number} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={SLURM_NODE_CPUS} \
             RealMemory=4000 State=UNKNOWN\n"
        );
    }
    let conf = dir.join("slurm.conf");
    std::fs::write(&conf, text).expect("a file");
    if knows_no_control_groups() {
        std::fs::write(dir.join("cgroup.conf"), "CgroupPlugin=disabled\n").expect("a file");
    }
    conf
}

/// Whether this Slurm can be told to leave control groups alone; before, it does so by itself.
fn knows_no_control_groups() -> bool {
    let output = Command::new("slurmctld").arg("-V").output();
    let text = String::from_utf8(output.expect("slurmctld starts").stdout).unwrap_or_default();
    let version = text.split_whitespace().last().and_then(|word| {
        let major: u32 = word.split('.').next()?.parse().ok()?;
        Some(major)
    });
    version.is_some_and(|major| major >= 24)
}

/// Starts the service that signs what the others say to each other.
fn start_munge(dir: &Utf8Path) -> Daemon {
    let own = dir.join("munge");
    std::fs::create_dir(&own).expect("a directory");
    let key = own.join("key");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&key);
    let mut random = std::fs::File::open("/dev/urandom")
        .expect("/dev/urandom")
        .take(128);
    std::io::copy(&mut random, &mut file.expect("a file")).expect("a key");
    let option = |name: &str, file: &str| format!("--{name}={}", own.join(file));
    let options = [
        option("key-file", "key"),
        option("socket", "socket"),
        option("pid-file", "pid"),
        option("log-file", "log"),
        option("seed-file", "seed"),
    ];
    let mut command = vec!["munged", "--foreground", "--force", "--num-threads=10"];
    command.extend(options.iter().map(String::as_str));
    let munge = Daemon::start(&command, &dir.join("munged.log"));
    wait_for(
        || format!("munged does not answer\n{}", munge.words()),
        || own.join("socket").exists().then_some(()),
    );
    munge
}
