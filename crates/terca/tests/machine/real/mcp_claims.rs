//! The results say of MCP servers what the server's own log says.

use serde_json::json;
use terca_testkit::agents::RealAgent;
use terca_testkit::{
    Action, HttpMcpServer, LockedMcpServer, Scenario, Turn, asked_of_tiny_mcp_server,
    tiny_mcp_entry,
};

use super::{Bench, Complaints, assert_passed, limit_of};

/// A server by HTTP is called through the gateway, which has its key and writes the call down.
pub fn remote_mcp_servers_are_recorded(agent: RealAgent) {
    const TOKEN: &str = "Bearer very-secret-token-of-docs";
    let scenario = Scenario::new([
        Turn::calling(
            "Asking.",
            Action::mcp("docs", "search", json!({"word": "bird"})),
        ),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(agent, &[("docs", scenario)]);
    let docs = HttpMcpServer::start(TOKEN);
    let server =
        json!({"url": docs.url("/mcp"), "type": "http", "headers": {"Authorization": TOKEN}});
    let bench = bench.suite(
        &json!([{"name": "remote", "mcpServers": {"docs": server}}]),
        &json!([{"name": "docs", "prompt": "Look it up, please. scenario:docs"}]),
    );
    bench.run().expect_status(0);
    let trial = bench.trial("docs", "remote");
    assert_passed(&trial);
    let claimed = &trial["delivery"]["mcpServers"]["docs"];
    assert_eq!(claimed["status"], "connected", "{trial:#}");
    assert_eq!(docs.asked("tools/call"), 1);
    let tool = &claimed["tap"]["tools"]["search"];
    assert_eq!(
        (&tool["calls"], &tool["errors"]),
        (&json!(1), &json!(0)),
        "{trial:#}"
    );
    assert!(tool["estimatedTokens"].is_u64(), "{trial:#}");
    let folder = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let record = std::fs::read_to_string(folder.join("artifacts/mcp/docs.jsonl")).unwrap();
    assert!(record.contains("FOUND-IT"), "{record}");
    let answered = bench.requests("docs");
    let answered = answered
        .iter()
        .filter(|request| request.mentions("FOUND-IT"));
    assert_eq!(
        answered.count(),
        1,
        "what the server said goes back to the model"
    );
}

/// A server that lets nobody in, hangs, exits, dies when it is called, or answers with an error.
pub fn mcp_claims_agree_with_the_server(agent: RealAgent) {
    let scenario = Scenario::new([
        Turn::calling("Asking.", Action::mcp("tiny", "magic", json!({"x": 42}))),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(agent, &[("magic", scenario)]);
    let locked = LockedMcpServer::start();
    let logs = bench.project.home();
    let mut experiments = vec![
        json!({"name": "locked", "mcpServers": {"tiny": {"url": locked.url(), "type": "http"}}}),
    ];
    for mode in ["exits", "hangs", "dies", "errs"] {
        let entry = tiny_mcp_entry(&logs, mode, mode);
        // Agents wait for a server for half a minute or for ever.
        let seconds = limit_of(agent, if mode == "hangs" { 10 } else { 40 });
        experiments
            .push(json!({"name": mode, "mcpServers": {"tiny": entry}, "timeoutSeconds": seconds}));
    }
    let bench = bench.suite(
        &json!(experiments),
        &json!([{"name": "magic", "prompt": "The magic word, please. scenario:magic"}]),
    );
    bench.run_together();

    let mut complaints = Complaints::new(agent);
    for name in ["locked", "exits", "hangs"] {
        let trial = bench.trial("magic", name);
        // An agent may still wait for a server when its time is over.
        let is_named = trial["error"]["kind"] == "mcp"
            || name == "hangs" && trial["notes"].to_string().contains("`tiny`");
        if trial["status"] != "error" || !is_named {
            complaints.add(name, "is not an error that names the MCP server", &trial);
        }
        if trial["delivery"]["mcpServers"]["tiny"]["status"] == "connected" {
            complaints.add(name, "is not connected", &trial);
        }
    }
    for name in ["dies", "errs"] {
        let trial = bench.trial("magic", name);
        let claimed = &trial["delivery"]["mcpServers"]["tiny"];
        if claimed["status"] != "connected" {
            complaints.add(name, "was connected", &trial);
        }
        // The tap has seen what the server has seen.
        let calls = asked_of_tiny_mcp_server(&logs, name, "tools/call");
        let tool = &claimed["tap"]["tools"]["magic"];
        for (key, number) in [
            ("calls", &claimed["calls"]),
            ("failedCalls", &claimed["failedCalls"]),
            ("tap: calls", &tool["calls"]),
            ("tap: errors", &tool["errors"]),
        ] {
            if *number != calls {
                complaints.add(name, &format!("{key}: it was called {calls} times"), &trial);
            }
        }
        if tool["estimatedTokens"].is_null() {
            complaints.add(name, "the tool was offered", &trial);
        }
        let deaths = claimed["tap"]["deaths"].as_array().map_or(0, Vec::len);
        if (name == "dies") != (deaths > 0) {
            complaints.add(name, &format!("{deaths} deaths"), &trial);
        }
    }
    if locked.refused() == 0 {
        complaints.add("locked", "was never asked", &bench.trial("magic", "locked"));
    }
    complaints.expect_none();
    bench.project.assert_nothing_left();
}
