//! The decoders of all agents. For any output of a program, its steps are in the order of its lines, a figure that was
//! known stays known, and what is written can be read back.

use std::collections::BTreeSet;

use camino::Utf8Path;
use terca_core::agent::mcp::{McpServer, RemoteTransport};
use terca_core::agent::{self, AgentRef, Conversation, Decoder, Inputs, Line, RawLine};
use terca_core::process::Exit;
use terca_core::text::mask::Mask;
use terca_core::transcript::atif::{About, Trajectory};
use terca_core::transcript::{Record, Usage};

pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for name in agent::names() {
        let agent = agent::find(name).expect("an agent that is listed is found");
        listen(agent, &text, |_| Way::Stdout);
        // The same lines by every way that words of an agent may take.
        listen(agent, &text, |index| match index % 5 {
            0 | 1 => Way::Stdout,
            2 => Way::Stderr,
            3 => Way::SideFile,
            _ => Way::Oversized,
        });
        listen(agent, &text, |index| {
            if index % 2 == 0 {
                Way::SideFile
            } else {
                Way::Stderr
            }
        });
        no_result_depends_on_a_skippable_line(agent, &text);
    }
}

#[derive(Clone, Copy)]
enum Way {
    Stdout,
    Oversized,
    Stderr,
    SideFile,
}

fn listen(agent: AgentRef, text: &str, way: impl Fn(usize) -> Way) {
    let name = agent.profile().name;
    let servers = servers();
    let variables = BTreeSet::new();
    let inputs = inputs(&servers, &variables);
    let labels: Vec<&str> = match name {
        "command" => Vec::new(),
        _ => agent
            .invocation(&inputs)
            .side_files
            .iter()
            .map(|side| side.label)
            .collect(),
    };
    let mut decoder = agent.decoder(&inputs);
    let mut records: Vec<Record> = Vec::new();
    let (mut printed, mut known) = (0, decoder.usage());
    for (index, line) in text.lines().enumerate() {
        match way(index) {
            Way::Stdout => records.extend(print(&mut decoder, Line::Text(line), &mut printed)),
            Way::Oversized => {
                let line = Line::Oversized {
                    beginning: line,
                    bytes: 9_000_000,
                };
                records.extend(print(&mut decoder, line, &mut printed));
            }
            Way::Stderr => decoder.stderr(Line::Text(line)),
            Way::SideFile => labels
                .iter()
                .for_each(|label| decoder.side_line(label, line)),
        }
        let now = decoder.usage();
        assert!(
            stays_known(known, now) || has_figure_beyond_measure(text),
            "{name}, line {}: {known:?} became {now:?}",
            index + 1
        );
        known = now;
    }
    for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(9)] {
        let _ = exit.describe();
    }
    let reading = decoder.finish(Exit::Code(i32::from(text.len() % 2 == 1)));
    records.extend(reading.records);
    check(name, &records, printed);
    let about = About {
        session_id: "s",
        agent: name,
        agent_version: None,
        model: reading.model.as_deref(),
        usage: &reading.usage,
    };
    let mut trajectory = Trajectory::default();
    records
        .into_iter()
        .for_each(|record| trajectory.add(record));
    serde_json::to_value(trajectory.document(&about)).expect("a trajectory can be written");
}

/// Without the lines that an adapter calls skippable, only the transcript differs.
fn no_result_depends_on_a_skippable_line(agent: AgentRef, text: &str) {
    let (servers, variables) = (servers(), BTreeSet::new());
    let inputs = inputs(&servers, &variables);
    let read = |limit: u64| {
        let mut decoder = agent.decoder(&inputs).with_limit(limit);
        let mut records = Vec::new();
        for line in text.lines() {
            records.extend(decoder.line(RawLine::whole(line.as_bytes()), &Mask::default()));
        }
        let mut reading = decoder.finish(Exit::Code(0));
        records.append(&mut reading.records);
        check(agent.profile().name, &records, text.lines().count() as u64);
        // A line that is left out counts as a sign of life.
        reading.conversation = Conversation::default();
        format!("{reading:?}")
    };
    assert_eq!(read(u64::MAX), read(0), "{}", agent.profile().name);
}

fn print(decoder: &mut Decoder, line: Line<'_>, printed: &mut u64) -> Vec<Record> {
    *printed += 1;
    decoder.stdout(line)
}

fn check(name: &str, records: &[Record], printed: u64) {
    assert!(
        records.is_sorted_by_key(|record| record.line),
        "{name}: the steps are out of order"
    );
    for record in records {
        assert!(
            record.line <= printed,
            "{name}: line {} of {printed}",
            record.line
        );
        let headline = record.step.headline();
        assert!(
            headline.lines().count() <= 1,
            "{name}: a headline of several lines: {headline:?}"
        );
        let written = serde_json::to_string(record).expect("a record can be written");
        assert!(!written.contains('\n'));
        let read: Record = serde_json::from_str(&written).expect("a record can be read");
        // Numbers in the input of a tool may be more exact than they can be held.
        assert_eq!(
            serde_json::to_string(&read).expect("again"),
            written,
            "{name}"
        );
    }
}

/// Returns whether a figure in the text may be refused: it then counts as not reported.
fn has_figure_beyond_measure(text: &str) -> bool {
    const MANY_DIGITS: usize = 9;
    let mut digits = text.split(|c: char| !c.is_ascii_digit());
    let is_exponent =
        |bytes: &[u8]| matches!(bytes, [b'0'..=b'9', b'e' | b'E', b'0'..=b'9' | b'+']);
    digits.any(|digits| digits.len() >= MANY_DIGITS) || text.as_bytes().windows(3).any(is_exponent)
}

/// The display never takes back that something is known.
fn stays_known(before: Usage, after: Usage) -> bool {
    let figures = |usage: Usage| {
        [
            usage.requests, usage.input_tokens, usage.cached_input_tokens, usage.output_tokens,
            usage.tool_calls,
        ]
    };
    figures(before)
        .iter()
        .zip(figures(after))
        .all(|(before, after)| before.is_none() || after.is_some())
}

fn servers() -> Vec<(String, McpServer<String>)> {
    let program = McpServer::Stdio {
        command: "node".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
    };
    let elsewhere = McpServer::Remote {
        url: "http://127.0.0.1:1/mcp".into(),
        headers: Vec::new(),
        transport: RemoteTransport::Http,
    };
    vec![("tiny".to_owned(), program), ("web".to_owned(), elsewhere)]
}

fn inputs<'a>(
    mcp_servers: &'a [(String, McpServer<String>)],
    variables: &'a BTreeSet<String>,
) -> Inputs<'a> {
    Inputs {
        git: false,
        model: Some("provider/model"),
        mcp_servers,
        config: None,
        command: Some("true"),
        program: None,
        agent_home: Utf8Path::new("/room/agent"),
        workspace: Utf8Path::new("/room/workspace"),
        prompt: "Do it",
        superuser: false,
        prompt_file: Utf8Path::new("/room/io/prompt.txt"),
        stats_file: Utf8Path::new("/room/io/stats.json"),
        artifacts_dir: Utf8Path::new("/room/io/artifacts"),
        variables,
    }
}
