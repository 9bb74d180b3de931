//! The network of a contained agent: the hosts that it reaches, and those that it was refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::prose;
use crate::wire::is_zero;

/// Ports below this one are for those who own the machine.
const FIRST_FREE_PORT: u16 = 1024;
/// The ports of a host that is named without one.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// The part of the network that an agent in a sandbox reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing.
    Off,
    /// The services that it asks models of, its MCP servers, and the hosts of `allow`.
    Model,
    /// Everything that the machine reaches, the machine itself included.
    Open,
    /// These hosts, and those of `allow`.
    #[serde(untagged)]
    Hosts(Vec<HostPattern>),
}

impl Network {
    /// The words for those that are no list.
    pub const WORDS: [&str; 3] = ["off", "model", "open"];

    /// Finds the network of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Network::Off),
            "model" => Some(Network::Model),
            "open" => Some(Network::Open),
            _ => None,
        }
    }

    /// Returns the sort of network that it is.
    pub fn mode(&self) -> NetworkMode {
        match self {
            Network::Off => NetworkMode::Off,
            Network::Model => NetworkMode::Model,
            Network::Hosts(_) => NetworkMode::Hosts,
            Network::Open => NetworkMode::Open,
        }
    }

    /// Returns it in a few words, with the hosts that are allowed beside.
    pub fn words(&self, allow: &[HostPattern]) -> String {
        /// The most hosts that are named.
        const SHOWN: usize = 3;
        let own = match self {
            Network::Hosts(hosts) => hosts.as_slice(),
            Network::Off | Network::Model | Network::Open => &[],
        };
        let hosts: Vec<String> = own.iter().chain(allow).map(ToString::to_string).collect();
        let named = if hosts.len() > SHOWN {
            prose::count(hosts.len(), "host")
        } else {
            prose::list(&hosts, "and")
        };
        match self {
            Network::Off | Network::Open => self.mode().word().to_owned(),
            Network::Model if hosts.is_empty() => "model only".to_owned(),
            Network::Model => format!("model, {named}"),
            Network::Hosts(_) => format!("{named} only"),
        }
    }
}

/// The sort of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkMode {
    /// There is none.
    Off,
    /// Models and MCP servers.
    Model,
    /// A list of hosts.
    Hosts,
    /// That of the machine.
    Open,
}

impl NetworkMode {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            NetworkMode::Off => "off",
            NetworkMode::Model => "model",
            NetworkMode::Hosts => "hosts",
            NetworkMode::Open => "open",
        }
    }
}

/// A host, or all hosts below a domain: `api.example.com`, `*.example.com`, `localhost:5432`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct HostPattern {
    /// In lower case; an address of version 6 has no brackets.
    host: String,
    /// The hosts below the domain are meant, not the domain itself.
    is_domain: bool,
    /// `None` is the usual ports of HTTP.
    port: Option<u16>,
}

impl FromStr for HostPattern {
    /// The reason why it names no host.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('/') {
            return Err("a host has no `/`: leave out the scheme and the path");
        }
        let (host, port) = split_port(text).ok_or("the port is a number from 1 to 65535")?;
        let host = host.to_ascii_lowercase();
        if host == "*" {
            return Err("every host is `network: open`");
        }
        let (host, is_domain) = match host.strip_prefix("*.") {
            Some(domain) => (domain.to_owned(), true),
            None => (host, false),
        };
        if host.contains('*') {
            return Err("`*` is for the whole beginning, as in `*.example.com`");
        }
        let is_address = host.parse::<IpAddr>().is_ok();
        if !(is_address && !is_domain || is_name(&host)) {
            return Err(
                "a host is a name or an address, such as `example.com`, `*.example.com` or `localhost:5432`",
            );
        }
        Ok(HostPattern {
            host,
            is_domain,
            port,
        })
    }
}

/// Splits `host:port`, `[::1]:port` and `::1`. `None` if the port is none.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let number = |text: &str| text.parse().ok().filter(|port| *port > 0);
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(number(port)?))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match text.split_once(':') {
        Some((_, rest)) if rest.contains(':') => Some((text, None)),
        Some((host, port)) => Some((host, Some(number(port)?))),
        None => Some((text, None)),
    }
}

/// Returns whether a text can be the name of a host.
fn is_name(text: &str) -> bool {
    /// The longest name that there can be.
    const LONGEST: usize = 253;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= LONGEST
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(is_letter))
}

impl HostPattern {
    /// Returns the host of an origin, such as `https://api.example.com` or `localhost:11434`, with its port.
    pub fn of_origin(origin: &str) -> Option<Self> {
        let (usual, rest) = match origin.split_once("://") {
            Some(("https" | "wss", rest)) => (Some(443), rest),
            Some(("http" | "ws", rest)) => (Some(80), rest),
            Some(_) => return None,
            None => (None, origin),
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let mut pattern: HostPattern = authority
            .parse()
            .ok()
            .filter(|found: &Self| !found.is_domain)?;
        pattern.port = pattern.port.or(usual);
        Some(pattern)
    }

    /// Returns whether it is of this host and port.
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        // A name may end in the dot of the root.
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_port = match self.port {
            Some(own) => own == port,
            None => USUAL_PORTS.contains(&port),
        };
        let is_host = if self.is_domain {
            host.strip_suffix(&self.host)
                .is_some_and(|above| above.len() > 1 && above.ends_with('.'))
        } else {
            host == self.host
        };
        is_port && is_host
    }

    /// Returns whether all hosts below a domain are meant, which nobody has looked at one by one.
    pub fn is_domain(&self) -> bool {
        self.is_domain
    }

    /// Returns the address of this machine that it names, if it does.
    fn local(&self) -> Option<IpAddr> {
        match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) if address.is_unspecified() => Some(Ipv4Addr::LOCALHOST.into()),
            Ok(IpAddr::V6(address)) if address.is_unspecified() => Some(Ipv6Addr::LOCALHOST.into()),
            Ok(address) => Some(address).filter(IpAddr::is_loopback),
            Err(_) => {
                let is_here = self.host == "localhost" && !self.is_domain;
                is_here.then_some(Ipv4Addr::LOCALHOST.into())
            }
        }
    }

    /// Returns whether it is a service on this machine that no sandbox can have: one without a port of its own, or
    /// with one that only the machine's own users may listen on.
    pub fn is_out_of_reach(&self) -> bool {
        self.local().is_some() && self.port.is_none_or(|port| port < FIRST_FREE_PORT)
    }

    /// Returns the addresses, if it is a service on this machine: where it is reached inside of a sandbox with a
    /// network of its own, which has the same addresses.
    pub fn on_this_machine(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.local()?, self.port?))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_domain {
            f.write_str("*.")?;
        }
        match (self.host.contains(':'), self.port) {
            (true, Some(port)) => write!(f, "[{}]:{port}", self.host),
            (false, Some(port)) => write!(f, "{}:{port}", self.host),
            (_, None) => f.write_str(&self.host),
        }
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

impl TryFrom<String> for HostPattern {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// The network of a contained trial: what its agent reached, and what it was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialNetwork {
    /// The sort of the network.
    pub mode: NetworkMode,
    /// The hosts that the agent was refused, in the order in which it asked first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedHost>,
    /// The number of refused connections to still other hosts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused_elsewhere: u64,
}

/// A host that an agent was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedHost {
    /// Its name or address, as the agent wrote it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The number of connections.
    pub count: u64,
}

impl TrialNetwork {
    /// The most hosts that are kept. An agent could ask for names without end.
    pub const MOST_HOSTS: usize = 100;

    /// Returns a network in which nothing was refused so far.
    pub fn new(mode: NetworkMode) -> Self {
        TrialNetwork {
            mode,
            refused: Vec::new(),
            refused_elsewhere: 0,
        }
    }

    /// Notes a connection that was refused.
    pub fn refuse(&mut self, host: &str, port: u16) {
        let known = self
            .refused
            .iter()
            .position(|refused| refused.host == host && refused.port == port);
        match known {
            Some(index) => self.refused[index].count += 1,
            None if self.refused.len() < Self::MOST_HOSTS => self.refused.push(RefusedHost {
                host: host.to_owned(),
                port,
                count: 1,
            }),
            None => self.refused_elsewhere += 1,
        }
    }

    /// Returns a remark about the connections that were refused; `None` if there were none but those to `telemetry`, hosts
    /// to which the agent's makers have it report.
    pub fn note(&self, telemetry: &[&str]) -> Option<String> {
        /// The most hosts that are named.
        const SHOWN: usize = 5;
        let refused = self.refused.iter();
        let refused = refused.filter(|refused| !telemetry.contains(&refused.host.as_str()));
        let refused: Vec<&RefusedHost> = refused.collect();
        refused.first()?;
        let count: u64 = refused.iter().map(|refused| refused.count).sum();
        let count = count + self.refused_elsewhere;
        let shown = refused.iter().take(SHOWN);
        let mut named: Vec<String> = shown.map(|refused| refused.words()).collect();
        if refused.len() > SHOWN || self.refused_elsewhere > 0 {
            named.push("others".to_owned());
        }
        let was = if count == 1 { "was" } else { "were" };
        // An agent may have asked for something that is no host.
        let mut patterns = refused.iter().map(|refused| refused.pattern());
        let host = patterns.find(|pattern| pattern.parse::<HostPattern>().is_ok());
        let advice = match (self.mode, host) {
            (NetworkMode::Off, _) => "; `network` is `off`".to_owned(),
            (_, Some(host)) => format!("; `allow: [\"{host}\"]` lets an agent through"),
            (_, None) => String::new(),
        };
        Some(format!(
            "{} of the agent {was} refused, to {}{advice}",
            prose::count(count, "connection"),
            prose::list(&named, "and"),
        ))
    }
}

impl RefusedHost {
    /// Returns what would allow it.
    fn pattern(&self) -> String {
        if USUAL_PORTS.contains(&self.port) {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    fn words(&self) -> String {
        let RefusedHost { host, port, count } = self;
        match count {
            1 => format!("{host}:{port}"),
            _ => format!("{host}:{port} ({count} times)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_matches_its_own_hosts_alone() {
        for (written, host, port, expected) in [
            ("api.example.com", "api.example.com", 443, true),
            ("api.example.com", "API.Example.Com.", 80, true),
            ("api.example.com", "api.example.com", 22, false),
            ("api.example.com", "evil-api.example.com", 443, false),
            ("api.example.com", "api.example.com.evil.org", 443, false),
            ("*.example.com", "a.b.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", ".example.com", 443, false),
            ("*.example.com", "evilexample.com", 443, false),
            ("example.com:8443", "example.com", 8443, true),
            ("example.com:8443", "example.com", 443, false),
            ("[::1]:80", "[::1]", 80, true),
            ("::1", "::1", 443, true),
            ("127.0.0.1:9", "127.0.0.1", 9, true),
            ("127.0.0.1:9", "2130706433", 9, false),
        ] {
            assert_eq!(
                pattern(written).matches(host, port),
                expected,
                "{written} {host}:{port}"
            );
            assert_eq!(pattern(&pattern(written).to_string()), pattern(written));
        }
    }

    #[test]
    fn other_texts_are_no_hosts() {
        for (written, reason) in [
            ("https://example.com", "a host has no `/`"),
            ("example.com/v1", "a host has no `/`"),
            ("*", "every host is `network"),
            ("*:443", "every host is `network"),
            ("a.*.com", "`*` is for the whole beginning"),
            ("*example.com", "`*` is for the whole beginning"),
            ("example.com:0", "the port is a number from 1 to 65535"),
            ("example.com:http", "the port is a number from 1 to 65535"),
            ("", "a host is a name or an address"),
            ("a b", "a host is a name or an address"),
            ("a..b", "a host is a name or an address"),
            ("*.", "a host is a name or an address"),
        ] {
            let problem = written.parse::<HostPattern>().unwrap_err();
            assert!(problem.starts_with(reason), "{written}: {problem}");
        }
    }

    #[test]
    fn an_origin_has_a_host_and_a_port() {
        for (origin, expected) in [
            ("https://api.example.com", Some("api.example.com:443")),
            ("http://127.0.0.1:8080/v1", Some("127.0.0.1:8080")),
            ("http://[::1]", Some("[::1]:80")),
            ("localhost:11434", Some("localhost:11434")),
            ("bedrock.example", Some("bedrock.example")),
            ("file:///etc/passwd", None),
            ("https://*.example.com", None),
        ] {
            let found = HostPattern::of_origin(origin).map(|found| found.to_string());
            assert_eq!(found.as_deref(), expected, "{origin}");
        }
    }

    #[test]
    fn services_on_this_machine_are_known() {
        for (written, expected) in [
            ("localhost:5432", Some("127.0.0.1:5432")),
            ("127.0.0.1:80", Some("127.0.0.1:80")),
            ("0.0.0.0:80", Some("127.0.0.1:80")),
            ("[::1]:5432", Some("[::1]:5432")),
            ("localhost", None),
            ("*.localhost:80", None),
            ("192.168.0.1:80", None),
        ] {
            let found = pattern(written).on_this_machine();
            assert_eq!(found.map(|found| found.to_string()).as_deref(), expected);
        }
    }

    #[test]
    fn it_is_written_as_it_is_read() {
        for (network, json) in [
            (Network::Off, r#""off""#),
            (Network::Model, r#""model""#),
            (Network::Open, r#""open""#),
            (
                Network::Hosts(vec![pattern("a.example"), pattern("*.b.example:8443")]),
                r#"["a.example","*.b.example:8443"]"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&network).unwrap(), json);
            assert_eq!(serde_json::from_str::<Network>(json).unwrap(), network);
        }
        assert!(serde_json::from_str::<Network>(r#""closed""#).is_err());
        assert!(serde_json::from_str::<Network>(r#"["*"]"#).is_err());
    }

    #[test]
    fn a_service_on_this_machine_has_its_own_address() {
        for (written, expected) in [
            ("localhost:8080", Some("127.0.0.1:8080")),
            ("127.0.0.2:8080", Some("127.0.0.2:8080")),
            ("0.0.0.0:8080", Some("127.0.0.1:8080")),
            ("[::1]:8080", Some("[::1]:8080")),
            ("example.com:8080", None),
            ("localhost", None),
        ] {
            let address = pattern(written).on_this_machine();
            assert_eq!(
                address,
                expected.map(|text| text.parse().unwrap()),
                "{written}"
            );
        }
        for (written, expected) in [
            ("localhost:80", true),
            ("localhost", true),
            ("127.0.0.1:443", true),
            ("localhost:1024", false),
            ("example.com:80", false),
        ] {
            assert_eq!(pattern(written).is_out_of_reach(), expected, "{written}");
        }
    }

    #[test]
    fn only_hosts_are_advised() {
        let mut network = TrialNetwork::new(NetworkMode::Model);
        network.refuse("(not a name)", 80);
        let note = network.note(&[]).unwrap();
        assert!(!note.contains("allow"), "{note}");
        network.refuse("example.com", 80);
        let note = network.note(&[]).unwrap();
        assert!(note.contains("`allow: [\"example.com\"]`"), "{note}");
    }

    #[test]
    fn refusals_are_counted_and_bounded() {
        let mut network = TrialNetwork::new(NetworkMode::Model);
        assert_eq!(network.note(&[]), None);
        network.refuse("registry.npmjs.org", 443);
        network.refuse("registry.npmjs.org", 443);
        network.refuse("127.0.0.1", 8080);
        assert_eq!(
            network.note(&[]).unwrap(),
            "3 connections of the agent were refused, to registry.npmjs.org:443 (2 times) and 127.0.0.1:8080; \
             `allow: [\"registry.npmjs.org\"]` lets an agent through"
        );
        network.refused[0].count = 1;
        assert_eq!(
            network.note(&["127.0.0.1"]).unwrap(),
            "1 connection of the agent was refused, to registry.npmjs.org:443; `allow: [\"registry.npmjs.org\"]` lets an agent through"
        );
        assert_eq!(network.note(&["127.0.0.1", "registry.npmjs.org"]), None);
        for number in 0..1000 {
            network.refuse(&format!("host-{number}"), 443);
        }
        assert_eq!(network.refused.len(), TrialNetwork::MOST_HOSTS);
        assert_eq!(network.refused_elsewhere, 902);
    }
}
