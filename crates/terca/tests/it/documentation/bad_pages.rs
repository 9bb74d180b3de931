//! The tests of the documentation can fail: pages that are wrong in one way each.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::documentation::check::{Findings, check};
use crate::documentation::flags::Flags;
use crate::documentation::links;
use crate::documentation::page::Page;
use crate::documentation::repository;

fn findings(text: &str) -> Findings {
    let page = Page::parse(Utf8Path::new("docs/page.md"), text);
    check(&page, &repository(), &Flags::of_the_program())
}

#[track_caller]
fn is_wrong(text: &str, why: &str) {
    let complaints = findings(text).complaints;
    assert!(
        complaints.iter().any(|complaint| complaint.contains(why)),
        "{why}: {complaints:?}\n{text}"
    );
}

#[track_caller]
fn is_fine(text: &str) {
    assert_eq!(findings(text).complaints, [] as [&str; 0], "{text}");
}

const SUITE: &str = "```yaml\n# terca.yaml\nenvironments: [{name: a, agent: nop}]\n\
                     evals: [{name: b, prompt: c, tests: [{fileExists: d}]}]\n```\n";

#[test]
fn commands() {
    is_fine("```sh\ntrue\n```\n");
    is_wrong("```sh\nfalse\n```\n", "exit status 1 instead of 0");
    is_wrong("```sh\nterca check --no-such-flag\n```\n", "--no-such-flag");
    is_fine("<!-- test: status 3 -->\n```sh\nexit 3\n```\n");
    is_wrong(
        "<!-- test: status 3 -->\n```sh\ntrue\n```\n",
        "exit status 0 instead of 3",
    );
    is_wrong("```sh\nfalse\ntrue\n```\n", "exit status 1");
    is_fine(
        "```sh\nmkdir a && cd a && export B=c\n```\n```sh\n[ \"$B\" = c ] && [ -d ../a ]\n```\n",
    );
    is_fine(&format!(
        "{SUITE}<!-- test: status 1 -->\n```sh\nterca\n```\n"
    ));
}

#[test]
fn nobody_is_at_home_and_nobody_gets_out() {
    is_fine(
        "```sh\ntest -z \"$(ls -A \"$HOME\")\"\n```\n```sh\ncommand -v gemini | grep -q terca-docs\n```\n",
    );
    is_fine(
        "```sh\n[ \"$https_proxy\" = http://127.0.0.1:9 ] && [ -z \"${ANTHROPIC_API_KEY:-}\" ]\n```\n",
    );
}

#[test]
fn output() {
    is_fine("```sh\necho a; echo b >&2\n```\n```text\na\nb\n```\n");
    is_wrong(
        "```sh\necho a\n```\n```text\nb\n```\n", "not what was printed",
    );
    is_wrong("```text\nb\n```\n", "no command stands before");
    is_wrong(
        "```sh\necho a\n```\n```json\n{}\n```\n```text\na\n```\n",
        "no command stands before",
    );
}

#[test]
fn configuration() {
    is_fine(SUITE);
    is_wrong(&SUITE.replace("agent: nop", "agnet: nop"), "agnet");
    is_wrong(&SUITE.replace("fileExists", "fileExist"), "fileExist");
    is_wrong(&SUITE.replace("nop}", "nop, rules: none.md}"), "none.md");
    is_wrong("```yaml\nname: x\n```\n", "which file is this?");
    is_fine("<!-- test: in terca.yaml -->\n```yaml\nretries: 2\n```\n");
    is_wrong(
        "<!-- test: in terca.yaml -->\n```yaml\nretry: 2\n```\n",
        "retry",
    );
    is_fine("<!-- test: in eval.terca.yaml -->\n```yaml\ntests: [{fileExists: a}]\n```\n");
    is_wrong(
        "<!-- test: in eval.terca.yaml -->\n```yaml\ntests: [{fileExists: 1}]\n```\n",
        "fileExists",
    );
    is_fine(
        "<!-- test: file rules.md -->\n```markdown\nBe kind.\n```\n```sh\ngrep kind rules.md\n```\n",
    );
}

#[test]
fn workflows() {
    let workflow = |command: &str| {
        format!(
            "{SUITE}<!-- test: workflow -->\n```yaml\njobs: {{a: {{steps: [{{run: \"{command}\"}}]}}}}\n```\n"
        )
    };
    is_fine(&workflow("terca check"));
    is_fine(&workflow("terca --agent nop"));
    is_wrong(&workflow("terca check --bogus"), "--bogus");
    is_wrong(&workflow("make"), "no command of this workflow");
    is_wrong("<!-- test: workflow -->\n```yaml\na: [\n```\n", "no YAML");
}

#[test]
fn other_blocks() {
    is_fine("```json\n{\"a\": 1}\n```\n");
    is_wrong("```json\n{a: 1}\n```\n", "no JSON");
    is_wrong(
        "```rust\nfn main() {}\n```\n",
        "nothing is known about a block of `rust`",
    );
    is_wrong(
        "```\nwhat is this\n```\n", "nothing is known about a block of ``",
    );
    is_wrong(
        "    indented\n",
        "nothing is known about a block of `indented`",
    );
    is_fine("<!-- test: from Cargo.toml -->\n```toml\n[workspace]\n…\nresolver = \"3\"\n```\n");
    is_wrong(
        "<!-- test: from Cargo.toml -->\n```toml\nresolver = \"9\"\n```\n",
        "does not say",
    );
    is_wrong(
        "<!-- test: from Gone.toml -->\n```toml\na\n```\n",
        "there is no Gone.toml",
    );
}

#[test]
fn comments_for_the_tests() {
    let exempt = findings("<!-- test: skip it needs a browser -->\n```sh\nfirefox\n```\n");
    assert_eq!((exempt.complaints.len(), exempt.exempt), (0, 1));
    is_wrong(
        "<!-- test: skip it needs a browser -->\n```sh\nterca veiw\n```\n",
        "terca veiw",
    );
    is_wrong("<!-- test: skip -->\n```sh\nfalse\n```\n", "needs a reason");
    is_wrong(
        "<!-- test: sikp -->\n```sh\ntrue\n```\n",
        "no such directive",
    );
    is_wrong(
        "```sh\ntrue\n```\n<!-- test: status 1 -->\n",
        "nothing follows",
    );
    is_wrong("<!-- test: like -->\n```sh\ntrue\n```\n", "does not belong");
    is_wrong("<!-- test: run\nfalse\n-->\n", "the setup ended with 1");
    is_fine("<!-- test: run\ntouch a\n-->\n\n```sh\ntest -f a\n```\n");
}

/// Only pages for readers who follow them step by step: the reference may hide what it needs.
#[test]
fn a_page_without_hidden_setup() {
    let problems = |text: &str| Page::parse(Utf8Path::new("docs/page.md"), text).hidden_setup();
    assert_eq!(
        problems("In `a.sh`:\n\n<!-- test: file a.sh -->\n```sh\ntrue\n```\n"),
        [] as [&str; 0]
    );
    for (text, why) in [
        ("Text.\n\n<!-- test: run\ntouch a\n-->\n", "hidden"),
        (
            "<!-- test: file a.sh -->\n```sh\ntrue\n```\n",
            "does not name the file a.sh",
        ),
    ] {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].contains(why), "{found:?}");
    }
}

/// A page that copies an example finds it, without what somebody ran there.
#[test]
fn examples() {
    is_fine(
        "```sh\ncp -r examples/acme-sdk a && cd a && test -f terca.yaml && test ! -e .terca\n```\n",
    );
    is_fine("```sh\ntest ! -e \"$(echo examples)\"\n```\n");
}

#[test]
fn sentences() {
    is_fine("Type `terca check -t fib`, or `--retries 2`.\n");
    is_wrong("Type `terca chekc`.\n", "terca chekc");
    is_wrong("| a |\n|---|\n| `--retrys 2` |\n", "--retrys");
}

#[test]
fn links_and_contents() {
    let page = |path: &str, text: &str| {
        (
            Utf8PathBuf::from(path),
            Page::parse(Utf8Path::new(path), text),
        )
    };
    let problems = |text: &str| {
        let other = "# Other\n\n## `a --b`: c d\n\n## Twice\n\n## Twice\n";
        let pages = BTreeMap::from([
            page("docs/page.md", text),
            page("docs/architecture.md", other),
        ]);
        links::problems(&repository(), &pages)
    };
    for good in [
        "architecture.md", "architecture.md#a---b-c-d", "architecture.md#twice-1", "https://a.b",
        "#me",
    ] {
        assert_eq!(
            problems(&format!("# Me\n\n[x]({good})\n")),
            [] as [&str; 0],
            "{good}"
        );
    }
    for bad in [
        "gone.md", "architecture.md#gone", "#gone", "../README.md", "../../x", "http://a.b",
    ] {
        assert_eq!(problems(&format!("# Me\n\n[x]({bad})\n")).len(), 1, "{bad}");
    }
    let contents = |text: &str| {
        let pages = [
            Utf8PathBuf::from("docs/a.md"),
            Utf8PathBuf::from("docs/b/c.md"),
        ];
        links::problems_of_contents(&page("docs/SUMMARY.md", text).1, &pages)
    };
    assert_eq!(contents("- [a](a.md)\n  - [c](b/c.md)\n"), [] as [&str; 0]);
    assert_eq!(
        contents("- [a](a.md)\n"),
        ["docs/b/c.md stands 0 times in the table of contents"]
    );
    assert_eq!(
        contents("- [a](a.md)\n- [a](a.md)\n- [c](b/c.md)\n").len(),
        1
    );
    assert_eq!(
        contents("- [a](a.md)\n- [c](b/c.md)\n- [d](d.md)\n").len(),
        1
    );
}
