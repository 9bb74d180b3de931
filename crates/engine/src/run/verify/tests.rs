//! Law: any change to a single line of a journal is noticed.

use jiff::Timestamp;
use proptest::prelude::*;
use terca_core::plan::trial_folder;
use terca_core::run::event::{Event, EventKind, Phase, RunStart, TrialHead};
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::run_file::RunFile;

use super::*;
use crate::run::store::Store;

/// A run in a directory of its own.
struct Made {
    _guard: tempfile::TempDir,
    dir: Utf8PathBuf,
}

impl Made {
    fn journal(&self) -> Vec<u8> {
        std::fs::read(self.dir.join(EVENTS)).unwrap()
    }

    fn write(&self, text: &[u8]) {
        std::fs::write(self.dir.join(EVENTS), text).unwrap();
    }

    fn is_sound(&self) -> bool {
        verify(&self.dir).unwrap().sound
    }
}

fn head(id: u32) -> TrialHead {
    TrialHead {
        id,
        eval: "größe".into(),
        environment: "e".into(),
        experiment: "x".into(),
        repetition: id,
        dir: trial_folder("größe", "e", "x", id),
        agent: "nop".into(),
        model: None,
    }
}

/// The events of a run of so many trials.
fn happenings(trials: u32, is_complete: bool) -> Vec<EventKind> {
    let mut kinds = vec![EventKind::RunStarted(Box::new(RunStart {
        run: "1".into(),
        suite: "s".into(),
        terca_version: env!("CARGO_PKG_VERSION").into(),
        seed: 1,
        concurrency: 1,
        baseline: "x".into(),
        trials: (1..=trials).map(head).collect(),
        ..RunStart::default()
    }))];
    for trial in 1..=trials {
        let phase = Phase::Agent;
        let report = TrialReport {
            status: Status::Passed,
            score: Some(1.0 / f64::from(trial)),
            ..TrialReport::pending()
        };
        kinds.push(EventKind::TrialStarted { trial, on: None });
        kinds.push(EventKind::PhaseStarted { trial, phase });
        kinds.push(EventKind::TrialFinished {
            trial,
            report: Box::new(report),
        });
    }
    if is_complete {
        let status = RunStatus::Complete;
        kinds.push(EventKind::RunFinished { status });
    }
    kinds
}

fn made(trials: u32, is_complete: bool) -> Made {
    let guard = tempfile::tempdir().unwrap();
    let suite = Utf8Path::from_path(guard.path()).unwrap();
    let file = include_bytes!("../../../../terca/tests/fixtures/run.json");
    let file = RunFile::parse(file).unwrap();
    let today = jiff::civil::date(2026, 11, 15);
    let mut store = Store::create(suite, today, &file).unwrap();
    let mut state = RunState::default();
    for (kind, seq) in happenings(trials, is_complete).into_iter().zip(0..) {
        let at = Timestamp::from_second(1_700_000_000 + seq as i64).unwrap();
        let event = Event { seq, at, kind };
        store.append(&event).unwrap();
        state.apply(&event);
    }
    assert!(store.conclude(&state).unwrap().is_none());
    let dir = store.dir.clone();
    Made { _guard: guard, dir }
}

/// A change to one line.
#[derive(Debug, Clone)]
enum Change {
    Byte(prop::sample::Index, u8),
    ByteAdded(prop::sample::Index, u8),
    ByteRemoved(prop::sample::Index),
    Removed(prop::sample::Index),
    Doubled(prop::sample::Index),
    /// A line is put in the place before another.
    Moved(prop::sample::Index, prop::sample::Index),
    Swapped(prop::sample::Index, prop::sample::Index),
    Inserted(prop::sample::Index, String),
    Cut(prop::sample::Index),
    /// A line of another run.
    Foreign(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        8 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::ByteAdded(at, byte)),
        2 => index().prop_map(Change::ByteRemoved),
        1 => index().prop_map(Change::Removed),
        1 => index().prop_map(Change::Doubled),
        1 => (index(), index()).prop_map(|(from, to)| Change::Moved(from, to)),
        1 => (index(), index()).prop_map(|(one, other)| Change::Swapped(one, other)),
        1 => (index(), ".*").prop_map(|(at, text)| Change::Inserted(at, text)),
        1 => index().prop_map(Change::Cut),
        1 => index().prop_map(Change::Foreign),
    ]
}

fn changed(text: &[u8], foreign: &[u8], change: &Change) -> Vec<u8> {
    let split = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    };
    let mut bytes = text.to_vec();
    let mut lines = split(text);
    match change {
        Change::Byte(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
            return bytes;
        }
        Change::ByteAdded(at, byte) => {
            bytes.insert(at.index(bytes.len() + 1), *byte);
            return bytes;
        }
        Change::ByteRemoved(at) => {
            bytes.remove(at.index(bytes.len()));
            return bytes;
        }
        Change::Removed(at) => drop(lines.remove(at.index(lines.len()))),
        Change::Doubled(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Change::Moved(from, to) => {
            let line = lines.remove(from.index(lines.len()));
            lines.insert(to.index(lines.len() + 1), line);
        }
        Change::Swapped(one, other) => {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            lines.swap(one, other);
        }
        Change::Inserted(at, text) => {
            let line = format!("{text}\n").into_bytes();
            lines.insert(at.index(lines.len() + 1), line);
        }
        Change::Cut(at) => lines.truncate(at.index(lines.len())),
        Change::Foreign(at) => {
            let at = at.index(lines.len());
            lines[at].clone_from(&split(foreign)[at]);
        }
    }
    lines.concat()
}

/// Whether a text differs from another by more than a last line without an end, which Terca leaves when it is killed.
/// The results are older then, so they cannot tell.
fn is_torn_only(text: &[u8], changed: &[u8]) -> bool {
    let whole = |text: &[u8]| {
        let end = text.iter().rposition(|byte| *byte == b'\n');
        text[..end.map_or(0, |end| end + 1)].to_vec()
    };
    whole(changed) == whole(text)
}

proptest! {
    // Making a run takes longer than changing it.
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_change_to_a_line_is_noticed(
        trials in 0_u32..4,
        is_complete in any::<bool>(),
        changes in prop::collection::vec(change(), 60),
    ) {
        let run = made(trials, is_complete);
        // The same but for one figure, so that its lines fit in but for their seals.
        let other = made(trials + 1, is_complete);
        let (text, foreign) = (run.journal(), other.journal());
        prop_assert!(run.is_sound());
        for change in changes {
            let changed = changed(&text, &foreign, &change);
            run.write(&changed);
            let is_same = is_torn_only(&text, &changed);
            prop_assert_eq!(
                run.is_sound(),
                is_same,
                "{:?}: {}",
                change,
                String::from_utf8_lossy(&changed)
            );
        }
        run.write(&text);
        prop_assert!(run.is_sound());
    }

    #[test]
    fn any_change_to_the_plan_is_noticed(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 60),
    ) {
        let run = made(1, true);
        let path = run.dir.join(RUN);
        let text = std::fs::read(&path).unwrap();
        for (at, byte) in changes {
            let mut changed = text.clone();
            changed[at.index(text.len())] = byte;
            std::fs::write(&path, &changed).unwrap();
            prop_assert_eq!(run.is_sound(), changed == text);
        }
    }
}
