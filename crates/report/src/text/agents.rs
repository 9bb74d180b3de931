//! The agents, for `terca doctor`: what is here, and what to do about what is not.

use camino::Utf8Path;
use serde::Serialize;
use terca_core::text::prose;

use crate::term::{Answer, Role, UNLIMITED, dim, plain, styled};

/// The state of an agent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    pub agent: String,
    /// It is one of the suite's.
    pub of_suite: bool,
    /// It is installed, says its version, and has something to sign in with.
    pub ready: bool,
    /// The path of its program; `None` when it is not installed.
    pub program: Option<String>,
    pub version: Option<String>,
    /// The version that the adapter was proved with.
    pub tested_version: Option<&'static str>,
    /// The names of what it signs in with, never their values.
    pub credentials: Vec<String>,
    /// The variables that it can sign in with.
    pub accepts: &'static [&'static str],
    pub install: String,
}

/// The agents that Terca knows. Paths are shortened.
pub fn agents_table<'a>(
    rows: impl Iterator<Item = &'a AgentRow>,
    short: fn(&Utf8Path) -> &Utf8Path,
) -> Answer {
    let mut answer = Answer::new(UNLIMITED);
    let mut missing: Vec<&str> = Vec::new();
    for row in rows {
        let Some(tested) = row.tested_version else {
            continue;
        };
        if row.program.is_none() && !row.of_suite {
            missing.push(&row.agent);
            continue;
        }
        let version = match &row.version {
            None => "the version is not known".to_owned(),
            Some(version) if version == tested => format!("{version}, the tested version"),
            Some(version) => format!("{version} (the tested version is {tested})"),
        };
        let (role, mark, state) = match &row.program {
            None => (Role::Bad, "✗ ", "not installed"),
            Some(_) if row.ready => (Role::Good, "✓ ", &*version),
            Some(_) => (Role::Fair, "! ", &*version),
        };
        let title = styled(role, mark).with(Role::Bold, &row.agent);
        answer.line(title.plain(&format!(": {state}")));
        match &row.program {
            None => answer.line(dim(&format!("    to install it: {}", row.install))),
            Some(program) => {
                answer.line(dim(&format!("    {}", short(Utf8Path::new(program)))));
                answer.line(plain(&format!("    {}", credentials(row))));
            }
        }
    }
    if !missing.is_empty() {
        let names = missing.join(", ");
        answer.line(dim(&format!("- not installed: {names}")));
        answer.line(dim(
            "    to install one: its command is under `agents` of `terca doctor --format json`",
        ));
    }
    answer
}

fn credentials(row: &AgentRow) -> String {
    if row.credentials.is_empty() {
        let accepted = row.accepts.iter();
        let accepted: Vec<String> = accepted.map(|name| format!("${name}")).collect();
        let accepted = prose::list(&accepted, "or");
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
            of_suite: true,
            ready: true,
            program: Some("/usr/bin/gemini".into()),
            version: Some("0.61.0".into()),
            tested_version: Some("0.61.0"),
            credentials: vec!["$GEMINI_API_KEY".into()],
            accepts: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            install: "npm install -g @google/gemini-cli".into(),
        };
        let rows = [
            here.clone(),
            AgentRow {
                version: Some("0.70.0".into()),
                credentials: vec![],
                ready: false,
                ..here.clone()
            },
            AgentRow {
                version: None,
                ready: false,
                ..here.clone()
            },
            AgentRow {
                program: None,
                ..here.clone()
            },
            AgentRow {
                program: None,
                of_suite: false,
                ..here
            },
        ];
        insta::assert_snapshot!(
            "agents",
            agents_table(rows.iter(), |path| path).render(Palette::new(false))
        );
    }
}
