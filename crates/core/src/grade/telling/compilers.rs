//! Compilers: a file, a place, and what is wrong there.

use super::Complaint;

/// `src/a.ts(1,5): error TS2304: …`, or `src/a.ts:1:5 - error TS2304: …`.
pub(super) fn typescript(lines: &[&str]) -> Option<Complaint> {
    first_of(lines, |line| {
        let (_, code) = line.split_once("error TS")?;
        let digits = code.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0 && code[digits..].starts_with(':')).then(|| line.trim().to_owned())
    })
}

/// `error[E0425]: …` with the place in the line below it.
pub(super) fn rust(lines: &[&str]) -> Option<Complaint> {
    let mut found = None;
    let mut more = 0;
    for pair in lines.windows(2) {
        let is_error = pair[0].starts_with("error[") || pair[0].starts_with("error: ");
        if let Some(place) = pair[1]
            .trim_start()
            .strip_prefix("--> ")
            .filter(|_| is_error)
        {
            match found {
                None => found = Some(format!("{place}: {}", pair[0])),
                Some(_) => more += 1,
            }
        }
    }
    found.map(|said| Complaint::new("", said, more))
}

/// `./add.go:4:9: undefined: c`.
pub(super) fn go(lines: &[&str]) -> Option<Complaint> {
    let is_failed = lines.iter().any(|line| line.ends_with("[build failed]"));
    is_failed.then_some(())?;
    first_of(lines, |line| {
        let (_, place) = line.split_once(".go:")?;
        place
            .starts_with(|c: char| c.is_ascii_digit())
            .then(|| line.trim().to_owned())
    })
}

fn first_of(lines: &[&str], read: impl Fn(&str) -> Option<String>) -> Option<Complaint> {
    let mut found = lines.iter().filter_map(|line| read(line));
    let first = found.next()?;
    Some(Complaint::new("", first, found.count()))
}
