//! Finds the files that programs need: where they are installed, their packages, and the interpreters of scripts.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::normal;

use super::mounts::{Mounts, Place};
use crate::host::environment::{find_program, is_program};
use crate::tree::follow;

/// The links and interpreters that lead from one program to the next. No real one has as many.
const MOST_STEPS: usize = 16;
/// The endings of scripts, which have their modules beside them.
const OF_SCRIPTS: [&str; 16] = [
    "bash", "cjs", "cts", "jar", "js", "jsx", "lua", "mjs", "mts", "php", "pl", "py", "rb", "sh",
    "ts", "tsx",
];
/// Directories beside `bin` that have a program's own files.
const BESIDE_BIN: [&str; 3] = ["lib", "lib64", "libexec"];
/// The names of directories that have programs and nothing else.
const OF_PROGRAMS: [&str; 4] = ["bin", "libexec", "sbin", "shims"];
/// Directories in which everybody's things are: none of them belongs to a program.
const OF_EVERYBODY: [&str; 12] = [
    "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/tmp", "/var",
    "/var/tmp",
];
/// The most entries of a directory of `PATH` that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// Shows the files of programs in a sandbox.
pub(super) struct Programs<'a> {
    mounts: &'a mut Mounts,
    /// Directories that are never shown as a part of something larger.
    secluded: &'a [Utf8PathBuf],
    /// Directories that an agent writes to. Nothing in them leads anywhere: a link there is the agent's, and would open
    /// the place that it names to the tests, which run the agent's work.
    of_agents: &'a [&'a Utf8Path],
    /// The `PATH` that programs are found on.
    path: &'a str,
    /// Files are shown alone, unless their directory is one of programs.
    is_narrow: bool,
}

impl<'a> Programs<'a> {
    /// Returns the programs on a `PATH`, for a command that writes to the directories `of_agents`.
    pub(super) fn on(
        path: &'a str,
        mounts: &'a mut Mounts,
        secluded: &'a [Utf8PathBuf],
        of_agents: &'a [&'a Utf8Path],
    ) -> Self {
        Programs {
            mounts,
            secluded,
            of_agents,
            path,
            is_narrow: false,
        }
    }

    /// Shows the files that a command names by their paths.
    pub(super) fn show_words(&mut self, words: &[String]) {
        for word in words.iter().map(Utf8Path::new) {
            if word.is_absolute() {
                self.show_named(word);
            }
        }
    }

    /// Shows every directory of `PATH` with what its programs need.
    pub(super) fn show_path(&mut self) {
        for dir in self.path.split(':').map(Utf8Path::new) {
            if !dir.is_absolute() || self.real(dir).is_none() {
                continue;
            }
            // The system's own, whose links lead to the system's own files. Others put theirs into /usr/local.
            if self.mounts.has(dir) && !dir.starts_with("/usr/local") {
                continue;
            }
            self.show_dir(dir);
            self.show_links_of(dir);
        }
    }

    /// Shows a program: the links to it, its package, and its interpreter.
    pub(super) fn show_program(&mut self, program: &Utf8Path) {
        let mut next = Some(program.to_owned());
        for _ in 0..MOST_STEPS {
            let Some(file) = next.filter(|file| self.real(file).is_some()) else {
                return;
            };
            next = match file.read_link_utf8() {
                Ok(target) => {
                    self.show_file(&file);
                    let dir = file.parent().and_then(|dir| self.real(dir));
                    dir.map(|dir| normal(&dir.join(target)))
                }
                Err(_) => {
                    self.show_package(&file);
                    self.interpreter(&file)
                }
            };
        }
    }

    /// Shows a file or directory that a command names. A directory is shown whole, a program or script with the directory
    /// around it, where it has its modules, and any other file alone: beside it may be things that nobody has named.
    pub(super) fn show_named(&mut self, path: &Utf8Path) {
        if path.is_dir() {
            self.show_dir(path);
        } else if is_program(path)
            || path
                .extension()
                .is_some_and(|end| OF_SCRIPTS.contains(&end))
        {
            self.show_program(path);
        } else {
            self.show(path);
        }
    }

    /// Returns the path of a file or directory without links and `..`, which all comparisons are made with. `None` where
    /// nothing is there, and where an agent could have chosen what is.
    fn real(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let look = |step: &Utf8Path, _: &Metadata| match self
            .of_agents
            .iter()
            .any(|dir| step.starts_with(dir))
        {
            true => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            false => Ok(()),
        };
        follow(path, look).ok()
    }

    /// Returns whether a file or directory can be shown whole: nothing that is to be secluded is in it, by whichever name.
    fn may_be_shown(&self, path: &Utf8Path) -> bool {
        self.real(path).is_some_and(|real| {
            real.parent().is_some()
                && !OF_EVERYBODY.contains(&real.as_str())
                && !self.secluded.iter().any(|other| other.starts_with(&real))
        })
    }

    /// Shows a file or directory where it is, and where its name leads to it.
    fn show(&mut self, path: &Utf8Path) {
        if let Some(real) = self.real(path).filter(|real| self.may_be_shown(real)) {
            self.mounts.show(&real);
            if !self.mounts.has(path) {
                self.mounts.set(path, Place::ReadOnlyFrom(real));
            }
        }
    }

    fn show_dir(&mut self, dir: &Utf8Path) {
        if !self.may_be_shown(dir) {
            return;
        }
        self.show(dir);
        let real = self.real(dir);
        for dir in real.iter().map(Utf8PathBuf::as_path).chain([dir]) {
            let Some(prefix) = dir.parent().filter(|prefix| self.may_be_shown(prefix)) else {
                continue;
            };
            match dir.file_name() {
                // Version managers: each shim looks for the real program beside this directory.
                Some("shims") => self.show(prefix),
                Some("bin") => {
                    for name in BESIDE_BIN {
                        self.show(&prefix.join(name));
                    }
                }
                _ => {}
            }
        }
    }

    /// Shows where the links of a directory lead.
    fn show_links_of(&mut self, dir: &Utf8Path) {
        let Ok(entries) = dir.read_dir_utf8() else {
            return;
        };
        // A link to a tool does not open the directory of somebody's project.
        self.is_narrow = true;
        for entry in entries.take(MOST_ENTRIES).flatten() {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && is_program(entry.path()) && !self.is_shown(entry.path()) {
                self.show_program(entry.path());
            }
        }
        self.is_narrow = false;
    }

    /// Returns whether a link and the file that it leads to are there.
    fn is_shown(&self, link: &Utf8Path) -> bool {
        self.mounts.has(link) && self.real(link).is_some_and(|file| self.mounts.has(&file))
    }

    fn is_wide_enough_for(&self, dir: &Utf8Path) -> bool {
        let is_of_programs = dir
            .file_name()
            .is_some_and(|name| OF_PROGRAMS.contains(&name));
        !self.is_narrow || is_of_programs
    }

    /// Shows a file alone, or with its directory if that may be shown.
    fn show_file(&mut self, file: &Utf8Path) {
        if self.mounts.has(file) {
            return;
        }
        match file.parent() {
            Some(dir) if self.may_be_shown(dir) && self.is_wide_enough_for(dir) => {
                self.show_dir(dir);
            }
            _ => self.show(file),
        }
    }

    /// Shows the package that a file belongs to, by its name and where it really is.
    fn show_package(&mut self, file: &Utf8Path) {
        let real = self.real(file).filter(|real| real != file);
        for file in real.iter().map(Utf8PathBuf::as_path).chain([file]) {
            let mut above = file.ancestors().skip(1);
            let modules = above.clone().filter(|dir| dir.ends_with("node_modules"));
            if let Some(modules) = modules.last().filter(|dir| self.may_be_shown(dir)) {
                self.show(modules);
            }
            let environment = above.find(|above| above.join("pyvenv.cfg").is_file());
            if let Some(environment) = environment.filter(|dir| self.may_be_shown(dir)) {
                self.show(environment);
                self.show_base_python(environment);
            }
            self.show_file(file);
        }
    }

    /// Shows the Python that a virtual environment was made with.
    fn show_base_python(&mut self, environment: &Utf8Path) {
        let settings = std::fs::read_to_string(environment.join("pyvenv.cfg")).unwrap_or_default();
        for line in settings.lines() {
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            if key.trim() == "home" {
                self.show_dir(Utf8Path::new(value.trim()));
            }
        }
    }

    /// Returns the interpreter that the first line of a script names.
    fn interpreter(&self, file: &Utf8Path) -> Option<Utf8PathBuf> {
        /// The kernel reads no more.
        const LONGEST: u64 = 256;
        let mut line = Vec::new();
        let script = File::open(file).ok()?.take(LONGEST);
        BufReader::new(script).read_until(b'\n', &mut line).ok()?;
        let line = String::from_utf8_lossy(&line);
        let mut words = line.strip_prefix("#!")?.split_whitespace();
        let program = Utf8PathBuf::from(words.next()?);
        if program.file_name() != Some("env") {
            return Some(program);
        }
        let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        find_program(name, self.path)
    }
}
