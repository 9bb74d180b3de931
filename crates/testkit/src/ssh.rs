//! Hosts that are reached with SSH: real ones but for the machine, which is this one.

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::daemon::free_ports;
use crate::node::Node;
use crate::patience::wait_for;
use crate::processes::Process;

/// The home directory on a host. The user's own has settings and keys that are no business of a test.
const HOME: &str = "/var/tmp/home";

/// A server for each host, on loopback, with keys of the test's own. All of it ends with the test.
#[derive(Debug)]
pub struct SshHosts {
    // Dropped before their files.
    hosts: Vec<Node>,
    config: Utf8PathBuf,
    _dir: TempDir,
}

impl SshHosts {
    /// Starts hosts of these names, and waits until all answer.
    ///
    /// # Panics
    /// When one does not; with what its server said.
    #[track_caller]
    pub fn start(names: &[&str]) -> Self {
        // Nodes have another directory at /var/tmp.
        let guard = tempfile::Builder::new()
            .prefix("terca-ssh-")
            .tempdir_in("/tmp")
            .expect("a temporary directory");
        let dir = Utf8Path::from_path(guard.path()).expect("a UTF-8 path");
        make_key(&dir.join("user_key"));
        write_users(dir);
        // The server insists on it.
        std::fs::create_dir_all("/run/sshd").expect("a directory");
        let ports = free_ports(names.len());
        let with_ports = names.iter().zip(&ports);
        let hosts = with_ports.map(|(name, port)| start_host(name, *port, dir));
        let hosts = SshHosts {
            hosts: hosts.collect(),
            config: dir.join("config"),
            _dir: guard,
        };
        for host in &hosts.hosts {
            wait_for(
                || format!("{} does not answer\n{}", host.name(), host.words()),
                || hosts.answers(host.name()).then_some(()),
            );
        }
        hosts
    }

    /// The client's settings: `ssh -F FILE HOST`.
    pub fn config(&self) -> &Utf8Path {
        &self.config
    }

    /// A command on a host, not started yet.
    pub fn command(&self, host: &str, command: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(["-F", self.config.as_str(), host, command])
            .stdin(Stdio::null());
        ssh
    }

    pub fn hosts(&self) -> &[Node] {
        &self.hosts
    }

    /// What was started on the hosts and still runs, the servers left out.
    pub fn processes(&self) -> Vec<Process> {
        self.hosts.iter().flat_map(Node::processes).collect()
    }

    /// Ends one connection to a host with SIGKILL. What was started over it goes on.
    ///
    /// # Panics
    /// When there is none for long.
    #[track_caller]
    pub fn cut(&self, host: &str) {
        let host = self.host(host);
        let is_session = |process: &Process| {
            process.command.starts_with("sshd: ") && !process.command.contains("[listener]")
        };
        let session = wait_for(
            || format!("no connection to {}: {:?}", host.name(), host.all()),
            || host.all().into_iter().find(is_session),
        );
        let pid = Pid::from_raw(session.pid).expect("a process id");
        kill_process(pid, Signal::KILL).expect("it is there to be killed");
    }

    /// Ends everything on a host at once.
    pub fn kill_host(&mut self, name: &str) {
        let host = self.hosts.iter_mut().find(|host| host.name() == name);
        host.expect("a host of that name").fail();
    }

    fn host(&self, name: &str) -> &Node {
        let host = self.hosts.iter().find(|host| host.name() == name);
        host.expect("a host of that name")
    }

    fn answers(&self, host: &str) -> bool {
        let output = self.command(host, "exit 0").output();
        output.expect("ssh starts").status.success()
    }
}

/// Starts a server, and adds the host to the client's settings.
fn start_host(name: &str, port: u16, dir: &Utf8Path) -> Node {
    let key = dir.join(format!("{name}.key"));
    make_key(&key);
    let settings = dir.join(format!("{name}.sshd_config"));
    let text = format!(
        "ListenAddress 127.0.0.1:{port}\nHostKey {key}\nAuthorizedKeysFile {dir}/user_key.pub\nStrictModes no\n\
         UsePAM no\nPidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n"
    );
    std::fs::write(&settings, text).expect("a file");
    let known = dir.join(format!("{name}.known"));
    let public = std::fs::read_to_string(key.with_extension("key.pub")).expect("a key");
    std::fs::write(&known, format!("{name} {public}")).expect("a file");
    let config = dir.join("config");
    let others = std::fs::read_to_string(&config).unwrap_or_default();
    let own = format!(
        "Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  User root\n  HostKeyAlias {name}\n  IdentitiesOnly yes\n  \
         IdentityFile {dir}/user_key\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile none\n  \
         StrictHostKeyChecking yes\n  BatchMode yes\n"
    );
    std::fs::write(&config, others + &own).expect("a file");
    let mounts = [
        (&*dir.join("passwd"), "/etc/passwd"),
        (&*dir.join("shadow"), "/etc/shadow"),
    ];
    // The server asks for its whole path, since it starts itself again.
    let daemon = ["/usr/sbin/sshd", "-D", "-e", "-f", settings.as_str()];
    let node = Node::start(name, dir, &mounts, "sshd", &daemon);
    std::fs::create_dir_all(node.on_disk(Utf8Path::new(HOME))).expect("a directory");
    node
}

/// Writes the users of the hosts: those of this machine, with another home and shell for root, who is not locked.
fn write_users(dir: &Utf8Path) {
    let users = std::fs::read_to_string("/etc/passwd").expect("/etc/passwd");
    let others = users.lines().filter(|line| !line.starts_with("root:"));
    let mut lines = vec![format!("root:x:0:0:root:{HOME}:/bin/sh")];
    lines.extend(others.map(str::to_owned));
    std::fs::write(dir.join("passwd"), lines.join("\n") + "\n").expect("a file");
    std::fs::write(dir.join("shadow"), "root:*:19000:0:99999:7:::\n").expect("a file");
}

fn make_key(file: &Utf8Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f", file.as_str()])
        .stdin(Stdio::null())
        .output()
        .expect("ssh-keygen starts");
    let errors = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{errors}");
}
