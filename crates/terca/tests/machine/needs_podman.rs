//! Contained trials, in containers that Podman makes.

use crate::containers::{self, Engine};

#[test]
#[ignore = "needs podman"]
fn software_and_variables_are_the_images() {
    containers::software_and_variables_are_the_images(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn the_network_obeys_the_same_rule() {
    containers::the_network_obeys_the_same_rule(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn commands_find_the_suite_and_not_the_solution() {
    containers::commands_find_the_suite_and_not_the_solution(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn mcp_servers_are_tapped() {
    containers::mcp_servers_are_tapped(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn an_agent_out_of_time_can_tidy_up() {
    containers::an_agent_out_of_time_can_tidy_up(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn signals_to_terca_leave_no_container() {
    containers::signals_to_terca_leave_no_container(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn a_container_that_was_left_is_removed_by_the_next_run() {
    containers::a_container_that_was_left_is_removed_by_the_next_run(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn what_is_missing_is_said() {
    containers::what_is_missing_is_said(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn a_container_that_cannot_be_removed_is_said() {
    containers::a_container_that_cannot_be_removed_is_said(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn an_agent_reaches_nothing_but_its_trial() {
    // Podman's own filter of system calls lets user namespaces be made. Nothing more can be reached in one.
    let more = ["make a user namespace"];
    containers::an_agent_reaches_nothing_but_its_trial(&Engine::podman(), &more);
}

#[test]
#[ignore = "needs podman"]
fn limits_are_kept() {
    containers::limits_are_kept(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn an_image_is_built_and_its_files_are_the_workspace() {
    containers::an_image_is_built_and_its_files_are_the_workspace(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn a_build_that_fails_is_told_with_its_line() {
    containers::a_build_that_fails_is_told_with_its_line(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn a_harbor_task_runs_in_the_image_of_its_dockerfile() {
    containers::a_harbor_task_runs_in_the_image_of_its_dockerfile(&Engine::podman());
}

#[test]
#[ignore = "needs podman"]
fn a_service_is_at_its_port() {
    containers::a_service_is_at_its_port(&Engine::podman());
}
