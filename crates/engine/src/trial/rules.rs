//! Installs the variant's rules and skills where its agent reads them.

use camino::Utf8Path;
use terca_core::agent::delivery::{Installed, sha256};
use terca_core::trial_error::ErrorKind;

use super::Stop;
use super::bench::Bench;
use crate::workspace::tree;

/// The rules files in order, after what the workspace's own rules file already says.
pub(super) fn install(bench: &mut Bench<'_>) -> Result<Vec<Installed>, Stop> {
    let variant = &bench.trial.case.variant;
    if variant.rules.is_empty() {
        return Ok(Vec::new());
    }
    let name = variant.agent.agent.profile().rules_file;
    let target = bench.room.workspace.join(name);
    let mut parts = Vec::new();
    if let Ok(own) = std::fs::read(&target) {
        parts.push(own);
    }
    for path in &variant.rules {
        parts.push(
            fs_err::read(path)
                .map_err(|error| Stop::error(ErrorKind::Setup, format!("rules: {error}")))?,
        );
    }
    let whole = joined(&parts);
    if target.symlink_metadata().is_ok() {
        fs_err::remove_file(&target)?;
    }
    fs_err::write(&target, &whole)?;
    bench.log.section(&format!(
        "rules: {} installed as {name}",
        terca_core::text::prose::count(variant.rules.len(), "file")
    ))?;
    Ok(vec![Installed {
        path: name.to_owned(),
        sha256: sha256(&whole),
    }])
}

/// The skills, each in a directory of its own name; the proof is the hash of its `SKILL.md`.
pub(super) fn install_skills(bench: &mut Bench<'_>) -> Result<Vec<Installed>, Stop> {
    let variant = &bench.trial.case.variant;
    let place = Utf8Path::new(variant.agent.agent.profile().skills_dir);
    let mut installed = Vec::new();
    for skill in &variant.skills {
        let path = place.join(skill.file_name().unwrap_or("skill"));
        let target = bench.room.workspace.join(&path);
        fs_err::create_dir_all(&target)?;
        tree::copy_tree(skill, &target)?;
        let sha256 = sha256(&fs_err::read(target.join("SKILL.md"))?);
        bench.log.section(&format!("skill: {path}"))?;
        installed.push(Installed {
            path: path.into_string(),
            sha256,
        });
    }
    Ok(installed)
}

/// One after the other, with a blank line between.
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
