//! `scripts/release`, with programs that are given to it: building one takes minutes.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_testkit::Outcome;

use super::{PLATFORM, Place, VERSION, contents, expect_success, repository, small_program};

/// The target of this machine's platform, as `npm/platforms.json` has it.
fn target() -> String {
    let platforms = fs::read_to_string(repository().join("npm/platforms.json")).unwrap();
    let platforms: Value = serde_json::from_str(&platforms).unwrap();
    platforms[PLATFORM].as_str().unwrap().to_owned()
}

fn release(place: &Place, args: &[&str]) -> Outcome {
    let mut command = place.command(repository().join("scripts/release").as_str());
    command.env("HOME", std::env::var_os("HOME").unwrap_or_default());
    command.env("npm_config_userconfig", place.path("npmrc"));
    command.env("npm_config_cache", place.path("cache"));
    command.env("SOURCE_DATE_EPOCH", "1700000000");
    command.args(["--out", place.path("dist").as_str()]);
    command.args(args).output().unwrap().into()
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
    let outcome = release(&place, &["--binary", &binary]).expect_status(0);
    let files: Vec<Utf8PathBuf> = outcome.stdout.lines().map(Utf8PathBuf::from).collect();
    let tarball = files
        .iter()
        .find(|file| name_of(file).ends_with(".tar.gz"))
        .unwrap();
    let stem = format!("terca-{target}-v{VERSION}");
    let mut names: Vec<&str> = files.iter().map(|file| name_of(file)).collect();
    names.sort_unstable();
    let mut expected = [
        "SHA256SUMS".to_owned(),
        format!("terca-{VERSION}.tgz"),
        format!("terca-{PLATFORM}-{VERSION}.tgz"),
        format!("{stem}.tar.gz"),
    ];
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
    assert_eq!(said.matches(": OK").count(), 3, "{said}");

    // The same program gives the same tarball.
    let before = fs::read(tarball).unwrap();
    release(&place, &["--binary", &binary]).expect_status(0);
    assert!(fs::read(tarball).unwrap() == before);
}

#[test]
#[ignore = "needs Node and npm"]
fn a_release_refuses_what_it_cannot_pack() {
    let place = Place::new();
    let old = place.path("old");
    fs::write(&old, "#!/bin/sh\necho 0.0.1\n").unwrap();
    expect_success(place.command("chmod").args(["+x", old.as_str()]));
    let old = format!("{}={old}", target());
    for (args, why) in [
        (["--binary", old.as_str()], "is not of version"),
        (["--binary", "riscv=terca"], "is not TARGET=FILE"),
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
