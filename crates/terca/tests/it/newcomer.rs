//! Somebody's first five minutes: from an empty directory to a page with the results, each screen as it is seen.
//!
//! The agent stands in for Claude Code on `PATH`: it needs no key and no network, works when it is told to, and does
//! better with rules than without.

use std::os::unix::fs::symlink;

use crate::common::project;
use crate::common::proof::SOUND;
use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::{Project, Terminal, write_program};

/// The whole of a machine: a shell and what the example's scripts need.
const TOOLS: [&str; 8] = ["sh", "cat", "tr", "sed", "sleep", "mkdir", "rm", "env"];

/// An empty directory, and one agent on the machine.
fn machine() -> Project {
    let project = project();
    let bin = project.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for tool in TOOLS {
        let place = ["/usr/bin", "/bin"].map(|dir| Utf8Path::new(dir).join(tool));
        symlink(
            place.iter().find(|path| path.exists()).unwrap(),
            bin.join(tool),
        )
        .unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_terca"), bin.join("terca")).unwrap();
    let agent = include_str!("newcomer/claude.sh").replace("@HOME@", project.home().as_str());
    write_program(&bin.join("claude"), &agent);
    project.env("PATH", bin.as_str()).env("TERM", "xterm")
}

/// Types a command at a terminal of the usual width.
fn at(project: &Project, dir: &str, typed: &str) -> Terminal {
    let mut command = project.other("sh", &["-c", &format!("exec {typed}")]);
    command.current_dir(project.path(dir));
    Terminal::sized(command, 80, 40)
}

/// The same in the suite, to its end.
fn see(project: &Project, typed: &str, status: i32) -> String {
    let (found, screen) = at(project, "evals", typed).see_it_out();
    assert_eq!(found, status, "{typed}\n{screen}");
    calm(&screen)
}

/// Lets the agents go on that have rules, or those that have none.
fn let_go(project: &Project, which: &str) {
    std::fs::write(project.home().join(which), "").unwrap();
}

/// What differs from one time to the next, always the same and as wide as it was.
fn calm(screen: &str) -> String {
    let lines = screen.lines().map(|line| {
        let mut calm = String::new();
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            let (spaces, from_word) = rest.split_at(start);
            let word = &from_word[..from_word.find(' ').unwrap_or(from_word.len())];
            let width = spaces.len() + word.chars().count();
            calm += &match steady(word) {
                None => format!("{spaces}{word}"),
                // Figures are set right, so the column stays where it is.
                Some(steady) => {
                    format!(
                        "{steady:>width$}",
                        width = width.max(usize::from(start > 0) + steady.chars().count())
                    )
                }
            };
            rest = &from_word[word.len()..];
        }
        calm.replace(&dated(line), "[run]")
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// What stands for a time, or for a ratio of times.
fn steady(word: &str) -> Option<&'static str> {
    let is_figure =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    [("s", "0.0s"), ("×", "1.00×")]
        .into_iter()
        .find_map(|(unit, steady)| {
            word.strip_suffix(unit)
                .is_some_and(is_figure)
                .then_some(steady)
        })
}

/// The name of a run in this line, if there is one.
fn dated(line: &str) -> String {
    let is_name = |text: &str| {
        let shape: String = text
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        shape == "0000-00-00-000"
    };
    let starts = line.char_indices().map(|(at, _)| at);
    let names = starts.filter_map(|at| line.get(at..at + 14));
    names
        .into_iter()
        .find(|text| is_name(text))
        .unwrap_or("no run at all")
        .to_owned()
}

#[test]
fn the_first_five_minutes() {
    let project = machine();
    let mut create = at(&project, ".", "terca init --no-validate --color never");
    create
        .wait_for_sight("[evals]")
        .type_in("\r")
        .wait_for_sight("An example with shell scripts")
        .type_in("\r");
    create
        .wait_for_sight("claude-code      on this machine")
        .type_in("\r")
        .wait_for_sight("[001-slug]")
        .type_in("\r");
    let (status, screen) = create.see_it_out();
    assert_eq!(status, 0, "{screen}");
    insta::assert_snapshot!("create", screen);

    insta::assert_snapshot!("check", see(&project, "terca check", 0));

    let mut run = at(&project, "evals", "terca -c 2 --seed 7");
    run.wait_for_sight("$ sh slug.sh")
        .wait_for_sight("Write slug.sh")
        .wait_for_sight("28.7k tokens");
    insta::assert_snapshot!("run_in_flight", calm(&run.everything()));
    let_go(&project, "without");
    run.wait_for_sight("◐ 0.25");
    let_go(&project, "with");
    let (status, screen) = run.see_it_out();
    assert_eq!(status, 1, "{screen}");
    insta::assert_snapshot!("run", calm(&screen));

    insta::assert_snapshot!("show", see(&project, "terca show", 0));
    insta::assert_snapshot!("compare", see(&project, "terca compare", 0));
    let report = see(&project, "terca report --html report.html", 0);
    assert!(
        report.starts_with("report.html written (") && report.ends_with(" kB)"),
        "{report}"
    );
    let page = project.read("evals/report.html");
    assert!(
        page.contains("001-slug") && page.contains("without-rules"),
        "{}",
        page.len()
    );
    let proven = see(&project, "terca validate", 0);
    assert!(
        proven.contains(&format!(
            "\n001-slug  passed  partial 0.25  partial 0.25  {SOUND}\n"
        )),
        "{proven}"
    );
}

/// The commands below `next:`, without what they are for.
fn suggested(screen: &str) -> Vec<String> {
    let lines = screen.lines().skip_while(|line| *line != "next:").skip(1);
    lines
        .map(|line| {
            line.split("  #")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        })
        .collect()
}

#[test]
fn what_is_suggested_works_as_it_stands() {
    let project = machine();
    let made = project.terca(&[
        "create", "my suite", "--agent", "claude-code", "--yes", "--no-validate",
    ]);
    made.expect_status(0);
    let here = |typed: &str| at(&project, ".", typed);
    let_go(&project, "with");
    let_go(&project, "without");
    let (_, screen) = here("terca -C 'my suite' -x 'with-*'").see_it_out();
    let first = [
        "terca -C 'my suite' validate",
        "terca -C 'my suite' report --html report.html",
    ];
    assert_eq!(suggested(&screen), first, "{screen}");
    assert_eq!(here(first[0]).see_it_out().0, 0);
    assert_eq!(here(first[1]).see_it_out().0, 0);
    assert!(project.path("report.html").is_file());

    let (_, screen) = here("terca -C 'my suite' -x 'with-*'").see_it_out();
    let again = suggested(&screen);
    let [compare, report] = again.as_slice() else {
        panic!("{screen}")
    };
    assert!(
        compare.starts_with("terca -C 'my suite' compare 2") && compare.ends_with("-003"),
        "{compare}"
    );
    assert_eq!(report, first[1], "proven by now");
    let (status, compared) = here(compare).see_it_out();
    assert_eq!(status, 0, "{compared}");

    let (_, screen) = here("terca -C 'my suite'").see_it_out();
    let failed = ["view", "run -n 5", "report --html report.html"]
        .map(|part| format!("terca -C 'my suite' {part}"));
    assert_eq!(suggested(&screen), failed, "{screen}");
    let mut view = here(&format!("{} --no-open", failed[0]));
    view.wait_for("http://127.0.0.1:");
    view.close();
    // Trials that do not pass are its status.
    assert_eq!(here(&failed[1]).see_it_out().0, 1);

    // Nobody reads a log for what to do next.
    let outcome = project.terca(&["-C", "my suite", "-x", "with-rules", "-t", "001-slug"]);
    assert!(
        !outcome.stderr.contains("next:") && !outcome.stdout.contains("next:"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_agent_that_is_not_there_is_told_of_and_tried_again() {
    let project = machine();
    project
        .terca(&["create", "evals", "--agent", "codex", "--yes"])
        .expect_status(0);
    let (status, screen) = at(&project, "evals", "terca -x without-rules").see_it_out();
    assert_eq!(status, 3, "{screen}");
    assert_eq!(
        suggested(&screen),
        ["terca doctor", "terca resume --errors"],
        "{screen}"
    );
    assert_eq!(at(&project, "evals", "terca doctor").see_it_out().0, 1);
    let stand_in: Utf8PathBuf = project.home().join("bin/claude");
    assert!(stand_in.is_file());
    let (status, screen) = at(&project, "evals", "terca resume --errors").see_it_out();
    assert_eq!(status, 3, "it is still missing: {screen}");
    assert!(screen.contains("0 done, 1 to run"), "{screen}");
}
