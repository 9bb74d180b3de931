//! Servers that an agent may need a proxy for plain `http` to reach, which Terca does not ask.

use crate::host::environment::Variables;

const PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Returns whether a proxy may be needed that Terca does not ask: one for plain `http`.
pub(super) fn is_behind_plain_proxy(url: &str, env: &Variables) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let is_loopback = ["localhost", "127.", "[::1]"]
        .iter()
        .any(|host| rest.starts_with(host));
    !is_loopback && PROXIES.iter().any(|name| env.contains_key(*name))
}
