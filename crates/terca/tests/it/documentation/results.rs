//! The tables of keys have the keys that are really in `results.json`, and in no other way: every one was seen in a run.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use terca_core::ablation::{Ablation, Kind, RulesWithout, Split};
use terca_core::agent::AgentChoice;
use terca_core::agent::access::Access;
use terca_core::config::gateway::GatewayMode;
use terca_core::config::sandbox::{ContainedBy, Image, Sandbox};
use terca_core::config::suite::{
    AppliedSetup, KeptBy, LimitsKeptBy, Service, ServiceScope, ServiceSource,
};
use terca_core::config::verdict::{Measure, VerdictSettings};
use terca_core::run::run_file::{RunCase, RunFile, RunVariant};
use terca_core::run::settings::{FailOn, FailedSettings, ReplaySettings};
use terca_core::run::{event, outcome};
use terca_core::wire::network::{HostPattern, Network, NetworkMode, TrialNetwork};
use terca_core::wire::recording::OnMiss;
use terca_core::{stats, transcript};
use terca_testkit::agents::GEMINI;
use terca_testkit::{ModelServer, Scenario, Script};

use crate::documentation::page::Page;
use crate::documentation::repository;
use crate::documentation::room::Room;

/// What a table is called, and the objects that it is about.
const TABLES: [(&str, &[&str]); 48] = [
    ("ablation", &["summary.ablation"]),
    ("part", &["summary.ablation.parts[]"]),
    ("pairHint", &["summary.ablation.hints[]"]),
    ("journal", &["journal"]),
    ("results", &[""]),
    ("descriptions", &["descriptions"]),
    ("stoppedVariant", &["stoppedVariants[]"]),
    ("adaptive", &["adaptive"]),
    ("trial", &["trials[]"]),
    ("test", &["trials[].tests.*"]),
    (
        "judge",
        &["trials[].tests.*.judge", "trials[].paidJudges[]"],
    ),
    ("reason", &["trials[].tests.*.judge.reasons[]"]),
    ("report", &["trials[].tests.*.report"]),
    ("case", &["trials[].tests.*.report.cases[]"]),
    (
        "stats",
        &[
            "trials[].stats", "trials[].earlierAttempts[].stats", "trials[].tests.*.judge.stats",
            "trials[].paidJudges[].stats", "trials[].reported",
        ],
    ),
    ("wire", &["trials[].wire"]),
    ("sent", &["trials[].wire.sent[]"]),
    ("network", &["trials[].network"]),
    ("limitsKeptBy", &["trials[].limitsKeptBy"]),
    ("refused", &["trials[].network.refused[]"]),
    ("delivery", &["trials[].delivery"]),
    (
        "installed",
        &["trials[].delivery.rules[]", "trials[].delivery.skills[]"],
    ),
    ("mcpServer", &["trials[].delivery.mcpServers.*"]),
    ("tap", &["trials[].delivery.mcpServers.*.tap"]),
    ("tapTool", &["trials[].delivery.mcpServers.*.tap.tools.*"]),
    (
        "access",
        &["trials[].delivery.access", "trials[].tests.*.judge.access"],
    ),
    ("phases", &["trials[].phases"]),
    (
        "error",
        &[
            "trials[].error", "trials[].earlierAttempts[].error", "stoppedVariants[].error",
        ],
    ),
    ("attempt", &["trials[].earlierAttempts[]"]),
    ("remark", &["trials[].remark"]),
    ("summary", &["summary"]),
    (
        "spent",
        &[
            "trials[].spent", "summary.spent", "summary.variants[].spent",
        ],
    ),
    (
        "figures",
        &[
            "summary.cells[]", "summary.variants[]", "summary.comparisons[].figures.arm",
            "summary.comparisons[].figures.baseline",
        ],
    ),
    (
        "reliability",
        &[
            "summary.cells[].reliability[]", "summary.variants[].reliability[]",
        ],
    ),
    ("variantDelivery", &["summary.variants[].delivery"]),
    ("sentCounts", &["summary.variants[].delivery.sent[]"]),
    ("mcpCounts", &["summary.variants[].delivery.mcpServers.*"]),
    ("evalRemark", &["summary.remarks[]"]),
    ("mcpSummary", &["summary.mcpServers.*"]),
    ("mcpToolSummary", &["summary.mcpServers.*.tools.*"]),
    ("comparison", &["summary.comparisons[]"]),
    ("repetitions", &["summary.comparisons[].repetitions"]),
    ("sequential", &["summary.comparisons[].sequential"]),
    ("armFigures", &["summary.comparisons[].figures"]),
    ("evalEffect", &["summary.comparisons[].perEval[]"]),
    ("outlook", &["summary.comparisons[].outlook"]),
    (
        "proposal",
        &[
            "summary.comparisons[].outlook.evals",
            "summary.comparisons[].outlook.repetitions[]",
        ],
    ),
    (
        "effect",
        &[
            "summary.comparisons[].passRate", "summary.comparisons[].meanScore",
            "summary.comparisons[].tokens", "summary.comparisons[].costUsd",
            "summary.comparisons[].seconds",
        ],
    ),
];

/// Intervals are in many places, always under one of these names.
const INTERVAL: [&str; 4] = ["interval", "interval90", "beyond", "passRateInterval"];

/// Maps whose keys are names of the user's own.
const BY_NAME: [&str; 23] = [
    "trials[].evidence",
    "descriptions.evals",
    "descriptions.incomplete",
    "descriptions.environments",
    "descriptions.experiments",
    "descriptions.tests",
    "descriptions.tests.*",
    "trials[].tests",
    "trials[].delivery.mcpServers",
    "trials[].delivery.mcpServers.*.tap.tools",
    "trials[].wire.modelsAsked",
    "trials[].wire.modelsAnswered",
    "trials[].wire.stopReasons",
    "trials[].wire.statuses",
    "trials[].wire.parameters",
    "trials[].wire.parameters.*",
    "trials[].delivery.access.endpoints",
    "summary.mcpServers",
    "summary.mcpServers.*.tools",
    "trials[].tests.*.judge.access.endpoints",
    "summary.variants[].delivery.mcpServers",
    "summary.variants[].delivery.rules",
    "summary.variants[].delivery.skills",
];

/// The folders of runs that together have everything.
fn runs(room: &Room) -> Vec<Utf8PathBuf> {
    let script = include_str!("runs.sh");
    let answers = Script::new(GEMINI.vocabulary).scenario("docs", Scenario::saying("Hello."));
    let model = ModelServer::start(answers);
    let address = format!("export MODEL_URL={}", model.url());
    let said = room.run("sh", &format!("set +e\n{address}\n{script}"));
    assert_eq!(said.status, 0, "{}", said.output);
    let mut found = Vec::new();
    for suite in room.page_dir().read_dir_utf8().unwrap().map(Result::unwrap) {
        let runs = suite.path().join(".terca/runs").read_dir_utf8().unwrap();
        found.extend(runs.map(|run| run.unwrap().path().to_owned()));
    }
    assert_eq!(found.len(), 8, "{}", said.output);
    found
}

fn page(name: &str) -> Page {
    Page::load(&repository(), &Utf8Path::new("docs/reference").join(name))
}

/// The keys of every object, by the path to it.
fn keys(value: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| keys(item, &format!("{path}[]"), found)),
        Value::Object(entries) if BY_NAME.contains(&path) => {
            entries
                .values()
                .for_each(|value| keys(value, &format!("{path}.*"), found));
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                found
                    .entry(path.to_owned())
                    .or_default()
                    .insert(key.clone());
                keys(
                    value,
                    format!("{path}.{key}").trim_start_matches('.'),
                    found,
                );
            }
        }
        _ => {}
    }
}

/// The table that an object belongs to.
fn table_of(path: &str) -> &'static str {
    if INTERVAL.iter().any(|name| path.ends_with(name)) {
        return "interval";
    }
    // A part of an ablation is compared as an experiment is.
    let path = path.replace(
        "summary.ablation.parts[].comparison", "summary.comparisons[]",
    );
    let table = TABLES
        .iter()
        .find(|(_, paths)| paths.contains(&path.as_str()));
    table
        .unwrap_or_else(|| panic!("`{path}` of results.json is in no table"))
        .0
}

#[test]
fn every_key_and_every_file_is_documented() {
    let room = Room::new(&repository());
    let runs = runs(&room);
    let mut by_path = BTreeMap::new();
    for run in &runs {
        let text = std::fs::read_to_string(run.join("results.json")).unwrap();
        keys(&serde_json::from_str(&text).unwrap(), "", &mut by_path);
    }
    // Not every machine can contain an agent.
    let mut network = TrialNetwork::new(NetworkMode::Model);
    for number in 0..=TrialNetwork::MOST_HOSTS {
        network.refuse(&format!("{number}.example"), 443);
    }
    // Nor has every run workers, nor can every machine keep every limit.
    let kept = LimitsKeptBy {
        memory: Some(KeptBy::Cgroup),
        processes: Some(KeptBy::Watch),
        cpus: Some(KeptBy::Nothing),
    };
    // Nor does a person read every run.
    let remark = json!({ "text": "odd", "tags": ["odd"], "at": "2026-01-01T00:00:00Z" });
    // Nor do parts act together in every ablation.
    let hint = json!({ "pairs": [], "difference": 0.5, "pAdjusted": 0.01 });
    // Nor does a test fail in a runner that Terca knows, or change a hidden file.
    let tests =
        json!({ "unit": { "assertion": ["got 1, want 2"], "testsTouched": ["hidden/check.sh"] } });
    // Nor is an eval incomplete that is run.
    let incomplete = json!({ "incomplete": { "fib": ["a file"] } });
    // Nor does Terca install an agent for every suite.
    let delivery = json!({ "versionRequested": "0.166.0" });
    let contained = json!({
        "descriptions": incomplete,
        "summary": { "ablation": { "hints": [hint] } },
        "trials": [{ "remark": remark, "delivery": delivery, "tests": tests, "network": network, "image": "sha256:00", "limitsKeptBy": kept, "ranOn": "n1", "earlierAttempts": [{ "ranOn": "n2" }] }],
    });
    keys(&contained, "", &mut by_path);
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, keys) in by_path {
        seen.entry(table_of(&path)).or_default().extend(keys);
    }
    let page = page("results-json.md");
    let told: BTreeMap<&str, BTreeSet<String>> = page
        .tables("keys")
        .into_iter()
        .map(|(directive, table)| (directive.argument.as_str(), table.first_column()))
        .collect();
    for (table, seen) in &seen {
        let told = told
            .get(table)
            .unwrap_or_else(|| panic!("no table of the keys of {table}"));
        assert_eq!(told, seen, "{table}: what is documented, and what was seen");
    }
    assert_eq!(
        told.len(),
        seen.len(),
        "{:?}, {:?}",
        told.keys(),
        seen.keys()
    );
    files(&runs);
}

/// Every file of the runs is in one of the tables, and everything in the tables is there.
fn files(runs: &[Utf8PathBuf]) {
    let page = page("run-directory.md");
    // No person read these runs.
    std::fs::write(runs[0].join("remarks.jsonl"), "").unwrap();
    // Nor had they services.
    let logs = below(&runs[0]);
    let log = logs.iter().find(|path| path.ends_with("run.log"));
    let trial = runs[0].join(log.unwrap().parent().unwrap());
    for name in ["artifacts/service-db.log", "gradings/02.service-db.log"] {
        std::fs::create_dir_all(trial.join("gradings")).unwrap();
        std::fs::write(trial.join(name), "").unwrap();
    }
    let (of_run, of_trial) = (
        page.table("files", "run").first_column(),
        page.table("files", "trial").first_column(),
    );
    let mut missing: BTreeSet<&String> = of_run.iter().chain(&of_trial).collect();
    for run in runs {
        for entry in below(run) {
            let parts: Vec<&str> = entry.components().map(|part| part.as_str()).collect();
            // A trial's folder is two below the run's: {eval}/{environment}.{experiment}.{repetition}
            let in_trial = parts.len() > 2 && parts[1].contains('.') && parts[0] != "gradings";
            let (table, path) = if in_trial {
                (&of_trial, parts[2..].join("/"))
            } else {
                (&of_run, entry.to_string())
            };
            let row = table.iter().find(|row| is_meant(row, &path));
            missing.remove(row.unwrap_or_else(|| panic!("{path} is in no table")));
        }
    }
    assert!(missing.is_empty(), "not seen: {missing:?}");
}

/// `NN` stands for digits, `NAME` for any name, and a directory for everything in it.
fn is_meant(row: &str, path: &str) -> bool {
    let pattern = regex::escape(row)
        .replace("NN", r"\d\d")
        .replace("NAME", "[^/]+");
    let end = if row.ends_with('/') { "" } else { "$" };
    regex::Regex::new(&format!("^{pattern}{end}"))
        .unwrap()
        .is_match(path)
}

fn below(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path().to_owned());
            } else {
                found.push(entry.path().strip_prefix(dir).unwrap().to_owned());
            }
        }
    }
    found
}

/// The values of an enumeration, from what its reader says about a value that is none.
fn values<T: DeserializeOwned + std::fmt::Debug>(nonsense: Value) -> BTreeSet<String> {
    let complaint = serde_json::from_value::<T>(nonsense)
        .unwrap_err()
        .to_string();
    complaint
        .split('`')
        .skip(3)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_value_is_documented() {
    let tables = [
        (
            "run-directory.md",
            "step",
            values::<transcript::Step>(json!({ "type": "?" })),
        ),
        (
            "run-directory.md",
            "tapEvent",
            values::<terca_core::mcp_tap::TapEventKind>(json!({ "event": "?" })),
        ),
        (
            "run-directory.md",
            "event",
            values::<event::EventKind>(json!({ "event": "?" })),
        ),
        (
            "results-json.md",
            "errorKind",
            values::<terca_core::trial_error::ErrorKind>(json!("?")),
        ),
        (
            "results-json.md",
            "cannotTell",
            values::<stats::CannotTell>(json!("?")),
        ),
    ];
    for (name, table, there) in tables {
        assert!(there.len() > 4, "{table}: {there:?}");
        assert_eq!(
            page(name).table("values", table).first_column(),
            there,
            "{table}"
        );
    }
    // Those that stand within a sentence.
    let row = |table: &str, key: &str| {
        let page = page("results-json.md");
        let row = page
            .table("keys", table)
            .rows
            .iter()
            .find(|row| row[0] == key)
            .cloned();
        row.unwrap().join(" ")
    };
    for (table, key, there) in [
        ("trial", "status", values::<outcome::Status>(json!("?"))),
        ("results", "status", values::<event::RunStatus>(json!("?"))),
        (
            "results",
            "stopped",
            values::<event::StopReason>(json!("?")),
        ),
        (
            "comparison",
            "verdict",
            values::<terca_core::analysis::summary::Verdict>(json!("?")),
        ),
    ] {
        assert!(there.len() > 2, "{key}: {there:?}");
        for value in there {
            assert!(
                row(table, key).contains(&value),
                "{table}.{key}: {value} is not documented"
            );
        }
    }
}

/// Sets the fields of a case that are left out of most. All are named, so that a new one is thought of here.
fn fill_case(case: &mut RunCase) {
    let text = || Some("text".to_owned());
    let RunCase {
        description,
        variant,
        gateway,
        require_delivery,
        services,
        eval: _,
        tags: _,
        repetitions: _,
        prompt: _,
        layers: _,
        before: _,
        env: _,
        timeout: _,
        limits: _,
        tests: _,
        settings: _,
    } = case;
    *description = text();
    *gateway = Some(GatewayMode::Meter);
    *require_delivery = true;
    *services = vec![Service {
        name: "db".to_owned(),
        source: ServiceSource::Command("db".to_owned()),
        port: 1024,
        ready: text(),
        timeout: std::time::Duration::ZERO,
        env: Vec::new(),
        scope: ServiceScope::Trial,
        dir: Default::default(),
        place: Default::default(),
    }];
    let RunVariant {
        planned,
        environment_description,
        experiment_description,
        access,
        contained_by,
        image,
    } = variant;
    *environment_description = text();
    *experiment_description = text();
    *access = Some(Access::default());
    *image = Image::try_from("node:22".to_owned()).ok();
    *contained_by = Some(ContainedBy::Bwrap);
    let AppliedSetup {
        rules_without,
        hide_tools,
        sandbox,
        network,
        allow,
        model: _,
        rules: _,
        skills: _,
        config: _,
        command: _,
        options,
    } = &mut planned.setup;
    options.effort = text();
    *rules_without = Some(RulesWithout {
        split: Split::Headings,
        parts: 2,
        left_out: vec![0],
    });
    *hide_tools = [("docs".to_owned(), vec!["search".to_owned()])].into();
    *sandbox = Some(Sandbox::Auto);
    *network = Some(Network::Model);
    *allow = HostPattern::try_from("example.com".to_owned())
        .into_iter()
        .collect();
    let AgentChoice {
        agent: _,
        command,
        program,
        version,
        rules_file,
    } = &mut planned.agent;
    (*command, *program, *rules_file) = (text(), text(), text());
    *version = text();
}

/// The keys of an object in `run.json`, with those that not every run has.
fn run_file_keys(pointer: &str) -> BTreeSet<String> {
    let held = repository().join("crates/terca/tests/fixtures/run.json");
    let mut file = RunFile::parse(&std::fs::read(held).unwrap()).unwrap();
    file.merged_from = vec!["part".into()];
    file.suite_commit = Some("0".repeat(40));
    file.settings.validate = true;
    file.settings.ablation = Some(Ablation {
        experiment: "with-rules".into(),
        kind: Kind::Rules,
        split: None,
        sha256: None,
        parts: Vec::new(),
        rows: Vec::new(),
        evals: Vec::new(),
    });
    file.settings.margin = Some(0.05);
    file.settings.fail_on = Some(FailOn::Worse);
    file.settings.replay = Some(ReplaySettings {
        run: "recorded".into(),
        on_miss: OnMiss::Error,
    });
    file.settings.failed = Some(FailedSettings {
        run: "failed".into(),
        cases: Vec::new(),
    });
    file.settings.latest_agents = [("codex".to_owned(), "0.166.0".to_owned())].into();
    file.settings.selection.named_by_agent = true;
    file.verdict = VerdictSettings {
        margin: 0.05,
        measure: Measure::Score,
    };
    file.settings.selection.model = Some("model".into());
    file.settings.selection.sandbox = Some(Sandbox::Auto);
    file.settings.selection.network = Some(Network::Model);
    file.cases.iter_mut().for_each(fill_case);
    let document = serde_json::to_value(&file).unwrap();
    let object = document.pointer(pointer).unwrap().as_object().unwrap();
    object.keys().cloned().collect()
}

#[test]
fn every_key_of_run_json_is_documented() {
    let page = page("run-directory.md");
    let tables = [
        ("runFile", ""),
        ("settings", "/command"),
        ("selection", "/command/selection"),
        ("case", "/cases/0"),
        ("variant", "/cases/0/variant"),
        ("agent", "/cases/0/variant/agent"),
    ];
    for (table, pointer) in tables {
        let told = page.table("keys", table).first_column();
        let told: BTreeSet<String> = told
            .iter()
            .flat_map(|row| row.split(", ").map(str::to_owned))
            .collect();
        assert_eq!(told, run_file_keys(pointer), "{table}");
    }
    assert_eq!(page.tables("keys").len(), tables.len());
}
