//! Opens an address in the user's browser.

use std::process::{Command, Stdio};

use crate::screen;

/// Opens an address, where there is a screen and a program that does it.
pub fn open(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let has_screen = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !has_screen {
        return;
    }
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            let _ = std::thread::Builder::new()
                .name("opener".into())
                .spawn(move || child.wait());
        }
        Err(error) => screen::err(&format!("note: cannot open a browser ({program}: {error})")),
    }
}
