//! The sandboxes of a trial's commands: what each of them sees.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::mcp::McpServer;
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use terca_core::config::suite::Input;
use terca_core::plan::fingerprint::words;

use super::attachments::network::AgentNetwork;
use super::context::Context;
use super::trial_run::TrialRun;
use crate::host::environment::Variables;
use crate::host::package_caches::stores;
use crate::process::fixed_root::FixedRoot;
use crate::process::supervise::Enclosure;
use crate::process::walls::Tcp;
use crate::process::work_command::{WorkCommand, WorkRules};
use crate::sandbox::{Mirror, View, Words};
use crate::suite::commit::Repository;
use crate::workspace::own_dirs::secret_dir;
use crate::workspace::trial_dirs::CommandDirs;

/// The part of a trial that a command of the suite belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `before`, and the variant's `command`.
    Setup,
    /// `prepare`.
    Layer,
    /// `_solution.sh`.
    Solution,
    /// The tests.
    Tests,
}

/// Returns the enclosure of a command of the suite, which says that it reads these files outside of the suite. It sees the
/// suite and the repository around it.
pub(super) fn command_enclosure(
    run: &TrialRun<'_>,
    side: Side,
    env: &Variables,
    inputs: &[Input],
    network: &AgentNetwork,
) -> Option<Enclosure> {
    let view = View {
        own_network: network.is_own(),
        reachable_ports: network.ports(),
        mirror: (side == Side::Tests).then(|| mirror(run)).flatten(),
        ..command_view(run, side, env, inputs)
    };
    let sandbox = run.spec.case.variant.sandbox.as_ref();
    let enclosure = run.context.sandboxes.enclosure(sandbox, &view)?;
    Some(Enclosure {
        outlet: network.outlet(),
        ..enclosure
    })
}

/// Returns the enclosure of a service, which sees what `before` sees, and its own directories in the place of the trial's.
pub(super) fn service_enclosure(
    run: &TrialRun<'_>,
    dirs: CommandDirs<'_>,
    io: &Utf8Path,
    env: &Variables,
) -> Option<Enclosure> {
    let view = View {
        dirs,
        fixed_root: None,
        writable: vec![io.to_owned()],
        is_service: true,
        ..command_view(run, Side::Setup, env, &[])
    };
    let sandbox = run.spec.case.variant.sandbox.as_ref();
    run.context.sandboxes.enclosure(sandbox, &view)
}

fn command_view<'a>(
    run: &'a TrialRun<'_>,
    side: Side,
    env: &'a Variables,
    inputs: &[Input],
) -> View<'a> {
    let (context, case, dirs) = (run.context, &run.spec.case, &run.dirs);
    let sealed = &context.sealed;
    let project = context.project_dir();
    let project = project.path();
    let mut readable = vec![sealed.root().to_owned(), run.folder.path.clone()];
    readable.extend(sealed.shared().cloned());
    readable.extend(project.map(Utf8Path::to_owned));
    readable.extend(inputs.iter().map(|input| input.path.clone()));
    let mut hidden = vec![context.suite_dir.join(".terca")];
    if side != Side::Tests {
        let repository = project.and_then(|dir| {
            let found = Repository::around(dir)?;
            (found.root == dir).then_some(found)
        });
        readable.extend(repository.iter().flat_map(Repository::outside));
    } else {
        // The agent's work runs in tests, and must find no solution there: neither a file nor one of an earlier commit.
        for eval in &case.suite.evals {
            for solution in eval.solution.iter().chain(&eval.solution_script) {
                hidden.push(solution.clone());
                // An eval that is not run is a link to the original in the copy, and no sandbox can mount behind a link.
                hidden.push(sealed.place_or_original(solution));
            }
        }
        hidden.extend(project.map(|dir| dir.join(".git")));
    }
    let mut writable = vec![dirs.io.clone(), run.folder.artifacts()];
    if matches!(side, Side::Setup | Side::Layer) {
        let caches = &case.suite.package_caches;
        let stores = stores(&context.suite_dir, caches);
        writable.extend(stores.map(|(store, _)| store));
    }
    View {
        dirs: match side {
            Side::Setup => dirs.for_setup(),
            Side::Layer => dirs.for_layer(),
            Side::Solution => dirs.for_agent(),
            Side::Tests => dirs.for_tests(),
        },
        fixed_root: dirs.fixed_root.as_ref(),
        env,
        writable,
        readable,
        hidden,
        own_network: false,
        reachable_ports: Vec::new(),
        is_service: false,
        words: Words::default(),
        mirror: None,
    }
}

/// So many files can be covered without a test taking longer to start than anybody notices.
const MOST_COVERED: usize = 64;

/// Returns the mirror of the workspace for the work that tests start. Where nothing can be mounted there is none.
fn mirror<'a>(run: &'a TrialRun<'_>) -> Option<Mirror<'a>> {
    let hidden = &run.hidden;
    let contained_by = run.contained_by();
    let can_mount = contained_by == ContainedBy::Bwrap || contained_by.is_container();
    (can_mount && (1..=MOST_COVERED).contains(&hidden.len())).then(|| Mirror {
        dir: run.dirs.root.join("view"),
        hidden,
    })
}

/// Returns whether the program with which tests start the work can cover the hidden files itself.
fn can_cover(run: &TrialRun<'_>) -> bool {
    let contained_by = run.contained_by();
    let context = run.context;
    contained_by == ContainedBy::None
        && (1..=MOST_COVERED).contains(&run.hidden.len())
        && context.overlays.can_show(contained_by, &context.work)
}

/// Makes the program with which tests start the work. It sees nothing of the suite and of the run.
pub(super) fn work_command(
    run: &TrialRun<'_>,
    env: &Variables,
    network: &AgentNetwork,
) -> io::Result<WorkCommand> {
    let (context, dirs) = (run.context, run.dirs.for_tests());
    let asked = run.spec.case.variant.sandbox.as_ref();
    let shown = |path: &Utf8Path| match &run.dirs.fixed_root {
        Some(root) => root.path(path),
        None => path.to_owned(),
    };
    let (here, workspace) = (run.dirs.here(), shown(dirs.workspace));
    let view = command_view(run, Side::Tests, env, &[]);
    // The repository around the suite stays: the work may use a library that is installed from there.
    let project = context.project_dir();
    let own = view.readable.iter();
    let own = own.filter(|path| project.path() != Some(path.as_path()));
    let mut hidden: BTreeSet<Utf8PathBuf> = own.chain(&view.hidden).cloned().collect();
    hidden.extend([context.suite_dir.clone(), context.run_dir.clone()]);
    hidden.extend(context.work.shown_root().parent().map(Utf8Path::to_owned));
    let mut refused = BTreeSet::new();
    for path in &run.hidden {
        hidden.insert(workspace.join(path));
        for above in path.ancestors().filter(|above| *above != "") {
            let found = here.join(above).symlink_metadata();
            refused.extend(found.map(|meta| (meta.dev(), meta.ino())));
        }
    }
    let ports = network.service_ports();
    let rules = WorkRules {
        readable: context.sandboxes.readable(asked, &view),
        writable: [
            workspace.clone(),
            shown(dirs.home),
            shown(dirs.tmp),
            "/tmp".into(),
            "/dev".into(),
        ]
        .into(),
        hidden,
        refused: refused.into_iter().collect(),
        tcp: match ports.is_empty() {
            true => Tcp::Off,
            false => Tcp::Ports(ports),
        },
        covered: can_cover(run).then(|| {
            let files = run.hidden.iter().map(|path| workspace.join(path));
            (workspace.clone(), files.collect())
        }),
        mirror: mirror(run).map(|mirror| (workspace, shown(&mirror.dir))),
    };
    let inside = context.sandboxes.tap_program(asked);
    let program = match inside {
        Some(program) => program,
        None => std::env::current_exe()?
            .try_into()
            .map_err(io::Error::other)?,
    };
    WorkCommand::make(secret_dir(&run.dirs.io)?, &program, &rules)
}

/// An agent, or a program that an agent starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContainedAgent<'a> {
    pub sandbox: Option<&'a Sandbox>,
    pub dirs: CommandDirs<'a>,
    /// The path at which it finds them.
    pub fixed_root: Option<&'a FixedRoot>,
    /// The directory for files that it reads and writes through Terca.
    pub io: &'a Utf8Path,
    pub env: &'a Variables,
    pub network: &'a AgentNetwork,
    pub words: Words<'a>,
}

impl ContainedAgent<'_> {
    /// Returns its enclosure. It sees nothing of the suite but the files that its own command names.
    pub(super) fn enclosure(self, context: &Context) -> Option<Enclosure> {
        let view = View {
            dirs: self.dirs,
            fixed_root: self.fixed_root,
            env: self.env,
            writable: vec![self.io.to_owned()],
            readable: Vec::new(),
            hidden: Vec::new(),
            own_network: self.network.is_own(),
            reachable_ports: self.network.ports(),
            is_service: false,
            words: self.words,
            mirror: None,
        };
        let enclosure = context.sandboxes.enclosure(self.sandbox, &view)?;
        Some(Enclosure {
            outlet: self.network.outlet(),
            ..enclosure
        })
    }
}

/// Returns the words of a shell command and of MCP servers that may be names of files.
pub(super) fn words_of(
    command: Option<&str>,
    servers: &[(String, McpServer<String>)],
) -> Vec<String> {
    let mut all: Vec<String> = command
        .into_iter()
        .flat_map(words)
        .map(str::to_owned)
        .collect();
    for (_, server) in servers {
        if let McpServer::Stdio {
            command, args, cwd, ..
        } = server
        {
            all.push(command.clone());
            all.extend(args.iter().cloned());
            all.extend(cwd.clone());
        }
    }
    all
}
