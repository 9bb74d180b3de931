//! The engine's trees alone: `bench-tree copy FROM TO` copies a tree into an empty directory, `bench-tree remove PATH`
//! removes one.

use std::io;

use terca_engine::tree::{Dir, Options, copy, remove};

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let options = Options::default();
    match args.as_slice() {
        ["copy", from, to] => {
            fs_err::create_dir(to)?;
            copy(&Dir::open(from)?, &Dir::open(to)?, &options, &mut |_| {
                Ok(true)
            })?;
            Ok(())
        }
        ["remove", path] => Ok(remove(path, &options)?.into_result(path.as_ref())?),
        _ => Err(io::Error::other(
            "usage: bench-tree copy FROM TO | remove PATH",
        )),
    }
}
