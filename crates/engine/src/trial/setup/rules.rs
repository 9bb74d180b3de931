//! Installs the variant's rules and skills where its agent reads them.

use std::io;

use camino::Utf8Path;
use terca_core::agent::delivery::{Installed, sha256};
use terca_core::plan::Variant;
use terca_core::text::mask::Mask;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use crate::tree::{Dir, copy, hash};
use crate::trial::context::Context;
use crate::trial::log::RunLog;
use crate::trial::stage_error::StageError;
use crate::workspace::sealed_suite::SealedSuite;
use crate::workspace::trial_dirs::TrialDirs;

/// The file of the artifacts with the rules.
const RULES: &str = "rules.md";

/// Installs the rules files in their order, after the text of the workspace's own rules file.
pub(super) fn install(
    variant: &Variant,
    sealed: &SealedSuite,
    dirs: &TrialDirs,
    log: &mut RunLog,
) -> Result<Vec<Installed>, StageError> {
    if variant.rules.is_empty() {
        return Ok(Vec::new());
    }
    let name = variant.agent.rules_file();
    let target = dirs.here().join(name);
    make_parent(&target, name, dirs)?;
    let mut parts = Vec::new();
    if let Ok(own) = std::fs::read(&target) {
        parts.push(own);
    }
    let own = own_rules(variant, sealed)?;
    if own.is_empty() {
        log.section("rules: none, all their parts are left out")?;
        return Ok(Vec::new());
    }
    parts.extend(own);
    let whole = joined(&parts);
    if target.symlink_metadata().is_ok() {
        fs_err::remove_file(&target)?;
    }
    fs_err::write(&target, &whole)?;
    let count = prose::count(variant.rules.len(), "file");
    log.section(&format!("rules: {count} installed as {name}"))?;
    let readable = variant.agent.agent.profile().rules_bytes;
    Ok(vec![Installed {
        path: name.to_owned(),
        sha256: sha256(&whole),
        may_be_cut: readable.is_some_and(|bytes| whole.len() as u64 > bytes),
        uses: None,
    }])
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
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
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

/// Keeps the text of the rules with the trial, so that people can read and compare what the agent was told.
pub(super) fn keep(
    installed: &[Installed],
    workspace: &Utf8Path,
    artifacts: &Utf8Path,
    mask: &Mask,
) -> io::Result<()> {
    let mut whole = Vec::new();
    for file in installed {
        whole.push(fs_err::read(workspace.join(&file.path))?);
    }
    if whole.is_empty() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&joined(&whole)).into_owned();
    fs_err::write(artifacts.join(RULES), mask.text(&text))
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
    context: &Context,
    workspace: &Utf8Path,
    log: &mut RunLog,
) -> Result<Vec<Installed>, StageError> {
    let skills_dir = Utf8Path::new(variant.agent.agent.profile().skills_dir);
    let mut installed = Vec::new();
    for skill in &variant.skills {
        let path = skills_dir.join(skill.file_name().unwrap_or("skill"));
        let target = workspace.join(&path);
        fs_err::create_dir_all(&target)?;
        let from = Dir::open(context.sealed.open(skill)?)?;
        let to = Dir::open(&target)?;
        copy(&from, &to, &context.suite_tree(), &mut |_| Ok(true))?;
        let sha256 = hash(&to, &context.suite_tree())?;
        log.section(&format!("skill: {path}"))?;
        installed.push(Installed {
            path: path.into_string(),
            sha256,
            ..Installed::default()
        });
    }
    Ok(installed)
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
