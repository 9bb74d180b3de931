//! An eval: its own file, or an entry of a suite's `evals`.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::action::{Action, Runs, actions, added_actions};
use crate::config::limits::{LimitSettings, limits};
use crate::config::sandbox::{Sandbox, container};
use crate::config::service::{Service, services};
use crate::config::suite_settings::{ABOUT, allowed_warnings};
use crate::config::test::tests;
use crate::config::variables::{Template, Variables, trial_variables};
use crate::grade::TestSpec;
use crate::reader::{
    Fields, Kind, Patch, PathKind, Reader, count, filled_text, object, one_or_more, seconds, text,
};
use crate::text::{Code, Diagnostic, Located, Place};

/// A prompt, and the tests that verify the work.
#[derive(Debug, Clone, Default)]
pub struct Eval {
    /// Its name, unique in the suite.
    pub name: String,
    /// A text for people.
    pub description: Option<String>,
    /// The directory of the YAML file.
    pub dir: Utf8PathBuf,
    /// The path of that directory below the suite's, where the eval has it for itself.
    pub path: Option<Utf8PathBuf>,
    /// The task for the agent.
    pub prompt: String,
    /// The number of repetitions, where it differs from the suite's.
    pub repetitions: Option<u32>,
    /// The agent's time limit, where it differs from the variant's.
    pub timeout: Option<Duration>,
    /// The most that a trial may use, where it differs from the suite's.
    pub limits: LimitSettings,
    /// The container of its trials, whatever the sandbox of others is.
    pub sandbox: Option<Sandbox>,
    /// `_base/`, copied over the suite's layers.
    pub layer: Option<Utf8PathBuf>,
    /// `_tests/`, copied over the work when it is tested.
    pub tests_layer: Option<Utf8PathBuf>,
    /// `_solution/`, copied over the workspace by `oracle`.
    pub solution: Option<Utf8PathBuf>,
    /// `_solution.sh`, then run in the workspace by `oracle`.
    pub solution_script: Option<Utf8PathBuf>,
    /// Actions that run once, before any trial of this eval.
    pub prepare: Vec<Action<Template>>,
    /// Actions that run in every trial, before the agent.
    pub before: Patch<Vec<Action<Template>>>,
    /// Programs beside the trial, such as databases.
    pub services: Patch<Vec<Service<Template>>>,
    /// The tests, in the order of the file.
    pub tests: Vec<TestSpec>,
    /// Variables of every command of a trial.
    pub env: Variables,
    /// Labels for selections.
    pub tags: Vec<String>,
    /// What it still lacks. Such an eval runs only where a selection names it.
    pub incomplete: Vec<String>,
    /// Warnings that are not shown.
    pub allowed_warnings: Vec<Code>,
    /// The place of its prompt, for messages.
    pub place: Place,
}

impl Eval {
    /// Returns true when there is a reference solution for `oracle`.
    pub fn has_solution(&self) -> bool {
        self.solution.is_some() || self.solution_script.is_some()
    }
}

/// An eval as read.
pub(super) struct ReadEval {
    pub eval: Eval,
    /// The place of its name, or of the eval where no name is written.
    pub place: Place,
    /// Its name is written, not a default.
    pub is_named: bool,
}

/// The file that an eval is written in.
pub(super) enum Home {
    /// `terca.yaml`.
    Suite,
    /// A file of its own, with directories beside it. The path is the suite's root.
    OwnFile(Utf8PathBuf),
}

/// An eval.
pub(super) fn eval(home: Home) -> Kind<ReadEval> {
    object("eval", "an eval", move |fields| fields_of(fields, &home))
        .about("A prompt, and the tests that verify the work.")
        .example("{name: fib, prompt: Write fib.js.}")
        .linked("[eval](eval-yaml.md)")
        .kind()
}

fn fields_of(fields: &mut Fields<'_, '_>, home: &Home) -> Option<ReadEval> {
    let dir = fields.reader.dir(fields.place).to_owned();
    let beside = |name, kind| match home {
        Home::Suite => None,
        Home::OwnFile(_) => fields.reader.optional_path(&dir, name, kind),
    };
    let tests_layer = beside("_tests", PathKind::Directory);
    let solution = beside("_solution", PathKind::Directory);
    let solution_script = beside("_solution.sh", PathKind::File);
    // An eval file in the suite's own directory shares its `_base`, which is one layer.
    let layer = match home {
        Home::OwnFile(root) if dir != *root => beside("_base", PathKind::Directory),
        _ => None,
    };
    let name = fields.optional(
        "name",
        filled_text(),
        "The eval's name. Default: the directory's name, or its path below the suite's directory where two have \
         the same name. An eval in `terca.yaml` has no directory and needs one.",
    );
    let description = fields.optional("description", text().value(), "A text for people.");
    let prompt = prompt(fields);
    let declared = conduct(fields);
    fields.allow_foreign();
    let is_named = name.is_some();
    let name = name.or_else(|| default_name(fields, home))?;
    // One without a prompt is reported, and its name is still compared with others.
    let prompt = prompt.unwrap_or(Located::new(String::new(), fields.place));
    let eval = Eval {
        name: name.value,
        description,
        path: path(&dir, home),
        dir,
        prompt: prompt.value,
        layer,
        tests_layer,
        solution,
        solution_script,
        place: prompt.place,
        ..declared
    };
    Some(ReadEval {
        eval,
        place: name.place,
        is_named,
    })
}

/// Declares how the eval runs and what tests it.
fn conduct(fields: &mut Fields<'_, '_>) -> Eval {
    Eval {
        repetitions: fields.optional(
            "repetitions",
            count().value(),
            "How often this eval is run in each variant. Default: the suite's `repetitions`.",
        ),
        timeout: fields.optional(
            "timeoutSeconds",
            seconds(),
            "The agent's time limit in one trial. It takes precedence over every other.",
        ),
        limits: fields.defaulted(
            "limits",
            limits(),
            "The most that a trial of this eval may use. Each limit takes precedence over those of the suite and its \
             variants.",
        ),
        sandbox: fields.optional(
            "sandbox",
            container(),
            "The [container](eval-yaml.md#sandbox) of every command of a trial of this eval. It takes precedence over every \
             other `sandbox`, and `--sandbox` over this one.",
        ),
        prepare: actions(
            fields,
            "prepare",
            Runs::Once,
            "Actions that run once for this eval, on top of the suite's. Every trial starts from a copy of the result.",
        ),
        before: added_actions(
            fields,
            "before",
            "Actions that run in every trial of this eval, before the agent and after the suite's. \
             [They add up](terca-yaml.md#replaced-merged-added-up).",
        ),
        services: fields.patch(
            "services",
            services(),
            "Programs beside the trial, such as a [database](terca-yaml.md#services). One takes the place of the suite's \
             or the variant's of the same name.",
        ),
        tests: tests(fields),
        env: fields.defaulted(
                "env",
                trial_variables(),
                "[Environment variables](terca-yaml.md#variables) of every command of a trial.",
            ),
        tags: fields.defaulted(
                "tags",
                one_or_more(filled_text().value()),
                "Labels for selections: `terca -t tag:smoke`.",
            ),
        incomplete: fields.defaulted(
                "incomplete",
                one_or_more(filled_text().value()),
                "What the eval still lacks, such as files or packages. `terca` leaves out an eval with this key unless `-t` \
                 selects it, and `terca validate` always says so. Remove the key when nothing is missing.",
            ),
        allowed_warnings: fields.defaulted("allowWarnings", allowed_warnings(), ABOUT),
        ..Eval::default()
    }
}

/// Returns the path of an eval's own directory below the suite's.
fn path(dir: &Utf8Path, home: &Home) -> Option<Utf8PathBuf> {
    let Home::OwnFile(root) = home else {
        return None;
    };
    let path = dir.strip_prefix(root).ok()?;
    (!path.as_str().is_empty()).then(|| path.to_owned())
}

/// Names an eval after the directory of its file.
fn default_name(fields: &mut Fields<'_, '_>, home: &Home) -> Option<Located<String>> {
    match home {
        Home::Suite => fields.missing("name", "an eval of `evals` needs a `name`"),
        Home::OwnFile(_) => {
            let dir = fields.reader.dir(fields.place);
            let name = dir.file_name().unwrap_or("eval").to_owned();
            Some(Located::new(name, fields.place))
        }
    }
}

/// Declares `prompt` and `promptFile`, of which exactly one is wanted.
fn prompt(fields: &mut Fields<'_, '_>) -> Option<Located<String>> {
    let given = fields.one_of(&["prompt", "promptFile"]);
    let inline = fields.filled(
        "prompt",
        filled_text().then(|prompt, reader| {
            warn_of_a_file(&prompt, reader);
            Some(prompt.value)
        }),
        "The task for the agent. `prompt` or `promptFile` is required.",
    );
    let file = fields.filled(
        "promptFile",
        filled_text()
            .called("path")
            .then(|path, reader| read_prompt(&path, reader)),
        "A file with the prompt, relative to the YAML file.",
    );
    if given.is_empty() {
        return fields.missing("prompt", "an eval needs a `prompt` (or a `promptFile`)");
    }
    let key = fields.only(Code::MissingKey, &[], given)?;
    Some(Located::new(inline.or(file)?, key.place))
}

/// Warns of a prompt that is the name of a file beside the YAML file.
fn warn_of_a_file(prompt: &Located<String>, reader: &mut Reader<'_>) {
    let written = prompt.value.trim();
    if written.contains(char::is_whitespace) || !written.contains(['.', '/']) {
        return;
    }
    let path = reader.beside(&Located::new(written.to_owned(), prompt.place));
    let is_there = reader.surroundings.kind(&path) == PathKind::File;
    if is_there || written.ends_with(".md") || written.ends_with(".txt") {
        let message = format!("the prompt is `{written}`, which is the name of a file");
        let help = match is_there {
            true => format!("write `promptFile: {written}`"),
            false => format!(
                "make the file and write `promptFile: {written}`, or write the task as a sentence"
            ),
        };
        reader.problems.push(
            Diagnostic::warning(Code::PromptIsAFile, message)
                .at(
                    prompt.place,
                    "the agent gets this word instead of the text of the file",
                )
                .help(help),
        );
    }
}

fn read_prompt(path: &Located<String>, reader: &mut Reader<'_>) -> Option<String> {
    let full = reader.existing(path, "prompt file", &[PathKind::File])?;
    let written = &path.value;
    let problem = match reader.surroundings.read_text(&full) {
        Ok(text) if !text.trim().is_empty() => return Some(text),
        Ok(_) => Diagnostic::error(Code::EmptyFile, format!("prompt file `{written}` is empty"))
            .at(path.place, "there is no task for the agent"),
        Err(reason) => Diagnostic::error(
            Code::UnreadableFile,
            format!("prompt file `{written}` cannot be read"),
        )
        .at(path.place, reason),
    };
    reader.refuse(problem)
}
