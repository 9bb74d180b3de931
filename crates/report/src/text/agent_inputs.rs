//! What each variant gives to its agent, for `terca check -v` and for the pages of trials.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::mcp::McpServer;
use terca_core::config::settings;
use terca_core::config::suite::{Action, TrialLimits};
use terca_core::plan::{Layer, Variant};
use terca_core::run::run_file::RunCase;
use terca_core::text::prose;

use crate::groups::grouped;
use crate::term::{Answer, Grid, UNLIMITED, bold, dim, plain};

/// Names and values.
pub(crate) type Rows = Vec<(&'static str, String)>;

/// Returns a block for each variant: the agent and its settings, then the task of each eval.
pub fn agent_inputs(cases: &[RunCase], suite_dir: &Utf8Path) -> Answer {
    let name = |variant: &Variant| format!("{}.{}", variant.environment, variant.experiment);
    let variants = grouped(cases.iter().map(|case| (name(&case.variant), case)));
    let mut answer = Answer::new(UNLIMITED);
    for (name, cases) in variants {
        answer.end_part();
        answer.line(bold(&name));
        answer.whole_table(&table(of_variant(&cases[0].variant, suite_dir)), 2);
        for case in cases {
            answer.line(plain(&format!("  {}", case.eval)));
            answer.whole_table(&table(of_case(case, suite_dir)), 4);
        }
    }
    answer
}

/// Returns what the agent of a case is given beside its prompt.
pub(crate) fn rows_of_case(case: &RunCase, suite_dir: &Utf8Path) -> Rows {
    let mut rows = of_variant(&case.variant, suite_dir);
    rows.extend(of_case(case, suite_dir));
    rows.retain(|(name, _)| *name != "prompt");
    rows
}

fn table(rows: Rows) -> Grid {
    let mut grid = Grid::default();
    for (title, value) in rows {
        for (index, line) in value.lines().enumerate() {
            let title = if index == 0 { title } else { "" };
            grid.row([dim(title), plain(line)]);
        }
    }
    grid
}

fn of_variant(variant: &Variant, suite_dir: &Utf8Path) -> Rows {
    let paths = |paths: &[Utf8PathBuf]| {
        let shown = paths.iter().map(|path| short(path, suite_dir).to_string());
        prose::joined(shown, "\n")
    };
    let servers = variant.mcp_servers.iter();
    let command = variant.command.as_ref();
    let config = variant.config.as_ref();
    let mut rows = vec![
        ("agent", agent(variant)),
        ("model", variant.model.clone().unwrap_or_default()),
        ("rules", paths(&variant.rules)),
        ("skills", paths(&variant.skills)),
        (
            "servers",
            prose::joined(servers.map(|(name, server)| of_server(name, server)), "\n"),
        ),
        (
            "settings",
            config.map(ToString::to_string).unwrap_or_default(),
        ),
        (
            "command",
            command.map(|one| one.command.clone()).unwrap_or_default(),
        ),
    ];
    let written = settings(&variant.setup);
    for key in ["hideTools", "sandbox", "network", "allow"] {
        let value = written.get(key).map(|value| match value {
            serde_json::Value::String(word) => word.clone(),
            other => other.to_string(),
        });
        rows.extend(value.map(|value| (key, value)));
    }
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

fn agent(variant: &Variant) -> String {
    let choice = &variant.agent;
    let name = choice.agent.profile().name;
    match choice.command.as_ref().or(choice.program.as_ref()) {
        Some(own) => format!("{name}: {own}"),
        None => name.to_owned(),
    }
}

fn of_server(name: &str, server: &McpServer<String>) -> String {
    match server {
        McpServer::Stdio { command, args, .. } => {
            let words = [std::slice::from_ref(command), args].concat();
            format!("{name}: {}", words.join(" "))
        }
        McpServer::Remote { url, .. } => format!("{name}: {url}"),
    }
}

fn of_case(case: &RunCase, suite_dir: &Utf8Path) -> Rows {
    let (mut files, mut prepare) = (Vec::new(), Vec::new());
    layers(&case.layers, suite_dir, &mut files, &mut prepare);
    let before = case.before.iter();
    let tests = case.tests.iter();
    let mut rows = vec![
        ("prompt", case.prompt.clone()),
        ("files", files.join("\n")),
        ("prepare", prepare.join("\n")),
        (
            "actions",
            prose::joined(before.map(|action| of_action(action, suite_dir)), "\n"),
        ),
        (
            "variables",
            prose::joined(case.env.iter().map(|(name, _)| name.as_str()), ", "),
        ),
        ("limits", limits(case)),
        (
            "tests",
            prose::joined(tests.filter_map(|test| test.get("name")?.as_str()), ", "),
        ),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

fn layers(of: &[Layer], suite_dir: &Utf8Path, files: &mut Vec<String>, prepare: &mut Vec<String>) {
    for layer in of {
        match layer {
            Layer::Directory(dir) => files.push(short(dir, suite_dir).to_string()),
            Layer::Prepared(layer) => {
                layers(layer.replaced(), suite_dir, files, prepare);
                let actions = layer.actions.iter();
                prepare.extend(actions.map(|action| of_action(action, suite_dir)));
            }
        }
    }
}

fn of_action(action: &Action, suite_dir: &Utf8Path) -> String {
    match action {
        Action::Copy {
            source,
            destination,
        } => {
            let source = short(source, suite_dir);
            match destination.as_str() {
                "" => format!("copy {source} to ."),
                to => format!("copy {source} to {to}"),
            }
        }
        Action::Write { destination, .. } => format!("write {destination}"),
        Action::Run(command) => format!("run {}", command.command.trim_end()),
    }
}

fn limits(case: &RunCase) -> String {
    let TrialLimits {
        disk,
        memory,
        processes,
        cpus,
    } = case.limits;
    let mut parts = vec![
        prose::duration(case.timeout.as_secs_f64()),
        format!("disk {}", prose::bytes(disk)),
    ];
    parts.extend(memory.map(|memory| format!("memory {}", prose::bytes(memory))));
    parts.extend(processes.map(|number| format!("processes {number}")));
    parts.extend(cpus.map(|cpus| format!("processors {cpus}")));
    parts.join(", ")
}

/// Returns a path relative to the suite's directory, where it is below.
fn short<'a>(path: &'a Utf8Path, suite_dir: &Utf8Path) -> &'a Utf8Path {
    path.strip_prefix(suite_dir).unwrap_or(path)
}
