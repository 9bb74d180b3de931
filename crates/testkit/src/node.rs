//! Another machine, as far as a test needs one: processes, a name and a disk of its own, on this machine.
//!
//! A node is a PID namespace with a daemon in it. Everything that is started on the node descends from its first
//! process, also what has become a daemon itself, and ends with it. So a node can fail as a machine does, all at once.

use camino::{Utf8Path, Utf8PathBuf};

use crate::daemon::Daemon;
use crate::processes::{Process, descendants_of};

/// Where suites and rooms of tests are. A node has another directory there, so that nothing is shared by chance.
const SHARED: &str = "/var/tmp";

/// The first process of a node. Its arguments are pairs of a file and its place on the node, `--`, the node's name, and
/// the daemon with its own. The shell stays, since the first process takes in those whose parent is gone.
const FIRST: &str = r#"
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 1; shift 2; done
hostname "$2" || exit 1
shift 2
"$@" &
wait
"#;

/// A machine with one daemon, which starts things on it.
#[derive(Debug)]
pub struct Node {
    name: String,
    disk: Utf8PathBuf,
    /// How the names of the daemon's programs begin.
    own: &'static str,
    init: Daemon,
}

impl Node {
    /// Starts a daemon on a new node, whose files are in `dir`. `mounts` are more files and their places on the node.
    pub(crate) fn start(
        name: &str,
        dir: &Utf8Path,
        mounts: &[(&Utf8Path, &str)],
        own: &'static str,
        daemon: &[&str],
    ) -> Self {
        let disk = dir.join(format!("{name}.disk"));
        std::fs::create_dir(&disk).expect("a directory");
        let hosts = dir.join(format!("{name}.hosts"));
        std::fs::write(&hosts, format!("127.0.0.1 localhost {name}\n")).expect("a file");
        let mut command = vec!["unshare", "--pid", "--fork", "--kill-child"];
        command.extend(["--mount-proc", "--uts", "sh", "-c", FIRST, "sh"]);
        command.extend([disk.as_str(), SHARED, hosts.as_str(), "/etc/hosts"]);
        let mounts = mounts
            .iter()
            .flat_map(|(file, place)| [file.as_str(), *place]);
        command.extend(mounts);
        command.extend(["--", name]);
        command.extend(daemon);
        let init = Daemon::start(&command, &dir.join(format!("{name}.log")));
        Node {
            name: name.to_owned(),
            disk,
            own,
            init,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where this machine has a file that the node knows by this path below `/var/tmp`.
    pub fn on_disk(&self, path: &Utf8Path) -> Utf8PathBuf {
        let below = path.strip_prefix(SHARED).expect("a path below /var/tmp");
        self.disk.join(below)
    }

    /// The processes that were started on the node, zombies and those of its daemon left out.
    pub fn processes(&self) -> Vec<Process> {
        // The first one is the shell that holds the node.
        let all = self.all().into_iter().skip(1);
        all.filter(|process| !process.runs(self.own)).collect()
    }

    /// Everything on the node, its first process first.
    pub(crate) fn all(&self) -> Vec<Process> {
        descendants_of(self.init.id())
    }

    /// What its daemon has said.
    pub(crate) fn words(&self) -> String {
        self.init.words()
    }

    /// Ends everything on the node at once, as when its power fails.
    pub fn fail(&mut self) {
        self.init.kill();
    }
}
