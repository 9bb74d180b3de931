//! Evals: the name, the prompt, the directories beside the file.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::paths::beside;
use crate::config::raw::{RawEval, RawPrompt};
use crate::config::resolve_setup::variables;
use crate::config::resolver::Resolver;
use crate::config::suite::Eval;
use crate::config::{PathKind, resolve_action, resolve_test};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

/// The eval's name: the one written, else that of the directory of its file.
pub(super) fn name(
    raw: &RawEval,
    is_file: bool,
    resolver: &mut Resolver<'_>,
) -> Option<Located<String>> {
    if let Some(name) = &raw.name {
        return Some(name.clone());
    }
    if is_file {
        let dir = resolver
            .dir(raw.place)
            .file_name()
            .unwrap_or("eval")
            .to_owned();
        return Some(Located::new(dir, raw.place));
    }
    resolver.problems.push(
        Diagnostic::error(Code::MissingKey, "missing key `name`")
            .at(raw.place, "an eval of `evals` needs a `name`"),
    );
    None
}

pub(super) fn eval(
    raw: RawEval,
    name: String,
    is_file: bool,
    root: &Utf8Path,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Option<Eval> {
    let dir = resolver.dir(raw.place).to_owned();
    let beside_file = |name| {
        if is_file {
            resolver.optional_directory(&dir, name)
        } else {
            None
        }
    };
    // An eval file in the suite's own directory shares its `_base`, which is laid once.
    let layer = if dir == root {
        None
    } else {
        beside_file("_base")
    };
    let (tests_layer, solution) = (beside_file("_tests"), beside_file("_solution"));
    let solution_script = if is_file {
        resolver.optional_file(&dir, "_solution.sh")
    } else {
        None
    };
    let all_layers: Vec<Utf8PathBuf> = layers.iter().cloned().chain(layer.clone()).collect();
    let prepare = resolve_action::actions(raw.prepare, &all_layers, resolver);
    let before = resolve_action::actions(raw.before, &all_layers, resolver);
    let tests = resolve_test::tests(raw.tests, resolver);
    let prompt = prompt(raw.prompt, resolver)?;
    Some(Eval {
        name,
        description: raw.description.map(|text| text.value),
        dir,
        prompt,
        repetitions: raw.repetitions.map(|count| count.value),
        timeout: raw
            .timeout_seconds
            .map(|seconds| Duration::from_secs_f64(seconds.value)),
        layer,
        tests_layer,
        solution,
        solution_script,
        prepare,
        before,
        tests,
        env: variables(raw.env),
        tags: raw.tags.into_iter().map(|tag| tag.value).collect(),
    })
}

fn prompt(raw: Option<RawPrompt>, resolver: &mut Resolver<'_>) -> Option<String> {
    match raw? {
        RawPrompt::Inline(text) => Some(text.value),
        RawPrompt::File(path) => {
            let full = beside(resolver.dir(path.place), &path.value);
            resolver.existing(&path, "prompt file", &[PathKind::File])?;
            match resolver.surroundings.read_text(&full) {
                Ok(text) if text.trim().is_empty() => {
                    let message = format!("prompt file `{}` is empty", path.value);
                    resolver.problems.push(
                        Diagnostic::error(Code::EmptyFile, message)
                            .at(path.place, "nothing to ask for"),
                    );
                    None
                }
                Ok(text) => Some(text),
                Err(reason) => {
                    let message = format!("prompt file `{}` cannot be read", path.value);
                    resolver.problems.push(
                        Diagnostic::error(Code::UnreadableFile, message).at(path.place, reason),
                    );
                    None
                }
            }
        }
    }
}
