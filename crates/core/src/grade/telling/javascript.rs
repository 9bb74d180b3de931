//! vitest, jest, mocha, the `spec` reporter of `node --test`, and programs of Node that crashed.

use super::{Complaint, message_of, next_line};

/// `  ● add › adds small numbers`, with the message below.
pub(super) fn jest(lines: &[&str]) -> Option<Complaint> {
    let title = |line: &str| Some(line.strip_prefix("  ● ")?.trim().to_owned());
    let place = lines.iter().position(|line| title(line).is_some())?;
    let test = title(lines[place])?;
    // The same failure may be listed again in a summary.
    let mut others: Vec<String> = lines[place + 1..]
        .iter()
        .filter_map(|line| title(line))
        .collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|other| *other != test);
    let below = &lines[place + 1..];
    let said = next_line(below)?;
    let value = |name: &str| {
        let few = below.iter().take(10).map(|line| line.trim());
        few.filter_map(|line| line.strip_prefix(name)).next()
    };
    let said = match (value("Expected:"), value("Received:")) {
        (Some(expected), Some(received)) => {
            let said = said.split(" // ").next().unwrap_or(said);
            format!(
                "{said}: expected {}, received {}",
                expected.trim(),
                received.trim()
            )
        }
        _ => said.to_owned(),
    };
    Some(Complaint::new(&test, said, others.len()))
}

/// ` FAIL  a.test.ts > add > adds small numbers`, with the message below.
pub(super) fn vitest(lines: &[&str]) -> Option<Complaint> {
    let title = |line: &str| Some(line.strip_prefix(" FAIL ")?.trim().to_owned());
    let place = lines.iter().position(|line| title(line).is_some())?;
    let more = lines[place + 1..]
        .iter()
        .filter(|line| title(line).is_some())
        .count();
    let title = title(lines[place])?;
    let test = match title.split_once(" > ") {
        Some((_, test)) => test,
        // A file that could not be loaded: `a.test.ts [ a.test.ts ]`.
        None => title.split(" [ ").next().unwrap_or(&title),
    };
    // Tests that failed for the same reason are listed together.
    let below = lines[place + 1..]
        .iter()
        .position(|line| !line.starts_with(" FAIL "))?;
    let said = message_of(&lines[place + 1 + below..]);
    Some(Complaint::new(test, said, more))
}

/// `✖ adds small numbers (2.5ms)`, with the error further in.
pub(super) fn node_spec(lines: &[&str]) -> Option<Complaint> {
    let title = |line: &str| {
        let (name, time) = line.trim_start().strip_prefix("✖ ")?.rsplit_once(" (")?;
        time.ends_with("ms)").then(|| name.to_owned())
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let place = (0..lines.len().saturating_sub(1)).find(|place| {
        let (line, below) = (lines[*place], lines[place + 1]);
        title(line).is_some() && indent(below) > indent(line) && !below.trim().is_empty()
    })?;
    let failed = lines.iter().find_map(|line| line.strip_prefix("ℹ fail "));
    let failed: usize = failed
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or(1);
    let said = message_of(&lines[place + 1..]).replace(" [ERR_ASSERTION]", "");
    Some(Complaint::new(
        &title(lines[place])?,
        said,
        failed.saturating_sub(1),
    ))
}

/// `  1) add`, the names further in, and the error after a colon.
pub(super) fn mocha(lines: &[&str]) -> Option<Complaint> {
    let number = |line: &str| {
        let number = line.trim().strip_suffix(" failing")?;
        number.parse::<usize>().ok()
    };
    let summary = lines.iter().position(|line| number(line).is_some())?;
    let failed = number(lines[summary])?;
    let below = &lines[summary + 1..];
    let start = below
        .iter()
        .position(|line| line.trim_start().starts_with("1) "))?;
    let mut names = Vec::new();
    for (place, line) in below.iter().enumerate().skip(start).take(20) {
        let name = line.trim().trim_start_matches("1) ");
        names.push(name.trim_end_matches(':').to_owned());
        if name.ends_with(':') {
            let said = message_of(&below[place + 1..]).replace(" [ERR_ASSERTION]", "");
            return Some(Complaint::new(
                &names.join(" > "),
                said,
                failed.saturating_sub(1),
            ));
        }
    }
    None
}

/// The error of a program that crashed: below the line of the program and a `^`, above `Node.js v…`.
pub(super) fn crash(lines: &[&str]) -> Option<Complaint> {
    const MOST_LINES: usize = 12;
    let end = lines
        .iter()
        .rposition(|line| line.starts_with("Node.js v"))?;
    let is_caret = |line: &str| {
        let signs = line.trim();
        !signs.is_empty() && signs.bytes().all(|sign| sign == b'^')
    };
    // The place is two lines or more above: `file.js:3`, then the line of the program.
    let is_place = |line: &str| {
        let place = line.rsplit_once(':');
        !line.starts_with(' ') && place.is_some_and(|(_, line)| line.parse::<u64>().is_ok())
    };
    let place = lines[..end].iter().rposition(|line| is_place(line))?;
    let few = &lines[place..end.min(place + MOST_LINES)];
    let caret = place + few.iter().position(|line| is_caret(line))?;
    next_line(&lines[caret + 1..end])?;
    let said = message_of(&lines[caret + 1..end]).replace(" [ERR_ASSERTION]", "");
    let said = said.trim_end_matches(" {");
    // `Error` alone says nothing; the line of the program does.
    let is_bare = !said.contains(' ');
    let code = next_line(&lines[place + 1..caret]).filter(|_| is_bare);
    Some(Complaint::plain(match code {
        Some(code) => format!("{said}: {code}"),
        None => said.to_owned(),
    }))
}
