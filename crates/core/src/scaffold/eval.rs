//! The files of a new eval.

use camino::{Utf8Component, Utf8Path};

use super::{NewFile, Sample, templates};
use crate::config::folder_name;

/// Returns the files of a new eval. Without schemas in the suite there is no line for editors.
pub fn eval(dir: &Utf8Path, sample: Sample, has_schemas: bool) -> Vec<NewFile> {
    let template = match sample {
        Sample::Example => templates::EXAMPLE,
        Sample::Small => templates::SMALL,
    };
    template.written(dir, has_schemas, &str::to_owned)
}

/// Returns why no eval would be found in a directory of this name, if that is so.
pub fn eval_name_problem(name: &str) -> Option<String> {
    let path = Utf8Path::new(name);
    if name.trim().is_empty() {
        return Some("the name is empty".into());
    }
    for component in path.components() {
        let Utf8Component::Normal(part) = component else {
            return Some(format!("`{name}` is not a path inside the suite"));
        };
        if part.starts_with(['.', '_']) || part == "node_modules" {
            return Some(format!(
                "evals are not looked for in `{part}`, nor anywhere below a name that begins with `_` or `.`"
            ));
        }
        if folder_name(part) != part || part.trim() != part {
            return Some(format!(
                "`{}` cannot be a directory's name everywhere",
                part.escape_debug()
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::eval_name_problem;

    #[test]
    fn names_under_which_an_eval_is_found() {
        for good in ["fib", "001-fib", "group/fib", "two words", "größe"] {
            assert_eq!(eval_name_problem(good), None, "{good}");
        }
        for bad in [
            "", " ", "_base", ".hidden", "a/_tests", "../up", "/abs", "node_modules", "a\nb",
            "./x", "x ",
        ] {
            assert!(eval_name_problem(bad).is_some(), "{bad}");
        }
    }
}
