//! The examples whose evals are graded by Node.

use crate::common::example::{example, run_commands_of_readme};
use crate::common::proof::{SOUND, row, trial};

/// With a real library, and nothing but Node: no network, no agent.
#[test]
#[ignore = "needs Node"]
fn the_evals_of_a_library_are_proven() {
    let project = example("valibot");
    let outcome = project.terca(&["validate"]).expect_status(0);
    for eval in [
        "change-password", "comment-tree", "free-username", "migrate-settings", "profile-patch",
        "query-params", "signup-form", "webhook-events",
    ] {
        let row = row(&outcome, eval);
        assert_eq!(
            (row[1].as_str(), row.last().unwrap().as_str()),
            ("passed", SOUND),
            "{row:?}"
        );
        // Not by `changedFiles` alone, which any cheat that is subtler would pass.
        for agent in ["nop", "cheat"] {
            assert_eq!(
                trial(&project, eval, agent)["tests"]["behaves"]["score"],
                0.0,
                "{eval}, {agent}"
            );
        }
    }
    assert_eq!(
        trial(&project, "signup-form", "nop")["tests"]["behaves"]["message"],
        "there is no signup.js"
    );
    project.assert_nothing_left();
}

#[test]
#[ignore = "needs Node"]
fn every_command_of_a_readme_works() {
    for (name, eval, least) in [("valibot", "signup-form", 6), ("basic-js", "fib", 2)] {
        run_commands_of_readme(name, name, eval, least);
    }
}
