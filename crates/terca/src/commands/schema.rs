//! `terca schema`: what editors need to know of the configuration files.

use terca_core::config::schema as core;

use crate::args::{ConfigFile, SchemaArgs};
use crate::screen;

pub(super) fn schema(args: &SchemaArgs) -> u8 {
    let schema = match args.file {
        ConfigFile::Terca => core::suite(),
        ConfigFile::Eval => core::eval(),
    };
    screen::say(&core::text(&schema));
    0
}
