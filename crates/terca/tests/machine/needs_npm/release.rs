//! `scripts/release`, with programs that are given to it: building one takes minutes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_testkit::{Outcome, write_program};

use super::{PLATFORM, Place, VERSION, contents, expect_success, repository, small_program};

/// Where these tests say that the files will be.
pub(crate) const ADDRESS: &str = "https://downloads.example.com/terca";

/// The target of this machine's platform, as `npm/platforms.json` has it.
fn target() -> String {
    let platforms = fs::read_to_string(repository().join("npm/platforms.json")).unwrap();
    let platforms: Value = serde_json::from_str(&platforms).unwrap();
    platforms[PLATFORM].as_str().unwrap().to_owned()
}

/// `scripts/release` into `dist`.
pub(crate) fn release_command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(repository().join("scripts/release").as_str());
    command.env("HOME", std::env::var_os("HOME").unwrap_or_default());
    command.env("npm_config_userconfig", place.path("npmrc"));
    command.env("npm_config_cache", place.path("cache"));
    command.env("SOURCE_DATE_EPOCH", "1700000000");
    command.args(["--out", place.path("dist").as_str()]);
    command.args(args);
    command
}

fn release(place: &Place, args: &[&str]) -> Outcome {
    release_command(place, args).output().unwrap().into()
}

/// The name that `cargo binstall` looks for, by the template in the manifest.
fn binstall(key: &str, target: &str) -> String {
    let manifest = fs::read_to_string(repository().join("crates/terca/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    assert_eq!(binstall["pkg-fmt"].as_str(), Some("tgz"));
    let mut text = binstall[key].as_str().unwrap().to_owned();
    let words = [
        ("name", "terca"),
        ("bin", "terca"),
        ("binary-ext", ""),
        ("target", target),
        ("version", VERSION),
        ("repo", "https://example.com/terca"),
    ];
    for (word, value) in words {
        text = text.replace(&format!("{{ {word} }}"), value);
    }
    assert!(!text.contains('{'), "{text}");
    text
}

fn name_of(path: &Utf8Path) -> &str {
    path.file_name().unwrap()
}

#[test]
#[ignore = "needs Node and npm"]
fn a_release_installs_in_each_way() {
    let place = Place::new();
    let target = target();
    let small = small_program(&place);
    let binary = format!("{target}={small}");
    let args = ["--binary", &binary, "--base-url", ADDRESS];
    let outcome = release(&place, &args).expect_status(0);
    let files: Vec<Utf8PathBuf> = outcome.stdout.lines().map(Utf8PathBuf::from).collect();
    let stem = format!("terca-{target}-v{VERSION}");
    let named = |name: &str| files.iter().find(|file| name_of(file) == name).unwrap();
    let tarball = named(&format!("{stem}.tar.gz"));
    let mut names: Vec<&str> = files.iter().map(|file| name_of(file)).collect();
    names.sort_unstable();
    let mut expected = vec![
        "Dockerfile.agents".to_owned(),
        "SHA256SUMS".to_owned(),
        "install.sh".to_owned(),
        format!("terca-{VERSION}.tgz"),
        format!("terca-{PLATFORM}-{VERSION}.tgz"),
        format!("{stem}.tar.gz"),
        "terca.cdx.json".to_owned(),
        "terca.provenance.json".to_owned(),
        "terca.rb".to_owned(),
    ];
    if cfg!(target_os = "linux") {
        expected.push(format!("terca-image-{PROCESSOR}-v{VERSION}.tar.gz"));
        expected.push(format!("terca_{VERSION}_{PROCESSOR}.deb"));
    }
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(outcome.stderr.matches("not built here: ").count(), 3);

    // The tarball is as `cargo binstall` wants it, holds what its licences ask for, and its program runs.
    let url = binstall("pkg-url", &target);
    assert_eq!(url.rsplit('/').next(), Some(name_of(tarball)));
    assert_eq!(binstall("bin-dir", &target), format!("{stem}/terca"));
    assert_eq!(
        contents(&place, tarball),
        format!(
            "-rw-r--r-- {stem}/LICENSE\n-rw-r--r-- {stem}/THIRD-PARTY-LICENSES.txt\n\
             -rwxr-xr-x {stem}/terca\ndrwxr-xr-x {stem}/\n"
        )
    );
    expect_success(place.command("tar").args(["-xzf", tarball.as_str()]));
    let program = place.path(&stem).join("terca");
    let said = expect_success(place.command(program.as_str()).arg("--version"));
    assert!(said.contains(VERSION), "{said}");

    // The packages of npm install without a network.
    let packages: Vec<Utf8PathBuf> = files
        .iter()
        .filter(|file| name_of(file).ends_with(".tgz"))
        .cloned()
        .collect();
    let terca = place.install("prefix", &packages);
    let said = expect_success(place.command(terca.as_str()).arg("--version"));
    assert!(said.contains(VERSION), "{said}");

    // The checksums are those of the files.
    let dist = place.path("dist");
    let mut check = place.command("sha256sum");
    check
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&dist);
    let said = expect_success(&mut check);
    assert_eq!(said.matches(": OK").count(), files.len() - 1, "{said}");
    let sums = sums(&dist);
    the_formula_names_the_tarball(named("terca.rb"), &sums[name_of(tarball)], name_of(tarball));
    the_parts_are_listed(named("terca.cdx.json"));
    it_says_how_it_was_made(named("terca.provenance.json"), &sums);

    a_wrong_checksum_is_refused(&place, tarball);
}

/// Debian's word for this machine's processor.
const PROCESSOR: &str = if cfg!(target_arch = "aarch64") {
    "arm64"
} else {
    "amd64"
};

/// The checksums in a release, by name.
fn sums(dist: &Utf8Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
    let lines = text.lines().map(|line| line.split_once("  ").unwrap());
    lines
        .map(|(sum, name)| (name.to_owned(), sum.to_owned()))
        .collect()
}

fn the_formula_names_the_tarball(formula: &Utf8Path, sum: &str, tarball: &str) {
    let text = fs::read_to_string(formula).unwrap();
    let lines = format!("      url \"{ADDRESS}/{tarball}\"\n      sha256 \"{sum}\"\n");
    assert!(text.contains(&lines), "{text}");
    assert!(
        text.contains(&format!("  version \"{VERSION}\"\n")),
        "{text}"
    );
    if let Ok(ruby) = Command::new("ruby").args(["-c", formula.as_str()]).output() {
        assert!(ruby.status.success(), "{text}");
    }
}

fn read_json(path: &Utf8Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn the_parts_are_listed(sbom: &Utf8Path) {
    let sbom = read_json(sbom);
    assert_eq!(
        (&sbom["bomFormat"], &sbom["specVersion"]),
        (&"CycloneDX".into(), &"1.5".into())
    );
    assert_eq!(
        sbom["metadata"]["component"]["purl"],
        format!("pkg:cargo/terca@{VERSION}")
    );
    let parts = sbom["components"].as_array().unwrap();
    let part = |name: &str| parts.iter().find(|part| part["name"] == name);
    let json = part("serde_json").unwrap();
    assert_eq!(json["licenses"][0]["expression"], "MIT OR Apache-2.0");
    assert_eq!(json["hashes"][0]["content"].as_str().unwrap().len(), 64);
    assert!(part("terca-core").is_some(), "one of its own");
    assert!(part("proptest").is_none(), "not one that only tests need");
    // Everything that is depended on is listed.
    let mut known: Vec<&Value> = parts.iter().map(|part| &part["bom-ref"]).collect();
    known.push(&sbom["metadata"]["component"]["bom-ref"]);
    for dependency in sbom["dependencies"].as_array().unwrap() {
        let on = dependency["dependsOn"].as_array().unwrap();
        assert!(known.contains(&&dependency["ref"]) && on.iter().all(|one| known.contains(&one)));
    }
}

fn it_says_how_it_was_made(provenance: &Utf8Path, sums: &BTreeMap<String, String>) {
    let statement = read_json(provenance);
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    let subjects = statement["subject"].as_array().unwrap();
    assert_eq!(subjects.len(), sums.len() - 1, "all but itself");
    for subject in subjects {
        assert_eq!(
            subject["digest"]["sha256"],
            sums[subject["name"].as_str().unwrap()]
        );
    }
    let made = &statement["predicate"]["buildDefinition"];
    let git = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output()
        .unwrap();
    let commit = String::from_utf8(git.stdout).unwrap();
    let told = made["resolvedDependencies"][0]["digest"]["gitCommit"].as_str();
    // A checkout that git does not trust has no commit.
    assert_eq!(told.unwrap_or_default(), commit.trim());
    let program = &made["externalParameters"]["programs"][0];
    assert_eq!(
        (&program["target"], &program["builtBy"]),
        (&target().into(), &"somebody else: --binary".into())
    );
}

fn a_wrong_checksum_is_refused(place: &Place, tarball: &Utf8Path) {
    let (dist, bin) = (place.path("dist"), place.path("bin"));
    let install = |more: &[&str]| -> Outcome {
        let mut command = place.command("sh");
        command
            .arg(dist.join("install.sh"))
            .args(["--to", bin.as_str()]);
        command.args(more).output().unwrap().into()
    };
    let refused = |more: &[&str], found: &str| {
        let outcome = install(more).expect_status(1);
        assert!(outcome.stderr.contains(found), "{}", outcome.stderr);
        assert_eq!((outcome.stdout.as_str(), bin.exists()), ("", false));
    };
    let wrong = "0".repeat(64);
    let told = format!(": nothing was installed\n  help: expected {wrong}\n  help: found ");
    refused(&["--from", tarball.as_str(), "--sha256", &wrong], &told);
    fs::OpenOptions::new()
        .append(true)
        .open(tarball)
        .unwrap()
        .write_all(b"!")
        .unwrap();
    refused(&["--from", dist.as_str()], ": nothing was installed\n");
    refused(&["--from", tarball.as_str()], ": nothing was installed\n");
    fs::write(dist.join("SHA256SUMS"), "").unwrap();
    refused(
        &["--from", dist.as_str()],
        &format!("has nothing for {}\n  help: ", target()),
    );
    refused(
        &["--from", bin.as_str()],
        "SHA256SUMS\n  help: give the directory",
    );
    refused(&["--form", dist.as_str()], "error: what is `--form`?\n");
}

/// A program that says nothing but its version, as a value of `--binary`.
fn stand_in(place: &Place, version: &str) -> String {
    let program = place.path(version);
    write_program(&program, &format!("#!/bin/sh\necho {version}\n"));
    format!("{}={program}", target())
}

#[test]
#[ignore = "needs Node and npm"]
fn the_same_program_gives_the_same_release() {
    let place = Place::new();
    let binary = stand_in(&place, VERSION);
    let made = || {
        let outcome = release(&place, &["--binary", &binary]).expect_status(0);
        assert!(
            outcome.stderr.contains("not made: terca.rb"),
            "{}",
            outcome.stderr
        );
        sums(&place.path("dist"))
    };
    assert_eq!(made(), made());
}

#[test]
#[ignore = "needs Node and npm"]
fn a_release_refuses_what_it_cannot_pack() {
    let place = Place::new();
    let old = stand_in(&place, "0.0.1");
    for (args, why) in [
        (["--binary", old.as_str()], "is not of version"),
        (["--binary", "riscv=terca"], "is not TARGET=FILE"),
        (["--base-url", "downloads"], "is not an address"),
        (
            ["--platform", "windows-x64"],
            "there is no release for windows-x64",
        ),
    ] {
        let outcome = release(&place, &args).expect_status(2);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    assert!(!place.path("dist/SHA256SUMS").exists());
}
