//! The style and the script that every page carries, and the two kinds of pages.

/// The style, one part of a page after the other.
pub(super) const STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/top.css"),
    include_str!("style/overview.css"),
    include_str!("style/list.css"),
    include_str!("style/trial.css"),
    include_str!("style/steps.css"),
    include_str!("style/live.css"),
    include_str!("style/media.css"),
    include_str!("style/narrow.css"),
);

/// The script: one function of several files, so that nothing of it is a global name.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("script/base.js"),
    include_str!("script/theme.js"),
    include_str!("script/runs.js"),
    include_str!("script/packed.js"),
    include_str!("script/rows.js"),
    include_str!("script/window.js"),
    include_str!("script/changed.js"),
    include_str!("script/list.js"),
    include_str!("script/picked.js"),
    include_str!("script/bodies.js"),
    include_str!("script/search.js"),
    include_str!("script/trial.js"),
    include_str!("script/session.js"),
    include_str!("script/align.js"),
    include_str!("script/pair.js"),
    include_str!("script/addresses.js"),
    include_str!("script/keys.js"),
    include_str!("script/morph.js"),
    include_str!("script/live.js"),
    include_str!("script/remark.js"),
    include_str!("script/start.js"),
    "})();\n",
);

/// The place a page is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file that contains everything.
    File,
    /// A server that has more, and announces changes.
    Served,
}
