//! What can be known of `deny.toml` without `cargo deny`: the licences of what is built here, and crates in two versions.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use terca_house::OWN_CHECKOUT;
use toml::Table;

fn read(file: &str) -> Table {
    let text = std::fs::read_to_string(format!("{OWN_CHECKOUT}/{file}")).unwrap();
    text.parse().unwrap()
}

fn texts(value: &toml::Value) -> BTreeSet<&str> {
    let values = value.as_array().unwrap().iter();
    values.map(|value| value.as_str().unwrap()).collect()
}

/// Whether a licence, as crates write it, can be met with these alone.
fn is_met(licence: &str, allowed: &BTreeSet<&str>) -> bool {
    let licence = licence.replace('/', " OR ");
    let (mut depth, mut parts, mut rest) = (0, vec![String::new()], Vec::new());
    for word in licence
        .replace('(', "( ")
        .replace(')', " )")
        .split_whitespace()
    {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            "AND" | "OR" if depth == 0 => {
                rest.push(word.to_owned());
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        let part = parts.last_mut().unwrap();
        *part = format!("{part} {word}").trim().to_owned();
    }
    if parts.len() == 1 {
        let inner = parts[0]
            .strip_prefix('(')
            .and_then(|part| part.strip_suffix(')'));
        return inner.map_or(allowed.contains(parts[0].as_str()), |inner| {
            is_met(inner, allowed)
        });
    }
    let mut met = parts.iter().map(|part| is_met(part, allowed));
    match rest.iter().all(|word| word == "OR") {
        true => met.any(|met| met),
        // No crate mixes them without brackets.
        false => rest.iter().all(|word| word == "AND") && met.all(|met| met),
    }
}

#[test]
fn licences_are_read_as_crates_write_them() {
    let allowed = BTreeSet::from(["MIT", "ISC", "Unicode-3.0"]);
    for met in [
        "MIT", "Zlib OR MIT", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for other in [
        "Zlib", "MIT AND Zlib", "(MIT OR Zlib) AND Zlib", "MITX", "GPL-3.0 WITH MIT",
    ] {
        assert!(!is_met(other, &allowed), "{other}");
    }
}

#[test]
fn licences_of_dependencies_are_allowed() {
    let rules = read("deny.toml");
    let allowed = texts(&rules["licenses"]["allow"]);
    let cargo = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        let output = command
            .args(args)
            .current_dir(OWN_CHECKOUT)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let about = Command::new("rustc").arg("-vV").output().unwrap();
    let about = String::from_utf8(about.stdout).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    // What is built here is here.
    let metadata: Value = serde_json::from_str(&cargo(&[
        "metadata",
        "--locked",
        "--offline",
        "--format-version",
        "1",
        "--filter-platform",
        host.unwrap(),
    ]))
    .unwrap();
    let used = metadata["resolve"]["nodes"].as_array().unwrap().iter();
    let used: BTreeSet<&str> = used.map(|node| node["id"].as_str().unwrap()).collect();
    let mut refused = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none");
        if used.contains(package["id"].as_str().unwrap()) && !is_met(licence, &allowed) {
            refused.push(format!("{}: {licence}", package["name"]));
        }
    }
    assert!(used.len() > 100, "{}", used.len());
    assert_eq!(refused, [""; 0]);
}

/// Terca is not built for Windows, and `cargo deny` does not look at its crates.
#[test]
fn crates_in_two_versions_are_named_with_a_reason() {
    let (rules, lock) = (read("deny.toml"), read("Cargo.lock"));
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if !name.starts_with("windows") {
            let version = package["version"].as_str().unwrap();
            versions.entry(name).or_default().insert(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut skipped = BTreeSet::new();
    for skip in rules["bans"]["skip"].as_array().unwrap() {
        assert!(
            skip["reason"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty()),
            "{skip}"
        );
        let (name, version) = skip["crate"].as_str().unwrap().split_once('@').unwrap();
        let is_one = versions
            .get_mut(name)
            .is_some_and(|versions| versions.remove(version));
        assert!(is_one, "{name}@{version} is in the tree once or not at all");
        skipped.insert(name);
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert_eq!(versions, BTreeMap::new(), "skipped: {skipped:?}");
}
