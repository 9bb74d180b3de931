//! `terca view` from outside: what it shows, and whom it shows nothing.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::common::gallery;
use crate::common::project;
use crate::common::viewer::View;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
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
    assert!(two.contains("cannot be compared with itself"), "{two}");
    let mut events = view.listen(&format!("runs/{RUN}/events/0"));
    let news = events.next();
    assert_eq!(news.0, "news", "the page has seen nothing");
    let news: serde_json::Value = serde_json::from_str(&news.1).unwrap();
    let seen = news["seen"].as_u64().unwrap();
    assert!(
        news["parts"]["part-masthead"]
            .as_str()
            .unwrap()
            .contains("firestore-sdk")
    );
    assert_eq!(news["rows"].as_array().unwrap().len(), 28);
    assert_eq!(events.next().0, "end", "the run is over");
    assert!(page.contains(&format!("data-seen=\"{seen}\"")));
    let mut events = view.listen(&format!("runs/{RUN}/events/{seen}"));
    assert_eq!(events.next().0, "end", "there is nothing new for the page");
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

/// The digits by which an address names words.
fn digits(words: &str) -> String {
    words.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn json_of(answer: &str) -> Value {
    assert_status(answer, 200);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Type: application/json"), "{head}");
    serde_json::from_str(body).unwrap()
}

#[test]
fn rows_tools_and_words() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    let rows = json_of(&view.get(&format!("runs/{RUN}/rows")));
    assert_eq!(rows.as_array().unwrap().len(), 28);
    let of_endpoint = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["html"].as_str().unwrap().contains("rest/add-endpoint"));
    assert_eq!(of_endpoint.unwrap()["tag"], json!(["slow"]));
    let tools = json_of(&view.get(&format!("runs/{RUN}/tools")));
    assert_eq!(
        tools["1"],
        json!(["Bash", "Edit", "Read", "firestore: search_docs"])
    );
    let search = |words: &str, from: usize| {
        json_of(&view.get(&format!("runs/{RUN}/search/{}/{from}", digits(words))))
    };
    let found = search("TWELVE of the fleet", 0);
    assert_eq!(found, json!({"found": [], "looked": 28, "next": null}));
    // In a transcript, with signs that JSON escapes, and only so many in one answer.
    let found = search("\u{1b}[31mRED", 0);
    assert_eq!(found["found"], json!([25, 26, 27, 28]));
    let first = search("getDocs(ALL)", 0);
    assert_eq!(first["found"].as_array().unwrap().len(), 25);
    let rest = search("getDocs(all)", first["next"].as_u64().unwrap() as usize);
    assert_eq!(
        rest,
        json!({"found": [26, 27, 28], "looked": 28, "next": null})
    );
    for bad in [
        "search/zz/0", "search/20/0", "search/61/x", "search/61", "rows/",
    ] {
        assert_status(&view.get(&format!("runs/{RUN}/{bad}")), 404);
    }
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
        (400, &format!("POST /{token}/"), own.clone()),
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
        "runs/2026-11-14-002/rows",
        "runs/2026-11-14-002/search/61/0",
        "runs/2026-11-14-002/",
        "runs/.terca/",
        "runs//",
        &format!("runs/{RUN}/trials/1/remark"),
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
fn the_address_is_the_same_when_it_is_started_again() {
    let project = with_a_made_run();
    let first = View::open(&project, &[]);
    let url = first.url.clone();
    let kept = project.path(".terca/view.json");
    let mode = kept.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "only its owner may read it");
    // Another one at the same time has another port.
    let second = View::open(&project, &[]);
    assert_ne!(second.host(), first.host());
    assert_eq!(second.token(), first.token());
    drop(second);
    drop(first);
    let port = url.split([':', '/']).nth(4).unwrap();
    let again = View::open(&project, &["--port", port]);
    assert_eq!(again.url, url);
    assert_status(&again.get(""), 200);
    drop(again);
    assert_eq!(View::open(&project, &[]).url, url, "and without a flag");
    // A file that others could have read or written is not used.
    std::fs::set_permissions(&kept, Permissions::from_mode(0o644)).unwrap();
    let other = View::open(&project, &[]);
    assert!(!url.contains(other.token()));
    for foreign in [
        "", "{\"port\":80,\"token\":\"\"}", "{\"port\":0,\"token\":\"../\"}",
    ] {
        std::fs::write(&kept, foreign).unwrap();
        assert_eq!(View::open(&project, &[]).token().len(), 32);
    }
}

#[test]
fn addresses_of_nothing_lead_back() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    let moved = view.get(&format!("runs/{RUN}"));
    assert_status(&moved, 308);
    assert!(moved.contains(&format!("Location: {RUN}/\r\n")), "{moved}");
    for (path, message, link) in [
        (
            "runs/2020-01-01-001/",
            "There is no run 2020-01-01-001 in this suite any more.",
            "../../",
        ),
        (
            &format!("runs/{RUN}/trials/9999"),
            "There is no trial 9999 in this run.",
            "../../../",
        ),
        ("nothing", "There is no page at this address.", "./"),
    ] {
        let page = view.get(path);
        assert_status(&page, 404);
        assert!(
            page.contains("<html lang=\"en\">") && page.contains("<main"),
            "{page}"
        );
        assert!(page.contains(&format!("<h1>{message}</h1>")), "{page}");
        assert!(
            page.contains(&format!("<a href=\"{link}\">All runs</a>")),
            "{page}"
        );
    }
    let stranger = view.send(&format!(
        "GET /wrong/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        view.host()
    ));
    assert!(
        stranger.contains("<code>terca view</code>") && !stranger.contains(RUN),
        "{stranger}"
    );
}

#[test]
fn a_remark_is_kept_shown_and_exported() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    let mut events = view.listen(&format!("runs/{RUN}/events/0"));
    assert_eq!([events.next().0, events.next().0], ["news", "end"]);
    let path = format!("runs/{RUN}/trials/2/remark");
    let said = r#"{"text":"the grader is wrong <b>","tags":["grader","=cmd"]}"#;
    assert_status(&view.post(&path, said), 200);
    assert_eq!(events.next().0, "remarks", "other tabs hear of it");
    let json = project
        .terca(&["show", "--format", "json"])
        .expect_status(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["trials"][1]["remark"]["tags"][0], "grader");
    let dir = json["trials"][1]["dir"].as_str().unwrap();
    let shown = project.terca(&["show", RUN, dir]).expect_status(0);
    let remark = "remark: the grader is wrong <b> [grader] [=cmd]";
    assert!(shown.stdout.contains(remark), "{}", shown.stdout);
    project
        .terca(&["report", "--csv", "trials.csv"])
        .expect_status(0);
    let csv = project.read("trials.csv");
    assert!(csv.contains("the grader is wrong <b>"), "{csv}");
    project.terca(&["verify"]).expect_status(0);
    for (status, path, said) in [
        (404, format!("runs/{RUN}/trials/9999/remark"), said),
        (405, format!("runs/{RUN}/"), said),
        (400, path.clone(), "{}"),
        (400, path.clone(), "no json"),
    ] {
        assert_status(&view.post(&path, said), status);
    }
    assert_status(&view.post(&path, r#"{"text":" ","tags":[]}"#), 200);
    let shown = project.terca(&["show", RUN, dir]).expect_status(0);
    assert!(!shown.stdout.contains("remark:"), "it was taken back");
}

#[test]
fn a_page_hears_of_a_run_that_goes_on_again() {
    let project = with_a_made_run();
    let view = View::open(&project, &[]);
    let mut events = view.listen(&format!("runs/{RUN}/events/0"));
    assert_eq!([events.next().0, events.next().0], ["news", "end"]);
    let dir = project.path(&format!(".terca/runs/{RUN}"));
    let journal = std::fs::OpenOptions::new()
        .append(true)
        .open(dir.join("events.jsonl"))
        .unwrap();
    journal.lock().unwrap();
    assert_eq!(events.next().0, "begun", "by `terca resume`");
    drop(journal);
    assert_eq!(events.next().0, "end");
    gallery::make(&project.path(".terca/runs/2026-11-15-001"), 1);
    assert_eq!(events.next().0, "newer");
}

#[test]
fn what_is_not_there_is_said() {
    let project = project().file("terca.yaml", "name: empty\n");
    let outcome = project.terca(&["view", "--no-open"]).expect_status(2);
    assert!(outcome.stderr.contains("no runs yet"), "{}", outcome.stderr);
    let outcome = project.terca(&["report"]).expect_status(2);
    assert!(outcome.stderr.contains("--html"), "{}", outcome.stderr);
}
