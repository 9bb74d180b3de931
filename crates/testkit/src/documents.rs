//! Parts of the documentation that are made from the code.

use camino::Utf8Path;

/// Fails unless this part of a page is what the code makes of it; with `UPDATE_DOCS=1`, puts it there. It is
/// between `<!-- generated: NAME -->` and `<!-- end -->`.
#[track_caller]
pub fn generated(page: &str, name: &str, content: &str) {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{page} has no place for `{name}`: {begin}<!-- end -->"));
    let (found, after) = rest
        .split_once("<!-- end -->")
        .unwrap_or_else(|| panic!("{page}: `{name}` has no end"));
    let wanted = format!("\n{}\n\n", content.trim());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{before}{begin}{wanted}<!-- end -->{after}");
        std::fs::write(&path, text).expect("the page can be written");
        return;
    }
    assert_eq!(
        found, wanted,
        "{page}: `{name}` is not as the code has it; `UPDATE_DOCS=1` brings it up to date"
    );
}
