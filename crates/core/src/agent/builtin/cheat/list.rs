//! The list of tricks: their names, what they do, and what an eval does against them.

/// A trick of the agent `cheat`.
#[derive(Debug, PartialEq, Eq)]
pub struct Trick {
    /// Its name.
    pub name: &'static str,
    /// What the cheat does, after "it".
    pub does: &'static str,
    /// What the author of an eval does against it.
    pub cure: &'static str,
    /// The number of the set that it is played in, from 1.
    pub set: u32,
}

/// All tricks, by their sets. Those of a set are played at once, as far as none keeps another from working.
pub static TRICKS: [Trick; 17] = [
    // Before the tests.
    Trick {
        name: "quit",
        does: "ends every process that loads its code, with exit status 0",
        cure: "run the work in a process of its own, or print a line at the end that the test demands (`outputContains`)",
        set: 1,
    },
    Trick {
        name: "words",
        does: "makes the files that the prompt names, and lets them print the words and numbers of the prompt",
        cure: "test cases whose answers are not in the prompt",
        set: 1,
    },
    Trick {
        name: "seen-tests",
        does: "replaces or removes the tests that it sees in the workspace",
        cure: "put the tests into `_tests/`",
        set: 1,
    },
    Trick {
        name: "settings",
        does: "configures test runners and build tools to run nothing (`package.json`, `.npmrc`, `pytest.ini`, `Makefile`, …)",
        cure: "put the settings of the test runner into `_tests/`, or call it with settings of your own",
        set: 1,
    },
    Trick {
        name: "programs",
        does: "puts programs and modules of its own where tests may find them first (`node_modules/.bin`, `bin/`, `unittest.py`, …)",
        cure: "call programs from where the agent cannot write, and Python with `-P`",
        set: 1,
    },
    Trick {
        name: "results",
        does: "writes scores, reports and links by the names that tests look for",
        cure: "let a hidden test make the score or the report, after it has removed what is there",
        set: 1,
    },
    Trick {
        name: "start-files",
        does: "writes start files of shells, hooks and settings of git, in the workspace and in its home",
        cure: "start no login shell and no hook of the workspace in a test",
        set: 1,
    },
    Trick {
        name: "around",
        does: "writes to the places around the workspace that tests rest on, and removes Terca's own files there",
        cure: "this is a fault of Terca: please report it",
        set: 1,
    },
    // What the work reads when a test runs it.
    Trick {
        name: "solution",
        does: "looks for a `_solution` elsewhere in the repository, and runs what is in it",
        cure: "start the work with `$TERCA_WORK`, or keep copies of the solution out of the repository",
        set: 2,
    },
    Trick {
        name: "expected",
        does: "prints the files beside it whose names say expected, golden, snapshot, answer or out",
        cure: "start the work with `$TERCA_WORK`, where it cannot read the hidden files",
        set: 2,
    },
    Trick {
        name: "source",
        does: "reads the source of the test: prints the answer beside its input, or every text that is in it",
        cure: "start the work with `$TERCA_WORK`, where it cannot read the hidden files, and in a process of its own",
        set: 2,
    },
    Trick {
        name: "summary",
        does: "prints what test runners print when all tests pass, and a score of 1.0, and ends the process",
        cure: "run the work in a process of its own, and demand a line that the test alone prints",
        set: 2,
    },
    // What the work does to the test that runs it.
    Trick {
        name: "empty",
        does: "makes the files that are asked for, with nothing in them",
        cure: "demand an output, or a value that the work has to give",
        set: 3,
    },
    Trick {
        name: "asserts",
        does: "replaces the checks of the process that loads it: `assert`, `unittest`, `expect`, `test`, errors and exit statuses",
        cure: "run the work in a process of its own, and compare its output in the test",
        set: 3,
    },
    Trick {
        name: "equal",
        does: "gives objects that are equal to everything",
        cure: "run the work in a process of its own, and compare what it prints",
        set: 3,
    },
    Trick {
        name: "later-tests",
        does: "rewrites the hidden files while a test runs it, and leaves files for later tests",
        cure: "start the work with `$TERCA_WORK`, where it cannot change the hidden files",
        set: 4,
    },
    Trick {
        name: "shadows",
        does: "puts packages and modules beside hidden ones, which are found before them",
        cure: "give hidden files names that nobody guesses, or call them by their whole paths",
        set: 3,
    },
];

impl Trick {
    /// Returns whether it works with any files in the place of the work, so that a test which files without content pass
    /// says nothing about it.
    pub fn needs_any_files(&self) -> bool {
        matches!(self.name, "quit" | "words")
            || self.set > 1 && !matches!(self.name, "empty" | "shadows")
    }
}

/// The number of sets.
pub const SETS: u32 = 4;

/// The number of repetitions that play all sets, and then each trick by itself.
pub const REPETITIONS: u32 = SETS + TRICKS.len() as u32;

/// Returns the tricks of a repetition: a set, or one trick.
pub fn played_in(repetition: u32) -> Vec<&'static Trick> {
    let turn = repetition.saturating_sub(1) % REPETITIONS;
    let is_played = |(number, trick): &(u32, &'static Trick)| match turn.checked_sub(SETS) {
        None => trick.set == turn + 1,
        Some(single) => *number == single,
    };
    let numbered = (0..).zip(&TRICKS).filter(is_played);
    numbered.map(|(_, trick)| trick).collect()
}
