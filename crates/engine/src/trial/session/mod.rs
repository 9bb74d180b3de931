//! An agent's session: how an agent is found, given its work, run and listened to.
//!
//! A trial's agent and a judge both go through here. They differ in their directories and in their requests.

mod last_words;
mod listener;
mod process;
mod transcript;

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use terca_core::agent::AgentChoice;
use terca_core::agent::access::Access;
use terca_core::agent::{Decoder, Inputs, Invocation, Launch, Profile, Stdin};
use terca_core::config::sandbox::Image;
use terca_core::trial_error::ErrorKind;

use super::agent_request::{AgentDirs, AgentRequest};
use super::attachments::network::AgentNetwork;
use super::attachments::side_files::SideFiles;
use super::attachments::{self, AgentStart, Attachments};
use super::containment::{ContainedAgent, words_of};
use super::context::Context;
use super::stage_error::StageError;
use crate::host::agent_store::{self, InstalledAgent};
use crate::host::credentials;
use crate::host::environment::{Variables, find_program};
use crate::host::version::VersionQuestion;
use crate::sandbox::Words;
use crate::trial::acp_client;
use crate::workspace::trial_dirs::CommandDirs;
pub(super) use last_words::{last_words, read_stdout};
pub(super) use process::AgentProcess;

/// An agent whose program is there.
pub(super) struct FoundAgent {
    profile: &'static Profile,
    /// The environment that it will be started with.
    pub env: Variables,
    /// `None` for an agent that is a shell command or built in.
    program: Option<Utf8PathBuf>,
    /// The version that Terca has installed.
    pub installed: Option<String>,
}

/// An agent that is ready to start.
pub(super) struct AgentSession {
    pub profile: &'static Profile,
    pub version: Option<String>,
    /// The names of its credentials, and the services that it is led to.
    pub access: Access,
    /// Remarks about the way to its models.
    pub notes: Vec<String>,
    /// Its requests to models pass through the gateway.
    pub is_metered: bool,
    pub decoder: Decoder,
    pub kind: AgentKind,
}

/// The two sorts of agents.
pub(super) enum AgentKind {
    /// A program, or a shell command.
    Process(Box<AgentProcess>),
    /// Terca itself.
    BuiltIn(Launch),
}

impl FoundAgent {
    /// Looks for the agent's program. An agent that has none is always there.
    pub(super) fn find(
        context: &Context,
        choice: &AgentChoice,
        image: Option<&Image>,
        mut env: Variables,
    ) -> Result<Self, StageError> {
        let program = find_agent_program(context, choice, image, &env)?;
        let installed = installed(context, choice, image)?;
        if let Some(installed) = &installed {
            agent_store::lead(&mut env, &installed.bin);
        }
        Ok(FoundAgent {
            profile: choice.agent.profile(),
            env,
            program,
            installed: installed.map(|installed| installed.version),
        })
    }

    /// Makes the agent ready to start: asks for its version, installs its credentials, attaches what is between it and
    /// the world, and writes its prompt and its settings.
    pub(super) fn prepare(
        self,
        context: &Context,
        dirs: AgentDirs,
        request: &AgentRequest<'_>,
    ) -> Result<AgentSession, StageError> {
        let FoundAgent {
            profile,
            env,
            program,
            installed,
        } = self;
        let version = program
            .as_ref()
            .and_then(|program| ask_version(context, &dirs, request, profile, program, &env));
        check_version(profile, installed.as_deref(), version.as_deref())?;
        credentials::install(&context.host, profile, &env, &dirs.home)?;
        let version_word = version.as_deref();
        let mut start = AgentStart::new(context, request, profile, &dirs, version_word, env);
        // An agent that Terca plays itself needs nothing between it and the world.
        let mut attachments = if profile.is_built_in() {
            Attachments::new()
        } else {
            attachments::of_agent(&mut start)?
        };
        let (invocation, decoder) = write_inputs(&start)?;
        let variables = invocation.env.iter().cloned();
        start.own_env.extend(variables.clone());
        start.env.extend(variables);
        start.network.set_variables(&mut start.env);
        let access = credentials::access(&context.host, profile, &start.own_env, request.config);
        let AgentStart {
            env,
            network,
            notes,
            is_metered,
            began,
            ..
        } = start;
        let stdin = dirs.input(&invocation.stdin);
        attachments.push(Box::new(SideFiles {
            files: invocation.side_files.clone(),
            dirs: dirs.clone(),
            has_own_artifacts: profile.takes_command,
        }));
        let kind = match command_of(context, request, invocation.launch, program.clone())? {
            Err(launch) => AgentKind::BuiltIn(launch),
            Ok((started, args)) => AgentKind::Process(Box::new(AgentProcess {
                profile,
                agent_program: program.unwrap_or_else(|| started.clone()),
                words: words_of(shell_command(profile, &args), request.mcp_servers),
                program: started,
                args,
                env,
                stdin,
                side_files: invocation.side_files,
                timeout: request.timeout,
                sandbox: request.sandbox.cloned(),
                dirs,
                network,
                began,
                attachments,
            })),
        };
        Ok(AgentSession {
            profile,
            version,
            access,
            notes,
            is_metered,
            decoder,
            kind,
        })
    }
}

/// Returns the agent that Terca has installed, if the suite asks for a version.
fn installed(
    context: &Context,
    choice: &AgentChoice,
    image: Option<&Image>,
) -> Result<Option<InstalledAgent>, StageError> {
    let missing = |message: String| StageError::new(ErrorKind::AgentMissing, message);
    if image.is_some() && choice.version.is_some() {
        let message =
            "`version` is not supported in a container, which has the agents of its image";
        return Err(missing(message.to_owned()));
    }
    let installed = context.agents.get(choice, context.means(None));
    installed.map_err(|error| missing(error.to_string()))
}

/// Refuses an agent that has replaced itself since it was installed.
fn check_version(
    profile: &Profile,
    installed: Option<&str>,
    found: Option<&str>,
) -> Result<(), StageError> {
    match (installed, found) {
        (Some(installed), Some(found)) if installed != found => {
            let message = format!(
                "`{}` {installed} says that it is {found} now: `terca clean` removes it, and the next run installs it \
                 again",
                profile.name
            );
            Err(StageError::new(ErrorKind::AgentMissing, message))
        }
        _ => Ok(()),
    }
}

/// Returns the file of the agent's program, or `None` for an agent without one. In a container it is the image's,
/// and looked
/// for when it is started.
pub(super) fn find_agent_program(
    context: &Context,
    choice: &AgentChoice,
    image: Option<&Image>,
    env: &Variables,
) -> Result<Option<Utf8PathBuf>, StageError> {
    let Some(name) = choice.program() else {
        return Ok(None);
    };
    if let Some(installed) = installed(context, choice, image)? {
        return Ok(Some(installed.bin.join(name)));
    }
    if image.is_some() {
        return Ok(Some(name.into()));
    }
    let profile = choice.agent.profile();
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let program = find_program(name, path);
    program.map(Some).ok_or_else(|| {
        let message = match choice.program {
            Some(_) => format!("the `program` of `{}` cannot be run: {name}", profile.name),
            None => {
                let how = profile.how_to_install();
                format!("`{name}` is not installed (to install it: {how})")
            }
        };
        StageError::new(ErrorKind::AgentMissing, message)
    })
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
        fixed_root: None,
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

/// Returns the program of an agent and its arguments, or the part that Terca plays itself.
fn command_of(
    context: &Context,
    request: &AgentRequest<'_>,
    launch: Launch,
    found: Option<Utf8PathBuf>,
) -> Result<Result<(Utf8PathBuf, Vec<String>), Launch>, StageError> {
    Ok(match launch {
        Launch::Program { program, args } => Ok((found.unwrap_or_else(|| program.into()), args)),
        Launch::Shell(command) => {
            let command = match &context.programs {
                Some(programs) => programs.command(&command)?,
                None => command,
            };
            Ok(("/bin/sh".into(), vec!["-c".to_owned(), command]))
        }
        Launch::AcpClient { settings, agent } => {
            let Some(client) = context.own_program(request.sandbox) else {
                let message = "a copy of Terca's program could not be made";
                return Err(StageError::new(ErrorKind::Internal, message));
            };
            command_of(context, request, *agent, found)?.map(|(program, args)| {
                let args = acp_client::arguments(&settings, &program, args);
                (client, args)
            })
        }
        built_in => Err(built_in),
    })
}

/// Returns the text of an agent that is a shell command.
fn shell_command<'a>(profile: &Profile, args: &'a [String]) -> Option<&'a str> {
    let last = args.last().map(String::as_str);
    last.filter(|_| profile.takes_command)
}

/// Writes the prompt and the agent's settings. Returns how it is to be started, and the decoder for its output.
fn write_inputs(start: &AgentStart<'_>) -> Result<(Invocation, Decoder), StageError> {
    let (request, dirs) = (start.request, start.dirs);
    let prompt_file = dirs.prompt_file();
    fs_err::write(&prompt_file, request.prompt)?;
    if start.profile.takes_command {
        fs_err::create_dir(dirs.own_artifacts())?;
    }
    let variables: BTreeSet<String> = start.env.keys().cloned().collect();
    let inputs = Inputs {
        model: request.model,
        mcp_servers: &start.mcp_servers,
        config: start.config.as_ref(),
        command: request.agent.command.as_deref(),
        program: request.agent.program.as_deref(),
        agent_home: &dirs.home,
        workspace: &dirs.workspace,
        git: dirs.here.join(".git").exists(),
        prompt: request.prompt,
        superuser: start.context.sandboxes.is_superuser(request.sandbox),
        prompt_file: &prompt_file,
        stats_file: &dirs.io.join("stats.json"),
        artifacts_dir: &dirs.own_artifacts(),
        variables: &variables,
    };
    let mut invocation = request.agent.agent.invocation(&inputs);
    let options = request.options;
    invocation
        .launch
        .add_arguments(options.arguments(&start.profile.options));
    invocation
        .env
        .extend(options.variables(&start.profile.options));
    if let Stdin::Text(text) = &invocation.stdin {
        fs_err::write(dirs.stdin_file(), dirs.shown(text))?;
    }
    for file in &invocation.files {
        fs_err::create_dir_all(file.path.parent().unwrap_or(&dirs.home))?;
        let content = dirs.shown(&file.content);
        fs_err::write(&file.path, &content)?;
        let copy = dirs.artifacts.join(file.artifact);
        fs_err::write(copy, start.context.mask.text(&content))?;
    }
    Ok((invocation, request.agent.agent.decoder(&inputs)))
}
