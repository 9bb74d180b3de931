//! The page about agents is made of the table of agents.
//!
//! `UPDATE_DOCS=1 cargo test -p terca --test it documentation::agents` brings it up to date.

use terca_core::agent::{self, Profile, profiles};
use terca_testkit::generated;

const PAGE: &str = "docs/reference/agents.md";

fn programs() -> impl Iterator<Item = &'static Profile> {
    profiles().filter(|profile| profile.program.is_some())
}

fn code(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What of a variant it takes.
fn takes(profile: &Profile) -> String {
    let can = profile.capabilities;
    let all = [
        (can.model, "`model`"),
        (can.rules, "`rules`"),
        (can.mcp_servers, "`mcpServers`"),
        (can.skills, "`skills`"),
        (can.config, "`config`"),
    ];
    let taken: Vec<&str> = all
        .iter()
        .filter(|(can, _)| *can)
        .map(|(_, what)| *what)
        .collect();
    match taken.len() {
        5 => "all".into(),
        0 => "nothing".into(),
        _ => taken.join(", "),
    }
}

#[test]
fn every_agent_is_in_the_tables() {
    let row = |profile: &Profile| {
        let names = code(&[&[profile.name], profile.aliases].concat());
        format!(
            "| {names} | {} | {} | {} |\n",
            profile.tested_version,
            takes(profile),
            profile.how_to_install()
        )
    };
    let rows: String = programs().map(row).collect();
    let table =
        format!("| name | tested version | takes | how to install it |\n|---|---|---|---|\n{rows}");
    generated(PAGE, "agents", &table);

    let row = |profile: &Profile| {
        let can = profile.capabilities;
        let rules = if can.rules {
            code(&[profile.rules_file])
        } else {
            "–".into()
        };
        let skills = if can.skills {
            code(&[profile.skills_dir])
        } else {
            "–".into()
        };
        format!("| `{}` | {rules} | {skills} |\n", profile.name)
    };
    let rows: String = profiles()
        .filter(|profile| profile.capabilities.rules)
        .map(row)
        .collect();
    generated(
        PAGE,
        "places",
        &format!("| agent | rules file | skills |\n|---|---|---|\n{rows}"),
    );

    let item = |profile: &Profile| {
        let files: Vec<String> = profile
            .credential_files
            .iter()
            .map(|file| format!("~/{file}"))
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let part = |what: &str, words: &[&str]| match words {
            [] => String::new(),
            _ => format!("; {what} {}", code(words)),
        };
        let secrets = part("secret:", profile.credential_variables);
        let others = part("other variables:", profile.setting_variables);
        let all = format!("{secrets}{others}{}", part("files:", &files));
        format!("- `{}`: {}\n", profile.name, all.trim_start_matches("; "))
    };
    generated(
        PAGE,
        "signing in",
        &programs().map(item).collect::<String>(),
    );

    let row = |profile: &Profile| format!("| `{}` | {} |\n", profile.name, takes(profile));
    let rows: String = profiles()
        .filter(|profile| profile.program.is_none())
        .map(row)
        .collect();
    generated(
        PAGE,
        "built in",
        &format!("| name | takes |\n|---|---|\n{rows}"),
    );

    let row = |name: &&str| {
        let profile = agent::find(name)?.profile();
        let names = code(&[&[profile.name], profile.aliases].concat());
        let program = profile.program?;
        let version = profile.tested_version;
        Some(format!("| {names} | `{program}` | {version} |\n"))
    };
    let known = agent::names();
    let known = known.iter().filter(|name| name.starts_with("acp:"));
    let rows: String = known.filter_map(row).collect();
    generated(
        PAGE,
        "acp",
        &format!("| name | program | tested version |\n|---|---|---|\n{rows}"),
    );
}
