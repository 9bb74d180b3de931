//! The reader of journals. For any `events.jsonl`, it answers, what it counts adds up, and a journal that was
//! cut off at any byte gives what had been written whole until then.

use camino::Utf8Path;
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::seal::digest;
use terca_core::run::state::RunState;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::RunsError;

pub fn target(data: &[u8]) {
    let data = &sealed(data, b"");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let dir = Utf8Path::from_path(dir.path()).expect("a UTF-8 path");
    match read(dir, data) {
        Ok(state) => {
            check(&state);
            for cut in cuts(data) {
                let part = &data[..cut];
                let state = read(dir, part).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
                assert_eq!(state, fold(part), "cut at {cut}");
            }
        }
        Err(RunsError::Journal { damage, .. }) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&damage.line), "{damage}");
        }
        Err(other) => panic!("a file that is there cannot be read: {other}"),
    }
}

/// Seals the lines of a journal beside a `run.json`. Without it, everything but the seal would be refused unread.
pub(crate) fn sealed(journal: &[u8], run_file: &[u8]) -> Vec<u8> {
    let mut chain = digest(b"");
    let mut sealed = Vec::new();
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        let Some(body) = line.strip_suffix(b"}\n") else {
            sealed.extend_from_slice(line);
            continue;
        };
        let mut body = body.to_vec();
        if sealed.is_empty() {
            body.extend(format!(",\"runFile\":\"{}\"", digest(run_file)).bytes());
        }
        chain = digest(&[chain.as_bytes(), &body].concat());
        sealed.extend(body);
        sealed.extend(format!(",\"chain\":\"{chain}\"}}\n").bytes());
    }
    sealed
}

fn read(dir: &Utf8Path, data: &[u8]) -> Result<RunState, RunsError> {
    std::fs::write(dir.join("events.jsonl"), data).expect("a file");
    past_runs::read(dir).map(|run| run.state)
}

/// Returns all whole lines, by the shortest way.
fn fold(data: &[u8]) -> RunState {
    let events: Vec<Event> = data
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let mut state = RunState::fold(&events);
    // Nobody is writing it: a run without an end was interrupted.
    state.abandon();
    state
}

/// Around the ends of lines, and here and there.
fn cuts(data: &[u8]) -> Vec<usize> {
    let ends = data
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(index, _)| index);
    let near = ends
        .flat_map(|end| [end.saturating_sub(1), end, end + 1])
        .take(15);
    let far = (0..5).map(|fifth| data.len() * fifth / 5);
    near.chain(far).collect()
}

fn check(state: &RunState) {
    let finished = state
        .trials()
        .iter()
        .filter(|trial| trial.report.status.as_str() != "pending")
        .count();
    assert_eq!(state.counts().finished(), finished, "{:?}", state.counts());
    assert_eq!(state.counts().total, state.trials().len());
    assert!(state.in_flight().all(|trial| trial.live.is_some()));
    let running: usize = state.variants().iter().map(|variant| variant.running).sum();
    assert_eq!(running, state.in_flight().len());
    let results = Results::of(state);
    let text = serde_json::to_string(&results).expect("results can be written");
    let read: Results = serde_json::from_str(&text).expect("results can be read");
    assert_eq!(serde_json::to_string(&read).expect("again"), text);
}
