//! Every complaint that the configuration can give, as its user reads it.
//!
//! The snapshots are grouped by topic; each case is a title and the whole report. Read them as a user would:
//! does the message name the thing, does the marker stand where the mend is to be made, is the next step clear?

#[cfg(test)]
#[path = "support/checker.rs"]
mod checker;
#[cfg(test)]
mod support;

use std::cell::RefCell;

use support::{Project, indented};
use terca_core::config::schema;
use terca_core::plan::expand::Overrides;
use terca_core::plan::selection::Selection;

/// What stands around every configuration of this file.
const AROUND: [(&str, &str); 6] = [
    ("AGENTS.md", "be kind"),
    ("docs/", ""),
    ("empty.md", " \n"),
    ("binary.md", "\0"),
    ("_base/out -> /etc", ""),
    ("_base/up -> ../../elsewhere", ""),
];

/// A finished eval and a finished environment, for cases that are about something else.
const EVAL: (&str, &str) = ("fib/eval.terca.yaml", "prompt: go\n");
const AGENT: &str = "environments: [{name: default, agent: nop}]\n";

fn project(files: &[(&str, &str)]) -> Project {
    Project::new(&[files, &AROUND[..]].concat())
}

/// Everything that is said about these files, up to and including the plan.
fn report(files: &[(&str, &str)]) -> String {
    report_of(files, &Selection::default())
}

fn report_of(files: &[(&str, &str)], selection: &Selection) -> String {
    let as_written = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    LAST.with_borrow_mut(|last: &mut Vec<(String, String)>| *last = as_written);
    let mut project = project(files);
    let _ = project.plan(selection, &Overrides::default());
    project.report()
}

/// Where the text of a case is put.
type Around = fn(&str) -> String;

fn suite(text: &str) -> String {
    report(&[("terca.yaml", text), EVAL])
}

fn eval_file(text: &str) -> String {
    report(&[("terca.yaml", AGENT), ("fib/eval.terca.yaml", text)])
}

fn eval(text: &str) -> String {
    eval_file(&format!("prompt: go\n{text}\n"))
}

fn test(text: &str) -> String {
    eval(&format!("tests:\n  - {}", indented(text, 4)))
}

fn action(text: &str) -> String {
    eval(&format!("before:\n  - {}", indented(text, 4)))
}

fn environment(text: &str) -> String {
    suite(&format!(
        "environments:\n  - name: default\n    {}\n",
        indented(text, 4)
    ))
}

fn mcp_server(text: &str) -> String {
    environment(&format!(
        "agent: gemini-cli\nmcpServers:\n  files:\n    {}",
        indented(text, 4)
    ))
}

thread_local! {
    /// The files of the latest report.
    static LAST: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

/// Topics about the shape of what is written: an editor that knows the schema complains too.
const SHAPES: [&str; 3] = ["unknown_keys", "wrong_types", "numbers_out_of_range"];
/// JSON has no such numbers, and a schema cannot compare one with another.
const BEYOND_SCHEMAS: [&str; 3] = [
    "a timeout that is no number", "a cost without end", "adaptive repetitions upside down",
];

fn editors_complain() -> bool {
    let (suite, eval) = (schema::suite(), schema::eval());
    LAST.with_borrow(|files| {
        files.iter().any(|(path, text)| {
            let schema = if path.ends_with("eval.terca.yaml") {
                &eval
            } else {
                &suite
            };
            let options = serde_saphyr::options! { strict_booleans: true };
            let value = serde_saphyr::from_str_with_options::<serde_json::Value>(text, options);
            value.map_or(true, |value| !checker::accepts(schema, &value))
        })
    })
}

/// One snapshot for a table of cases: how each is named, where its text is put, and the text.
fn snapshot(topic: &str, cases: &[(&str, Around, &str)]) {
    let mut reports = Vec::new();
    for (title, around, text) in cases {
        reports.push(section(title, &around(text)));
        let expected = SHAPES.contains(&topic) && !BEYOND_SCHEMAS.contains(title);
        assert!(
            !expected || editors_complain(),
            "the schema has nothing against: {title}"
        );
    }
    insta::assert_snapshot!(topic, reports.join("\n\n"));
}

fn section(title: &str, report: &str) -> String {
    assert!(!report.is_empty(), "{title}: nothing was reported");
    format!("━━ {title}\n{report}")
}

#[test]
fn unknown_keys() {
    snapshot(
        "unknown_keys",
        &[
            ("in a suite, misspelt", suite, "repetition: 2"),
            ("in a suite, unlike any", suite, "colour: blue"),
            ("in an eval, misspelt", eval, "timeout_seconds: 3"),
            ("in an eval, unlike any", eval, "colour: blue"),
            (
                "in an eval, the older name is not advised",
                eval,
                "evals: []",
            ),
            ("in a test, misspelt", test, "fileExist: a.js"),
            (
                "in a test, unlike any", test, "fileExists: a.js\ncolour: blue",
            ),
            (
                "in `commandSuccess`",
                test,
                "commandSuccess: {command: ls, outputContain: x}",
            ),
            ("in an action, misspelt", action, "comand: ls"),
            ("in an action, unlike any", action, "colour: blue"),
            ("in a command", action, "command: {command: ls, timeout: 3}"),
            (
                "in an environment, misspelt", environment, "agent: nop\nmcpServer: {}",
            ),
            (
                "in an environment, unlike any", environment, "agent: nop\ncolour: blue",
            ),
            (
                "in an agent", environment, "agent: {name: nop, colour: blue}",
            ),
            (
                "in an MCP server, misspelt", mcp_server, "comand: x\ncommand: y",
            ),
            (
                "in an MCP server, unlike any", mcp_server, "command: y\ncolour: blue",
            ),
            ("a key that is no text", suite, "? [a, b]\n: 1"),
        ],
    );
}

#[test]
fn services() {
    snapshot(
        "services",
        &[
            (
                "an unknown key",
                suite,
                "services: [{name: db, command: x, port: 1, prot: 2}]",
            ),
            (
                "neither command nor image", suite, "services: [{name: db, port: 6379}]",
            ),
            (
                "both",
                suite,
                "services: [{name: db, command: x, image: redis, port: 6379}]",
            ),
            (
                "without a port", suite, "services: [{name: db, command: x}]",
            ),
            (
                "a port that is none",
                suite,
                "services: [{name: db, command: x, port: 70000}]",
            ),
            (
                "a name that is no part of a variable",
                suite,
                "services: [{name: my db, command: x, port: 6379}]",
            ),
            (
                "another scope",
                suite,
                "services: [{name: db, command: x, port: 6379, scope: run}]",
            ),
            (
                "two of one name",
                suite,
                "services:\n  - {name: db, command: x, port: 1}\n  - {name: db, command: y, port: 2}",
            ),
            (
                "two at one port, in a suite and its eval",
                |text| {
                    let with_eval = "prompt: go\ntests: [{fileExists: a}]\nservices: [{name: cache, command: y, port: 6379}]\n";
                    report(&[
                        ("terca.yaml", &format!("{AGENT}{text}")),
                        ("fib/eval.terca.yaml", with_eval),
                    ])
                },
                "services: [{name: db, command: x, port: 6379}]",
            ),
        ],
    );
}

#[test]
fn duplicate_keys() {
    snapshot(
        "duplicate_keys",
        &[
            ("one", suite, "name: a\nrepetitions: 1\nname: b"),
            (
                "several, and a misspelt key",
                suite,
                "name: a\nname: b\nnaem: c\nenv: {A: 1, A: 2}\nname: d",
            ),
            ("of numbers", action, "files: {1: a, 2: b, 1: c}"),
        ],
    );
}

#[test]
fn names_used_twice() {
    let across = report(&[
        ("terca.yaml", "evals:\n  - name: fib\n    prompt: go\n"),
        ("a/eval.terca.yaml", "prompt: go\nname: fib\n"),
        ("fib/eval.terca.yaml", "prompt: go\n"),
    ]);
    let cases: [(&str, Around, &str); 7] = [
        (
            "environments",
            suite,
            "environments:\n  - name: a\n  - name: b\n  - name: a\n  - name: a",
        ),
        (
            "experiments",
            suite,
            "experiments:\n  - {name: a}\n  - {name: a}",
        ),
        (
            "tests of one eval",
            eval,
            "tests:\n  - {fileExists: a, name: x}\n  - name: x\n    fileExists: b",
        ),
        (
            "a test that takes another's default name",
            eval,
            "tests:\n  - fileExists: a\n  - {fileExists: b, name: fileExists-1}",
        ),
        (
            "names that share a folder",
            suite,
            "environments:\n  - name: a/b\n  - name: a-b",
        ),
        (
            "variants that share a folder",
            suite,
            "environments:\n  - name: a.b\n  - name: a\nexperiments:\n  - name: c\n  - name: b.c",
        ),
        (
            "a name that the run needs for itself", eval, "name: results.json",
        ),
    ];
    let reports: Vec<String> = [section("evals across files", &across)]
        .into_iter()
        .chain(
            cases
                .iter()
                .map(|(title, around, text)| section(title, &around(text))),
        )
        .collect();
    insta::assert_snapshot!("names_used_twice", reports.join("\n\n"));
}

fn pool(text: &str) -> String {
    suite(&format!("workers:\n  boxes:\n    {}\n", indented(text, 4)))
}

#[test]
fn workers() {
    let two_files = report(&[
        ("terca.yaml", "workers:\n  boxes: {preset: slurm}\n"),
        ("workers.yaml", "boxes: {preset: ssh, hosts: [a]}\n"),
        EVAL,
    ]);
    let own_file = |text: &str| report(&[("terca.yaml", AGENT), ("workers.yaml", text), EVAL]);
    let nested = own_file("workers:\n  boxes: {preset: slurm}\n");
    let wrong = own_file("boxes: {preset: ssh}\n");
    let cases: [(&str, Around, &str); 31] = [
        ("not a map", suite, "workers: [cluster]"),
        ("a pool that is no map", suite, "workers: {cluster: srun}"),
        ("a pool without a value", suite, "workers:\n  cluster:"),
        (
            "a name with a comma", suite, "workers: {\"a,b\": {preset: slurm}}",
        ),
        (
            "a name that is an option", suite, "workers: {-a: {preset: slurm}}",
        ),
        ("a misspelt key", pool, "preset: ssh\nhost: [a]"),
        ("an unknown key", pool, "preset: slurm\nenv: {A: 1}"),
        ("neither `start` nor `preset`", pool, "slots: 2"),
        ("both", pool, "start: srun\npreset: slurm"),
        ("a command line that is empty", pool, "start: ''"),
        ("a command line that is missing", pool, "start:"),
        ("a preset that is unknown", pool, "preset: pbs"),
        (
            "`options` of a command line", pool, "start: srun\noptions: [--mem=4G]",
        ),
        (
            "an option that is a list", pool, "preset: slurm\noptions: [[a]]",
        ),
        (
            "`image` of a command line", pool, "start: srun\nimage: node",
        ),
        (
            "`image` of a preset without one", pool, "preset: slurm\nimage: node",
        ),
        ("an image that is missing", pool, "preset: kubernetes"),
        (
            "an image that is an option", pool, "preset: docker\nimage: --privileged",
        ),
        (
            "`hosts` of a preset without them", pool, "preset: slurm\nhosts: [a]",
        ),
        ("hosts that are missing", pool, "preset: ssh"),
        ("`{host}` without hosts", pool, "start: ssh {host}"),
        (
            "`{host}` in options, without hosts", pool, "preset: slurm\noptions: [\"-w{host}\"]",
        ),
        (
            "hosts without `{host}`", pool, "start: ssh ${host}\nhosts: [a]",
        ),
        ("an empty list of hosts", pool, "preset: ssh\nhosts: []"),
        (
            "a host that is an option", pool, "preset: ssh\nhosts: [-oProxyCommand=x]",
        ),
        ("a host with a space", pool, "preset: ssh\nhosts: [a b]"),
        ("a host twice", pool, "preset: ssh\nhosts: [a, b, a]"),
        ("no slots", pool, "preset: slurm\nslots: 0"),
        (
            "too little silence", pool, "preset: slurm\nsilenceSeconds: 2",
        ),
        (
            "a path of Terca in a home",
            pool,
            "preset: ssh\nhosts: [a]\nterca: ~/bin/terca",
        ),
        (
            "`local` with more than slots",
            suite,
            "workers: {local: {slots: 2, preset: slurm}}",
        ),
    ];
    let of_files = [
        ("a name in both files", &two_files),
        ("`workers` in workers.yaml", &nested),
        ("a mistake in workers.yaml", &wrong),
    ];
    let of_files = of_files.map(|(title, report)| section(title, report));
    let cases = cases.map(|(title, around, text)| section(title, &around(text)));
    let reports: Vec<String> = cases.into_iter().chain(of_files).collect();
    insta::assert_snapshot!("workers", reports.join("\n\n"));
}

#[test]
fn wrong_types() {
    snapshot(
        "wrong_types",
        &[
            ("text: a number", suite, "name: 12"),
            ("text: a boolean", suite, "description: true"),
            ("text: a list", suite, "preamble: [a]"),
            ("text: a map", suite, "preamble: {a: b}"),
            ("text: empty", suite, "name: ''"),
            ("number: text", suite, "timeoutSeconds: soon"),
            ("number: in quotes", suite, "timeoutSeconds: '30'"),
            ("number: a list", suite, "timeoutSeconds: [30]"),
            ("whole number: text", suite, "repetitions: many"),
            (
                "boolean: text",
                suite,
                "experiments: [{name: a, baseline: yes}]",
            ),
            ("list: text", suite, "evals: fib"),
            ("list: a map", eval, "tests: {fileExists: a}"),
            ("list: nothing", eval, "tests:"),
            ("list of texts: a number in it", eval, "tags: [a, 1]"),
            (
                "list of texts: nothing in it", eval, "tests: [fileExists: [a, null]]",
            ),
            ("map: text", suite, "env: A=1"),
            ("map: a list", suite, "env: [A=1]"),
            ("map of texts: a list in it", suite, "env: {A: [1]}"),
            ("eval: text", suite, "evals: [fib]"),
            ("test: text", test, "npm test"),
            ("action: text", action, "npm install"),
            ("environment: text", suite, "environments: [default]"),
            ("agent: a list", environment, "agent: [nop]"),
            (
                "MCP servers: a list",
                environment,
                "agent: gemini-cli\nmcpServers: [{command: x}]",
            ),
            (
                "MCP server: text",
                environment,
                "agent: gemini-cli\nmcpServers: {files: npx files}",
            ),
            (
                "config: text", environment, "agent: gemini-cli\nconfig: fast",
            ),
            ("gateway: a word that is none", suite, "gateway: taste"),
            ("gateway: the word of a command", suite, "gateway: replay"),
            ("gateway: a list", suite, "gateway: [meter]"),
            ("network: a word that is none", suite, "network: closed"),
            ("network: no hosts", suite, "network: []"),
            (
                "network: an address", suite, "network: [https://example.com]",
            ),
            ("allow: every host", suite, "allow: [\"*\"]"),
            (
                "allow: a port that is none", suite, "allow: [\"localhost:http\"]",
            ),
            ("sandbox: a number", suite, "sandbox: 1"),
            ("sandbox: a word that is none", suite, "sandbox: bwarp"),
            (
                "sandbox: a map of something else", suite, "sandbox: {chroot: x}",
            ),
            (
                "sandbox: an image that is an option", suite, "sandbox: {docker: -v/:/}",
            ),
            ("sandbox: an empty map", suite, "sandbox: {}"),
            ("sandbox: no image", suite, "sandbox: {docker: }"),
            (
                "sandbox: two images", suite, "sandbox: {docker: a, podman: b}",
            ),
            (
                "sandbox: an image without a name", suite, "sandbox: {podman: 22}",
            ),
        ],
    );
}

#[test]
fn numbers_out_of_range() {
    snapshot(
        "numbers_out_of_range",
        &[
            ("repetitions 0", suite, "repetitions: 0"),
            ("repetitions below 0", eval, "repetitions: -3"),
            ("repetitions with a fraction", suite, "repetitions: 2.5"),
            ("repetitions without end", suite, "repetitions: 2000000"),
            (
                "repetitions larger than any number",
                suite,
                "repetitions: 99999999999999999999999999",
            ),
            (
                "adaptive repetitions from 0",
                suite,
                "repetitions: {min: 0, max: 5, until: conclusive}",
            ),
            (
                "adaptive repetitions upside down",
                suite,
                "repetitions: {min: 9, max: 5, until: conclusive}",
            ),
            (
                "adaptive repetitions without end",
                suite,
                "repetitions: {min: 3, until: conclusive}",
            ),
            (
                "adaptive repetitions for no reason", suite, "repetitions: {min: 3, max: 5}",
            ),
            (
                "adaptive repetitions until anything",
                suite,
                "repetitions: {max: 5, until: significant}",
            ),
            (
                "adaptive repetitions of one eval",
                eval,
                "repetitions: {min: 3, max: 5, until: conclusive}",
            ),
            ("concurrency 0", suite, "concurrency: 0"),
            (
                "concurrency of an agent 0", suite, "concurrency: {default: 8, codex: 0}",
            ),
            (
                "concurrency of nobody", suite, "concurrency: {cluade-code: 2}",
            ),
            (
                "concurrency of something else", suite, "concurrency: {everything: 2}",
            ),
            ("concurrency that is a list", suite, "concurrency: [2]"),
            ("retries below 0", suite, "retries: -1"),
            ("retries without end", suite, "retries: 5000"),
            ("a size of 0", suite, "limits: {disk: 0MB}"),
            ("a size without a unit", suite, "limits: {disk: 20}"),
            ("a size in words", eval, "limits: {disk: lots}"),
            ("a size in unknown units", eval, "limits: {disk: 20 gb}"),
            ("a limit that is not known", suite, "limits: {dsk: 20GB}"),
            ("a timeout of 0", suite, "timeoutSeconds: 0"),
            ("a timeout below 0", eval, "timeoutSeconds: -1"),
            ("a timeout beyond all bounds", eval, "timeoutSeconds: 1e30"),
            ("a timeout that is no number", eval, "timeoutSeconds: .nan"),
            ("a weight of 0", test, "fileExists: a\nweight: 0"),
            (
                "a command's timeout of 0",
                action,
                "command: {command: ls, timeoutSeconds: 0}",
            ),
            ("a budget below 0", test, "budget: {maxTokens: -1}"),
            ("a cost below 0", test, "budget: {maxCostUsd: -0.5}"),
            ("a cost without end", test, "budget: {maxCostUsd: .inf}"),
            ("no time at all", test, "budget: {maxSeconds: 0}"),
            ("a part of a request", test, "budget: {maxRequests: 2.5}"),
            ("tool calls below 0", test, "transcript: {maxToolCalls: -1}"),
            (
                "a score to pass above 1", test, "judge: {rubric: good?, passScore: 80}",
            ),
        ],
    );
}

#[test]
fn paths() {
    snapshot(
        "paths",
        &[
            (
                "missing rules",
                environment,
                "agent: nop\nrules: [AGENTS.md, AGENT.md]",
            ),
            (
                "rules that are a directory", environment, "agent: nop\nrules: docs",
            ),
            (
                "missing copy source", action, "copy: {../notes.md: notes.md}",
            ),
            ("missing prompt file", eval_file, "promptFile: prompt.md"),
            (
                "prompt file that is a directory", eval_file, "promptFile: ../docs",
            ),
            (
                "prompt file that cannot be read", eval_file, "promptFile: ../binary.md",
            ),
            (
                "prompt file with nothing in it", eval_file, "promptFile: ../empty.md",
            ),
            ("missing workspaceDir", suite, "workspaceDir: start"),
            (
                "workspaceDir that is a file", suite, "workspaceDir: AGENTS.md",
            ),
            (
                "missing program of an agent",
                environment,
                "agent: {name: command, command: ./agent.sh --fast}",
            ),
            (
                "missing program of an MCP server", mcp_server, "command: ./server",
            ),
            (
                "copy: destination above", action, "copy: {../AGENTS.md: ../AGENTS.md}",
            ),
            (
                "copy: absolute destination", action, "copy: {../AGENTS.md: /etc/AGENTS.md}",
            ),
            ("copy: no destination", action, "copy: {../AGENTS.md: }"),
            ("files: destination above", action, "files: {a/../../b: x}"),
            (
                "files: absolute destination", action, "files: {/etc/passwd: x}",
            ),
            ("files: no file name", action, "files: {docs/: x}"),
            ("files: no content", action, "files: {a.txt: }"),
            (
                "test: outside the workspace", test, "fileExists: [a.js, ../b.js]",
            ),
            (
                "test: absolute",
                test,
                "fileContains: {path: /etc/passwd, text: root}",
            ),
        ],
    );
}

#[test]
fn agents() {
    snapshot(
        "agents",
        &[
            ("unknown, misspelt", environment, "agent: gemini-cil"),
            ("unknown, unlike any", environment, "agent: hal9000"),
            ("`command` without a command", environment, "agent: command"),
            (
                "a command for an agent that takes none",
                environment,
                "agent: {name: gemini-cli, command: gemini}",
            ),
            (
                "without a name", environment, "agent: {command: ./agent.sh}",
            ),
            (
                "that cannot be given MCP servers",
                environment,
                "agent: pi\nmcpServers: {files: {command: x}}",
            ),
            (
                "a program for an agent that has none",
                environment,
                "agent: {name: command, command: cat, program: /bin/cat}",
            ),
            (
                "a program that does not exist",
                environment,
                "agent: {name: gemini-cli, program: ./no-such-gemini}",
            ),
            (
                "a version of an agent that has no package",
                environment,
                "agent: {name: goose, version: 1.52.0}",
            ),
            (
                "a version of a command",
                environment,
                "agent: {name: command, command: cat, version: 1.0.0}",
            ),
            (
                "a version and a program",
                environment,
                "agent: {name: codex, version: 0.166.0, program: codex}",
            ),
            (
                "a range of versions",
                environment,
                "agent: {name: codex, version: ^0.166.0}",
            ),
            (
                "a version that is a number", environment, "agent: {name: codex, version: 0.166}",
            ),
            (
                "a version in a container",
                environment,
                "agent: {name: codex, version: 0.166.0}\nsandbox: {docker: node}",
            ),
            (
                "a rules file for an agent that has its own",
                environment,
                "agent: {name: gemini-cli, rulesFile: RULES.md}",
            ),
            (
                "a rules file outside of the workspace",
                environment,
                "agent: {name: command, command: cat, rulesFile: ../RULES.md}",
            ),
            (
                "that the experiment gives too much",
                suite,
                "environments:\n  - {name: default, agent: pi}\nexperiments:\n  - name: plain\n  - name: files\n    mcpServers: {files: {command: x}}",
            ),
            (
                "that the environment gives too much, in all experiments",
                suite,
                "environments:\n  - {name: default, mcpServers: {files: {command: x}}, agent: pi}\nexperiments:\n  - name: a\n  - name: b",
            ),
            (
                "none in an environment, in all experiments",
                suite,
                "environments:\n  - name: default\nexperiments:\n  - name: a\n  - name: b",
            ),
            (
                "removed by an experiment",
                suite,
                "environments:\n  - {name: default, agent: nop}\nexperiments:\n  - name: a\n  - {name: b, agent: null}",
            ),
            ("none, and no environments", suite, "name: x"),
        ],
    );
}

#[test]
fn tests_of_an_eval() {
    snapshot(
        "tests_of_an_eval",
        &[
            ("no kind", test, "name: a"),
            ("no kind, no keys", test, "{}"),
            ("two kinds", test, "commandSuccess: ls\nfileExists: a"),
            ("no files", test, "fileExists: []"),
            ("no value", test, "fileExists:"),
            ("no text", test, "fileContains: {path: a.js}"),
            ("no path", test, "fileContains: {text: a}"),
            ("no command", test, "commandSuccess: {outputContains: a}"),
            (
                "bad regular expression",
                test,
                "fileContains: {path: a.js, matches: '(a|b'}",
            ),
            (
                "bad regular expression of an output",
                test,
                "commandSuccess: {command: ls, outputMatches: 'a{2,1}'}",
            ),
            ("bad glob", test, "fileExists: 'src/[a.js'"),
            ("a kind that does not exist", test, "fileMissing: a.js"),
            (
                "a score without a command", test, "commandScore: {command: ./score}",
            ),
            ("an empty command", test, "commandScore: ' '"),
            ("a transcript that asks for nothing", test, "transcript: {}"),
            (
                "a transcript with an unknown key", test, "transcript: {usedTools: shell}",
            ),
            (
                "bad globs of tools",
                test,
                "transcript: {usedTool: 'a{b', notUsedTool: [ok, 'x[']}",
            ),
            (
                "changed files that ask for nothing", test, "changedFiles: {never: []}",
            ),
            ("changed files as a list", test, "changedFiles: ['src/**']"),
            (
                "bad globs of changed files",
                test,
                "changedFiles: {only: ['src/[', ok], never: ['../x', 'a{']}",
            ),
            (
                "a budget that asks for nothing", test, "budget: {maxTokens: null}",
            ),
            (
                "a budget in words",
                test,
                "budget: {maxTokens: '1000', maxCost: 3}",
            ),
        ],
    );
}

#[test]
fn judges() {
    let with_agent = |text: &str, agent: &str| {
        let suite = format!("environments: [{{name: default, agent: {agent}}}]\n");
        let eval = format!("prompt: go\ntests:\n  - {}\n", indented(text, 4));
        report(&[("terca.yaml", &suite), ("fib/eval.terca.yaml", &eval)])
    };
    let pinned =
        "judge: {rubric: good?, agent: codex, model: gpt-5, config: {a: 1}, passScore: 0.8}";
    assert_eq!(with_agent(pinned, "nop"), "");
    assert_eq!(
        with_agent("judge: {rubric: good?, passScore: 1}", "gemini"),
        ""
    );
    let cases = [
        (
            "the trial's own agent, which is built in",
            "name: taste\njudge:\n  rubric: good?",
            "oracle",
        ),
        ("no rubric", "judge: {agent: codex}", "gemini"),
        (
            "an empty rubric", "judge: {rubric: ' ', agent: codex}", "gemini",
        ),
        ("a rubric by itself", "judge: is it good?", "gemini"),
        (
            "an unknown agent", "judge: {rubric: good?, agent: codecs}", "gemini",
        ),
        (
            "an agent that is built in", "judge: {rubric: good?, agent: oracle}", "gemini",
        ),
        (
            "a command that is missing", "judge: {rubric: good?, agent: command}", "gemini",
        ),
        (
            "a program that is missing",
            "judge: {rubric: good?, agent: {name: command, command: ./judge.sh}}",
            "gemini",
        ),
        (
            "settings for nobody", "judge: {rubric: good?, config: {a: 1}}", "gemini",
        ),
        (
            "a score that any work has", "judge: {rubric: good?, passScore: 0}", "gemini",
        ),
        (
            "a score above 1", "judge: {rubric: good?, passScore: 1.5}", "gemini",
        ),
        ("an unknown key", "judge: {rubrik: good?}", "gemini"),
    ];
    let reports: Vec<String> = cases
        .iter()
        .map(|(title, text, agent)| section(title, &with_agent(text, agent)))
        .collect();
    insta::assert_snapshot!("judges", reports.join("\n\n"));
}

#[test]
fn actions() {
    snapshot(
        "actions",
        &[
            ("no kind", action, "{}"),
            ("two kinds", action, "command: ls\ncopy: {../AGENTS.md: a}"),
            ("no value", action, "command:"),
            ("nothing in the list", eval, "before: [null]"),
        ],
    );
}

#[test]
fn evals() {
    snapshot(
        "evals",
        &[
            ("no prompt", eval_file, "name: fib\ntags: [a]"),
            (
                "no prompt, inline",
                suite,
                "evals:\n  - name: a\n    tags: [b]\n  - {name: c}",
            ),
            ("two prompts", eval_file, "prompt: go\npromptFile: p.md"),
            ("empty prompt", eval_file, "prompt: ' '"),
            ("prompt without a value", eval_file, "prompt:"),
            ("inline without a name", suite, "evals:\n  - prompt: go"),
            (
                "none at all",
                |text| report(&[("terca.yaml", text)]),
                "name: x\nenvironments: []",
            ),
            ("none at all, and no suite", |_| report(&[]), ""),
        ],
    );
}

#[test]
fn syntax() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let bomb: String = std::iter::once("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned())
        .chain((1..9).map(|n| {
            format!(
                "a{n}: &a{n} [{}]\n",
                vec![format!("*a{}", n - 1); 9].join(", ")
            )
        }))
        .collect();
    snapshot(
        "syntax",
        &[
            ("a tab", suite, "env:\n\tA: 1"),
            ("unclosed quote", suite, "name: \"abc\nrepetitions: 2\n"),
            ("unclosed bracket", suite, "name: [a, b\nrepetitions: 2\n"),
            ("unclosed brace", suite, "env: {A: 1\n"),
            ("two colons", suite, "name: b: c"),
            ("text after a quote", suite, "name: \"a\" b"),
            ("wrong indentation", suite, "env:\n    A: 1\n  B: 2"),
            (
                "text that begins with a reserved sign", suite, "name: @home",
            ),
            (
                "a line that is no key",
                suite,
                "name: a\nrepetitions\ntimeoutSeconds: 3",
            ),
            ("two documents", suite, "name: a\n---\nname: b"),
            ("unknown alias", suite, "env: *shared"),
            ("merge of something else", suite, "env: {<<: 1}"),
            ("nested too deeply", suite, &deep),
            ("alias bomb", suite, &bomb),
            ("empty file", eval_file, ""),
            ("only comments", eval_file, "# to do\n\n# soon"),
            ("a word", suite, "hello"),
            ("a list", suite, "- name: a"),
            ("an eval that is a list", eval_file, "- prompt: go"),
            ("an empty eval", eval_file, "\n"),
            (
                "several lines of bytes: ä, CRLF and a byte order mark",
                suite,
                "\u{feff}# größe\r\nname: grün\r\nnaem: ß\r\n",
            ),
        ],
    );
}

#[test]
fn setups() {
    snapshot(
        "setups",
        &[
            (
                "environment without a name", suite, "environments:\n  - agent: nop",
            ),
            (
                "experiment without a name", suite, "experiments: [{model: x}]",
            ),
            (
                "two baselines",
                suite,
                "experiments:\n  - {name: a, baseline: true}\n  - {name: b, baseline: true}",
            ),
            (
                "baseline in an environment", environment, "agent: nop\nbaseline: true",
            ),
            (
                "invalid variable names", environment, "agent: nop\nenv: {A=B: 1, '': 2}",
            ),
            (
                "variable that is not set",
                environment,
                "agent: nop\nenv: {KEY: 'a ${KEY} ${OTHER}'}",
            ),
            (
                "variable that is not set, in an MCP server",
                mcp_server,
                "url: https://example.com/${KEY}",
            ),
        ],
    );
}

#[test]
fn mcp_servers() {
    snapshot(
        "mcp_servers",
        &[
            ("neither command nor url", mcp_server, "args: [a]"),
            (
                "both command and url", mcp_server, "command: a\nurl: http://localhost",
            ),
            (
                "unknown type", mcp_server, "url: http://localhost\ntype: websocket",
            ),
            (
                "keys of a remote server for a command",
                mcp_server,
                "command: a\nheaders: {A: b}\ntype: http",
            ),
            (
                "keys of a command for a remote server",
                mcp_server,
                "url: http://localhost\nargs: [a]\nenv: {A: 1}\ncwd: .\ntype: stdio",
            ),
        ],
    );
}

#[test]
fn the_older_spelling() {
    snapshot(
        "the_older_spelling",
        &[
            (
                "`tests` of a suite",
                suite,
                "environments: [{name: default, agent: nop}]\ntests: [{name: a, prompt: go}]",
            ),
            (
                "`tests` and `evals`",
                suite,
                "evals: [{name: a, prompt: go}]\ntests: [{name: b, prompt: go}]",
            ),
            ("`eval` of an eval", eval, "eval: [{fileExists: a}]"),
            ("`evaluate` of an eval", eval, "evaluate: [{fileExists: a}]"),
            (
                "`tests` and `eval`",
                eval,
                "tests: [{fileExists: a}]\neval: [{fileExists: b}]",
            ),
            (
                "`eval` and `evaluate`",
                eval,
                "eval: [{fileExists: a}]\nevaluate: [{fileExists: b}]",
            ),
            (
                "with a mistake in it",
                suite,
                "tests:\n  - name: a\n    promt: go\n    eval: [{fileExist: a}]",
            ),
        ],
    );
}

#[test]
fn selections_that_match_nothing() {
    let files = [
        (
            "terca.yaml",
            "environments: [{name: node, agent: nop}]\nexperiments: [{name: with}, {name: without}]\n",
        ),
        ("fib/eval.terca.yaml", "prompt: go\ntags: [slow, maths]\n"),
        ("sort/eval.terca.yaml", "prompt: go\n"),
    ];
    let evals = |of: &str| Selection {
        evals: vec![of.into()],
        ..Selection::default()
    };
    let cases = [
        ("eval, misspelt", evals("fbi")),
        ("eval, one of two", evals("fib,graph")),
        ("eval, a glob", evals("graph-*")),
        ("tag", evals("tag:fast")),
        ("empty", evals(" , ")),
        (
            "experiment",
            Selection {
                experiments: vec!["wiht".into()],
                ..Selection::default()
            },
        ),
        (
            "environment",
            Selection {
                environments: vec!["deno".into()],
                ..Selection::default()
            },
        ),
    ];
    let reports: Vec<String> = cases
        .iter()
        .map(|(title, selection)| section(title, &report_of(&files, selection)))
        .collect();
    insta::assert_snapshot!("selections_that_match_nothing", reports.join("\n\n"));
}

#[test]
fn many_errors_in_one_report() {
    let report = report(&[
        (
            "terca.yaml",
            "name: many\nrepetitions: 0\npreambel: hello\nenvironments:\n  - name: default\n    agent: gemini-cil\n    rules: GEMINI.md\n  - model: x\nexperiments:\n  - {name: a, baseline: true}\n  - {name: a, baseline: true}\nenv:\n  A: 1\n  A: 2\n",
        ),
        ("broken/eval.terca.yaml", "prompt: go\ntests: [\n"),
        (
            "fib/eval.terca.yaml",
            "promt: go\ntimeoutSeconds: soon\nbefore:\n  - copy: {a.txt: ../a.txt}\neval:\n  - fileExist: a\n  - commandSuccess: {outputMatches: '['}\n",
        ),
    ]);
    insta::assert_snapshot!("many_errors_in_one_report", report);
}
