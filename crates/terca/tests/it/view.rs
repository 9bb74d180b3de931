//! `terca view` from outside: what it shows, and whom it shows nothing.

use crate::common::gallery;
use crate::common::project;
use crate::common::viewer::View;
use rustix::process::{Pid, Signal, kill_process};
use terca_testkit::Project;

const RUN: &str = "2026-11-14-001";

fn with_a_made_run() -> Project {
    let project = project()
        .file("terca.yaml", "name: firestore-sdk\n")
        .file("secret.txt", "secret of the suite");
    gallery::make(&project.path(&format!(".terca/runs/{RUN}")), 1);
    project
}

#[track_caller]
fn assert_status(answer: &str, status: u16) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer:.300}"
    );
}

#[test]
fn pages_and_files() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    assert!(
        view.url.ends_with(&format!("/runs/{RUN}/")) && view.token().len() == 32,
        "{}",
        view.url
    );
    let page = view.get(&format!("runs/{RUN}/"));
    assert_status(&page, 200);
    assert!(page.contains("<h1>firestore-sdk</h1>") && !page.contains("<template"));
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'sha256-",
        "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
    ] {
        assert!(
            page.split("\r\n\r\n").next().unwrap().contains(header),
            "{header}"
        );
    }
    assert!(view.get("").contains(&format!("<a href=\"runs/{RUN}/\">")));
    let trial = view.get(&format!("runs/{RUN}/trials/2"));
    assert!(
        trial.contains("class=\"trial\"") && trial.contains("You work on the firestore-sdk."),
        "{trial}"
    );
    let log = view.get(&format!("runs/{RUN}/trials/2/run.log"));
    assert!(
        log.contains("Content-Type: text/plain")
            && log.contains("added 212 packages")
            && log.contains("sandbox")
    );
    let two = view.get(&format!("compare/{RUN}/{RUN}"));
    assert!(two.contains("<h1>Two runs</h1>"), "{two:.200}");
    let events = view.get(&format!("runs/{RUN}/events"));
    assert!(
        events.ends_with("event: change\ndata: -\n\nevent: end\ndata: -\n\n"),
        "the run is over: {events}"
    );
    let head = view.send(&format!(
        "HEAD /{}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        view.token(),
        view.host()
    ));
    assert!(
        head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
}

#[test]
fn strangers_get_nothing() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    let (host, token) = (view.host().to_owned(), view.token().to_owned());
    let port = host.rsplit(':').next().unwrap().to_owned();
    let ask = |first: &str, headers: &str| view.send(&format!("{first} HTTP/1.1\r\n{headers}\r\n"));
    let page = format!("GET /{token}/");
    let own = format!("Host: {host}\r\n");
    for (status, first, headers) in [
        (404, "GET /", own.clone()),
        (404, "GET /runs/", own.clone()),
        (404, &format!("GET /{}/", "0".repeat(32)), own.clone()),
        (404, &format!("GET /{}/", &token[..31]), own.clone()),
        (403, &page, String::new()),
        (403, &page, "Host: evil.example\r\n".to_owned()),
        (403, &page, format!("Host: evil.example:{port}\r\n")),
        (403, &page, format!("{own}Origin: http://evil.example\r\n")),
        (403, &page, format!("{own}Origin: null\r\n")),
        (403, &page, format!("{own}Sec-Fetch-Site: cross-site\r\n")),
        (400, &page, format!("{own}{own}")),
        (405, &format!("POST /{token}/"), own.clone()),
        (405, &format!("PUT /{token}/"), own.clone()),
        (405, &format!("DELETE /{token}/runs/{RUN}/"), own.clone()),
        (405, &format!("OPTIONS /{token}/"), own.clone()),
        (431, &page, format!("{own}X: {}\r\n", "x".repeat(20_000))),
        (431, &page, format!("{own}{}", "X: y\r\n".repeat(100))),
        (
            200,
            &page,
            format!("{own}Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n"),
        ),
    ] {
        let answer = ask(first, &headers);
        assert_status(&answer, status);
        assert!(status == 200 || !answer.contains(RUN), "{answer}");
        assert!(!answer.contains("Access-Control"), "{answer}");
    }
}

#[test]
fn no_path_leads_out() {
    let project = with_a_made_run();
    let run_dir = project.path(&format!(".terca/runs/{RUN}"));
    let artifacts = run_dir.join("auth-sign-in/claude.control.01/artifacts");
    std::fs::remove_dir_all(&artifacts).unwrap();
    std::os::unix::fs::symlink(project.path("secret.txt"), artifacts).unwrap();
    std::fs::remove_file(run_dir.join("auth-sign-in/claude.control.01/changes.diff")).unwrap();
    std::os::unix::fs::symlink(
        project.path("secret.txt"),
        run_dir.join("auth-sign-in/claude.control.01/changes.diff"),
    )
    .unwrap();
    let view = View::open(&project, &[]);
    for path in [
        "../secret.txt",
        "runs/../../secret.txt",
        "runs/../../../secret.txt",
        "runs/..%2f..%2fsecret.txt",
        "runs/%2e%2e/%2e%2e/secret.txt",
        &format!("runs/{RUN}/../../../secret.txt"),
        &format!("runs/{RUN}/trials/1/../../../../../secret.txt"),
        &format!("runs/{RUN}/trials/1/events.jsonl"),
        &format!("runs/{RUN}/trials/1/secret.txt"),
        &format!("runs/{RUN}/trials/1/changes.diff"),
        &format!("runs/{RUN}/trials/1/trajectory.json"),
        &format!("runs/{RUN}/trials/9999"),
        &format!("runs/{RUN}/trials/-1"),
        &format!("runs/{RUN}/run.json"),
        "runs/2026-11-14-002/",
        "runs/.terca/",
        "runs//",
        &format!("compare/{RUN}/.."),
    ] {
        let answer = view.get(path);
        assert_status(&answer, 404);
        assert!(!answer.contains("secret of the suite"), "{path}");
    }
    assert!(
        !view
            .get(&format!("runs/{RUN}/trials/1"))
            .contains("secret of the suite")
    );
}

#[test]
fn it_listens_on_this_machine_alone_and_ends_with_ctrl_c() {
    let project = with_a_made_run();
    let view = View::open(&project, &[RUN]);
    assert!(view.host().starts_with("127.0.0.1:"), "{}", view.url);
    let port: u16 = view.host().rsplit(':').next().unwrap().parse().unwrap();
    let tcp = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let listening: Vec<&str> = tcp
        .lines()
        .filter(|line| line.contains(&format!(":{port:04X} 00000000:0000 0A")))
        .collect();
    assert_eq!(listening.len(), 1, "{tcp}");
    assert!(
        listening[0].contains(&format!("0100007F:{port:04X}")),
        "{listening:?}"
    );
    kill_process(Pid::from_raw(view.id() as i32).unwrap(), Signal::INT).unwrap();
    assert!(!view.wait().success());
}

#[test]
fn what_is_not_there_is_said() {
    let project = project().file("terca.yaml", "name: empty\n");
    let outcome = project.terca(&["view", "--no-open"]).expect_status(2);
    assert!(outcome.stderr.contains("no runs yet"), "{}", outcome.stderr);
    let outcome = project.terca(&["report"]).expect_status(2);
    assert!(outcome.stderr.contains("--html"), "{}", outcome.stderr);
}
