//! Contained trials, in containers that Docker makes.

use crate::containers::{self, Engine};

#[test]
#[ignore = "needs docker"]
fn software_and_variables_are_the_images() {
    containers::software_and_variables_are_the_images(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn the_network_obeys_the_same_rule() {
    containers::the_network_obeys_the_same_rule(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn commands_find_the_suite_and_not_the_solution() {
    containers::commands_find_the_suite_and_not_the_solution(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn mcp_servers_are_tapped() {
    containers::mcp_servers_are_tapped(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn an_agent_out_of_time_can_tidy_up() {
    containers::an_agent_out_of_time_can_tidy_up(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn signals_to_terca_leave_no_container() {
    containers::signals_to_terca_leave_no_container(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn a_container_that_was_left_is_removed_by_the_next_run() {
    containers::a_container_that_was_left_is_removed_by_the_next_run(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn what_is_missing_is_said() {
    containers::what_is_missing_is_said(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn a_container_that_cannot_be_removed_is_said() {
    containers::a_container_that_cannot_be_removed_is_said(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn an_agent_reaches_nothing_but_its_trial() {
    containers::an_agent_reaches_nothing_but_its_trial(&Engine::docker(), &[]);
}

#[test]
#[ignore = "needs docker"]
fn somebody_without_privileges_is_contained_too() {
    containers::somebody_without_privileges_is_contained_too(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn limits_are_kept() {
    containers::limits_are_kept(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn an_image_is_built_and_its_files_are_the_workspace() {
    containers::an_image_is_built_and_its_files_are_the_workspace(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn a_build_that_fails_is_told_with_its_line() {
    containers::a_build_that_fails_is_told_with_its_line(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn a_harbor_task_runs_in_the_image_of_its_dockerfile() {
    containers::a_harbor_task_runs_in_the_image_of_its_dockerfile(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn a_service_is_at_its_port() {
    containers::a_service_is_at_its_port(&Engine::docker());
}

#[test]
#[ignore = "needs docker"]
fn somebody_without_privileges_owns_the_files_of_the_image() {
    containers::somebody_without_privileges_owns_the_files_of_the_image(&Engine::docker());
}
