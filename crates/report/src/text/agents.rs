//! The agents, for `terca doctor`: what is here, and what to do about what is not.

use terca_core::text::prose;

use crate::term::style::{Palette, Role};
use crate::term::styled_line::StyledLine;

#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    pub agent: String,
    /// The path of its program; `None` when it is not installed.
    pub program: Option<String>,
    pub version: Option<String>,
    /// The version that the adapter was proved with.
    pub proved_with: String,
    /// The credentials that are there, by name.
    pub credentials: Vec<String>,
    /// The variables it would take.
    pub accepted: Vec<String>,
    pub install: String,
}

pub fn agents_table(rows: &[AgentRow], palette: Palette) -> String {
    rows.iter()
        .flat_map(lines)
        .map(|line| line.render(palette) + "\n")
        .collect()
}

fn lines(row: &AgentRow) -> Vec<StyledLine> {
    let Some(program) = &row.program else {
        return vec![
            StyledLine::of(Role::Bad, "✗ ")
                .with(Role::Bold, &row.agent)
                .with(Role::Plain, ": not installed"),
            StyledLine::of(Role::Dim, &format!("    to install it: {}", row.install)),
        ];
    };
    let ready = row.version.is_some() && !row.credentials.is_empty();
    let mark = if ready {
        StyledLine::of(Role::Good, "✓ ")
    } else {
        StyledLine::of(Role::Fair, "! ")
    };
    vec![
        mark.with(Role::Bold, &row.agent)
            .with(Role::Plain, &format!(": {}", version(row))),
        StyledLine::of(Role::Dim, &format!("    {program}")),
        StyledLine::plain(&format!("    {}", credentials(row))),
    ]
}

fn version(row: &AgentRow) -> String {
    match &row.version {
        None => "the version is not known".to_owned(),
        Some(version) if *version == row.proved_with => {
            format!("{version}, the tested version")
        }
        Some(version) => format!("{version} (the tested version is {})", row.proved_with),
    }
}

fn credentials(row: &AgentRow) -> String {
    if row.credentials.is_empty() {
        return format!(
            "no credentials found; it signs in with {}",
            prose::list(&row.accepted, "or")
        );
    }
    format!("signs in with {}", prose::list(&row.credentials, "and"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_an_agent_can_be_in() {
        let here = AgentRow {
            agent: "gemini-cli".into(),
            program: Some("/usr/bin/gemini".into()),
            version: Some("0.61.0".into()),
            proved_with: "0.61.0".into(),
            credentials: vec!["$GEMINI_API_KEY".into()],
            accepted: vec!["$GEMINI_API_KEY".into(), "$GOOGLE_API_KEY".into()],
            install: "npm install -g @google/gemini-cli".into(),
        };
        let rows = [
            here.clone(),
            AgentRow {
                version: Some("0.70.0".into()),
                credentials: vec![],
                ..here.clone()
            },
            AgentRow {
                version: None,
                ..here.clone()
            },
            AgentRow {
                program: None,
                ..here
            },
        ];
        insta::assert_snapshot!("agents", agents_table(&rows, Palette::new(false)));
    }
}
