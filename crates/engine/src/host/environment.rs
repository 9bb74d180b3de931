//! The environment variables of a trial's commands: made from nothing, so that nothing leaks in.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent;
use terca_core::text::prose;

use crate::workspace::trial_dirs::CommandDirs;

/// Environment variables by name.
pub type Variables = BTreeMap<String, String>;

/// The variables that are passed on from Terca's own environment, beside [`PATHS`]: for programs, the language and the
/// network.
const PASSED_ON: [&str; 15] = [
    "PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
];

/// Version managers whose programs on `PATH` find their toolchains through the home directory. The trial's home
/// is another, so they are told where the toolchains are; these directories hold programs, no settings.
const TOOLCHAINS: [(&str, &str); 8] = [
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("RBENV_ROOT", ".rbenv"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("SDKMAN_DIR", ".sdkman"),
    ("NODENV_ROOT", ".nodenv"),
];

/// Variables that keep npm and pip from looking for updates, audits and funding. In a new home they would do it in
/// every trial, over the network, and print it below what a test has to say.
const QUIET: [(&str, &str); 6] = [
    ("NO_UPDATE_NOTIFIER", "1"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_audit", "false"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_ROOT_USER_ACTION", "ignore"),
];

/// Variables that are passed on and hold a path: of certificates, and of toolchains that have no directory in the home.
const PATHS: [&str; 7] = [
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "JAVA_HOME", "GOROOT",
];

/// Returns the variables whose values are files or directories outside of a trial that its programs read.
pub fn outside_paths() -> impl Iterator<Item = &'static str> {
    let caches = agent::profiles().flat_map(|profile| profile.caches);
    let toolchains = TOOLCHAINS.into_iter().map(|(name, _)| name);
    PATHS
        .into_iter()
        .chain(toolchains)
        .chain(caches.map(|(name, _)| *name))
}

/// The environment that Terca was started with.
#[derive(Debug, Clone, Default)]
pub struct Host {
    variables: Variables,
    /// The variables of a container's image, which all its commands get.
    of_image: Variables,
}

impl Host {
    /// Makes a host with these variables and no others.
    pub fn new(variables: Variables) -> Self {
        Host {
            variables,
            of_image: Variables::new(),
        }
    }

    /// Reads the variables of this process. The home gets its real name, which other paths are compared with.
    pub fn of_this_process() -> Self {
        let mut variables: Variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        if let Some(home) = variables.get_mut("HOME")
            && let Ok(real) = Utf8Path::new(home).canonicalize_utf8()
        {
            *home = real.into_string();
        }
        Host::new(variables)
    }

    /// Returns the environment of a machine with the software of an image, and with these variables of the image. Paths
    /// of this machine mean nothing there.
    pub fn in_image(&self, of_image: Variables) -> Self {
        let mut variables = self.variables.clone();
        for name in outside_paths().chain(["PATH", "HOME", "SHELL"]) {
            variables.remove(name);
        }
        for name in PASSED_ON.into_iter().chain(PATHS) {
            if let Some(value) = of_image.get(name) {
                variables.insert(name.to_owned(), value.clone());
            }
        }
        Host {
            variables,
            of_image,
        }
    }

    /// Adds variables, in the place of those of the same name.
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(more);
        self
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Returns all variables.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the variables that set-up, agent and tests all get.
    pub fn base(&self, dirs: CommandDirs<'_>) -> Variables {
        let passed = |name: &str| {
            PASSED_ON.contains(&name) || PATHS.contains(&name) || name.starts_with("LC_")
        };
        let quiet = QUIET.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut variables = Variables::from(quiet);
        variables.extend(self.of_image.clone());
        variables.extend(
            self.variables
                .iter()
                .filter(|(name, _)| passed(name))
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let path = variables
            .entry("PATH".into())
            .or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".into());
        *path = without_here(path);
        self.add_toolchains(&mut variables);
        add_own(&mut variables, dirs);
        variables
    }

    fn add_toolchains(&self, variables: &mut Variables) {
        let caches = agent::profiles().flat_map(|profile| profile.caches);
        for (name, dir) in TOOLCHAINS.iter().chain(caches).copied() {
            let set = self.get(name).map(str::to_owned);
            let usual = self
                .get("HOME")
                .map(|home| Utf8Path::new(home).join(dir))
                .filter(|path| path.is_dir());
            if let Some(value) = set.or(usual.map(Into::into)) {
                variables.insert(name.into(), value);
            }
        }
    }

    /// Returns the variables for commands of a suite: the base, those that they are given, and these facts. Their `PATH`
    /// ends with the directory beside their YAML file, and the workspace.
    pub fn for_suite<const N: usize>(
        &self,
        dirs: CommandDirs<'_>,
        given: impl IntoIterator<Item = (String, String)>,
        beside: &Utf8Path,
        facts: [(&str, String); N],
    ) -> Variables {
        let mut variables = self.base(dirs);
        variables.extend(given);
        let path = variables.entry("PATH".into()).or_default();
        *path = format!("{path}:{beside}:{}", dirs.workspace);
        variables.extend(facts.map(|(name, value)| (name.to_owned(), value)));
        variables
    }
}

/// Returns a `PATH` without its relative entries. `.` and the empty entry are the workspace here, where an agent could
/// put a program of its own in the place of another.
fn without_here(path: &str) -> String {
    let entries = path.split(':').filter(|entry| entry.starts_with('/'));
    prose::joined(entries, ":")
}

/// Adds directories of the command's own, an identity for git, which a private home has not, and keeps git from looking
/// above the workspace.
fn add_own(variables: &mut Variables, dirs: CommandDirs<'_>) {
    let CommandDirs {
        home,
        tmp,
        workspace,
        ..
    } = dirs;
    let own = [
        ("HOME", home.to_string()),
        ("XDG_CONFIG_HOME", format!("{home}/.config")),
        ("XDG_CACHE_HOME", format!("{home}/.cache")),
        ("XDG_DATA_HOME", format!("{home}/.local/share")),
        ("XDG_STATE_HOME", format!("{home}/.local/state")),
        ("TMPDIR", tmp.to_string()),
        (
            "GIT_CEILING_DIRECTORIES",
            workspace.parent().unwrap_or(workspace).to_string(),
        ),
        ("GIT_AUTHOR_NAME", "terca".into()),
        ("GIT_AUTHOR_EMAIL", "terca@localhost".into()),
        ("GIT_COMMITTER_NAME", "terca".into()),
        ("GIT_COMMITTER_EMAIL", "terca@localhost".into()),
    ];
    variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
}

/// Returns whether a path leads to a file that can be run.
pub(crate) fn is_program(path: &Utf8Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Finds the file of a program on a `PATH` as a shell does.
pub fn find_program(name: &str, path: &str) -> Option<Utf8PathBuf> {
    let found = path
        .split(':')
        .filter(|dir| !dir.is_empty())
        .map(|dir| Utf8Path::new(dir).join(name))
        .find(|file| is_program(file))?;
    // It is started in another directory than this one.
    camino::absolute_utf8(found).ok()
}
