//! Shows what each variant gives to its agent, for `terca check -v`.

use camino::Utf8Path;
use terca_core::agent::mcp::McpServer;
use terca_core::config::settings;
use terca_core::config::suite::{Action, TrialLimits};
use terca_core::plan::{Layer, Variant};
use terca_core::run::run_file::RunCase;
use terca_core::text::prose;

use crate::term::grid::{Grid, Side};
use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

/// Returns a block for each variant: the agent and its settings, then the task of each eval.
pub fn given(cases: &[RunCase], suite_dir: &Utf8Path, palette: Palette) -> String {
    let mut variants: Vec<(&Variant, Vec<&RunCase>)> = Vec::new();
    for case in cases {
        let name = |variant: &Variant| (variant.environment.clone(), variant.experiment.clone());
        let known = variants
            .iter_mut()
            .find(|(variant, _)| name(variant) == name(&case.variant));
        match known {
            Some((_, cases)) => cases.push(case),
            None => variants.push((&case.variant, vec![case])),
        }
    }
    let blocks = variants
        .iter()
        .map(|(variant, cases)| block(variant, cases, suite_dir, palette));
    blocks.collect::<Vec<_>>().join("\n")
}

/// Returns names and values of what the agent of a case is given beside its prompt.
pub(crate) fn given_rows(case: &RunCase, suite_dir: &Utf8Path) -> Vec<(&'static str, String)> {
    let mut rows = of_variant(&case.variant, suite_dir);
    rows.extend(of_case(case, suite_dir));
    rows.retain(|(name, _)| *name != "prompt");
    rows
}

fn block(variant: &Variant, cases: &[&RunCase], suite_dir: &Utf8Path, palette: Palette) -> String {
    let title = format!("{}.{}", variant.environment, variant.experiment);
    let mut text = StyledLine::of(Role::Bold, &title).render(palette) + "\n";
    text += &rows(of_variant(variant, suite_dir), 2, palette);
    for case in cases {
        let eval = StyledLine::of(Role::Plain, &format!("  {}", case.eval));
        text += &(eval.render(palette) + "\n");
        text += &rows(of_case(case, suite_dir), 4, palette);
    }
    text
}

fn rows(rows: Vec<(&'static str, String)>, indent: usize, palette: Palette) -> String {
    let mut grid = Grid::new(&[Side::Left]);
    for (title, value) in rows {
        let mut lines = value.lines();
        grid.row([
            StyledLine::of(Role::Dim, title),
            StyledLine::plain(lines.next().unwrap_or_default()),
        ]);
        for line in lines {
            grid.row([StyledLine::plain(""), StyledLine::plain(line)]);
        }
    }
    grid.render(indent, palette)
}

fn of_variant(variant: &Variant, suite_dir: &Utf8Path) -> Vec<(&'static str, String)> {
    let mut rows = vec![("agent", agent(variant))];
    rows.extend(variant.model.iter().map(|model| ("model", model.clone())));
    let paths = |paths: &[camino::Utf8PathBuf]| {
        let shown = paths.iter().map(|path| short(path, suite_dir).to_string());
        shown.collect::<Vec<_>>().join("\n")
    };
    rows.push(("rules", paths(&variant.rules)));
    rows.push(("skills", paths(&variant.skills)));
    let servers = variant.mcp_servers.iter();
    let servers: Vec<String> = servers
        .map(|(name, server)| self::server(name, server))
        .collect();
    rows.push(("servers", servers.join("\n")));
    let config = variant.config.iter().map(ToString::to_string);
    rows.extend(config.map(|config| ("settings", config)));
    rows.extend(
        variant
            .command
            .iter()
            .map(|command| ("command", command.command.clone())),
    );
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
    let name = variant.agent.agent.profile().name;
    let own = variant
        .agent
        .command
        .as_ref()
        .or(variant.agent.program.as_ref());
    match own {
        Some(own) => format!("{name}: {own}"),
        None => name.to_owned(),
    }
}

fn server(name: &str, server: &McpServer<String>) -> String {
    match server {
        McpServer::Stdio { command, args, .. } => {
            let words: Vec<&str> = std::iter::once(command)
                .chain(args)
                .map(String::as_str)
                .collect();
            format!("{name}: {}", words.join(" "))
        }
        McpServer::Remote { url, .. } => format!("{name}: {url}"),
    }
}

fn of_case(case: &RunCase, suite_dir: &Utf8Path) -> Vec<(&'static str, String)> {
    let mut prepare = Vec::new();
    let mut files = Vec::new();
    layers(&case.layers, suite_dir, &mut files, &mut prepare);
    let before: Vec<String> = case
        .before
        .iter()
        .map(|action| self::action(action, suite_dir))
        .collect();
    let names = case
        .tests
        .iter()
        .filter_map(|test| test.get("name")?.as_str());
    let tests: Vec<&str> = names.collect();
    let variables: Vec<&str> = case.env.iter().map(|(name, _)| name.as_str()).collect();
    let mut rows = vec![
        ("prompt", case.prompt.clone()),
        ("files", files.join("\n")),
        ("prepare", prepare.join("\n")),
        ("actions", before.join("\n")),
        ("variables", variables.join(", ")),
        ("limits", limits(case)),
        ("tests", tests.join(", ")),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    rows
}

fn layers(of: &[Layer], suite_dir: &Utf8Path, files: &mut Vec<String>, prepare: &mut Vec<String>) {
    for layer in of {
        match layer {
            Layer::Directory(dir) => files.push(short(dir, suite_dir).to_string()),
            Layer::Prepared(layer) => {
                layers(&layer.below, suite_dir, files, prepare);
                prepare.extend(
                    layer
                        .actions
                        .iter()
                        .map(|action| self::action(action, suite_dir)),
                );
            }
        }
    }
}

fn action(action: &Action, suite_dir: &Utf8Path) -> String {
    match action {
        Action::Copy {
            source,
            destination: to,
        } => {
            let to = if to.as_str().is_empty() {
                "."
            } else {
                to.as_str()
            };
            format!("copy {} to {to}", short(source, suite_dir))
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
