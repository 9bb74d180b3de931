//! The program, driven from outside. Needs Rust, git and a shell, and nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

#[path = "../common/mod.rs"]
mod common;

mod ablate;
mod acp;
mod adapters_claims;
mod adaptive;
mod agent_against_tests;
mod agent_versions;
mod as_written;
mod attacks;
mod bombs;
mod callers;
mod ci;
mod clean;
mod cli;
mod command_agent;
mod compare;
mod completions;
mod confidence;
mod config;
mod cost;
mod counted;
mod create;
mod delivery;
mod diff;
mod display;
mod dockerfile;
mod doctor_on;
mod documentation;
mod downloads;
mod endpoints;
mod errors;
mod examples;
mod exports;
mod failed_again;
mod failures_tell;
mod faults;
mod foreign_runs;
mod formats;
mod gateway;
mod gemini;
mod graders;
mod grading;
mod hermetic;
mod hidden;
mod hostile;
mod house_words;
mod import;
mod init;
mod interrupt;
mod json_answers;
mod judge;
mod judged;
mod kept_layers;
mod keys;
mod large_runs;
mod latest_run;
mod limits;
mod lints;
mod live_keys;
mod live_logs;
mod loose_ends;
mod mcp_http;
mod mcp_preflight;
mod mcp_tap;
mod mine;
mod mistakes;
mod monstrous_workspaces;
mod newcomer;
mod newcomer_library;
mod pages;
mod place;
mod plan;
mod prepare;
mod quiet;
mod recording;
mod registries;
mod regrade;
mod replay;
mod report_file;
mod repository;
mod results;
mod resume;
mod retries;
mod sandbox;
mod saved_workspace;
mod sealed;
mod sealed_runs;
mod selection;
mod service_faults;
mod services;
mod setup;
mod shards;
mod show_trial;
mod terminal;
mod test_reports;
mod test_script;
mod uncommented;
mod validate;
mod verdict_settings;
mod view;
mod voided;
mod wire;
mod worker_faults;
mod worker_pools;
mod worker_stand_ins;
mod workers;
