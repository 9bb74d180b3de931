#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on says so and ends"
)]
//! The corpus, and a bounded number of seeded mutations of it, through every target. The same inputs every time.
//!
//! `TERCA_FUZZ_ROUNDS=100000 cargo test --release -p terca-fuzz` looks longer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use terca_fuzz::TARGETS;

const ROUNDS: usize = 400;
/// What is longer says nothing more, but takes longer to say it.
const LONGEST: usize = 24 * 1024;

#[test]
fn yaml() {
    pass("yaml", &["corpus/yaml", "../../examples"]);
}

#[test]
fn decoders() {
    pass("decoders", &["corpus/decoders", "../core/tests/streams"]);
}

#[test]
fn journal() {
    pass("journal", &["corpus/journal"]);
}

#[test]
fn mask() {
    pass("mask", &["corpus/mask"]);
}

#[test]
fn outputs() {
    pass("outputs", &["corpus/outputs", "../core/tests/outputs"]);
}

#[test]
fn trees() {
    pass("trees", &["corpus/trees"]);
}

#[test]
fn run_file() {
    pass("run_file", &["corpus/run_file"]);
}

#[test]
fn foreign_run() {
    pass("foreign_run", &["corpus/foreign_run"]);
}

fn pass(name: &str, places: &[&str]) {
    let target = TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a target")
        .1;
    let seeds: Vec<Vec<u8>> = places
        .iter()
        .flat_map(|place| read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join(place)))
        .collect();
    assert!(seeds.len() >= 2, "{name} has a corpus");
    let rounds = std::env::var("TERCA_FUZZ_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ROUNDS);
    let mut rng = Rng::with_seed(20_261_115);
    let mutations = (0..rounds)
        .map(|_| mutate(&seeds, &mut rng))
        .collect::<Vec<_>>();
    for input in seeds.iter().cloned().chain(mutations) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-finding"));
            std::fs::write(&kept, &input).expect("a file");
            eprintln!(
                "the input is in {}:\n{}",
                kept.display(),
                String::from_utf8_lossy(&input)
            );
            std::panic::resume_unwind(panic);
        }
    }
}

/// The files below a directory that a target may be fed, in the order of their names.
fn read_all(dir: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let wanted = |path: &Path| {
        path.extension().is_some_and(|end| {
            ["yaml", "json", "jsonl", "txt"]
                .iter()
                .any(|known| end == *known)
        })
    };
    paths
        .into_iter()
        .flat_map(|path| match path.is_dir() {
            true => read_all(&path),
            false if wanted(&path) => vec![std::fs::read(path).expect("a file")],
            false => Vec::new(),
        })
        .collect()
}

/// What readers trip over.
const TOKENS: [&str; 24] = [
    "null", "true", "-1", "0", "18446744073709551615", "1e308", "\"\"", "{}", "[]", "\n", "\r\n",
    "\t", ": ", "- ", "&a ", "*a", "<<: ", "|", "${X}", "\u{feff}", "ä",
    "\u{1F469}\u{200d}\u{1F467}", "\0", "\\u0000",
];

/// One to four changes to a seed.
fn mutate(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut input = seeds[rng.usize(..seeds.len())].clone();
    for _ in 0..rng.usize(1..5) {
        let (start, end) = range(input.len(), rng);
        match rng.u8(..8) {
            0 => drop(input.drain(start..end)),
            1 => {
                let part = input[start..end].to_vec();
                input.splice(start..start, part);
            }
            2 => {
                let other = &seeds[rng.usize(..seeds.len())];
                let (from, to) = range(other.len(), rng);
                input.splice(start..end, other[from..to].iter().copied());
            }
            3 => drop(input.splice(start..start, rng.choice(TOKENS).unwrap_or_default().bytes())),
            4 => number(&mut input, start, rng),
            5 => input.truncate(start),
            6 => lines(&mut input, rng),
            _ => {
                if let Some(byte) = input.get_mut(start) {
                    *byte = rng.u8(..);
                }
            }
        }
    }
    input.truncate(LONGEST);
    input
}

/// A part, usually a small one.
fn range(length: usize, rng: &mut Rng) -> (usize, usize) {
    let start = rng.usize(..=length);
    let most = if rng.u8(..4) == 0 { length } else { 40 };
    (start, (start + rng.usize(..=most)).min(length))
}

/// Puts an extreme in the place of the next number.
fn number(input: &mut Vec<u8>, from: usize, rng: &mut Rng) {
    let Some(start) = input[from..]
        .iter()
        .position(u8::is_ascii_digit)
        .map(|at| from + at)
    else {
        return;
    };
    let length = input[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let extreme = rng.choice([
        "0", "18446744073709551615", "9223372036854775808", "4294967296", "-5", "1.5", "null",
    ]);
    input.splice(start..start + length, extreme.unwrap_or_default().bytes());
}

/// Puts a line somewhere else.
fn lines(input: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = input
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if lines.len() > 1 {
        let line = lines.remove(rng.usize(..lines.len()));
        lines.insert(rng.usize(..=lines.len()), line);
        *input = lines.concat();
    }
}
