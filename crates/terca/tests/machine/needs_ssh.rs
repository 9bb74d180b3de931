//! SSH: what the contract with it rests on, seen with real servers on this machine.

mod runs;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use camino::Utf8Path;
use terca_testkit::{Outcome, SshHosts, wait_until};

#[test]
#[ignore = "needs ssh"]
fn a_command_runs_on_each_host_and_bytes_come_and_go_unchanged() {
    let hosts = SshHosts::start(&["build1", "build2"]);
    for host in ["build1", "build2"] {
        let script = "hostname; echo \"$HOME\"; echo trouble >&2; exit 7";
        let outcome: Outcome = hosts.command(host, script).output().unwrap().into();
        assert_eq!(outcome.status, 7, "{}", outcome.stderr);
        assert_eq!(outcome.stdout, format!("{host}\n/var/tmp/home\n"));
        assert_eq!(outcome.stderr, "trouble\n");

        let mut command = hosts.command(host, "cat");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|byte| (byte / 7) as u8).collect();
        let expected = sent.clone();
        let writer = std::thread::spawn(move || input.write_all(&sent).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.stdout == expected, "{} bytes", output.stdout.len());
    }
    wait_until("the hosts are empty", || hosts.processes().is_empty());
}

/// The client, the connection and the host are lost, each once. The command sees the end of its input; nothing but
/// the host's own end takes it along.
#[test]
#[ignore = "needs ssh"]
fn what_is_lost_closes_the_input_or_the_output() {
    let mut hosts = SshHosts::start(&["build1", "build2"]);
    let end = Utf8Path::new("/var/tmp/end");
    for loss in ["client", "connection", "host"] {
        let host = if loss == "host" { "build2" } else { "build1" };
        let script = "echo ready; cat; echo end > /var/tmp/end";
        let mut command = hosts.command(host, script);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        match loss {
            "client" => child.kill().unwrap(),
            "connection" => hosts.cut(host),
            _ => hosts.kill_host(host),
        }
        assert!(!child.wait().unwrap().success(), "{loss}");
        if loss != "host" {
            let end = hosts.hosts()[0].on_disk(end);
            wait_until("the input ends", || end.exists());
            std::fs::remove_file(end).unwrap();
        }
        wait_until("nothing runs", || hosts.processes().is_empty());
    }
}
