//! Slurm: what the contract with it rests on, seen on a real cluster on this machine.

mod runs;

use std::io::{Read, Write};
use std::process::{Child, Stdio};

use camino::Utf8Path;
use terca_testkit::{Outcome, SLURM_NODE_CPUS, SlurmCluster, wait_until};

const SRUN: [&str; 3] = ["--quiet", "--ntasks=1", "--chdir=/"];

/// Starts a shell script on a node, with standard input and output of ours.
fn start(cluster: &SlurmCluster, more: &[&str], script: &str) -> Child {
    let args = [&SRUN, more, &["sh", "-c", script]].concat();
    let mut command = cluster.command("srun", &args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

fn run(cluster: &SlurmCluster, more: &[&str], script: &str) -> Outcome {
    let child = start(cluster, more, script);
    child.wait_with_output().unwrap().into()
}

/// Waits for a line, which says that the other side is there.
fn line(child: &mut Child) -> String {
    let mut line = Vec::new();
    let output = child.stdout.as_mut().unwrap();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    String::from_utf8(line).unwrap()
}

/// 3 MB of all bytes, not the same twice in a row.
fn bytes() -> Vec<u8> {
    let mixed = |number: u32| number.wrapping_mul(2_654_435_761).to_le_bytes()[3];
    (0..3_000_000).map(mixed).collect()
}

#[test]
#[ignore = "needs slurm"]
fn a_command_runs_on_each_node_and_bytes_come_and_go_unchanged() {
    let cluster = SlurmCluster::start(3);
    for node in cluster.nodes() {
        let on = format!("--nodelist={}", node.name());
        let outcome = run(&cluster, &[&on], "hostname; echo trouble >&2; exit 7");
        assert_eq!(outcome.status, 7, "{}", outcome.stderr);
        assert_eq!(outcome.stdout, format!("{}\n", node.name()));
        assert!(outcome.stderr.contains("trouble\n"), "{}", outcome.stderr);
    }
    let mut child = start(&cluster, &[], "exec cat");
    let mut input = child.stdin.take().unwrap();
    let sent = bytes();
    let expected = sent.clone();
    let writer = std::thread::spawn(move || input.write_all(&sent).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stderr, b"");
    assert!(output.stdout == expected, "{} bytes", output.stdout.len());
    wait_until("the nodes are empty", || cluster.processes().is_empty());
}

/// A suite here is no suite there.
#[test]
#[ignore = "needs slurm"]
fn nodes_share_no_disk_with_the_machine_of_the_test() {
    let cluster = SlurmCluster::start(2);
    let here = tempfile::tempdir_in("/var/tmp").unwrap();
    let here = Utf8Path::from_path(here.path()).unwrap();
    let script = format!("test ! -e {here} && mkdir {here} && cat /etc/hostname /proc/1/comm");
    let outcome = run(&cluster, &["--nodelist=n2"], &script);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let [first, second] = cluster.nodes() else {
        panic!("two nodes")
    };
    assert!(second.on_disk(here).is_dir());
    assert!(!first.on_disk(here).exists());
    assert_eq!(here.read_dir_utf8().unwrap().count(), 0);
}

/// Its parent is gone, and so is the connection; `srun` itself can stay for minutes.
#[test]
#[ignore = "needs slurm"]
fn a_step_daemon_that_is_killed_closes_the_input_of_what_it_started() {
    let cluster = SlurmCluster::start(1);
    let script = "echo ready; cat; echo end > /var/tmp/end; exec sleep infinity";
    let mut child = start(&cluster, &[], script);
    assert_eq!(line(&mut child), "ready\n");
    cluster.kill_step_daemon();
    let end = cluster.nodes()[0].on_disk(Utf8Path::new("/var/tmp/end"));
    wait_until("the input ends", || end.exists());
    wait_until("it has gone on", || {
        let left = cluster.processes();
        left.iter()
            .any(|process| process.command.contains("sleep infinity"))
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The end of the one who holds the input reaches the node as the end of the input. The end of `srun` does not: Slurm
/// ends the job, with signals.
#[test]
#[ignore = "needs slurm"]
fn the_end_of_the_input_of_srun_and_of_the_job_all_reach_the_node() {
    let cluster = SlurmCluster::start(1);
    let mut child = start(&cluster, &[], "echo ready; cat; echo end");
    assert_eq!(line(&mut child), "ready\n");
    drop(child.stdin.take());
    assert_eq!(line(&mut child), "end\n");
    assert!(child.wait().unwrap().success());

    for loss in ["srun", "job"] {
        let mut child = start(&cluster, &[], "echo ready; exec cat");
        assert_eq!(line(&mut child), "ready\n");
        let jobs = cluster.jobs();
        let [job] = jobs
            .iter()
            .filter(|job| job.state == "RUNNING")
            .collect::<Vec<_>>()[..]
        else {
            panic!("{jobs:?}")
        };
        assert_eq!(job.node, "n1");
        assert_eq!(cluster.processes().len(), 1);
        if loss == "srun" {
            child.kill().unwrap();
        } else {
            cluster.cancel(&job.id);
        }
        // Slurm has no failure of a job that was cancelled.
        child.wait().unwrap();
        wait_until("the node is empty", || cluster.processes().is_empty());
        wait_until("the job is gone", || cluster.jobs().is_empty());
    }
}

#[test]
#[ignore = "needs slurm"]
fn a_full_cluster_lets_others_wait() {
    let cluster = SlurmCluster::start(2);
    let jobs = cluster.fill();
    assert_eq!(jobs.len(), 2);
    let child = start(&cluster, &[], "echo came");
    let waits = |state: &str| cluster.jobs().iter().any(|job| job.state == state);
    wait_until("it waits", || waits("PENDING"));
    wait_until("both are taken", || cluster.processes().len() == 2);
    for job in &jobs {
        cluster.cancel(job);
    }
    let outcome: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.stdout, "came\n", "{}", outcome.stderr);

    let all = format!("--cpus-per-task={SLURM_NODE_CPUS}");
    let outcome = run(&cluster, &[&all], "echo all");
    assert_eq!(outcome.stdout, "all\n", "{}", outcome.stderr);
}

#[test]
#[ignore = "needs slurm"]
fn a_node_fails_with_everything_on_it_and_the_other_goes_on() {
    let mut cluster = SlurmCluster::start(2);
    let script = "setsid sleep infinity & echo ready; exec cat";
    let mut child = start(&cluster, &["--nodelist=n1"], script);
    assert_eq!(line(&mut child), "ready\n");
    wait_until("both run", || cluster.processes().len() == 2);
    cluster.kill_node("n1");
    assert_eq!(cluster.processes(), []);
    let outcome = run(&cluster, &["--nodelist=n2"], "echo well");
    assert_eq!(outcome.stdout, "well\n", "{}", outcome.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// As when the test is killed: nobody is left to end it.
#[test]
#[ignore = "needs slurm"]
fn a_cluster_ends_with_the_thread_that_started_it() {
    let started = std::thread::spawn(|| {
        let cluster = SlurmCluster::start(1);
        let mut child = start(&cluster, &[], "setsid sleep infinity & echo ready");
        assert_eq!(line(&mut child), "ready\n");
        let dir = cluster.conf().parent().unwrap().to_owned();
        assert!(daemons(&dir).len() >= 3, "{:?}", daemons(&dir));
        let left = cluster.processes();
        std::mem::forget(cluster);
        (dir, left)
    });
    let (dir, left) = started.join().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    wait_until("all have ended", || daemons(&dir).is_empty());
    let left = format!("/proc/{}/exe", left[0].pid);
    wait_until("so has the job's", || std::fs::read_link(&left).is_err());
    std::fs::remove_dir_all(dir).unwrap();
}

/// The command lines that name a directory.
fn daemons(dir: &Utf8Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.filter(|line| line.contains(dir.as_str())).collect()
}
