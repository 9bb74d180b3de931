//! Tests that need more of the machine than Rust, git and a shell. Each is ignored and says what it needs;
//! `scripts/test` looks for that and passes those that can run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../common/mod.rs"]
mod common;
mod containers;
mod names_of_home;
mod real;
mod suite_in_sandbox;
mod workers;

mod mined;
mod needs_browser;
mod needs_bwrap;
mod needs_cgroups;
mod needs_contained_agents;
mod needs_docker;
mod needs_go;
mod needs_image;
mod needs_landlock;
mod needs_languages;
mod needs_more_agents;
mod needs_node;
mod needs_npm;
mod needs_overlay;
mod needs_packages;
mod needs_podman;
mod needs_python_agents;
mod needs_real_agents;
mod needs_registries;
mod needs_release;
mod needs_services;
mod needs_slurm;
mod needs_ssh;
mod needs_test_runners;
mod needs_tmux;
mod needs_xfs;
mod needs_xmllint;
mod needs_zsh;
