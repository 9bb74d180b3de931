//! JUnit documents, held against the schema.

use std::io::Write;
use std::process::{Command, Stdio};

use camino::Utf8Path;

use crate::common::endings::every_ending;

fn schema() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/junit.xsd").to_owned()
}

/// Whether a document is valid, and what was said about it.
fn validated(document: &str) -> (bool, String) {
    let mut child = Command::new("xmllint")
        .args(["--noout", "--nonet", "--schema", &schema(), "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xmllint");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(document.as_bytes())
        .expect("the document");
    let output = child.wait_with_output().expect("xmllint ends");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// What an XPath expression finds.
fn found(file: &Utf8Path, xpath: &str) -> String {
    let output = Command::new("xmllint")
        .args(["--nonet", "--xpath", xpath, file.as_str()])
        .output()
        .expect("xmllint");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
#[ignore = "needs xmllint"]
fn the_schema_can_say_no() {
    let case = |inner: &str| {
        format!(
            "<testsuites><testsuite name=\"a\" tests=\"1\" failures=\"0\" errors=\"0\">{inner}</testsuite></testsuites>"
        )
    };
    assert!(validated(&case("<testcase name=\"t\" classname=\"c\" time=\"0.1\"/>")).0);
    for wrong in [
        "<testcase name=\"t\"/>",
        "<testcase name=\"t\" classname=\"c\"><properties/></testcase>",
        "<testcase name=\"t\" classname=\"c\" time=\"1e-7\"/>",
        "<testcase name=\"t\" classname=\"c\"><skipped/><failure/></testcase>",
        "<testcase name=\"t\" classname=\"c\"/><properties/>",
    ] {
        assert!(!validated(&case(wrong)).0, "{wrong}");
    }
}

#[test]
#[ignore = "needs xmllint"]
fn junit_of_every_ending_is_valid() {
    let project = every_ending();
    project
        .terca(&["--junit", "out/deep/junit.xml"])
        .expect_status(3);
    let file = project.path("out/deep/junit.xml");
    let text = project.read("out/deep/junit.xml");
    let (valid, said) = validated(&text);
    assert!(valid, "{said}\n{text}");
    for (xpath, expected) in [
        ("string(/testsuites/@name)", "endings"),
        ("string(/testsuites/@tests)", "9"),
        ("count(/testsuites/testsuite)", "3"),
        ("string(/testsuites/testsuite[1]/@name)", "e|1.base"),
        (
            "string(/testsuites/testsuite[2]/@name)", "e|1.=with,\"rules\"",
        ),
        ("string(/testsuites/testsuite[1]/@failures)", "0"),
        ("string(/testsuites/testsuite[1]/@errors)", "1"),
        ("string(/testsuites/testsuite[1]/@skipped)", "0"),
        (
            "string(/testsuites/testsuite[1]/properties/property[@name='inputTokens']/@value)",
            "600",
        ),
        (
            "string(/testsuites/testsuite[1]/properties/property[@name='costUsd']/@value)",
            "1.5",
        ),
        ("string(//testsuite[1]/testcase[1]/@name)", "a-right"),
        (
            "count(//testcase[starts-with(@name, 'a-right')]/*[not(self::system-out)])",
            "0",
        ),
        ("count(//testcase/failure[@type='partial'])", "0"),
        ("count(//testcase/failure[@type='failed'])", "0"),
        ("count(//testcase/error[@type='setup'])", "2"),
        (
            "contains(//testcase[starts-with(@name, '=cmd')]/system-out, 'red <b>]]></failure> |')",
            "true",
        ),
        (
            "contains(//testcase[starts-with(@name, 'a-right')]/system-out, 'costUsd: 0.25')",
            "true",
        ),
    ] {
        assert_eq!(found(&file, xpath), expected, "{xpath}\n{text}");
    }
    // The same afterwards, from the run on disk.
    project
        .terca(&["report", "--junit", "again.xml"])
        .expect_status(0);
    assert_eq!(project.read("again.xml"), text);
}

#[test]
#[ignore = "needs xmllint"]
fn what_did_not_run_is_skipped() {
    let project = every_ending();
    project
        .terca(&[
            "-t", "b-half", "--fail-fast", "-c", "1", "--junit", "junit.xml",
        ])
        .expect_status(1);
    let (valid, said) = validated(&project.read("junit.xml"));
    assert!(valid, "{said}");
    let file = project.path("junit.xml");
    assert_eq!(
        found(&file, "count(//testcase/skipped[@message='not run'])"),
        "1"
    );
    assert_eq!(found(&file, "sum(//testsuite/@skipped)"), "1");
}
