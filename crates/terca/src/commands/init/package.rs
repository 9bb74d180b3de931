//! The choice of a package at the root of a workspace.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::new_suite::scaffold::library::{Found, Member, Workspace};
use terca_core::text::Code;
use terca_core::text::shell::quoted;
use terca_engine::suite::discover;

use super::{InitArgs, no_answer, variable};
use crate::ask::Asker;
use crate::cli_error::CliError;
use crate::screen;

/// Returns the directory of the package that was asked for. At the root of a workspace, one has to be chosen.
pub(super) fn dir(
    args: &InitArgs,
    around: &Utf8Path,
    asker: Option<&Asker>,
) -> Result<Option<Utf8PathBuf>, CliError> {
    if args.no_library || args.empty {
        return Ok(None);
    }
    let (workspace, chosen) = match &args.package {
        Some(name) => {
            let Some(workspace) = discover::packages_around(around) else {
                let text = format!("--package {name}: {around} is in no workspace of packages");
                return Err(CliError::misuse(Code::Usage, text)
                    .help("`-C DIR` makes the suite of the library in that directory"));
            };
            let is_meant = |member: &Member| {
                let path = Utf8Path::new(&member.place);
                member.name == *name || member.place == *name || path.file_name() == Some(name)
            };
            let chosen = workspace.members.iter().position(is_meant);
            (workspace, chosen)
        }
        None => match discover::library_around(around, &variable) {
            Some(Found::Root(workspace)) => {
                let chosen = asker.map(|asker| asked(asker, &workspace)).transpose()?;
                (workspace, chosen)
            }
            _ => return Ok(None),
        },
    };
    let member = chosen.and_then(|at| workspace.members.get(at));
    match member {
        Some(member) => Ok(Some(workspace.root.join(&member.place))),
        None => Err(not_chosen(args, &workspace)),
    }
}

fn asked(asker: &Asker, workspace: &Workspace) -> Result<usize, CliError> {
    let items = workspace.members.iter();
    let items: Vec<String> = items
        .map(|member| format!("{} ({})", member.name, member.place))
        .collect();
    asker.choice("Package", &items).map_err(no_answer)
}

fn not_chosen(args: &InitArgs, workspace: &Workspace) -> CliError {
    let members = workspace.members.iter();
    let members: Vec<String> = members
        .map(|member| format!("{} ({})", member.name, member.place))
        .collect();
    let list = screen::listed(&members, 20);
    let text = match &args.package {
        Some(name) => format!(
            "the workspace in {} has no package `{name}`{list}",
            workspace.root
        ),
        None => format!(
            "{} is the root of a workspace: choose one of its packages{list}",
            workspace.root
        ),
    };
    let example = workspace.members.first().map(|member| quoted(&member.name));
    CliError::misuse(Code::Usage, text).help(format!(
        "`terca init --yes --package {}` makes its suite; nothing was made",
        example.unwrap_or_default()
    ))
}
