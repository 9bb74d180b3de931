//! An agent that does nothing but say so: a line every tenth of a second, `bench-talker SECONDS`.

use std::io::{self, Write};
use std::time::Duration;

fn main() -> io::Result<()> {
    let seconds: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    for step in 0..seconds * 10 {
        writeln!(
            io::stdout(),
            "step {step}: reading src/module_{}.rs and thinking about it",
            step % 7
        )?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
