//! The container's image of a release, loaded and run by Docker.

use crate::containers::{Engine, IMAGE};
use crate::needs_npm::{Place, VERSION};
use crate::needs_release::{image, static_release};

#[test]
#[ignore = "needs root, docker, Node, npm, busybox, and Rust for musl"]
fn docker_runs_the_image_and_builds_one_for_agents() {
    let place = Place::new();
    let dist = static_release(&place);
    let engine = Engine::docker();
    let name = format!("localhost/terca:{VERSION}");
    let said = engine.told(&["load", "--input", image(&dist).as_str()]);
    assert!(said.contains(&name), "{said}");
    let run = ["run", "--rm", "--network=none"];
    assert_eq!(
        engine.told(&[&run[..], &[&name, "--version"]].concat()),
        VERSION
    );

    // A base that has what Debian's packages would bring: there is no network here.
    let base = "FROM terca-test:1\nRUN ln -s busybox /bin/git && ln -s busybox /bin/bwrap\n";
    std::fs::write(
        place.path("Dockerfile"),
        base.replace("terca-test:1", IMAGE),
    )
    .unwrap();
    let build = ["build", "--network=none"];
    engine.told(&[&build[..], &["-t", "base", place.path("").as_str()]].concat());
    let file = dist.join("Dockerfile.agents");
    let agents = [
        "-f",
        file.as_str(),
        "--build-arg",
        "BASE=base",
        "-t",
        "agents",
        dist.as_str(),
    ];
    engine.told(&[&build[..], &agents].concat());
    assert_eq!(
        engine.told(&[&run[..], &["agents", "--version"]].concat()),
        VERSION
    );
}
