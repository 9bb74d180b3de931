//! Containers: an engine such as Docker, found and tried once, and asked for a container for every command.
//!
//! The software inside is the image's; the trial's directories are shown at the path that all trials have. The first process is
//! Terca's own supervisor, which is brought along with all that it needs ([`super::carried_program`]).

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::config::sandbox::{ContainerEngine, Image};

use super::carried_program::{self, MEETING, PLACE, PROGRAM};
use super::contents::write_names;
use super::mounts::{Mounts, Place};
use super::programs::Programs;
use super::{SandboxError, View};
use crate::host::environment::{Host, Variables, find_program};
use crate::process::supervise::{ARGUMENT, Container, Enclosure, KeptContainer};

/// The label of every container. Its value is a directory that is there as long as its run is.
const LABEL: &str = "terca.run";
/// The directory that all containers see, in the directory for their files.
const CARRIED: &str = "carried";
/// The time that an engine has for an answer, on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(5);
/// The `PATH` of an image that has none, as Docker has it.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Directories that are the image's, also where a command names files in them.
const OF_IMAGE: [&str; 16] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc",
    "/run", "/sbin", "/sys", "/usr", "/var/lib", "/var/run",
];

/// The variables that the programs of engines read. Containers have none of them.
const OF_ENGINES: [&str; 23] = [
    "HOME", "PATH", "USER", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "DOCKER_API_VERSION", "DOCKER_BUILDKIT", "DOCKER_CERT_PATH",
    "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_TLS_VERIFY", "CONTAINERS_CONF",
    "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_REGISTRIES_CONF", "CONTAINERS_STORAGE_CONF",
    "CONTAINER_CONNECTION", "CONTAINER_HOST", "STORAGE_DRIVER", "STORAGE_OPTS",
];

/// The program of an engine.
#[derive(Debug)]
pub(super) struct EngineProgram {
    pub engine: ContainerEngine,
    pub program: Utf8PathBuf,
    env: Variables,
}

/// An engine that answered.
#[derive(Debug)]
pub(super) struct EngineAnswer {
    /// Its version.
    pub version: String,
    /// Its own users have numbers of their own; the superuser inside is the caller outside.
    is_rootless: bool,
    /// The numbers of users inside are others outside, unless that is switched off.
    is_remapped: bool,
}

impl EngineProgram {
    pub(super) fn find(engine: ContainerEngine, host: &Host) -> Result<Self, SandboxError> {
        let path = host.get("PATH").unwrap_or(USUAL_PATH);
        let program = find_program(engine.program(), path);
        let env = OF_ENGINES.into_iter().filter_map(|name| {
            let value = host.get(name)?;
            Some((name.to_owned(), value.to_owned()))
        });
        Ok(EngineProgram {
            engine,
            program: program.ok_or(SandboxError::EngineMissing { engine })?,
            env: env.collect(),
        })
    }

    /// Asks for its version, which only an engine that works can say.
    pub(super) fn answer(&self) -> Result<EngineAnswer, SandboxError> {
        let format = match self.engine {
            ContainerEngine::Docker => "{{.ServerVersion}} {{json .SecurityOptions}}",
            ContainerEngine::Podman => "{{.Version.Version}}",
        };
        let told = self.output(&["info", "--format", format]);
        let told = told.map_err(|words| self.refused(words))?;
        let (version, security) = told.split_once(' ').unwrap_or((&told, ""));
        if version.is_empty() {
            return Err(self.refused("it does not report its version".to_owned()));
        }
        Ok(EngineAnswer {
            version: version.to_owned(),
            is_rootless: security.contains("name=rootless"),
            is_remapped: security.contains("name=userns"),
        })
    }

    fn refused(&self, reason: String) -> SandboxError {
        let (engine, program) = (self.engine, self.program.clone());
        // It works, and has no such field: it is another program, or another version of it.
        if reason.contains("template") {
            return SandboxError::EngineUnknown {
                engine,
                program,
                reason,
            };
        }
        SandboxError::EngineRefused {
            engine,
            program,
            reason,
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(&self.env);
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Runs the program for as long as it takes. Returns whether it succeeds; what it prints is in a file.
    pub(super) fn run_long(&self, args: &[&str], log: &Utf8Path) -> std::io::Result<bool> {
        let log = fs_err::File::create(log)?.into_parts().0;
        let errors = log.try_clone()?;
        let status = self.command(args).stdout(log).stderr(errors).status()?;
        Ok(status.success())
    }

    /// Runs the program. Returns what it printed, or its last words.
    pub(super) fn output(&self, args: &[&str]) -> Result<String, String> {
        let started = Instant::now();
        let mut child = self
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        // Answers are short, and fit into a pipe.
        loop {
            match child.try_wait() {
                Ok(Some(_)) => break,
                Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(GLANCE),
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!(
                        "it does not answer within {} s",
                        PATIENCE.as_secs()
                    ));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        let output = child.wait_with_output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let mut lines = words.trim().lines().rev();
        // Advice after the error.
        let last = lines.find(|line| {
            !line.is_empty() && !line.starts_with("Run '") && !line.starts_with("See '")
        });
        Err(last.unwrap_or("it says nothing").to_owned())
    }
}

/// Returns the container of a service. It listens at the second port inside, and at the first address on this machine.
pub fn service_container(
    image: &Image,
    (address, port): (SocketAddr, u16),
    variables: &[(String, String)],
    dir: &Utf8Path,
    output: &Utf8Path,
    host: &Host,
) -> Result<KeptContainer, SandboxError> {
    let mut found = ContainerEngine::ALL
        .into_iter()
        .map(|engine| EngineProgram::find(engine, host));
    let Some(engine) = found.find_map(Result::ok) else {
        return Err(SandboxError::NoEngine);
    };
    let name = new_name();
    let mut args: Vec<String> = ["run", "--rm", "--name", &name].map(str::to_owned).to_vec();
    args.extend(label(dir));
    args.extend(["--pull", "never", "--log-driver", "none"].map(str::to_owned));
    args.extend(["--publish".to_owned(), format!("{address}:{port}")]);
    for (name, value) in variables {
        args.extend(["--env".to_owned(), format!("{name}={value}")]);
    }
    args.push(image.to_string());
    Ok(KeptContainer {
        program: engine.program,
        name,
        args,
        env: engine.env,
        output: output.to_owned(),
    })
}

/// An image that is there.
#[derive(Debug)]
pub(super) struct FoundImage {
    pub name: Image,
    /// The hash of its content and settings.
    pub id: String,
    /// The environment that Terca would have been started with inside.
    pub host: Host,
    /// The directory that it works in, if that can be the workspace.
    pub workdir: Option<Utf8PathBuf>,
}

/// The containers of an engine, as it works on this machine.
#[derive(Debug)]
pub(super) struct Containers {
    pub engine: EngineProgram,
    /// The directory for files that all containers need.
    dir: Utf8PathBuf,
    /// The places that every container has.
    base: Mounts,
    /// The arguments of every container.
    walls: Vec<String>,
    secluded: Vec<Utf8PathBuf>,
    /// The user inside has the number of the superuser.
    pub is_superuser: bool,
}

impl Containers {
    /// Looks for the engine and its service. Files that all containers need are made in `dir`.
    pub(super) fn set_up(
        engine: ContainerEngine,
        dir: &Utf8Path,
        host: &Host,
        secluded: &[Utf8PathBuf],
    ) -> Result<Self, SandboxError> {
        let program = EngineProgram::find(engine, host)?;
        let answer = program.answer()?;
        let own = (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        );
        let (user, group) = if answer.is_rootless { (0, 0) } else { own };
        let mut walls = walls(dir);
        walls.extend(["--user".to_owned(), format!("{user}:{group}")]);
        if engine == ContainerEngine::Podman && user != 0 {
            walls.extend(["--userns".to_owned(), "keep-id".to_owned()]);
        }
        if answer.is_remapped {
            walls.extend(["--userns".to_owned(), "host".to_owned()]);
        }
        let containers = Containers {
            engine: program,
            dir: dir.to_owned(),
            base: base(dir, (user, group), host)?,
            walls,
            secluded: secluded.to_vec(),
            is_superuser: user == 0,
        };
        containers.remove_stale();
        Ok(containers)
    }

    /// Looks for an image, and starts a container of it.
    pub(super) fn try_image(&self, image: &Image, host: &Host) -> Result<FoundImage, SandboxError> {
        let found = self.find_image(image, host)?;
        self.try_out(image, &found.id)?;
        Ok(found)
    }

    fn find_image(&self, image: &Image, host: &Host) -> Result<FoundImage, SandboxError> {
        let name = image.as_str();
        // Not `.Config.Env`: where an image has none, some versions have no such field.
        let format = "{{.Id}} {{json .Config}}";
        let told = self
            .engine
            .output(&["image", "inspect", "--format", format, name]);
        let told = told.map_err(|words| {
            let said = words.to_lowercase();
            if ["no such image", "not known", "failed to find image"]
                .iter()
                .any(|known| said.contains(known))
            {
                SandboxError::ImageMissing {
                    engine: self.engine.engine,
                    image: image.clone(),
                }
            } else {
                self.engine.refused(words)
            }
        })?;
        let (id, config) = told.split_once(' ').unwrap_or((&told, "null"));
        let config: Value = serde_json::from_str(config).unwrap_or_default();
        let mut variables = Variables::from([("PATH".to_owned(), USUAL_PATH.to_owned())]);
        for variable in config["Env"].as_array().into_iter().flatten() {
            if let Some((name, value)) = variable.as_str().and_then(|text| text.split_once('=')) {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
        let hash = id.strip_prefix("sha256:").unwrap_or(id);
        let workdir = Utf8Path::new(config["WorkingDir"].as_str().unwrap_or_default());
        let can_be_workspace = workdir.is_absolute() && workdir.parent().is_some();
        Ok(FoundImage {
            name: image.clone(),
            id: format!("sha256:{hash}"),
            host: host.in_image(variables),
            workdir: can_be_workspace.then(|| workdir.to_owned()),
        })
    }

    /// Starts Terca's own program in a container, where it ends at once.
    fn try_out(&self, image: &Image, id: &str) -> Result<(), SandboxError> {
        let name = new_name();
        let mut args = self.args(&name, &self.base, true);
        args.extend([
            id.to_owned(),
            own_program().into_string(),
            ARGUMENT.to_owned(),
        ]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let tried = self.engine.output(&args);
        tried.map(drop).map_err(|reason| {
            // It may be there after an answer that took too long.
            let _ = self.engine.output(&["rm", "--force", "--volumes", &name]);
            SandboxError::ImageRefused {
                engine: self.engine.engine,
                image: image.clone(),
                reason,
            }
        })
    }

    /// Copies the files of a directory of an image to an empty directory.
    pub(super) fn copy_out(
        &self,
        image: &FoundImage,
        from: &Utf8Path,
        to: &Utf8Path,
    ) -> Result<(), String> {
        let name = new_name();
        let label = format!("{LABEL}={}", self.dir);
        let made = self.engine.output(&[
            "create", "--label", &label, "--name", &name, "--network", "none", "--entrypoint", "",
            &image.id, "none",
        ]);
        made?;
        let log = self.dir.join(format!("{name}.log"));
        let source = format!("{name}:{from}/.");
        let copied = self.engine.run_long(&["cp", &source, to.as_str()], &log);
        let removed = self.engine.output(&["rm", "--force", "--volumes", &name]);
        match copied {
            Ok(true) => removed.map(drop),
            Ok(false) => Err(std::fs::read_to_string(&log).unwrap_or_default()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Removes the containers of runs that were killed together with the keepers of their containers.
    fn remove_stale(&self) {
        let filter = format!("label={LABEL}");
        let Ok(ids) = self
            .engine
            .output(&["ps", "--all", "--quiet", "--filter", &filter])
        else {
            return;
        };
        for id in ids.lines() {
            let format = format!("{{{{index .Config.Labels \"{LABEL}\"}}}}");
            let run = self.engine.output(&["inspect", "--format", &format, id]);
            if run.is_ok_and(|dir| dir.starts_with('/') && !Utf8Path::new(&dir).exists()) {
                // The next run tries again.
                let _ = self.engine.output(&["rm", "--force", "--volumes", id]);
            }
        }
    }

    /// Returns the arguments for a container up to its image.
    fn args(&self, name: &str, mounts: &Mounts, own_network: bool) -> Vec<String> {
        let mut args: Vec<String> = ["run", "--rm", "--name", name].map(str::to_owned).to_vec();
        args.extend(self.walls.iter().cloned());
        let network = if own_network { "none" } else { "host" };
        args.extend(["--network".to_owned(), network.to_owned()]);
        args.extend(mounts.container_args(self.engine.engine));
        args
    }

    /// Returns the enclosure of a command in a container of an image.
    pub(super) fn enclosure(&self, image: &FoundImage, view: &View<'_>) -> Enclosure {
        let mut mounts = self.base.clone();
        mounts.show_what_is_read(view);
        let own = view.own_dirs();
        Programs::on("", &mut mounts, &self.secluded, &own).show_words(view.words.others);
        mounts.hide(view);
        mounts.show_what_is_written(view);
        let name = new_name();
        // Not where other containers see it: who connects first is taken for the supervisor.
        let meeting = self.dir.join(&name);
        let inside = Utf8Path::new(PLACE).join(MEETING);
        mounts.set(&inside, Place::ReadOnlyFrom(meeting.clone()));
        let mut args = self.args(&name, &mounts, view.own_network);
        args.push(image.id.clone());
        Enclosure {
            program: self.engine.program.clone(),
            args,
            container: Some(Container {
                name,
                env: self.engine.env.clone(),
                meeting,
                inside,
            }),
            ..Enclosure::default()
        }
    }
}

/// Returns Terca's own program, as it is found in containers.
pub(super) fn own_program() -> Utf8PathBuf {
    Utf8Path::new(PLACE).join(PROGRAM)
}

fn new_name() -> String {
    format!("terca-{:016x}", fastrand::u64(..))
}

/// Returns the label of a container whose run has this directory.
fn label(dir: &Utf8Path) -> [String; 2] {
    ["--label".to_owned(), format!("{LABEL}={dir}")]
}

/// Returns the arguments of every container.
fn walls(dir: &Utf8Path) -> Vec<String> {
    let mut args = label(dir).to_vec();
    let walls = [
        // An image is never fetched by the way: `docker run` would.
        "--pull", "never",
        // Terca reads files; what is printed past them is nobody's.
        "--log-driver", "none", "--no-healthcheck", "--read-only", "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        // The files of the trial would need a label of the container's.
        "--security-opt", "label=disable", "--workdir", "/", "--entrypoint", "",
    ];
    args.extend(walls.map(str::to_owned));
    args
}

/// Returns the places that every container has.
fn base(dir: &Utf8Path, ids: (u32, u32), host: &Host) -> std::io::Result<Mounts> {
    let mut mounts = Mounts::default();
    for path in OF_IMAGE {
        mounts.set(path, Place::OfImage);
    }
    let carried = dir.join(CARRIED);
    fs_err::create_dir(&carried)?;
    carried_program::carry(&carried)?;
    let users = carried.join("passwd");
    let groups = carried.join("group");
    write_names(&users, &groups, ids, host)?;
    mounts.set(PLACE, Place::ReadOnlyFrom(carried));
    mounts.set("/etc/passwd", Place::ReadOnlyFrom(users));
    mounts.set("/etc/group", Place::ReadOnlyFrom(groups));
    for path in ["/run", "/tmp", "/var/tmp"] {
        mounts.set(path, Place::Empty);
    }
    Ok(mounts)
}
