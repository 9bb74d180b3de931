//! Runs of Terca on hosts that are reached with SSH.

use terca_testkit::{Process, SshHosts};

use crate::workers::{self, Workers};

/// Two hosts with two workers each, and a suite of as many trials as three times `repetitions`.
fn with_hosts(repetitions: usize, test: impl FnOnce(&SshHosts, &Workers<'_>)) {
    let hosts = SshHosts::start(&["build1", "build2"]);
    let processes = || -> Vec<Process> { hosts.processes() };
    let pool = format!(
        "start: 'ssh -F {} {{host}}', hosts: [build1, build2], slots: 2",
        hosts.config()
    );
    let workers = Workers::new(&pool, 4, repetitions, &processes);
    test(&hosts, &workers);
}

#[test]
#[ignore = "needs ssh"]
fn trials_on_two_hosts_equal_those_at_home() {
    with_hosts(20, |_, workers| {
        let nodes = workers::trials_elsewhere_equal_those_at_home(workers);
        assert_eq!(nodes, ["build1", "build2"]);
    });
}

#[test]
#[ignore = "needs ssh"]
fn a_cut_connection_loses_and_doubles_nothing() {
    with_hosts(10, |hosts, workers| {
        workers::a_lost_worker_loses_and_doubles_nothing(workers, || hosts.cut("build1"));
    });
}

#[test]
#[ignore = "needs ssh"]
fn a_killed_terca_leaves_nothing_on_the_hosts_and_is_resumed() {
    with_hosts(10, |_, workers| {
        workers::a_killed_terca_leaves_nothing_and_is_resumed(workers);
    });
}

#[test]
#[ignore = "needs ssh"]
fn an_interrupted_run_leaves_nothing() {
    with_hosts(10, |_, workers| {
        workers::an_interrupted_run_leaves_nothing(workers);
    });
}
