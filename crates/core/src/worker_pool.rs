//! Pools of workers: the commands that start Terca as a worker elsewhere.
//!
//! A pool has a command line that starts another command with its standard input and output connected. The words of
//! the worker are appended to it. A preset is such a line that is usual for one program.

use std::time::Duration;

use camino::Utf8PathBuf;

use crate::text::prose;
use crate::text::shell;

/// The name of this machine among the workers.
pub const LOCAL: &str = "local";

/// A worker that says nothing for so long is taken for lost, unless its pool says otherwise. One that is there speaks far
/// more often.
pub const SILENCE: Duration = Duration::from_secs(30);

/// A trial that takes so much longer than all of its time limits together is taken for lost, unless its pool says otherwise.
pub const GRACE: Duration = Duration::from_secs(600);

/// The place of the host in a command line.
const HOST: &str = "{host}";
/// The place of a name that no other start has.
const NAME: &str = "{name}";

/// Workers that are started in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerPool {
    /// Its name in `workers` and for `--on`.
    pub name: String,
    /// The line for `sh` that starts a worker. `{host}` and `{name}` are replaced; `${host}` is a variable of the shell.
    pub start: String,
    /// The hosts that take the place of `{host}`, without repetition.
    pub hosts: Vec<String>,
    /// The number of workers on each host, or in all where there are no hosts.
    pub slots: u32,
    /// Terca on the other side: a path, or a name on `PATH`. It has no character that a shell changes.
    pub terca: String,
    /// The suite's directory on the other side; `None` where the suite is sent.
    pub dir: Option<Utf8PathBuf>,
    /// A worker that says nothing for so long is taken for lost.
    pub silence: Duration,
    /// The time for a trial beside its time limits, and for what it sends back.
    pub grace: Duration,
}

impl WorkerPool {
    /// Returns one place for each host, or one without a host. Each has `slots` workers.
    pub fn places(&self) -> Vec<WorkerPlace<'_>> {
        let place = |host| WorkerPlace { pool: self, host };
        if self.hosts.is_empty() {
            return vec![place(None)];
        }
        let hosts = self.hosts.iter();
        hosts.map(|host| place(Some(host.as_str()))).collect()
    }
}

/// A place where workers of a pool are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerPlace<'a> {
    /// The pool.
    pub pool: &'a WorkerPool,
    /// Its host, where the pool has hosts.
    pub host: Option<&'a str>,
}

impl WorkerPlace<'_> {
    /// Returns a name for people: `boxes/build1`, or `cluster` for a pool without hosts.
    pub fn name(&self) -> String {
        match self.host {
            Some(host) => format!("{}/{host}", self.pool.name),
            None => self.pool.name.clone(),
        }
    }

    /// Returns the line for `sh -c` that starts a worker. `unique` is lower-case and differs for each start; `{name}`
    /// becomes `terca-UNIQUE`.
    pub fn command_line(&self, unique: &str) -> String {
        let WorkerPool { start, terca, .. } = self.pool;
        let host = shell::quoted(self.host.unwrap_or_default());
        let line = filled(start.trim(), HOST, &host);
        let line = filled(&line, NAME, &format!("terca-{unique}"));
        format!("{line} {terca} worker")
    }
}

/// Returns whether a command line has a place for the host.
pub fn has_host(line: &str) -> bool {
    filled(line, HOST, "") != line
}

/// Puts a text into the places of a line, but not after a `$`.
fn filled(line: &str, place: &str, text: &str) -> String {
    let mut pieces = line.split(place);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_variable = filled.ends_with('$');
        filled += if is_variable { place } else { text };
        filled += piece;
    }
    filled
}

/// A program that starts commands elsewhere, with the options that are usual for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// A job of Slurm.
    Slurm,
    /// Hosts that are reached with SSH.
    Ssh,
    /// A pod of Kubernetes.
    Kubernetes,
    /// A container of Docker.
    Docker,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] = [
        Preset::Slurm,
        Preset::Ssh,
        Preset::Kubernetes,
        Preset::Docker,
    ];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Slurm => "slurm",
            Preset::Ssh => "ssh",
            Preset::Kubernetes => "kubernetes",
            Preset::Docker => "docker",
        }
    }

    /// Returns whether it needs an image.
    pub fn takes_image(self) -> bool {
        matches!(self, Preset::Kubernetes | Preset::Docker)
    }

    /// Returns its command line with further options, and with the image where it takes one.
    pub fn template(self, options: &[String], image: &str) -> String {
        let (own, last) = self.words();
        let image = shell::quoted(image);
        let [own, last] = [own, last].map(|words| words.replace("{image}", &image));
        let words = [own, shell::joined(options), last];
        prose::joined(words.into_iter().filter(|part| !part.is_empty()), " ")
    }

    /// Returns its program with its own options, and the words after the user's options.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            // `--quiet` keeps messages about the queue away. With `--exact`, several workers share an allocation in
            // which Terca itself was started. Not `--unbuffered`: it makes a terminal, which changes bytes. `srun` is
            // never queued again by Slurm, connects its input to its one task, and ends with it.
            Preset::Slurm => ("srun --quiet --ntasks=1 --exact --job-name=terca", ""),
            // No terminal, no question for a password, and a connection that is dead ends after a minute.
            Preset::Ssh => (
                "ssh -T -o BatchMode=yes -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
                "{host}",
            ),
            Preset::Kubernetes => (
                "kubectl run {name} -i --rm --quiet --restart=Never --image={image}",
                "--command --",
            ),
            // `--init` waits for processes that lose their parent. The image's own entry point could print something,
            // so there is none, as with `--command` of Kubernetes.
            Preset::Docker => ("docker run -i --rm --init --entrypoint=", "{image}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(start: &str, hosts: &[&str]) -> WorkerPool {
        WorkerPool {
            name: "pool".into(),
            start: start.to_owned(),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            slots: 1,
            terca: "terca".into(),
            dir: None,
            silence: SILENCE,
            grace: GRACE,
        }
    }

    fn lines(pool: &WorkerPool) -> Vec<String> {
        let places = pool.places();
        let lines = places.iter().map(|place| place.command_line("0a1b"));
        lines.collect()
    }

    #[test]
    fn places_of_a_line_are_filled_in() {
        for (start, line) in [
            ("run {host} {name}", "run one terca-0a1b terca worker"),
            ("run{host}", "runone terca worker"),
            ("run ${host} {host}", "run ${host} one terca worker"),
            ("run {a,b} {{host}} {", "run {a,b} {one} { terca worker"),
            ("run ä{host}\n", "run äone terca worker"),
        ] {
            assert_eq!(lines(&pool(start, &["one"])), [line]);
        }
        assert!(!has_host("run ${host}"));
        assert!(has_host("run {host}"));
    }

    #[test]
    fn each_host_is_a_place() {
        let two = pool("ssh {host}", &["a", "user@b"]);
        let names: Vec<String> = two.places().iter().map(WorkerPlace::name).collect();
        assert_eq!(names, ["pool/a", "pool/user@b"]);
        assert_eq!(
            lines(&two),
            ["ssh a terca worker", "ssh user@b terca worker"]
        );
        let none = pool("srun", &[]);
        let names: Vec<String> = none.places().iter().map(WorkerPlace::name).collect();
        assert_eq!(names, ["pool"]);
    }

    #[test]
    fn presets_are_documented() {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/terca-yaml.md"
        );
        let page = std::fs::read_to_string(page).unwrap();
        for preset in Preset::ALL {
            let (own, _) = preset.words();
            let own = own.replace("{image}", "IMAGE").replace("{name}", "NAME");
            let row = format!("| `{}` | `{own}`", preset.as_str());
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn presets_are_whole_command_lines() {
        let options = ["--mem=4G".to_owned(), "a b".to_owned()];
        let lines = Preset::ALL.map(|preset| {
            let image = "registry.example/evals:1";
            let hosts: &[&str] = if preset == Preset::Ssh { &["one"] } else { &[] };
            let mut pool = pool("", hosts);
            pool.start = preset.template(&options, image);
            lines(&pool).join("\n")
        });
        assert_eq!(
            lines,
            [
                "srun --quiet --ntasks=1 --exact --job-name=terca --mem=4G 'a b' terca worker",
                "ssh -T -o BatchMode=yes -o ServerAliveInterval=15 -o ServerAliveCountMax=4 --mem=4G 'a b' one terca worker",
                "kubectl run terca-0a1b -i --rm --quiet --restart=Never --image=registry.example/evals:1 --mem=4G 'a b' \
                 --command -- terca worker",
                "docker run -i --rm --init --entrypoint= --mem=4G 'a b' registry.example/evals:1 terca worker",
            ]
        );
    }
}
