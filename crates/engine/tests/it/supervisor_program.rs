//! A program that is nothing but a supervisor: the engine's tests start it in the place of `terca`.

fn main() -> std::io::Result<()> {
    terca_engine::process::supervise::serve()
}
