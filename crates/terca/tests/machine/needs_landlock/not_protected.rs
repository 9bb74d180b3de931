//! The table of what each sandbox lets an agent do: tried by an agent, and written to the book.
//!
//! `UPDATE_DOCS=1 cargo test -p terca --test machine not_protected -- --ignored` brings it up to date.

use std::collections::BTreeSet;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use terca_testkit::{Project, generated};

use crate::common::project;
use crate::needs_bwrap::{Victim, reached};
use crate::suite_in_sandbox::open_file;

const PAGE: &str = "docs/explanations/not-protected.md";
const PROBE: &str = include_str!("probe.pl");

/// Something that an agent may be able to do.
struct Row {
    what: &'static str,
    /// A command that succeeds if it is.
    attempt: String,
    /// The words for Landlock, where it depends on the kernel.
    landlock: Option<&'static str>,
}

fn row(what: &'static str, attempt: impl Into<String>) -> Row {
    Row {
        what,
        attempt: attempt.into(),
        landlock: None,
    }
}

/// The part of the machine that agents try to reach.
struct Outside {
    project: Project,
    victim: Victim,
    tcp: TcpListener,
    /// Listens on another address of this machine, at the port of a service that the suite allows.
    elsewhere: TcpListener,
    udp: UdpSocket,
    _sockets: [UnixListener; 2],
}

impl Outside {
    fn new() -> Self {
        let project = project();
        open_file(&project.home().join(".netrc"));
        open_file(&project.work_dir().join("other/secret.txt"));
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let elsewhere = TcpListener::bind("127.0.0.2:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let echo = udp.try_clone().unwrap();
        std::thread::spawn(move || {
            while let Ok((_, from)) = echo.recv_from(&mut [0]) {
                let _ = echo.send_to(b"x", from);
            }
        });
        let name = SocketAddr::from_abstract_name(abstract_name(&tcp)).unwrap();
        let sockets = [
            UnixListener::bind(project.home().join("socket")).unwrap(),
            UnixListener::bind_addr(&name).unwrap(),
        ];
        Outside {
            project,
            victim: Victim::start(),
            tcp,
            elsewhere,
            udp,
            _sockets: sockets,
        }
    }

    /// Returns a number that names the shared memory, and that no other test has at the same time.
    fn key(&self) -> u16 {
        port(&self.tcp)
    }

    fn rows(&self) -> Vec<Row> {
        let (home, suite) = (self.project.home(), self.project.dir());
        let other = self.project.work_dir().join("other/secret.txt");
        let victim = self.victim.0.id();
        let [tcp, elsewhere] = [&self.tcp, &self.elsewhere].map(port);
        let udp = self.udp.local_addr().unwrap().port();
        let name = abstract_name(&self.tcp);
        let probe = |words: String| format!("perl probe.pl {words}");
        let by_kernel = |words, row| Row {
            landlock: Some(words),
            ..row
        };
        let before_6_12 = "before Linux 6.12";
        vec![
            row("read files of your home", format!("cat {home}/.netrc")),
            row("write files to your home", format!(": >> {home}/.netrc")),
            row(
                "change permissions and times of your files",
                format!("chmod 666 {home}/.netrc && touch -d @1 {home}/.netrc"),
            ),
            row(
                "ask for the sizes and times of files whose path it knows",
                format!("stat {home}/.netrc"),
            ),
            row(
                "read other trials, where it knows the path",
                format!("cat {other}"),
            ),
            row(
                "read hidden tests, solutions and the run",
                format!(
                    "cat {suite}/fib/_tests/* {suite}/fib/_solution/* {suite}/.terca/runs/*/run.json"
                ),
            ),
            row(
                "read the command lines of other processes",
                format!("grep -q sleep /proc/{victim}/cmdline"),
            ),
            row(
                "read the environment of other processes",
                format!("grep -q VICTIM_KEY /proc/{victim}/environ"),
            ),
            by_kernel(
                before_6_12,
                row("end other processes", format!("kill -0 {victim}")),
            ),
            row(
                "use the keys of your session (`keyctl`)",
                probe("keys".to_owned()),
            ),
            row(
                "share memory with other trials (System V)",
                probe(format!("memory {}", self.key())),
            ),
            row("make user namespaces", "unshare --user true"),
            row(
                "queue calls of the kernel (`io_uring`)",
                probe("'queue of calls'".to_owned()),
            ),
            row(
                "handle faults of its memory (`userfaultfd`)",
                probe("faults".to_owned()),
            ),
            row("connect to other ports by TCP", probe(format!("tcp {tcp}"))),
            row("connect by MPTCP", probe(format!("mptcp {tcp}"))),
            row(
                "connect by TCP Fast Open",
                probe(format!("'fast open' {tcp}")),
            ),
            row(
                "connect to an allowed port of another host",
                probe(format!("tcp {elsewhere} 127.0.0.2")),
            ),
            row("send by UDP", probe(format!("udp {udp}"))),
            by_kernel(
                "where `terca doctor` says so",
                row(
                    "connect to sockets in the file system",
                    probe(format!("socket {home}/socket")),
                ),
            ),
            by_kernel(
                before_6_12,
                row(
                    "connect to abstract sockets",
                    probe(format!("'abstract socket' {name}")),
                ),
            ),
        ]
    }

    /// Lets an agent try everything in a sandbox. Returns what it could do.
    fn try_in(&self, sandbox: &str) -> BTreeSet<String> {
        let mut script = String::from("#!/bin/sh\n");
        for Row { what, attempt, .. } in self.rows() {
            script +=
                &format!("if ({attempt}) >/dev/null 2>&1; then echo '{what}'; fi >> probe.txt\n");
        }
        let script = format!("{script}echo own >> probe.txt\n");
        let allow = match sandbox {
            "none" => String::new(),
            _ => format!("allow: ['localhost:{}']\n", port(&self.elsewhere)),
        };
        let suite = format!(
            "sandbox: {sandbox}\n{allow}\
             environments: [{{name: mine, agent: {{name: command, command: ./agent.sh}}}}]\n"
        );
        for (path, content) in [
            ("terca.yaml", suite.as_str()),
            (
                "fib/eval.terca.yaml",
                "prompt: try it\ntests: [{fileExists: probe.txt}]\n",
            ),
            ("fib/_base/probe.pl", PROBE),
            ("fib/_tests/hidden.txt", "secret"),
            ("fib/_solution/answer.txt", "secret"),
        ] {
            let path = self.project.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        terca_testkit::write_program(&self.project.path("agent.sh"), &script);
        self.memory("make memory");
        self.project.terca(&["run"]).expect_status(0);
        self.memory("remove memory");
        assert_eq!(self.project.only_trial()["containedBy"], sandbox);
        let mut found: BTreeSet<String> = reached(&self.project).into_iter().collect();
        assert!(found.remove("own"), "it came to no end: {found:?}");
        found
    }

    fn memory(&self, way: &str) {
        let key = self.key().to_string();
        let made = Command::new("perl").args(["-e", PROBE, way, &key]).status();
        assert!(made.unwrap().success(), "{way}");
    }
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

fn abstract_name(listener: &TcpListener) -> String {
    format!("terca-test-{}", port(listener))
}

#[test]
#[ignore = "needs Landlock and bwrap"]
fn the_table_of_the_book_is_what_agents_can_do() {
    let outside = Outside::new();
    let [none, landlock, bwrap] =
        ["none", "landlock", "bwrap"].map(|sandbox| outside.try_in(sandbox));
    let mut table =
        String::from("| an agent can … | `none` | `landlock` | `bwrap` |\n|---|---|---|---|\n");
    for row in outside.rows() {
        // An attempt that nothing refuses here works, or it proves nothing.
        assert!(none.contains(row.what), "{}: {none:?}", row.what);
        let cell = |found: &BTreeSet<String>| match found.contains(row.what) {
            true => "**yes**",
            false => "no",
        };
        let by_landlock = row.landlock.unwrap_or_else(|| cell(&landlock));
        table += &format!(
            "| {} | yes | {by_landlock} | {} |\n",
            row.what,
            cell(&bwrap)
        );
    }
    generated(PAGE, "ways out", &table);
}
