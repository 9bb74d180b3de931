//! Installs the variant's rules and skills where its agent reads them.

use camino::Utf8Path;
use terca_core::agent::delivery::Installed;
use terca_core::plan::Variant;
use terca_core::text::prose;
use terca_core::text::sha256;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::sent_parts::Sought;

use crate::tree::{Dir, copy, hash};
use crate::trial::stage_error::StageError;
use crate::trial::trial_run::TrialRun;
use crate::workspace::sealed_suite::SealedSuite;
use crate::workspace::trial_dirs::TrialDirs;

/// The file of the artifacts with the rules.
const RULES: &str = "rules.md";
/// Longer than any skill that a model is given.
const LARGEST_SKILL: u64 = 16 * 1024 * 1024;

/// Installs the rules files in their order, after the text of the workspace's own rules file. Returns the whole text, too.
pub(super) fn install(
    variant: &Variant,
    run: &mut TrialRun<'_>,
) -> Result<Option<(Installed, String)>, StageError> {
    if variant.rules.is_empty() {
        return Ok(None);
    }
    let name = variant.agent.rules_file();
    let target = run.dirs.here().join(name);
    make_parent(&target, name, &run.dirs)?;
    let mut parts = Vec::new();
    if let Ok(own) = std::fs::read(&target) {
        parts.push(own);
    }
    let own = own_rules(variant, &run.context.sealed)?;
    if own.is_empty() {
        run.log
            .section("rules: none, all their parts are left out")?;
        return Ok(None);
    }
    parts.extend(own);
    let whole = joined(&parts);
    if target.symlink_metadata().is_ok() {
        fs_err::remove_file(&target)?;
    }
    fs_err::write(&target, &whole)?;
    let count = prose::count(variant.rules.len(), "file");
    run.log
        .section(&format!("rules: {count} installed as {name}"))?;
    let readable = variant.agent.agent.profile().rules_bytes;
    let installed = Installed {
        path: name.to_owned(),
        sha256: sha256(&whole),
        may_be_cut: readable.is_some_and(|bytes| whole.len() as u64 > bytes),
        uses: None,
    };
    let text = String::from_utf8_lossy(&whole).into_owned();
    // Kept with the trial, so that people can read and compare what the agent was told.
    fs_err::write(
        run.folder.artifacts().join(RULES),
        run.context.mask.text(&text),
    )?;
    Ok(Some((installed, text)))
}

/// Returns the texts of the variant's rules, without the parts that a row of an ablation does not have.
fn own_rules(variant: &Variant, sealed: &SealedSuite) -> Result<Vec<Vec<u8>>, StageError> {
    let mut texts = Vec::new();
    for path in &variant.rules {
        let path = sealed.open(path)?;
        texts.push(fs_err::read(path).map_err(|error| StageError::setup("rules", &error))?);
    }
    let Some(without) = &variant.rules_without else {
        return Ok(texts);
    };
    let texts: Vec<String> = (texts.iter())
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .collect();
    let left = without.applied_to(&texts).ok_or_else(|| {
        let message = format!(
            "the rules no longer have the {} parts that the ablation was made for",
            without.parts
        );
        StageError::new(ErrorKind::Setup, message)
    })?;
    let filled = left.into_iter().filter(|text| !text.trim().is_empty());
    Ok(filled.map(String::into_bytes).collect())
}

/// Makes the directory of the rules file, which must be in the workspace.
fn make_parent(target: &Utf8Path, name: &str, dirs: &TrialDirs) -> Result<(), StageError> {
    let Some(parent) = target.parent() else {
        return Ok(());
    };
    let dir = Utf8Path::new(name).parent().unwrap_or(Utf8Path::new(""));
    let is_inside = dirs.paths().stays_inside(dir);
    if is_inside {
        return Ok(fs_err::create_dir_all(parent)?);
    }
    let message =
        format!("the rules file is behind a link to a path outside the workspace: {name}");
    Err(StageError::new(ErrorKind::Setup, message))
}

/// Installs each skill in a directory of its own name. The hash of all its files proves which one it was.
pub(super) fn install_skills(
    variant: &Variant,
    run: &mut TrialRun<'_>,
) -> Result<Vec<Installed>, StageError> {
    let skills_dir = Utf8Path::new(variant.agent.agent.profile().skills_dir);
    let options = run.context.suite_tree();
    let mut installed = Vec::new();
    for skill in &variant.skills {
        let path = skills_dir.join(skill.file_name().unwrap_or("skill"));
        let target = run.dirs.here().join(&path);
        fs_err::create_dir_all(&target)?;
        let from = Dir::open(run.context.sealed.open(skill)?)?;
        let to = Dir::open(&target)?;
        copy(&from, &to, &options, &mut |_| Ok(true))?;
        run.log.section(&format!("skill: {path}"))?;
        installed.push(Installed {
            path: path.into_string(),
            sha256: hash(&to, &options)?,
            ..Installed::default()
        });
    }
    Ok(installed)
}

/// Returns what is looked for in the agent's requests to models.
pub(super) fn sought(
    variant: &Variant,
    rules: Option<&(Installed, String)>,
    skills: &[Installed],
    run: &TrialRun<'_>,
) -> Result<Vec<Sought>, StageError> {
    let rules = rules.map(|(file, text)| Sought::rules(&file.path, text));
    let mut sought: Vec<Sought> = rules.into_iter().collect();
    let workspace = Dir::open(run.dirs.here())?;
    let by_name = variant.agent.agent.profile().offers_skill_names;
    for skill in skills {
        if by_name {
            sought.push(Sought::skill_name(&skill.path));
            continue;
        }
        let file = Utf8Path::new(&skill.path).join("SKILL.md");
        let text = workspace.read_file(file, LARGEST_SKILL)?;
        sought.extend(Sought::skill(&skill.path, &String::from_utf8_lossy(&text)));
    }
    let servers = variant.mcp_servers.iter();
    sought.extend(servers.map(|(name, _)| Sought::server(name)));
    Ok(sought)
}

/// Joins texts with a blank line between them.
fn joined(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut whole: Vec<u8> = Vec::new();
    for part in parts {
        if !whole.is_empty() {
            whole.extend_from_slice(if whole.ends_with(b"\n") {
                b"\n"
            } else {
                b"\n\n"
            });
        }
        whole.extend_from_slice(part);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart_by_a_blank_line() {
        assert_eq!(
            joined(&[b"a\n".to_vec(), b"b".to_vec(), b"c\n".to_vec()]),
            b"a\n\nb\n\nc\n"
        );
    }
}
