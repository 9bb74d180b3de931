//! Rules that are said to be delivered are in what the model was asked, from their first line to their last.

use serde_json::json;
use terca_testkit::Scenario;
use terca_testkit::agents::RealAgent;

use super::{Bench, Complaints, RULE, assert_passed};

const SIZES: [usize; 2] = [40, 150];

/// Rules of so many kilobytes, with a mark in the first line, in the middle, and in the last line.
fn long_rules(kilobytes: usize) -> (String, [String; 3]) {
    let marks = ["START", "MIDDLE", "END"].map(|place| format!("{place}-OF-{kilobytes}-KILOBYTES"));
    let half: String = (0..)
        .map(|number| format!("- Rule {number}: keep the lines short and the names long.\n"))
        .scan(0, |length, line| {
            *length += line.len();
            (*length < kilobytes * 500).then_some(line)
        })
        .collect();
    let [start, middle, end] = &marks;
    (
        format!("# {start}\n{half}- {middle}\n{half}- {end}\n"),
        marks,
    )
}

/// The requests themselves prove that rules were sent in one arm, and in no request of the other.
pub fn rules_are_proven_on_the_wire(agent: RealAgent) {
    let bench = Bench::new(agent, &[("wired", Scenario::saying("Done."))]);
    let bench = bench.file("_rules.md", &format!("# Rules\n\n- {RULE}\n"));
    let bench = bench.suite(
        &json!([{"name": "without"}, {"name": "with", "rules": "_rules.md"}]),
        &json!([{"name": "wired", "prompt": "Go on. scenario:wired", "tests": [{"commandSuccess": "true"}]}]),
    );
    let meter = ["--format", "plain", "--gateway", "meter"];
    bench
        .terca(&[&meter[..], &["-x", "without"]].concat())
        .expect_status(0);
    let without = bench.trial("wired", "without");
    assert_passed(&without);
    assert_eq!(without["wire"].get("sent"), None);
    let requests = bench.requests("wired");
    assert!(!requests.is_empty());
    assert!(!requests.iter().any(|request| request.mentions(RULE)));

    bench
        .terca(&[&meter[..], &["-x", "with"]].concat())
        .expect_status(0);
    let with = bench.trial("wired", "with");
    assert_passed(&with);
    let sent = &with["wire"]["sent"][0];
    assert_eq!(sent["part"], "rules", "{with:#}");
    assert!(sent["of"].as_u64() > Some(0), "{sent}");
    assert_eq!(sent["requests"], sent["of"], "{with:#}");
    bench.project.assert_nothing_left();
}

/// With a sandbox that proves delivery, a skill is in every request, by its description or by its name. No remark advises to
/// let the agent report to its makers.
pub fn skills_are_proven_on_the_wire(agent: RealAgent) {
    let mut bench = Bench::new(agent, &[("skilled", Scenario::saying("Done."))]);
    bench.project = bench.project.env("TERCA_SANDBOX", "bwrap");
    let skill =
        "---\nname: zebra-care\ndescription: Feeds zebras as they like it.\n---\n\nGrass.\n";
    let bench = bench.file("_skills/zebra-care/SKILL.md", skill).suite(
        &json!([{"name": "skilled", "skills": ["_skills/zebra-care"], "requireDelivery": true}]),
        &json!([{"name": "skilled", "prompt": "Go on. scenario:skilled", "tests": [{"commandSuccess": "true"}]}]),
    );
    bench.run().expect_status(0);
    let trial = bench.trial("skilled", "skilled");
    assert_passed(&trial);
    let sent = &trial["wire"]["sent"][0];
    assert_eq!(sent["part"], "skill", "{trial:#}");
    assert!(sent["of"].as_u64() > Some(0), "{sent}");
    assert_eq!(sent["requests"], sent["of"], "{trial:#}");
    let notes = trial["notes"].to_string();
    assert!(!notes.contains("refused"), "{notes}");
    bench.project.assert_nothing_left();
}

pub fn long_rules_arrive_or_are_not_claimed(agent: RealAgent) {
    let bench = Bench::new(agent, &[("long", Scenario::saying("Done."))]);
    let bench = SIZES.iter().fold(bench, |bench, size| {
        bench.file(&format!("_{size}.md"), &long_rules(*size).0)
    });
    let experiments =
        SIZES.map(|size| json!({"name": format!("kb{size}"), "rules": format!("_{size}.md")}));
    let bench = bench.suite(
        &json!(experiments),
        &json!([{"name": "long", "prompt": "Go on. scenario:long"}]),
    );
    bench.run_together().expect_status(0);

    let mut complaints = Complaints::new(agent);
    for size in SIZES {
        let (_, marks) = long_rules(size);
        let trial = bench.trial("long", &format!("kb{size}"));
        let requests = bench.requests("long");
        let arrived = |mark: &String| requests.iter().any(|request| request.mentions(mark));
        let missing: Vec<_> = marks.iter().filter(|mark| !arrived(mark)).collect();
        let delivered = trial["delivery"]["rules"].as_array().map_or(0, Vec::len) == 1;
        let noted = trial["notes"].to_string().contains("rules");
        if !missing.is_empty() && delivered && !noted {
            complaints.add(
                &format!("{size} kB"),
                &format!("{missing:?} did not arrive"),
                &trial,
            );
        }
        if missing.is_empty() && (!delivered || noted) {
            complaints.add(
                &format!("{size} kB"),
                "arrived, and is not said to have",
                &trial,
            );
        }
    }
    complaints.expect_none();
    bench.project.assert_nothing_left();
}
