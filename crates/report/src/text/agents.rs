//! The agents, for `terca doctor`: what is here, and what to do about what is not.

use terca_core::text::prose;

use crate::term::{Answer, Role, UNLIMITED, dim, plain, styled};

#[derive(Debug, Clone)]
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

pub fn agents_table(rows: &[AgentRow]) -> Answer {
    let mut answer = Answer::new(UNLIMITED);
    for row in rows {
        let is_ready = row.version.is_some() && !row.credentials.is_empty();
        let (role, mark, version) = match &row.program {
            None => (Role::Bad, "✗ ", "not installed".to_owned()),
            Some(_) if is_ready => (Role::Good, "✓ ", version(row)),
            Some(_) => (Role::Fair, "! ", version(row)),
        };
        let title = styled(role, mark).with(Role::Bold, &row.agent);
        answer.line(title.plain(&format!(": {version}")));
        match &row.program {
            None => answer.line(dim(&format!("    to install it: {}", row.install))),
            Some(program) => {
                answer.line(dim(&format!("    {program}")));
                answer.line(plain(&format!("    {}", credentials(row))));
            }
        }
    }
    answer
}

fn version(row: &AgentRow) -> String {
    let proved_with = &row.proved_with;
    match &row.version {
        None => "the version is not known".to_owned(),
        Some(version) if version == proved_with => format!("{version}, the tested version"),
        Some(version) => format!("{version} (the tested version is {proved_with})"),
    }
}

fn credentials(row: &AgentRow) -> String {
    if row.credentials.is_empty() {
        let accepted = prose::list(&row.accepted, "or");
        return format!("no credentials found; it signs in with {accepted}");
    }
    format!("signs in with {}", prose::list(&row.credentials, "and"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Palette;

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
        insta::assert_snapshot!("agents", agents_table(&rows).render(Palette::new(false)));
    }
}
