//! Wording: lists, plurals, sizes, durations, and "did you mean".

use strsim::osa_distance;

/// Joins items with a text between them.
pub fn joined(items: impl IntoIterator<Item: AsRef<str>>, between: &str) -> String {
    let mut text = String::new();
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            text += between;
        }
        text += item.as_ref();
    }
    text
}

/// Returns a text in one line, with a single space between its words.
pub fn one_line(text: &str) -> String {
    joined(text.split_whitespace(), " ")
}

/// Joins items as in a sentence: `a`, `a and b`, `a, b and c`.
pub fn list(items: impl IntoIterator<Item: AsRef<str>>, conjunction: &str) -> String {
    let mut items: Vec<_> = items.into_iter().collect();
    match items.pop() {
        Some(last) if !items.is_empty() => {
            format!("{} {conjunction} {}", joined(items, ", "), last.as_ref())
        }
        only => joined(only, ""),
    }
}

/// Returns a text with a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Joins the first items of a list, and counts the others: `a, b and 3 more`. A single one more is named.
pub fn few(items: impl IntoIterator<Item: AsRef<str>>, most: usize) -> String {
    let items = items.into_iter().map(|item| item.as_ref().to_owned());
    let mut items: Vec<String> = items.collect();
    if items.len() > most + 1 {
        let more = items.split_off(most).len();
        items.push(format!("{more} more"));
    }
    list(items, "and")
}

/// Joins items as in a sentence, each in back-quotes.
pub fn quoted_list(items: impl IntoIterator<Item: AsRef<str>>, conjunction: &str) -> String {
    let items = items.into_iter();
    list(
        items.map(|item| format!("`{}`", item.as_ref())),
        conjunction,
    )
}

/// Counts things: `1 trial`, `3 trials`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// Formats a duration: `0.4s`, `41s`, `3m 05s`, `2h 07m`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1}s");
    }
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole}s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// Says how long ago something was: `3 days ago`, `less than a minute ago`.
pub fn ago(seconds: f64) -> String {
    let minutes = (seconds / 60.0) as usize;
    match minutes {
        0 => "less than a minute ago".to_owned(),
        1..60 => format!("{} ago", count(minutes, "minute")),
        60..1440 => format!("{} ago", count(minutes / 60, "hour")),
        _ => format!("{} ago", count(minutes / 1440, "day")),
    }
}

/// Formats a number in few characters: `950`, `12.3k`, `4.1M`.
pub fn compact(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..999_950 => format!("{:.1}k", number as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.1}G", number as f64 / 1e9),
    }
}

/// Formats a number of bytes: `7.3 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Formats an amount of money in dollars, with more digits where it is small.
pub fn dollars(amount: f64) -> String {
    if amount < 0.995 {
        format!("${amount:.3}")
    } else {
        format!("${amount:.2}")
    }
}

/// Returns the candidate that was probably meant, if one is close enough.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded = fold(word);
    let limit = 1 + word.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks whether another word was meant, if one is close enough.
pub fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    did_you_mean(word, candidates).map(|meant| format!("did you mean `{meant}`?"))
}

/// Removes differences in spelling that people do not see: case, `-`, `_` and spaces.
pub(crate) fn fold(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant() {
        let keys = [
            "name", "prompt", "repetitions", "timeoutSeconds", "fileExists", "fileContains",
        ];
        for (typed, meant) in [
            ("promt", Some("prompt")),
            ("pormpt", Some("prompt")),
            ("timeout_seconds", Some("timeoutSeconds")),
            ("fileExist", Some("fileExists")),
            ("Repetition", Some("repetitions")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(typed, keys), meant, "{typed}");
        }
    }

    #[test]
    fn ages_have_one_unit() {
        for (seconds, words) in [
            (-5.0, "less than a minute ago"),
            (59.9, "less than a minute ago"),
            (60.0, "1 minute ago"),
            (3_599.0, "59 minutes ago"),
            (7_200.0, "2 hours ago"),
            (86_400.0, "1 day ago"),
            (300_000.0, "3 days ago"),
        ] {
            assert_eq!(ago(seconds), words, "{seconds}");
        }
    }

    #[test]
    fn sizes_are_short() {
        for (number, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (12_345, "12 kB"),
            (999_600, "1.0 MB"),
            (7_340_032, "7.3 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn lists_and_counts_read_as_sentences() {
        assert_eq!(list(&["a"], "or"), "a");
        assert_eq!(quoted_list(&["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(count(1, "trial"), "1 trial");
        assert_eq!(count(0, "trial"), "0 trials");
    }

    #[test]
    fn durations_and_sizes_stay_short() {
        for (seconds, text) in [
            (0.04, "0.0s"),
            (9.94, "9.9s"),
            (9.96, "10s"),
            (59.4, "59s"),
            (59.6, "1m 00s"),
            (185.0, "3m 05s"),
            (7620.0, "2h 07m"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (999_949, "999.9k"),
            (999_950, "1.0M"),
            (2_000_000_000, "2.0G"),
        ] {
            assert_eq!(compact(number), text);
        }
    }
}
