//! Decides which requests are answered.

use super::request::{Refusal, Request};

/// The address of this server, of which one part is a secret.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The port it listens on.
    pub port: u16,
    /// The first part of every path. Only the person who started the server is told it.
    pub token: String,
}

impl Gate {
    /// Returns the address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{}/{path}", self.port, self.token)
    }

    /// Returns the parts of the path below the token, if the request may be answered.
    pub fn admit<'r>(&self, request: &'r Request) -> Result<Vec<&'r str>, Refusal> {
        let names = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        let host = request.host.as_deref().ok_or(Refusal::Stranger)?;
        let is_ours = names.iter().any(|name| name == host);
        // Browsers name the site of every page that sends something.
        let is_own_page = match &request.origin {
            Some(origin) => *origin == format!("http://{host}"),
            None => !request.is_post,
        };
        // `none` is an address that was typed or opened by another program.
        let is_own_site = matches!(request.site.as_deref(), None | Some("same-origin" | "none"));
        if !(is_ours && is_own_page && is_own_site) {
            return Err(Refusal::Stranger);
        }
        let mut parts = parts(&request.path)?;
        if parts.is_empty() || !is_equal(parts.remove(0), &self.token) {
            return Err(Refusal::NotFound);
        }
        Ok(parts)
    }
}

/// Splits a path into plain names: nothing escaped, nothing hidden, no way up. A slash at the end is an empty part.
fn parts(path: &str) -> Result<Vec<&str>, Refusal> {
    let parts: Vec<&str> = path
        .strip_prefix('/')
        .ok_or(Refusal::NotFound)?
        .split('/')
        .collect();
    let is_plain = |part: &str| {
        !part.starts_with('.')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let inner = &parts[..parts.len() - 1];
    if parts.iter().all(|part| is_plain(part)) && inner.iter().all(|part| !part.is_empty()) {
        Ok(parts)
    } else {
        Err(Refusal::NotFound)
    }
}

/// Compares in constant time, so that a guess is not told how much of it is right.
fn is_equal(one: &str, other: &str) -> bool {
    let difference = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |difference, (a, b)| difference | (a ^ b));
    one.len() == other.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> Request {
        Request {
            path: path.to_owned(),
            host: Some("127.0.0.1:4000".to_owned()),
            origin: None,
            site: None,
            is_post: false,
        }
    }

    fn gate() -> Gate {
        Gate {
            port: 4000,
            token: "0123abcd".to_owned(),
        }
    }

    #[test]
    fn paths() {
        let of = |path: &str| gate().admit(&request(path)).map(|parts| parts.join("|"));
        assert_eq!(of("/0123abcd/"), Ok(String::new()));
        assert_eq!(
            of("/0123abcd/runs/2026-11-14-001/"),
            Ok("runs|2026-11-14-001|".to_owned())
        );
        for path in [
            "/", "//", "/0123abcX/", "/0123abc/", "/0123abcdd/", "/0123abcd/../x", "/0123abcd/..",
            "/0123abcd/%2e%2e/x", "/0123abcd/.terca", "/0123abcd/a//b", "/0123abcd/a\\b",
            "/0123abcd/ä", "/runs/",
        ] {
            assert_eq!(of(path), Err(Refusal::NotFound), "{path}");
        }
    }

    #[test]
    fn strangers() {
        let ok = request("/0123abcd/");
        let with = |change: fn(&mut Request)| {
            let mut request = ok.clone();
            change(&mut request);
            gate().admit(&request).map(|_| ())
        };
        for change in [
            (|request| request.host = None) as fn(&mut Request),
            |request| request.host = Some("evil.example:4000".to_owned()),
            |request| request.host = Some("127.0.0.1".to_owned()),
            |request| request.host = Some("127.0.0.1:4001".to_owned()),
            |request| request.origin = Some("http://evil.example".to_owned()),
            |request| request.origin = Some("null".to_owned()),
            |request| request.origin = Some("http://localhost:4000".to_owned()),
            |request| request.site = Some("cross-site".to_owned()),
            |request| request.site = Some("same-site".to_owned()),
        ] {
            assert_eq!(with(change), Err(Refusal::Stranger));
        }
        assert_eq!(
            with(|request| request.origin = Some("http://127.0.0.1:4000".to_owned())),
            Ok(())
        );
        assert_eq!(
            with(|request| request.host = Some("localhost:4000".to_owned())),
            Ok(())
        );
        assert_eq!(
            with(|request| request.site = Some("none".to_owned())),
            Ok(())
        );
    }
}
