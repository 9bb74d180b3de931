//! The container's image of a release, loaded and run by Docker.

use crate::containers::{Engine, IMAGE};
use crate::needs_npm::{Place, VERSION, expect_success, repository};
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
    let suite = place.path("suite");
    let example = repository().join("examples/acme-sdk");
    expect_success(
        place
            .command("cp")
            .args(["-r", example.as_str(), suite.as_str()]),
    );
    let volume = format!("--volume={suite}:/suite");
    let run = |image: &str, args: &[&str]| {
        engine.told(&[&["run", "--rm", "--network=none", &volume, image], args].concat())
    };
    assert_eq!(run(&name, &["--version"]), VERSION);
    assert!(run(&name, &["check"]).contains("script.with-rules"));

    // A base that has what Debian's packages would bring: there is no network here.
    let base = format!("FROM {IMAGE}\nRUN ln -s busybox /bin/git && ln -s busybox /bin/bwrap\n");
    std::fs::write(place.path("Dockerfile"), base).unwrap();
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
    let said = run("agents", &["--fail-under", "0.5", "--format", "plain"]);
    assert!(said.contains("\nBETTER on these "), "{said}");

    // What ran there is read by the program alone.
    for command in [&["show"][..], &["compare"]] {
        assert!(run(&name, command).contains("BETTER"));
    }
    run(&name, &["report", "--html", "report.html"]);
    assert!(suite.join("report.html").is_file());
}
