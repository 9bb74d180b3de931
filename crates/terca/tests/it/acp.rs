//! `acp`: an agent that speaks the Agent Client Protocol, played by a shell script.

use serde_json::{Value, json};
use terca_testkit::Project;

use crate::common::project;

/// Speaks the protocol. `on_new` and `on_prompt` may be defined before `listen`. Everything that it hears is in `heard.txt`.
const AGENT: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":$1}"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
words() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
hear() {
  IFS= read -r line || return 1
  printf '%s\n' "$line" >>heard.txt
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
}
on_initialize() { answer '{"protocolVersion":1,"agentInfo":{"name":"stand-in","version":"9.8"},"agentCapabilities":{}}'; }
on_new() { answer '{"sessionId":"s"}'; }
on_set() { answer '{}'; }
on_authenticate() { signed_in=yes; answer '{}'; }
on_prompt() { touch done; answer '{"stopReason":"end_turn"}'; }
listen() {
  while hear; do
    case $line in
      *'"method":"initialize"'*) on_initialize;;
      *'"method":"session/new"'*) on_new;;
      *'"method":"authenticate"'*) on_authenticate;;
      *'"method":"session/set_'*) on_set;;
      *'"method":"session/prompt"'*) on_prompt;;
    esac
  done
}
"#;

/// Returns a suite whose agent does what these lines say, with these lines in its environment.
fn suite(script: &str, environment: &str) -> Project {
    project()
        .executable("agent.sh", &format!("{AGENT}{script}\nlisten\n"))
        .file(
            "terca.yaml",
            format!(
                "mcpPreflight: false\nenvironments:\n  - name: mine\n    agent: {{name: acp, command: ./agent.sh}}\n{environment}\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: done}}]\n"
            ),
        )
}

/// Returns what the agent heard, message by message.
fn heard(project: &Project) -> Vec<Value> {
    let text = project.trial_file("workspace/heard.txt");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the steps of the transcript, without times and lines.
fn steps(project: &Project) -> Vec<Value> {
    let text = project.trial_file("transcript.jsonl");
    let steps = text.lines().map(|line| {
        let mut step: Value = serde_json::from_str(line).unwrap();
        let fields = step.as_object_mut().unwrap();
        assert!(fields.remove("time").is_some(), "{line}");
        fields.remove("line");
        fields.remove("atMs");
        step
    });
    steps.collect()
}

#[test]
fn a_session_becomes_a_transcript() {
    let script = r#"
on_prompt() {
  update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Well, "}}'
  update '{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"then."}}'
  update '{"sessionUpdate":"plan","entries":[{"content":"write it","status":"in_progress"},{"content":"go","status":"pending"}]}'
  update '{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Writing done","kind":"edit","status":"pending","content":[{"type":"diff","path":"/w/done","oldText":"a","newText":"b"}]}'
  say '{"jsonrpc":"2.0","id":77,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1"},"options":[{"optionId":"no","kind":"reject_once"},{"optionId":"yes","kind":"allow_once"}]}}'
  prompt=$id; hear; touch done; id=$prompt
  update '{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"written"}}]}'
  update '{"sessionUpdate":"tool_call","toolCallId":"c2","title":"ls","kind":"execute","status":"in_progress","rawInput":{"command":"ls"}}'
  update '{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","rawOutput":"no such directory"}'
  update '{"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.25,"currency":"USD"}}'
  words 'All '; words 'done.'
  answer '{"stopReason":"end_turn","usage":{"totalTokens":47,"inputTokens":20,"cachedReadTokens":7,"outputTokens":15,"thoughtTokens":5}}'
}"#;
    let project = suite(script, "");
    project.terca(&[]).expect_status(0);
    let expected = json!([
        {"type": "reasoning", "text": "Well, then."},
        {"type": "notice", "text": "plan: [~] write it; [ ] go"},
        {"type": "toolCall", "id": "c1", "tool": "edit", "input": {"title": "Writing done", "path": "/w/done", "oldText": "a", "newText": "b"}},
        {"type": "toolResult", "id": "c1", "ok": true, "output": "written"},
        {"type": "toolCall", "id": "c2", "tool": "execute", "input": {"command": "ls"}},
        {"type": "toolResult", "id": "c2", "ok": false, "output": "no such directory"},
        {"type": "message", "role": "assistant", "text": "All done."},
    ]);
    assert_eq!(json!(steps(&project)), expected);
    let trial = project.only_trial();
    assert_eq!(trial["agentVersion"], "9.8");
    let stats = &trial["stats"];
    assert_eq!(stats["toolCalls"], 2);
    // What agents tell there is the last request for some, and the whole session for others.
    for name in ["requests", "inputTokens", "outputTokens", "costUsd"] {
        assert_eq!(stats[name], Value::Null, "{name}: {stats}");
    }

    let heard = heard(&project);
    assert_eq!(heard[0]["params"]["clientCapabilities"]["terminal"], false);
    let workspace = heard[1]["params"]["cwd"].as_str().unwrap();
    assert!(workspace.starts_with('/'), "{workspace}");
    assert_eq!(
        heard[2]["params"]["prompt"],
        json!([{"type": "text", "text": "do it"}])
    );
    assert_eq!(heard[3]["result"]["outcome"]["optionId"], "yes");
    let stream = project.trial_file("artifacts/stream.jsonl");
    assert!(
        stream.contains(r#""answer":"allow_once","call":"c1""#),
        "{stream}"
    );
    project.assert_nothing_left();
}

#[test]
fn rules_are_in_the_file_that_the_agent_reads() {
    let environment = "    rules: RULES.md\n";
    let project = suite(
        "on_prompt() { cp AGENTS.md done; answer '{\"stopReason\":\"end_turn\"}'; }",
        environment,
    )
    .file("RULES.md", "Be brief.\n");
    project.terca(&[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/done"), "Be brief.\n");
    assert_eq!(
        project.only_trial()["delivery"]["rules"][0]["path"],
        "AGENTS.md"
    );
}

#[test]
fn a_model_is_chosen_by_the_way_that_the_agent_offers() {
    let models = r#"{"sessionId":"s","models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}"#;
    let options = r#"{"sessionId":"s","configOptions":[{"id":"llm","category":"model","currentValue":"a","options":[{"value":"a"},{"value":"b"}]}]}"#;
    for (offered, method) in [
        (models, "session/set_model"),
        (options, "session/set_config_option"),
    ] {
        let project = suite(
            &format!("on_new() {{ answer '{offered}'; }}"),
            "    model: b\n",
        );
        project.terca(&[]).expect_status(0);
        let heard = heard(&project);
        assert_eq!(heard[2]["method"], method);
        let chosen = &heard[2]["params"];
        assert!(
            chosen["modelId"] == "b" || chosen["value"] == "b",
            "{chosen}"
        );
    }
}

#[test]
fn trouble_has_its_kind() {
    let new = |error: &str| format!("on_new() {{ refuse '{error}'; }}");
    let prompt = |error: &str| format!("on_prompt() {{ refuse '{error}'; }}");
    let http = "    mcpServers: {docs: {url: 'http://127.0.0.1:9/mcp'}}\n";
    for (script, environment, kind, words) in [
        (
            new(r#"{"code":-32000,"message":"Authentication required"}"#),
            "",
            "auth",
            "Authentication required",
        ),
        (prompt(r#"{"code":429,"message":"slow down"}"#), "", "rateLimit", "slow down"),
        (prompt(r#"{"code":500,"message":"oh"}"#), "", "modelApi", "oh"),
        (
            prompt(r#"{"code":-32603,"message":"Internal error","data":{"details":"Invalid API key"}}"#),
            "",
            "auth",
            "Internal error: Invalid API key",
        ),
        (String::new(), "    model: b\n", "model", "no choice of a model"),
        (
            r#"on_new() { answer '{"sessionId":"s","models":{"availableModels":[{"modelId":"a"}]}}'; }"#.to_owned(),
            "    model: b\n",
            "model",
            "it offers `a`",
        ),
        (
            "on_initialize() { answer '{\"protocolVersion\":7}'; }".to_owned(),
            "",
            "agent",
            "speaks version 7",
        ),
        (
            "echo 'usage: agent FILE'; echo 'no terminal' >&2; exit 2".to_owned(),
            "",
            "agent",
            "exit status 2: no terminal (it printed `usage: agent FILE`)",
        ),
        ("exec /no/such/program".to_owned(), "", "agentMissing", "not found"),
        (String::new(), http, "mcp", "cannot use MCP servers by http"),
        ("exec cat".to_owned(), "", "agent", "`initialize`"),
    ] {
        let project = suite(&script, environment);
        project.terca(&[]).expect_status(3);
        let error = project.only_trial()["error"].clone();
        assert_eq!(error["kind"], kind, "{script}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

/// An agent that makes a session for those alone who have signed in.
const CLOSED: &str = r#"
on_initialize() { answer '{"protocolVersion":1,"authMethods":[{"id":"chatgpt","name":"Login with ChatGPT"},{"id":"openai-api-key","name":"Use OPENAI_API_KEY"}]}'; }
on_new() {
  case $signed_in in
    yes) answer '{"sessionId":"s"}';;
    *) refuse '{"code":-32000,"message":"Authentication required"}';;
  esac
}
"#;

#[test]
fn it_signs_in_with_a_key_that_is_set() {
    let key = "    env: {OPENAI_API_KEY: sk-very-secret}\n";
    let project = suite(CLOSED, key);
    project.terca(&[]).expect_status(0);
    let methods: Vec<Value> = heard(&project)
        .iter()
        .map(|message| message["method"].clone())
        .collect();
    let expected = json!([
        "initialize", "session/new", "authenticate", "session/new", "session/prompt"
    ]);
    assert_eq!(json!(methods), expected);
    assert_eq!(heard(&project)[2]["params"]["methodId"], "openai-api-key");

    let refuses =
        "on_authenticate() { refuse '{\"code\":-32603,\"message\":\"the key has expired\"}'; }";
    for (script, key, words) in [
        (
            CLOSED.to_owned(),
            "",
            "`Login with ChatGPT` or `Use OPENAI_API_KEY`",
        ),
        (format!("{CLOSED}{refuses}"), key, "the key has expired"),
    ] {
        let project = suite(&script, key);
        project.terca(&[]).expect_status(3);
        let error = project.only_trial()["error"].clone();
        assert_eq!(error["kind"], "auth", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
        let has_none = message.contains("no credentials for acp");
        assert_eq!(has_none, key.is_empty(), "{message}");
    }
}

#[test]
fn reasons_to_stop_are_told_and_the_work_is_judged() {
    for (reason, status, note) in [
        ("max_tokens", 0, Some("`max_tokens`")),
        ("refusal", 0, Some("`refusal`")),
        ("cancelled", 0, Some("cancelled")),
        ("tired", 0, Some("unknown reason")),
    ] {
        let script =
            format!("on_prompt() {{ touch done; answer '{{\"stopReason\":\"{reason}\"}}'; }}");
        let project = suite(&script, "");
        project.terca(&[]).expect_status(status);
        let trial = project.only_trial();
        let notes = trial["notes"].to_string();
        assert!(note.is_none_or(|note| notes.contains(note)), "{trial:#}");
    }
}

#[test]
fn an_agent_that_dies_at_work_is_judged_by_it() {
    let script = "on_prompt() { touch done; words 'I am'; echo 'out of memory' >&2; exit 9; }";
    let project = suite(script, "");
    project.terca(&[]).expect_status(0);
    let notes = project.only_trial()["notes"].to_string();
    assert!(notes.contains("exit status 9: out of memory"), "{notes}");
}

#[test]
fn a_session_out_of_time_is_cancelled_and_judged() {
    let script = r#"
on_prompt() {
  prompt=$id
  update '{"sessionUpdate":"tool_call","toolCallId":"c1","title":"sleep","kind":"execute","status":"in_progress"}'
  while hear; do
    case $line in *'"method":"session/cancel"'*) break;; esac
  done
  touch done; id=$prompt; answer '{"stopReason":"cancelled"}'
}"#;
    let project = suite(script, "    timeoutSeconds: 2\n");
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(
        (&trial["status"], &trial["timedOut"]),
        (&json!("passed"), &json!(true)),
        "{trial:#}"
    );
    let cancel = heard(&project).pop().unwrap();
    assert_eq!(cancel["params"]["sessionId"], "s");
    project.assert_nothing_left();
}

#[test]
fn a_hostile_agent_gets_nothing_and_breaks_nothing() {
    let script = r#"
on_prompt() {
  prompt=$id
  echo 'plain words'; printf '\377\376\n'; echo '[1,2'; echo '7'
  head -c 9000000 /dev/zero | tr '\0' x; echo
  head -c 400000 /dev/zero | tr '\0' '['; echo
  update '{"sessionUpdate":"tool_call","toolCallId":7}'
  update '{"sessionUpdate":"tool_call_update","toolCallId":"never announced","status":"completed","content":"none"}'
  update '7'; update '{"sessionUpdate":"plan","entries":{}}'
  say '{"jsonrpc":"2.0","method":"session/update"}'
  say '{"jsonrpc":"2.0","id":2000,"result":{"stopReason":"forged"}}'
  for method in fs/read_text_file fs/write_text_file terminal/create; do
    say "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"$method\",\"params\":{\"sessionId\":\"s\",\"path\":\"/etc/passwd\"}}"
    hear
  done
  say '{"jsonrpc":"2.0","id":{"a":1},"method":"session/request_permission","params":{"options":[]}}'; hear
  i=0; while [ $i -lt 3000 ]; do words "$i "; i=$((i+1)); done
  touch done; id=$prompt; answer '{"stopReason":"end_turn"}'
}"#;
    let project = suite(script, "");
    project.terca(&[]).expect_status(0);
    let heard = heard(&project);
    for answer in &heard[3..6] {
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        assert_eq!(answer.get("result"), None);
    }
    assert_eq!(heard[6]["result"]["outcome"]["outcome"], "cancelled");
    let notes = project.only_trial()["notes"].to_string();
    assert!(notes.contains("`fs/write_text_file`"), "{notes}");
    project.assert_nothing_left();
}

#[test]
fn a_server_that_dies_is_known_by_its_tap() {
    let script = r#"
on_new() {
  command=$(printf '%s' "$line" | sed 's/.*"command":"\([^"]*\)".*/\1/')
  args=$(printf '%s' "$line" | sed 's/.*"args":\[\([^]]*\)\].*/\1/' | tr ',"' '  ')
  mkfifo "$TMPDIR/open"; exec 9<>"$TMPDIR/open"
  $command $args <&9 >/dev/null
  answer '{"sessionId":"s"}'
}"#;
    let environment = "    mcpServers: {docs: {command: 'false'}}\n";
    let project = suite(script, environment);
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "mcp", "{trial:#}");
    assert_eq!(trial["delivery"]["mcpServers"]["docs"]["status"], "failed");
}

#[test]
fn the_gateway_leads_an_agent_or_leaves_its_key_alone() {
    let own = r#"{"provider":{"mine":{"options":{"baseURL":"http://127.0.0.1:9/v1"}}}}"#;
    for (variable, value, leads, words) in [
        (
            "OPENAI_HOST", "http://127.0.0.1:9", true, "`OPENAI_HOST` led the agent",
        ),
        (
            "OPENCODE_CONFIG_CONTENT",
            own,
            false,
            "it cannot lead the address in `OPENCODE_CONFIG_CONTENT`",
        ),
        ("MISTRAL_API_KEY", "sk-other", true, "`gateway: off`"),
    ] {
        let script = "echo \"$OPENAI_API_KEY $OPENAI_HOST $MISTRAL_API_KEY\" >given.txt";
        let environment =
            format!("    env: {{OPENAI_API_KEY: sk-very-secret, {variable}: '{value}'}}\n");
        let project = suite(script, &environment);
        project.terca(&["--gateway", "meter"]).expect_status(0);
        let given = project.trial_file("workspace/given.txt");
        // A token of the gateway goes to the gateway, and a key that is not led stays.
        assert_eq!(given.starts_with("terca-"), leads, "{given}");
        assert_eq!(given.contains(" http://127.0.0.1:"), leads, "{given}");
        assert!(!given.contains("127.0.0.1:9 "), "{given}");
        assert_eq!(
            given.ends_with("sk-other\n"),
            variable == "MISTRAL_API_KEY",
            "{given}"
        );
        let notes = project.only_trial()["notes"].to_string();
        assert!(notes.contains(words), "{notes}");
    }
}

/// A registry with an agent of each kind, and agents that cannot be started.
fn registry() -> String {
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let platform = format!("{platform}-{}", std::env::consts::ARCH);
    let archive = "https://example.com/tool.tar.gz";
    let entry = |id: &str, distribution: Value| json!({"id": id, "name": id, "version": "1.0.0", "distribution": distribution});
    let own = json!({"cmd": "./bin/agent.sh", "archive": archive, "args": ["--acp", "two words"], "env": {"GREETING": "it's me"}});
    json!({"version": "1.0.0", "agents": [
        entry("packed", json!({"npx": {"package": "@example/packed@1.2.3", "args": ["--acp"]}})),
        entry("snake", json!({"uvx": {"package": "snake==1.2.3"}})),
        entry("own", json!({"binary": {&platform: own}})),
        entry("absent", json!({"binary": {&platform: {"cmd": "./absent-agent", "archive": archive}}})),
        entry("foreign", json!({"binary": {"plan9-mips": {"cmd": "agent", "archive": archive}}})),
    ]})
    .to_string()
}

/// Returns a suite with an agent of the registry.
fn listed(agent: &str) -> Project {
    project()
        .file("registry.json", registry())
        .file(
            "terca.yaml",
            format!("environments:\n  - name: mine\n    agent: {agent}\nevals:\n  - name: task\n    prompt: go\n    tests: [{{fileExists: done}}]\n"),
        )
}

#[test]
fn an_agent_of_the_registry_is_started() {
    let script = "printf '%s|' \"$GREETING\" \"$@\" >started.txt";
    let suite = listed("{name: acp, registry: registry.json, id: own}")
        .executable("bin/agent.sh", &format!("{AGENT}{script}\nlisten\n"));
    suite.terca(&[]).expect_status(0);
    let started = suite.trial_file("workspace/started.txt");
    assert_eq!(started, "it's me|--acp|two words|");

    // In place of the programs that would download the agents.
    for (id, runner, words) in [
        (
            "packed",
            "npx",
            "--prefer-offline|--fetch-retries=1|-y|@example/packed@1.2.3|--acp|",
        ),
        ("snake", "uvx", "snake==1.2.3|"),
    ] {
        let suite = listed(&format!("{{name: acp, registry: registry.json, id: {id}}}"));
        let runs =
            |script: &str| format!("{AGENT}printf '%s|' \"$@\" >started.txt\n{script}\nlisten\n");
        let suite = suite.executable(&format!("programs/{runner}"), &runs(""));
        let path = format!("{}:/usr/bin:/bin", suite.path("programs"));
        let suite = suite.env("PATH", &path);
        suite.terca(&[]).expect_status(0);
        assert_eq!(suite.trial_file("workspace/started.txt"), words);

        let suite = suite.executable(
            &format!("programs/{runner}"),
            &runs("echo 'no network' >&2; exit 1"),
        );
        suite.terca(&[]).expect_status(3);
        let message = suite.only_trial()["error"]["message"].to_string();
        assert!(message.contains("no network"), "{message}");
        assert!(
            message.contains(&format!("`{runner}` downloads the agent")),
            "{message}"
        );
    }
}

#[test]
fn an_agent_that_the_registry_cannot_start_is_told_with_its_place() {
    for (agent, words) in [
        (
            "{name: acp, registry: other.json, id: own}",
            "the registry `other.json` does not exist",
        ),
        (
            "{name: acp, registry: terca.yaml, id: own}",
            "`terca.yaml` is no registry of ACP agents",
        ),
        (
            "{name: acp, registry: registry.json, id: snaek}",
            "did you mean `snake`?",
        ),
        (
            "{name: acp, registry: registry.json, id: zzz}",
            "it has `packed`, `snake`, `own`, `absent` and `foreign`",
        ),
        (
            "{name: acp, registry: registry.json, id: absent}",
            "Terca downloads no programs: unpack https://example.com/tool.tar.gz",
        ),
        (
            "{name: acp, registry: registry.json, id: foreign}",
            "it has neither a package nor a program for ",
        ),
        (
            "{name: acp, registry: registry.json}", "`registry` and `id` belong together",
        ),
        (
            "{name: acp, registry: registry.json, id: own, command: x}",
            "not both",
        ),
        (
            "{name: codex, registry: registry.json, id: own}",
            "the agent `codex` takes no `registry`",
        ),
    ] {
        let outcome = listed(agent).terca(&["check"]);
        assert_ne!(outcome.status, 0, "{agent}");
        let shown = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(shown.contains(words), "{agent}: {shown}");
        assert!(shown.contains("terca.yaml:3:"), "{shown}");
    }
}

#[test]
fn it_needs_a_command_and_takes_no_settings() {
    for (agent, words) in [
        ("agent: acp\n", "the agent `acp` needs a `command`"),
        ("agent: acp:kiro\n", "`agent: {name: acp, command: …}`"),
        (
            "agent: {name: acp, command: x}\n    config: {a: 1}\n",
            "`config`",
        ),
    ] {
        let project = project().file(
            "terca.yaml",
            format!("environments:\n  - name: mine\n    {agent}evals:\n  - name: task\n    prompt: go\n    tests: [{{fileExists: done}}]\n"),
        );
        let outcome = project.terca(&["check"]);
        assert_ne!(outcome.status, 0);
        let shown = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(shown.contains(words), "{shown}");
    }
}
