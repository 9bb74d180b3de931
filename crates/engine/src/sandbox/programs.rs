//! Finds the files that programs need: where they are installed, their packages, and the interpreters of scripts.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::normal;

use super::mounts::Mounts;
use crate::host::environment::{find_program, is_program};

/// The links and interpreters that lead from one program to the next. No real one has as many.
const MOST_STEPS: usize = 16;
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
            if !dir.is_absolute() || self.is_of_agents(dir) {
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
            let Some(file) = next.filter(|file| !self.is_of_agents(file)) else {
                return;
            };
            next = match file.read_link_utf8() {
                Ok(target) => {
                    self.show_file(&file);
                    let dir = file.parent().unwrap_or(&file);
                    Some(normal(&dir.join(target)))
                }
                Err(_) => {
                    self.show_package(&file);
                    self.interpreter(&file)
                }
            };
        }
    }

    /// Shows a file that a command names, with the directory around it, where scripts have their modules. A directory is
    /// shown whole.
    pub(super) fn show_named(&mut self, path: &Utf8Path) {
        if path.is_dir() && !self.is_of_agents(path) {
            self.show_dir(path);
        } else if path.exists() {
            self.show_program(path);
        }
    }

    fn is_of_agents(&self, path: &Utf8Path) -> bool {
        // Other names of a directory lead there too.
        let path = normal(path);
        let real = path.canonicalize_utf8();
        let names = [Some(&path), real.as_ref().ok()];
        let mut names = names.into_iter().flatten();
        names.any(|name| self.of_agents.iter().any(|dir| name.starts_with(dir)))
    }

    /// Returns whether a directory can be shown whole: nothing that is to be secluded is in it.
    fn may_be_shown(&self, dir: &Utf8Path) -> bool {
        dir.parent().is_some()
            && !OF_EVERYBODY.contains(&dir.as_str())
            && !self.secluded.iter().any(|other| other.starts_with(dir))
    }

    fn show_dir(&mut self, dir: &Utf8Path) {
        if !self.may_be_shown(dir) {
            return;
        }
        self.mounts.show(dir);
        let Some(prefix) = dir.parent().filter(|prefix| self.may_be_shown(prefix)) else {
            return;
        };
        match dir.file_name() {
            // Version managers: each shim looks for the real program beside this directory.
            Some("shims") => self.mounts.show(prefix),
            Some("bin") => {
                for name in BESIDE_BIN {
                    self.mounts.show(&prefix.join(name));
                }
            }
            _ => {}
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
        self.mounts.has(link)
            && link
                .canonicalize_utf8()
                .is_ok_and(|file| self.mounts.has(&file))
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
            _ => self.mounts.show(file),
        }
    }

    /// Shows the package that a file belongs to.
    fn show_package(&mut self, file: &Utf8Path) {
        let modules = file
            .ancestors()
            .filter(|above| above.file_name() == Some("node_modules"))
            .last();
        if let Some(modules) = modules
            && self.may_be_shown(modules)
        {
            self.mounts.show(modules);
        }
        let environment = file
            .ancestors()
            .skip(1)
            .find(|above| above.join("pyvenv.cfg").is_file());
        if let Some(environment) = environment
            && self.may_be_shown(environment)
        {
            self.mounts.show(environment);
            self.show_base_python(environment);
        }
        self.show_file(file);
        // The directory may be shown under another name, through a link above it.
        if let Ok(real) = file.canonicalize_utf8()
            && real != file
        {
            self.show_file(&real);
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
                let home = Utf8Path::new(value.trim());
                self.show_dir(home);
                if let Ok(real) = home.canonicalize_utf8() {
                    self.show_dir(&real);
                }
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
