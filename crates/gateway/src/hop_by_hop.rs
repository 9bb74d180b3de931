//! Headers of one connection, which are not those of the next.

use hyper::header::{self, HeaderMap, HeaderName};

/// The headers that are always of one connection.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Removes the headers of one connection, and those that `Connection` names as such.
pub(crate) fn remove(headers: &mut HeaderMap) {
    let mut named = Vec::new();
    for value in headers.get_all(header::CONNECTION) {
        let names = value.to_str().unwrap_or_default().split(',');
        named.extend(names.filter_map(|name| name.trim().parse::<HeaderName>().ok()));
    }
    for name in OF_CONNECTION.iter().chain(&named) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn headers_that_connection_names_go_no_further() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("connection", "x-other, not a name"),
            ("x-hop", "1"),
            ("x-other", "2"),
            ("te", "trailers"),
            ("x-stays", "3"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        remove(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["x-stays"]);
    }
}
