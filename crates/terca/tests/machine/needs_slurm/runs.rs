//! Runs of Terca on a real cluster.

use std::cell::RefCell;

use terca_testkit::{Process, SlurmCluster};

use crate::workers::{self, Workers};

const SLOTS: usize = 6;

/// Two workers fit on each of three nodes.
const POOL: &str = "start: srun --quiet --ntasks=1 --cpus-per-task=4, slots: 6";

/// A cluster of three nodes and a suite of as many trials as three times `repetitions`.
fn with_cluster(repetitions: usize, test: impl FnOnce(&RefCell<SlurmCluster>, &Workers<'_>)) {
    let cluster = RefCell::new(SlurmCluster::start(3));
    let processes = || -> Vec<Process> { cluster.borrow().processes() };
    let mut workers = Workers::new(POOL, SLOTS, repetitions, &processes);
    workers.project = cluster.borrow().with(workers.project);
    test(&cluster, &workers);
}

#[test]
#[ignore = "needs slurm"]
fn trials_on_a_cluster_equal_those_at_home() {
    with_cluster(100, |_, workers| {
        let nodes = workers::trials_elsewhere_equal_those_at_home(workers);
        assert_eq!(nodes, ["n1", "n2", "n3"]);
    });
}

#[test]
#[ignore = "needs slurm"]
fn a_killed_step_loses_and_doubles_nothing() {
    with_cluster(10, |cluster, workers| {
        let lose = || cluster.borrow().kill_step_daemon();
        workers::a_lost_worker_loses_and_doubles_nothing(workers, lose);
    });
}

#[test]
#[ignore = "needs slurm"]
fn a_cancelled_job_loses_and_doubles_nothing() {
    with_cluster(10, |cluster, workers| {
        let lose = || {
            let cluster = cluster.borrow();
            cluster.cancel(&cluster.jobs()[0].id);
        };
        workers::a_lost_worker_loses_and_doubles_nothing(workers, lose);
        assert_eq!(cluster.borrow().jobs(), []);
    });
}

#[test]
#[ignore = "needs slurm"]
fn a_failed_node_loses_its_two_trials_for_a_while() {
    with_cluster(10, |cluster, workers| {
        let mut session = workers.start_held();
        workers.wait_until_full(&mut session);
        cluster.borrow_mut().kill_node("n2");
        workers.wait_until_lost(&mut session, 2);
        workers.open();
        let outcome = session.finish();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(workers.lost(), 2);
        workers.assert_nothing_left();
    });
}

#[test]
#[ignore = "needs slurm"]
fn a_killed_terca_leaves_nothing_on_the_nodes_and_is_resumed() {
    with_cluster(10, |_, workers| {
        workers::a_killed_terca_leaves_nothing_and_is_resumed(workers);
    });
}

#[test]
#[ignore = "needs slurm"]
fn an_interrupted_run_leaves_no_job() {
    with_cluster(10, |cluster, workers| {
        workers::an_interrupted_run_leaves_nothing(workers);
        terca_testkit::wait_until("no job is left", || cluster.borrow().jobs().is_empty());
    });
}

#[test]
#[ignore = "needs slurm"]
fn a_run_waits_for_a_full_cluster() {
    with_cluster(10, |cluster, workers| {
        let jobs = cluster.borrow().fill();
        let mut session = workers.start_held();
        workers.open();
        session.wait_until("workers wait in the queue", || {
            let jobs = cluster.borrow().jobs();
            jobs.iter().any(|job| job.state == "PENDING")
        });
        assert!(!workers.project.journal().contains("trialStarted"));
        // One node is free: two workers of six have a place.
        cluster.borrow().cancel(&jobs[0]);
        let outcome = session.finish();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(workers.lost(), 0);
        for job in &jobs[1..] {
            cluster.borrow().cancel(job);
        }
        workers.assert_nothing_left();
        terca_testkit::wait_until("no job is left", || cluster.borrow().jobs().is_empty());
    });
}
