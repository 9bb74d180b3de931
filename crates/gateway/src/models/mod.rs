//! Requests to models: given their key, passed on, counted and timed.

pub(crate) mod answer_reader;
pub(crate) mod asked;
pub(crate) mod dialect;
pub(crate) mod forward;
pub(crate) mod key_filter;
pub(crate) mod metered;
pub(crate) mod paths;
pub(crate) mod way;
