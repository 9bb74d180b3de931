//! Processes: supervision, interrupts, and reading their output.

pub mod call_filter;
pub mod cgroup;
pub mod confine;
pub mod fixed_root;
pub mod interrupt;
mod json_lines;
pub mod mount_holder;
pub mod mount_space;
pub mod open_file_limit;
pub mod output_file;
pub mod own_process;
pub mod pause;
pub mod service;
pub mod supervise;
pub mod tail;
pub mod walls;
pub mod work_command;
