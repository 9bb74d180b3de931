//! The parts of a variant that are looked for in the agent's requests to models.

use camino::Utf8Path;
use terca_core::agent::delivery::Installed;
use terca_core::plan::Variant;
use terca_core::wire::sent_parts::Sought;

use crate::tree::Dir;
use crate::trial::stage_error::StageError;

/// Longer than any rules that a model is given.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads what was installed, as the agent finds it.
pub(super) fn of_variant(
    variant: &Variant,
    rules: &[Installed],
    skills: &[Installed],
    workspace: &Utf8Path,
) -> Result<Vec<Sought>, StageError> {
    let workspace = Dir::open(workspace)?;
    let read = |path: &Utf8Path| -> Result<String, StageError> {
        let bytes = workspace.read_file(path, LARGEST)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut sought = Vec::new();
    for file in rules {
        sought.push(Sought::rules(&file.path, &read(Utf8Path::new(&file.path))?));
    }
    for skill in skills {
        let text = read(&Utf8Path::new(&skill.path).join("SKILL.md"))?;
        sought.extend(Sought::skill(&skill.path, &text));
    }
    for (name, _) in &variant.mcp_servers {
        sought.push(Sought::server(name));
    }
    Ok(sought)
}
