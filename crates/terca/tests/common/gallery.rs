//! Runs to look at, made without running anything: their journals, their plans and what their trials left.
//!
//! Foreign text in them does what it can to break out of a page.

use camino::Utf8Path;
use serde_json::{Value, json};
use terca_core::agent::delivery::{Delivery, Installed, McpDelivery, McpStatus};
use terca_core::grade::{Grade, JudgeRecord, JudgedBy, Reason};
use terca_core::plan::trial_folder;
use terca_core::run::event::{Event, EventKind, RunStart, RunStatus, TrialHead};
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::text::sha256;
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;
use terca_core::trial_error::{ErrorKind, TrialError};

/// Sets `window.pwned` wherever it is run, and asks for something from afar.
pub const EVIL: &str =
    "<script>window.pwned=1</script><img src=https://evil.invalid/x onerror=window.pwned=1>";

const EVALS: [&str; 7] = [
    "auth/sign-in", "auth/refresh-token", "rest/add-endpoint", "rest/pagination", "i18n/größe",
    "migrate-to-v2", "evil <script>window.pwned=1</script>",
];
/// Environment, experiment, and how often it passes, of ten.
const VARIANTS: [(&str, &str, u32); 4] = [
    ("claude", "control", 5),
    ("claude", "with-mcp", 8),
    ("gemini", "control", 4),
    ("gemini", "with-mcp", 5),
];

/// A run with so many repetitions, at this place.
pub fn make(run_dir: &Utf8Path, repetitions: u32) {
    let heads = heads(repetitions);
    for head in &heads {
        write_bodies(&run_dir.join(&head.dir), head, &report(head));
    }
    write_record(run_dir, &heads);
}

/// A run with so many repetitions whose trials have left no files. Returns the number of trials.
pub fn make_record(run_dir: &Utf8Path, repetitions: u32) -> usize {
    std::fs::create_dir_all(run_dir).unwrap();
    let heads = heads(repetitions);
    write_record(run_dir, &heads);
    heads.len()
}

fn write_record(run_dir: &Utf8Path, heads: &[TrialHead]) {
    let mut journal = Journal {
        events: Vec::new(),
        second: 0,
    };
    journal.add(EventKind::RunStarted(Box::new(RunStart {
        run: run_dir.file_name().unwrap().to_owned(),
        suite: "firestore-sdk".to_owned(),
        terca_version: "0.1.0".to_owned(),
        seed: 7,
        concurrency: 4,
        baseline: "control".to_owned(),
        trials: heads.to_vec(),
        ..RunStart::default()
    })));
    for head in heads {
        journal.add(EventKind::TrialStarted {
            trial: head.id,
            on: None,
        });
        journal.add(EventKind::TrialFinished {
            trial: head.id,
            report: Box::new(report(head)),
        });
    }
    journal.add(EventKind::RunFinished {
        status: RunStatus::Complete,
    });
    std::fs::write(run_dir.join("events.jsonl"), journal.text()).unwrap();
    std::fs::write(run_dir.join("run.json"), plan(heads).to_string()).unwrap();
    super::forge(run_dir, |_| {});
}

struct Journal {
    events: Vec<Event>,
    second: i64,
}

impl Journal {
    fn add(&mut self, kind: EventKind) {
        self.second += 17;
        let start: jiff::Timestamp = "2026-11-14T10:00:00Z".parse().unwrap();
        let at = start + jiff::SignedDuration::from_secs(self.second);
        self.events.push(Event {
            seq: self.events.len() as u64,
            at,
            kind,
        });
    }

    fn text(&self) -> String {
        self.events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap() + "\n")
            .collect()
    }
}

fn heads(repetitions: u32) -> Vec<TrialHead> {
    let mut heads = Vec::new();
    for eval in EVALS {
        for (environment, experiment, _) in VARIANTS {
            for repetition in 1..=repetitions {
                heads.push(TrialHead {
                    id: heads.len() as u32 + 1,
                    eval: eval.to_owned(),
                    environment: environment.to_owned(),
                    experiment: experiment.to_owned(),
                    repetition,
                    dir: trial_folder(eval, environment, experiment, repetition),
                    agent: if environment == "claude" {
                        "claude-code"
                    } else {
                        "gemini-cli"
                    }
                    .to_owned(),
                    model: Some(
                        if environment == "claude" {
                            "claude-sonnet-5"
                        } else {
                            "gemini-3-pro"
                        }
                        .to_owned(),
                    ),
                });
            }
        }
    }
    heads
}

/// The same number for the same trial, and no pattern that the eye would see.
fn chance(head: &TrialHead, salt: u32) -> u32 {
    let mut number = u64::from(head.id * 7919 + salt * 104_729);
    for _ in 0..3 {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
    }
    (number % 100) as u32
}

fn score(head: &TrialHead) -> f64 {
    let (_, _, rate) = VARIANTS
        .iter()
        .find(|(environment, experiment, _)| {
            *environment == head.environment && *experiment == head.experiment
        })
        .unwrap();
    let eval = EVALS.iter().position(|eval| *eval == head.eval).unwrap() as u32;
    // So many of each ten pass, whatever their order; the rest fail or come half way.
    let passes = rate + 2 - (eval / 2).min(rate + 1);
    match (head.repetition * 3 + eval) % 10 {
        number if number < passes => 1.0,
        number if number < passes + 2 => 0.5,
        _ => 0.0,
    }
}

fn report(head: &TrialHead) -> TrialReport {
    let with_mcp = head.experiment == "with-mcp";
    let seconds = 24.0 + f64::from(chance(head, 2)) * 0.6 + if with_mcp { 9.0 } else { 0.0 };
    let tokens = 18_000 + u64::from(chance(head, 3)) * 420 + if with_mcp { 9_000 } else { 0 };
    let score = score(head);
    let grade = |score, message: &str| Grade {
        score,
        weight: Some(1.0),
        message: message.to_owned(),
        duration_seconds: 1.3,
        ..Grade::default()
    };
    let unit = if score >= 1.0 {
        "12 of 12 tests passed".to_owned()
    } else {
        format!(
            "{} of 12 tests passed: expected 200, got 404",
            (score * 12.0) as u32
        )
    };
    let mut servers = std::collections::BTreeMap::new();
    if with_mcp {
        servers.insert(
            "firestore".to_owned(),
            McpDelivery {
                status: Some(McpStatus::Connected),
                calls: Some(u64::from(chance(head, 4) % 3)),
                failed_calls: Some(0),
                tap: None,
            },
        );
    }
    let report = TrialReport {
        reported: None,
        grading: 1,
        agent_version: Some("2.1.197".to_owned()),
        status: Status::of_score(score),
        score: Some(score),
        tests: [
            (
                "builds".to_owned(),
                grade(
                    if score > 0.0 { 1.0 } else { 0.0 },
                    if score > 0.0 {
                        "exit status 0"
                    } else {
                        "exit status 2"
                    },
                ),
            ),
            (
                "unit-tests".to_owned(),
                grade(if score >= 1.0 { 1.0 } else { 0.0 }, &unit),
            ),
        ]
        .into_iter()
        .chain(judged(head, score))
        .collect(),
        stats: Stats {
            cost_source: None,
            usage: Usage {
                requests: Some(6),
                input_tokens: Some(tokens),
                cached_input_tokens: Some(tokens / 2),
                output_tokens: Some(tokens / 25),
                tool_calls: Some(4),
                cost_usd: Some(tokens as f64 * 2.1e-6),
            },
            duration_seconds: Some(seconds),
        },
        wire: None,
        exit_code: Some(0),
        timed_out: score == 0.0 && chance(head, 6) < 20,
        attempts: 1,
        delivery: Delivery {
            rules: vec![Installed {
                path: "CLAUDE.md".to_owned(),
                sha256: sha256(b"rules"),
                ..Installed::default()
            }],
            skills: Vec::new(),
            mcp_servers: servers,
            model_requested: head.model.clone(),
            model_observed: head.model.clone(),
            version_requested: None,
            access: None,
        },
        network: None,
        contained_by: None,
        ran_on: None,
        image: None,
        limits_kept_by: None,
        started_at: None,
        duration_seconds: seconds + 6.4,
        phases: Phases {
            setup: Some(3.1),
            agent: Some(seconds),
            tests: Some(3.3),
        },
        notes: Vec::new(),
        paid_judges: Vec::new(),
        error: None,
        evidence: Default::default(),
    };
    if chance(head, 5) < 3 {
        let error = TrialError::new(
            ErrorKind::RateLimit,
            "429 Too Many Requests: the quota of this minute is used up",
        );
        return TrialReport {
            status: Status::Error,
            score: None,
            tests: Default::default(),
            error: Some(error),
            phases: Phases {
                tests: None,
                ..report.phases.clone()
            },
            ..report
        };
    }
    report
}

/// A judge of one of the evals.
fn judged(head: &TrialHead, score: f64) -> Option<(String, Grade)> {
    let reason = |criterion: &str, score: f64, reason: &str| Reason {
        criterion: Some(criterion.to_owned()),
        score: Some(score),
        reason: reason.to_owned(),
    };
    let grade = Grade {
        score,
        weight: Some(1.0),
        message: "the judge gave its score".to_owned(),
        duration_seconds: 4.0,
        judge: Some(JudgeRecord {
            score,
            reasons: vec![
                reason(
                    "uses the new client", score, "it adds a helper around the old client",
                ),
                reason("keeps the tests", score, EVIL),
            ],
            by: JudgedBy {
                agent: "claude-code".to_owned(),
                agent_version: None,
                model: Some("claude-opus-5".to_owned()),
                access: None,
                stats: Stats {
                    usage: Usage {
                        cost_usd: Some(0.07),
                        ..Usage::default()
                    },
                    ..Stats::default()
                },
                artifacts: "artifacts/judge-taste".to_owned(),
            },
        }),
        ..Grade::default()
    };
    (head.eval == "migrate-to-v2").then(|| ("taste".to_owned(), grade))
}

fn write_bodies(dir: &Utf8Path, head: &TrialHead, report: &TrialReport) {
    std::fs::create_dir_all(dir).unwrap();
    let is_evil = head.eval.starts_with("evil");
    // Megabytes of it in a few trials are enough.
    let is_flood = is_evil
        && head.environment == "gemini"
        && head.experiment == "with-mcp"
        && head.repetition <= 5;
    let steps = transcript(is_evil, is_flood, head.experiment == "control");
    let lines: String = steps.iter().map(|step| format!("{step}\n")).collect();
    std::fs::write(dir.join("transcript.jsonl"), lines).unwrap();
    std::fs::create_dir_all(dir.join("artifacts")).unwrap();
    std::fs::write(dir.join("artifacts/rules.md"), rules(head)).unwrap();
    std::fs::write(dir.join("artifacts/wire.jsonl"), requests()).unwrap();
    let changes = if is_evil {
        CHANGES.replace("// One page of the list.", EVIL)
    } else {
        CHANGES.to_owned()
    };
    std::fs::write(dir.join("changes.diff"), changes).unwrap();
    let mut log =
        b"\xe2\x94\x80\xe2\x94\x80 before: npm ci \xe2\x94\x80\xe2\x94\x80\nadded 212 packages in 3s\n"
            .to_vec();
    if is_evil {
        log.extend_from_slice(b"\xff\xfe\x00 not text \x1b[31mred\x1b[0m ");
        log.extend_from_slice(EVIL.as_bytes());
        log.push(b'\n');
    }
    for (test, grade) in &report.tests {
        let output = format!(
            "── test: {test} ──\n> firestore-sdk@4.1.0 test\n> vitest run\n\n ✓ pages forwards\n ✗ pages backwards\n   AssertionError: expected 200, got 404\nscore {}: {}\n",
            grade.score, grade.message
        );
        log.extend_from_slice(output.as_bytes());
    }
    std::fs::write(dir.join("run.log"), log).unwrap();
}

fn rules(head: &TrialHead) -> &'static str {
    match head.experiment.as_str() {
        "control" => "# Rules\n\nAlways run the tests.\n",
        _ => "# Rules\n\nAlways run the tests.\nPage with cursors: `startAfter`.\n",
    }
}

/// Three requests to a model, the second of which is refused.
fn requests() -> String {
    let request = |started_ms: u64, status: u16, output: u64| {
        json!({
            "path": "/v1/messages",
            "modelAsked": "claude-sonnet-5",
            "modelAnswered": "claude-sonnet-5",
            "status": status,
            "stopReason": "end_turn",
            "tokens": {"input": 9_000, "cached": 4_000, "output": output},
            "retry": false,
            "startedMs": started_ms,
            "firstByteMs": 400,
            "totalMs": 2_100,
            "end": "whole",
        })
    };
    let requests = [
        request(100, 200, 240),
        request(4_000, 429, 0),
        request(7_500, 200, 310),
    ];
    requests.map(|request| format!("{request}\n")).concat()
}

fn transcript(is_evil: bool, is_flood: bool, is_control: bool) -> Vec<Value> {
    let listing: String = (1..=40)
        .map(|number| format!("src/routes/route-{number:02}.ts\n"))
        .collect();
    let said = if is_evil {
        format!("I am done. {EVIL} \u{1b}[31mred\u{1b}[0m")
    } else {
        "The endpoint pages with cursors now, and the tests pass.\n\n- **limit** is 20\n- the cursor is `startAfter`\n\n```ts\nconst { docs } = await getDocs(page);\n```\n".to_owned()
    };
    let output = if is_flood {
        "<script>window.pwned=1</script>".repeat(160_000)
    } else {
        "12 passed".to_owned()
    };
    let look = is_control.then(|| {
        [
            json!({"line": 8, "type": "toolCall", "id": "2b", "tool": "Read", "input": {"file_path": "src/routes/list.ts"}, "time": "2026-11-14T10:00:08Z"}),
            json!({"line": 8, "type": "toolResult", "id": "2b", "ok": true, "output": "// The list.\nexport async function list() {\n  return 1;\n}", "time": "2026-11-14T10:00:08.4Z"}),
        ]
    });
    let mut steps = vec![
        json!({"line": 1, "type": "message", "role": "user", "text": "Add pagination to the list endpoint.", "time": "2026-11-14T10:00:00Z"}),
        json!({"line": 2, "type": "reasoning", "text": "The list is read in one go. A cursor after the last document is what the SDK offers."}),
        json!({"line": 3, "type": "toolCall", "id": "1", "tool": "Bash", "input": {"command": "git ls-files src/routes"}, "time": "2026-11-14T10:00:03.2Z"}),
        json!({"line": 4, "type": "toolResult", "id": "1", "ok": true, "output": listing, "time": "2026-11-14T10:00:04.7Z"}),
        json!({"line": 5, "type": "message", "role": "assistant", "text": "I'll look at how the SDK documents cursors, then change `list.ts`."}),
        json!({"line": 6, "type": "toolCall", "id": "2", "tool": "search_docs", "server": "firestore", "input": {"query": "startAfter limit"}, "time": "2026-11-14T10:00:06Z"}),
        json!({"line": 7, "type": "toolResult", "id": "2", "ok": true, "output": "query(collection, orderBy(…), startAfter(last), limit(n))", "time": "2026-11-14T10:00:07Z"}),
    ];
    steps.extend(look.into_iter().flatten());
    steps.extend([
        json!({"line": 8, "type": "toolCall", "id": "3", "tool": "Edit", "input": {"file_path": "src/routes/list.ts", "old_string": "getDocs(all)", "new_string": "getDocs(query(all, limit(size)))"}, "time": "2026-11-14T10:00:10Z"}),
        json!({"line": 9, "type": "toolResult", "id": "3", "ok": true, "output": "edited", "time": "2026-11-14T10:00:10.1Z"}),
        json!({"line": 10, "type": "toolCall", "id": "4", "tool": "Bash", "input": {"command": "npm test"}, "time": "2026-11-14T10:00:11Z"}),
        json!({"line": 11, "type": "toolResult", "id": "4", "ok": !is_evil, "output": output, "time": "2026-11-14T10:00:15Z"}),
        json!({"line": 12, "type": "message", "role": "assistant", "text": said}),
    ]);
    steps
}

const CHANGES: &str = r#"diff --git a/src/routes/list.ts b/src/routes/list.ts
index 3b18e51..9af0c2d 100644
--- a/src/routes/list.ts
+++ b/src/routes/list.ts
@@ -1,9 +1,16 @@
-import { collection, getDocs } from "firebase/firestore";
+import { collection, getDocs, limit, orderBy, query, startAfter } from "firebase/firestore";
 import { db } from "../db";
 
-export async function list() {
-  const all = collection(db, "notes");
-  return (await getDocs(all)).docs.map((doc) => doc.data());
+// One page of the list.
+export async function list(size = 20, after?: string) {
+  const ordered = query(collection(db, "notes"), orderBy("name"));
+  const page = after
+    ? query(ordered, startAfter(after), limit(size))
+    : query(ordered, limit(size));
+  const { docs } = await getDocs(page);
+  return docs.map((doc) => ({ id: doc.id, ...doc.data() }));
 }
 
 export default list;
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -10,2 +10,3 @@
 ## Listing
+`list(20, "last name")` gives the page after a name.
 All notes, by name.
"#;

fn servers(head: &TrialHead) -> Value {
    match head.experiment.as_str() {
        "control" => json!({}),
        _ => {
            json!({"firestore": {"command": "npx", "args": ["firestore-mcp"], "env": [], "cwd": null}})
        }
    }
}

fn plan(heads: &[TrialHead]) -> Value {
    let case = |head: &TrialHead| {
        json!({
            "eval": head.eval,
            "tags": if head.eval.starts_with("rest/") { json!(["slow"]) } else { json!([]) },
            "repetitions": 1,
            "variant": {
                "environment": head.environment,
                "experiment": head.experiment,
                "agent": {"name": head.agent},
                "model": head.model,
                "rules": ["/suite/rules.md"],
                "skills": [],
                "mcpServers": servers(head),
                "config": null,
                "command": null,
            },
            "prompt": format!("You work on the firestore-sdk.\n\nAdd pagination to the list endpoint ({}): pages of 20, a cursor after the last one, and tests.", head.eval),
            "layers": [],
            "before": [],
            "env": [],
            "timeoutSeconds": 600,
            "trackIgnored": false,
            "limits": {"disk": 20_000_000_000_u64},
            "tests": [],
        })
    };
    let cases = heads.iter().filter(|head| head.repetition == 1).map(case);
    json!({
        "schemaVersion": 1,
        "tercaVersion": "0.1.0",
        "suite": "firestore-sdk",
        "description": null,
        "suiteDir": "/suite",
        "seed": 7,
        "concurrency": 4,
        "baseline": "control",
        "cases": cases.collect::<Vec<_>>(),
        "trials": heads,
        "order": heads.iter().map(|head| head.id).collect::<Vec<_>>(),
        "command": {"aa": false, "budgetUsd": null, "concurrency": null, "failFast": false, "failUnder": 1.0,
            "keep": "all", "retries": null, "shard": null,
            "selection": {"agent": null, "environments": [], "evals": [], "experiments": [], "repetitions": null,
                "seed": null, "timeout": null}},
        "fingerprints": [],
        "createdAt": "2026-11-14T09:00:00Z",
    })
}
