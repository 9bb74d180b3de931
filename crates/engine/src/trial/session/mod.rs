//! An agent's session: how an agent is found, given its work, run and listened to.
//!
//! A trial's agent and a judge both go through here. They differ in their directories and in their requests.

mod agent_dirs;
mod last_words;
mod listener;
mod mcp_tap;
mod own_artifacts;
mod process;
mod recording_file;
mod replayed;
mod transcript;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::Value;
use terca_core::agent::AgentChoice;
use terca_core::agent::access::Access;
use terca_core::agent::mcp::McpServer;
use terca_core::agent::redirect::{addresses_of_shell, restore_addresses};
use terca_core::agent::{Decoder, Inputs, Invocation, Launch, Profile, Stdin};
use terca_core::config::gateway::{GatewayMode, Injection};
use terca_core::config::sandbox::{Image, Sandbox};
use terca_core::network::{HostPattern, Network};
use terca_core::recording::OnMiss;
use terca_core::sought::Sought;
use terca_core::text::mask::Mask;
use terca_core::trial_error::ErrorKind;
use terca_gateway::{Playback, Replay};

use super::containment::{ContainedAgent, words_of};
use super::context::Context;
use super::gateway::{Led, LedRequest};
use super::network::{AgentNetwork, NetworkRequest, NetworkUser};
use super::replay_source::PlayerFacts;
use super::stage_error::StageError;
use crate::acp_client;
use crate::host::credentials;
use crate::host::environment::{Variables, find_program};
use crate::host::version::VersionQuestion;
use crate::sandbox::Words;
use crate::workspace::trial_dirs::CommandDirs;
pub(super) use agent_dirs::AgentDirs;
pub(super) use last_words::{last_words, read_stdout};
use mcp_tap::TappedServers;
pub(super) use process::{AgentEnd, AgentProcess};
use recording_file::RecordingFile;

/// The work that an agent is asked to do, and the means for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentRequest<'a> {
    pub(super) agent: &'a AgentChoice,
    pub(super) model: Option<&'a str>,
    pub(super) mcp_servers: &'a [(String, McpServer<String>)],
    /// The tools that it is not offered, by the name of their server.
    pub(super) hide_tools: &'a BTreeMap<String, Vec<String>>,
    pub(super) config: Option<&'a Value>,
    pub(super) prompt: &'a str,
    pub(super) timeout: Duration,
    pub(super) sandbox: Option<&'a Sandbox>,
    pub(super) network: &'a Network,
    /// Hosts that it reaches beside its network.
    pub(super) allow: &'a [HostPattern],
    pub(super) gateway: GatewayMode,
    /// The suite or the command line says what part the gateway has.
    pub(super) gateway_is_asked: bool,
    /// The faults of models that the gateway makes.
    pub(super) inject: &'a [Injection],
    /// The parts of the variant that are looked for in its requests to models.
    pub(super) sought: &'a [Sought],
}

/// An agent whose program is there.
pub(super) struct FoundAgent {
    profile: &'static Profile,
    /// The environment that it will be started with.
    pub(super) env: Variables,
    /// `None` for an agent that is a shell command or built in.
    program: Option<Utf8PathBuf>,
}

/// An agent that is ready to start.
pub(super) struct AgentSession {
    pub(super) profile: &'static Profile,
    pub(super) version: Option<String>,
    /// The names of its credentials, and the services that it is led to.
    pub(super) access: Access,
    /// Remarks about the way to its models.
    pub(super) notes: Vec<String>,
    pub(super) kind: AgentKind,
}

impl AgentSession {
    /// Returns whether its requests to models pass through the gateway.
    pub(super) fn is_metered(&self) -> bool {
        matches!(&self.kind, AgentKind::Process(process) if process.passage.is_some())
    }
}

/// The two sorts of agents.
pub(super) enum AgentKind {
    /// A program, or a shell command.
    Process(Box<AgentProcess>),
    /// Terca itself.
    BuiltIn(BuiltIn, Box<dyn Decoder>),
}

/// An agent that Terca plays itself: there is no process, no session and no model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltIn {
    /// Applies the eval's own solution.
    Solution,
    /// Tries the tricks of a dishonest agent.
    Cheat,
    /// Does nothing.
    Nothing,
}

impl FoundAgent {
    /// Looks for the agent's program. An agent that has none is always there.
    pub(super) fn find(
        choice: &AgentChoice,
        image: Option<&Image>,
        env: Variables,
    ) -> Result<Self, StageError> {
        let program = find_agent_program(choice, image, &env)?;
        Ok(FoundAgent {
            profile: choice.agent.profile(),
            env,
            program,
        })
    }

    /// Makes the agent ready to start: asks for its version, installs its credentials, and writes its prompt and its
    /// settings.
    pub(super) fn prepare(
        self,
        context: &Context,
        dirs: AgentDirs,
        request: &AgentRequest<'_>,
    ) -> Result<AgentSession, StageError> {
        let FoundAgent {
            profile,
            mut env,
            program,
        } = self;
        let version = program
            .as_ref()
            .and_then(|program| ask_version(context, &dirs, request, profile, program, &env));
        credentials::install(&context.host, profile, &mut env, &dirs.home)?;
        let is_superuser = context.sandboxes.is_superuser(request.sandbox);
        let replay = open_replay(context, &dirs, profile, version.as_deref(), &mut env)?;
        let addresses = addresses_of_shell(profile, &env, &|name| of_shell(context, name));
        // Its own services and keys, whichever way leads to them.
        let mut own = env.clone();
        let access = credentials::access(&context.host, profile, &own, request.config);
        let mut recording_file = None;
        let is_led = context.replay.is_some() || request.gateway != GatewayMode::Off;
        let led = if is_led && !profile.is_built_in() {
            Led::through(
                &context.gateway,
                &context.host,
                profile,
                &access,
                &mut env,
                LedRequest {
                    config: request.config,
                    sought: request.sought,
                    is_asked: request.gateway_is_asked,
                    is_replay: context.replay.is_some(),
                    inject: request.inject,
                },
                || {
                    if let Some(replay) = replay {
                        return Ok(Playback::Replay(Box::new(replay)));
                    }
                    if request.gateway != GatewayMode::Record {
                        return Ok(Playback::None);
                    }
                    let version = version.as_deref();
                    let (file, new) =
                        RecordingFile::create(&dirs, version, addresses, &context.mask)?;
                    recording_file = Some(file);
                    Ok(Playback::Record(new))
                },
            )?
        } else {
            Led::past_the_gateway(request.config)
        };
        let mut notes = led.notes.clone();
        let mut tapped = TappedServers::default();
        if !profile.is_built_in() {
            tapped = mcp_tap::lead(context, request, &mut env, &mut notes)?;
        }
        let network = network_of(context, request, profile, &access, &led, &tapped)?;
        let mut taps = tapped.taps;
        let mut mcp_servers = network.servers(&tapped.servers);
        taps.open_programs(context, &dirs.io, request, &mut mcp_servers, &mut notes)?;
        let led_request = AgentRequest {
            config: led.config.as_ref(),
            mcp_servers: &mcp_servers,
            ..*request
        };
        let (invocation, decoder) =
            write_inputs(&dirs, &led_request, &env, is_superuser, &context.mask)?;
        own.extend(invocation.env.iter().cloned());
        let access = credentials::access(&context.host, profile, &own, request.config);
        env.extend(invocation.env);
        network.set_variables(&mut env);
        let agent_program = program.clone();
        let command = command_of(context, request, invocation.launch, program)?;
        let shell_command = match &command {
            Ok((_, args)) if request.agent.agent.profile().takes_command => {
                args.last().map(String::as_str)
            }
            _ => None,
        };
        let words = words_of(shell_command, request.mcp_servers);
        let kind = match command {
            Err(built_in) => AgentKind::BuiltIn(built_in, decoder),
            Ok((program, args)) => AgentKind::Process(Box::new(AgentProcess {
                profile,
                agent_program: agent_program.unwrap_or_else(|| program.clone()),
                program,
                args,
                env,
                stdin: match invocation.stdin {
                    Stdin::Empty => None,
                    Stdin::Prompt => Some(dirs.prompt_file()),
                    Stdin::Text(_) => Some(dirs.stdin_file()),
                },
                side_files: invocation.side_files,
                decoder,
                timeout: request.timeout,
                sandbox: request.sandbox.cloned(),
                words,
                dirs,
                network,
                model: request.model.map(str::to_owned),
                passage: led.passage,
                recording_file,
                sought: request.sought.to_vec(),
                taps,
            })),
        };
        Ok(AgentSession {
            profile,
            version,
            access,
            notes,
            kind,
        })
    }
}

/// Opens the recording of an agent, if its session is replayed. The agent is given the addresses that its shell had
/// when it was recorded, unless services are asked: those are the caller's to choose.
fn open_replay(
    context: &Context,
    dirs: &AgentDirs,
    profile: &Profile,
    version: Option<&str>,
    env: &mut Variables,
) -> Result<Option<Replay>, StageError> {
    let source = context.replay.as_ref();
    let Some(source) = source.filter(|_| !profile.is_built_in()) else {
        return Ok(None);
    };
    // It has the same place in its run as the agent has in this one.
    let place = dirs.artifacts.strip_prefix(&context.run_dir);
    let player = PlayerFacts {
        directory: dirs.root(),
        agent_version: version.map(str::to_owned),
        mask: &context.mask,
    };
    let replay = source.open(place.unwrap_or(&dirs.artifacts), player)?;
    if replay.on_miss == OnMiss::Error {
        let recorded = replay.recording.addresses();
        restore_addresses(profile, recorded, env, &|name| of_shell(context, name));
    }
    Ok(Some(replay))
}

fn of_shell(context: &Context, name: &str) -> Option<String> {
    context.host.get(name).map(str::to_owned)
}

/// Returns the file of the agent's program, or `None` for an agent without one. In a container it is the image's,
/// and looked
/// for when it is started.
pub(super) fn find_agent_program(
    choice: &AgentChoice,
    image: Option<&Image>,
    env: &Variables,
) -> Result<Option<Utf8PathBuf>, StageError> {
    let Some(name) = choice.program() else {
        return Ok(None);
    };
    if image.is_some() {
        return Ok(Some(name.into()));
    }
    let profile = choice.agent.profile();
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    match find_program(name, path) {
        Some(program) => Ok(Some(program)),
        None if choice.program.is_some() => {
            let message = format!("the `program` of `{}` cannot be run: {name}", profile.name);
            Err(StageError::new(ErrorKind::AgentMissing, message))
        }
        None => {
            let message = format!(
                "`{name}` is not installed (to install it: {})",
                profile.how_to_install()
            );
            Err(StageError::new(ErrorKind::AgentMissing, message))
        }
    }
}

/// Asks the agent's program for its version, in a directory of its own.
fn ask_version(
    context: &Context,
    dirs: &AgentDirs,
    request: &AgentRequest<'_>,
    profile: &'static Profile,
    program: &Utf8PathBuf,
    env: &Variables,
) -> Option<String> {
    let contained = ContainedAgent {
        sandbox: request.sandbox,
        dirs: CommandDirs {
            workspace: &dirs.probe,
            ..dirs.for_agent()
        },
        io: &dirs.probe,
        env,
        network: &AgentNetwork::without_exit(request.network),
        words: Words {
            program: Some(program),
            others: &[],
        },
    };
    let question = VersionQuestion {
        profile,
        program,
        image: context.sandboxes.image_id(request.sandbox),
        env,
        dir: &dirs.probe,
    };
    let enclose = || contained.enclosure(context);
    context.versions.get(question, enclose, &context.interrupt)
}

/// Makes the network of an agent. One that Terca plays itself needs none of its own.
fn network_of(
    context: &Context,
    request: &AgentRequest<'_>,
    profile: &Profile,
    access: &Access,
    led: &Led,
    tapped: &TappedServers,
) -> Result<AgentNetwork, StageError> {
    let asked = NetworkRequest {
        network: if profile.is_built_in() {
            &Network::Open
        } else {
            request.network
        },
        allow: request.allow,
        mcp_servers: &tapped.not_led(request.mcp_servers),
        is_by_port: context.is_network_by_port(request.sandbox),
    };
    let user = NetworkUser {
        profile,
        access,
        led: &led.origins,
        needs_gateway: led.passage.is_some() || tapped.taps.need_gateway(),
    };
    asked.make(context, Some(user))
}

/// Returns the program of an agent and its arguments, or the part that Terca plays itself.
fn command_of(
    context: &Context,
    request: &AgentRequest<'_>,
    launch: Launch,
    found: Option<Utf8PathBuf>,
) -> Result<Result<(Utf8PathBuf, Vec<String>), BuiltIn>, StageError> {
    Ok(match launch {
        Launch::Program { program, args } => Ok((found.unwrap_or_else(|| program.into()), args)),
        Launch::Shell(command) => {
            let command = context.sealed.command(&command);
            Ok(("/bin/sh".into(), vec!["-c".to_owned(), command]))
        }
        Launch::AcpClient { settings, agent } => {
            let Some(client) = context.own_program(request.sandbox) else {
                let message = "a copy of Terca's program could not be made";
                return Err(StageError::new(ErrorKind::Internal, message));
            };
            command_of(context, request, *agent, found)?.map(|(program, args)| {
                (
                    client.path,
                    acp_client::arguments(&settings, &program, args),
                )
            })
        }
        Launch::LaySolution => Err(BuiltIn::Solution),
        Launch::Cheat => Err(BuiltIn::Cheat),
        Launch::Nothing => Err(BuiltIn::Nothing),
    })
}

/// Writes the prompt and the agent's settings. Returns how it is to be started, and the decoder for its output.
fn write_inputs(
    dirs: &AgentDirs,
    request: &AgentRequest<'_>,
    env: &Variables,
    is_superuser: bool,
    mask: &Mask,
) -> Result<(Invocation, Box<dyn Decoder>), StageError> {
    let prompt_file = dirs.prompt_file();
    fs_err::write(&prompt_file, request.prompt)?;
    if request.agent.agent.profile().takes_command {
        fs_err::create_dir(dirs.own_artifacts())?;
    }
    let variables: BTreeSet<String> = env.keys().cloned().collect();
    let inputs = Inputs {
        model: request.model,
        mcp_servers: request.mcp_servers,
        config: request.config,
        command: request.agent.command.as_deref(),
        program: request.agent.program.as_deref(),
        agent_home: &dirs.home,
        workspace: &dirs.workspace,
        git: dirs.here.join(".git").exists(),
        prompt: request.prompt,
        session_id: &random_uuid(),
        superuser: is_superuser,
        prompt_file: &prompt_file,
        stats_file: &dirs.io.join("stats.json"),
        artifacts_dir: &dirs.own_artifacts(),
        variables: &variables,
    };
    let invocation = request.agent.agent.invocation(&inputs);
    if let Stdin::Text(text) = &invocation.stdin {
        fs_err::write(dirs.stdin_file(), text)?;
    }
    for file in &invocation.files {
        fs_err::create_dir_all(file.path.parent().unwrap_or(&dirs.home))?;
        fs_err::write(&file.path, &file.content)?;
        let copy = dirs.artifacts.join(file.artifact);
        fs_err::write(copy, mask.text(&file.content))?;
    }
    Ok((invocation, request.agent.agent.decoder(&inputs)))
}

/// Makes a UUID of version 4: random, but for the six bits that say so.
fn random_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_uuids_of_version_4() {
        for _ in 0..100 {
            let name = random_uuid();
            let parts: Vec<usize> = name.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12]);
            assert_eq!(&name[14..15], "4");
            assert!("89ab".contains(&name[19..20]), "{name}");
        }
    }
}
