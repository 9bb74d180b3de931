//! The calls that differ between systems. Both files have the same functions.

#[cfg(target_os = "linux")]
mod attributes;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use {attributes::copy_attributes, linux::*};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(super) use other::*;
