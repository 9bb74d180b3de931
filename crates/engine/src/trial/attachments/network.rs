//! The network of a contained agent: which hosts it reaches, and by which sockets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use terca_core::agent::mcp::McpServer;
use terca_core::agent::model_hosts::model_hosts;
use terca_core::config::sandbox::{ContainedBy, Sandbox};
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::network::{HostPattern, Network, NetworkMode, TrialNetwork};
use terca_gateway::{Door, NetworkExit};

use super::{AgentStart, Attachment, CommandEnd};
use crate::host::environment::Variables;
use crate::process::supervise::Outlet;
use crate::trial::context::Context;
use crate::trial::running_service::ServiceAddress;
use crate::trial::stage_error::StageError;

/// The port of the proxy inside, unless a service on this machine has the same.
const PROXY_PORT: u16 = 3128;
/// The variables that programs find a proxy in.
const PROXY_VARIABLES: [&str; 6] = [
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
];
/// The variables with hosts that need no proxy.
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The host that the gateway listens on.
const GATEWAY_HOST: &str = "127.0.0.1";
/// The variables that name a proxy for plain `http`.
const PLAIN_PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Gives an agent its network. It reaches the servers by itself that are not behind the gateway.
pub(super) fn attach(start: &mut AgentStart<'_>) -> Result<Box<dyn Attachment>, StageError> {
    let request = start.request;
    let asked = NetworkRequest {
        network: request.network,
        allow: request.allow,
        sandbox: request.sandbox,
        of_models: models_and_servers(start),
        needs_gateway: start.needs_gateway,
        services: request.services,
    };
    let network = asked.make(start.context)?;
    network.lead_servers(&mut start.mcp_servers);
    start.network = network.clone();
    let telemetry = start.profile.telemetry_hosts;
    Ok(Box::new(NetworkOfSession { network, telemetry }))
}

/// The network of an agent's session.
struct NetworkOfSession {
    network: AgentNetwork,
    telemetry: &'static [&'static str],
}

/// Returns the hosts of an agent's models, and of the MCP servers that it reaches by itself.
fn models_and_servers(start: &AgentStart<'_>) -> Vec<HostPattern> {
    let region = start.env.get("GOOGLE_CLOUD_LOCATION");
    let region = region.map(String::as_str);
    let mut hosts = model_hosts(start.profile, &start.access, &start.led_origins, region);
    for server in &start.mcp_servers {
        // A server behind the gateway has another address.
        if let (_, McpServer::Remote { url, .. }) = server
            && start.request.mcp_servers.contains(server)
        {
            hosts.extend(HostPattern::of_origin(url));
        }
    }
    hosts
}

impl Attachment for NetworkOfSession {
    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        let is_contained = end.run.contained_by() != ContainedBy::None;
        let network = self.network.report(is_contained);
        let note = network
            .as_ref()
            .and_then(|network| network.note(self.telemetry));
        if let Some(note) = &note {
            end.run.log.line(note)?;
        }
        if let Some(session) = &mut end.session {
            session.reading.notes.extend(note);
            session.network = network;
        }
        Ok(())
    }
}

/// The network that is asked for an agent, or for an MCP server.
#[derive(Debug)]
pub(in crate::trial) struct NetworkRequest<'a> {
    pub network: &'a Network,
    /// Further hosts.
    pub allow: &'a [HostPattern],
    pub sandbox: Option<&'a Sandbox>,
    /// The hosts of its models and its MCP servers, unless the gateway asks them.
    pub of_models: Vec<HostPattern>,
    /// It has an address of the gateway.
    pub needs_gateway: bool,
    /// The services of its trial, which it reaches in any case.
    pub services: &'a [ServiceAddress],
}

/// The network of an agent in a sandbox, or of another command.
#[derive(Debug, Clone, Default)]
pub(in crate::trial) struct AgentNetwork {
    reach: Reach,
    /// The services of its trial.
    services: Arc<[ServiceAddress]>,
}

/// The part of the world that a network leads to.
#[derive(Debug, Clone, Default)]
enum Reach {
    /// That of the machine.
    #[default]
    Open,
    /// Loopback, and nothing else.
    Off,
    /// Loopback, with ways out.
    Own(Arc<WaysOut>),
}

/// The ways out of a network of its own.
#[derive(Debug)]
pub(in crate::trial) struct WaysOut {
    exit: NetworkExit,
    doors: Vec<(SocketAddr, Door)>,
    /// The hosts, for the log.
    hosts: Vec<HostPattern>,
    /// The proxy to the hosts; `None` where there is no way out but to services.
    proxy: Option<SocketAddr>,
    /// The addresses are those of the machine itself: nobody listens inside.
    is_by_port: bool,
}

impl Outlet for WaysOut {
    fn addresses(&self) -> Vec<SocketAddr> {
        self.doors.iter().map(|(address, _)| *address).collect()
    }

    fn serve(&self, listeners: Vec<TcpListener>) -> io::Result<()> {
        for (listener, (_, door)) in listeners.into_iter().zip(&self.doors) {
            self.exit.serve(listener, *door)?;
        }
        Ok(())
    }
}

impl NetworkRequest<'_> {
    /// Makes the network.
    pub(in crate::trial) fn make(self, context: &Context) -> Result<AgentNetwork, StageError> {
        let services = self.services.into();
        let reach = self.reach(context)?;
        Ok(AgentNetwork { reach, services })
    }

    fn reach(self, context: &Context) -> Result<Reach, StageError> {
        let is_off = *self.network == Network::Off;
        let mut hosts = match self.network {
            Network::Open => return Ok(Reach::Open),
            Network::Off if self.services.is_empty() => return Ok(Reach::Off),
            Network::Off => Vec::new(),
            Network::Hosts(hosts) => hosts.clone(),
            Network::Model => self.of_models,
        };
        if !is_off {
            hosts.extend_from_slice(self.allow);
        }
        if let Some(host) = hosts.iter().find(|host| host.is_out_of_reach()) {
            let message = format!(
                "`{host}` cannot be reached from a sandbox: a service on this machine needs a port of 1024 or above; \
                 `network: open` reaches it"
            );
            return Err(StageError::new(ErrorKind::Setup, message));
        }
        let gateway = context.gateway.get(&context.host)?;
        let mut doors: Vec<(SocketAddr, Door)> = Vec::new();
        if self.needs_gateway {
            doors.push((gateway.address(), Door::Gateway));
        }
        for address in hosts.iter().filter_map(HostPattern::on_this_machine) {
            if !doors.iter().any(|(other, _)| *other == address) {
                doors.push((address, Door::Service(address)));
            }
        }
        let is_by_port = context.is_network_by_port(self.sandbox);
        for service in self.services {
            let outside = service.on_machine;
            let inside = if is_by_port {
                outside
            } else {
                service.inside()
            };
            if doors.iter().any(|(other, _)| *other == inside) {
                let message = format!(
                    "port {} of a service is taken in the sandbox",
                    inside.port()
                );
                return Err(StageError::new(ErrorKind::Setup, message));
            }
            doors.push((inside, Door::Service(outside)));
        }
        let exit = gateway.open_exit(hosts.clone(), self.needs_gateway, self.network.mode());
        let proxy = if is_off {
            None
        } else if is_by_port {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let proxy = listener.local_addr()?;
            exit.serve(listener, Door::Proxy)?;
            Some(proxy)
        } else {
            let is_free = |port: &u16| doors.iter().all(|(address, _)| address.port() != *port);
            let port = (PROXY_PORT..).find(is_free).unwrap_or(PROXY_PORT);
            let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            doors.push((proxy, Door::Proxy));
            Some(proxy)
        };
        Ok(Reach::Own(Arc::new(WaysOut {
            exit,
            doors,
            hosts,
            proxy,
            is_by_port,
        })))
    }
}

impl AgentNetwork {
    /// Returns whether the network is another one than the machine's.
    pub(in crate::trial) fn is_own(&self) -> bool {
        !matches!(self.reach, Reach::Open)
    }

    /// Returns the way out of it.
    pub(in crate::trial) fn outlet(&self) -> Option<Arc<dyn Outlet>> {
        match &self.reach {
            Reach::Own(ways) if !ways.is_by_port => Some(ways.clone()),
            Reach::Own(_) | Reach::Open | Reach::Off => None,
        }
    }

    /// Returns the ports of its ways out.
    pub(in crate::trial) fn ports(&self) -> Vec<u16> {
        let Reach::Own(ways) = &self.reach else {
            return Vec::new();
        };
        let doors = ways.doors.iter().map(|(address, _)| address.port());
        let proxy = ways.proxy.iter().map(SocketAddr::port);
        doors.chain(proxy).collect()
    }

    /// Returns a network for a command that needs none.
    pub(in crate::trial) fn without_exit(asked: &Network) -> Self {
        let reach = match asked {
            Network::Open => Reach::Open,
            Network::Off | Network::Model | Network::Hosts(_) => Reach::Off,
        };
        AgentNetwork {
            reach,
            ..AgentNetwork::default()
        }
    }

    /// Returns the variables that lead programs to services, and to the proxy inside in the place of those of the machine.
    pub(in crate::trial) fn variables(&self) -> Vec<(String, String)> {
        let is_inside = self.outlet().is_some();
        let services = self.services.iter();
        let services = services.flat_map(|service| service.variables(is_inside));
        services.chain(self.proxy_variables()).collect()
    }

    /// Returns the ports at which commands find the trial's services.
    pub(in crate::trial) fn service_ports(&self) -> Vec<u16> {
        let is_inside = self.outlet().is_some();
        let services = self.services.iter();
        services
            .map(|service| service.address(is_inside).port())
            .collect()
    }

    fn proxy_variables(&self) -> Vec<(String, String)> {
        let proxy = match &self.reach {
            Reach::Own(ways) => ways.proxy,
            Reach::Open | Reach::Off => None,
        };
        let Some(proxy) = proxy else {
            return Vec::new();
        };
        let proxy = format!("http://{proxy}");
        let named = PROXY_VARIABLES.map(|name| (name.to_owned(), proxy.clone()));
        let near = "127.0.0.1,localhost,::1";
        let not = NO_PROXY_VARIABLES.map(|name| (name.to_owned(), near.to_owned()));
        // Node's own client heeds the others only with this one.
        let node = ("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        named.into_iter().chain(not).chain([node]).collect()
    }

    /// Sets the variables for a proxy. Proxies of the machine are out of reach.
    pub(in crate::trial) fn set_variables(&self, env: &mut Variables) {
        if self.is_own() {
            for name in PROXY_VARIABLES.iter().chain(&NO_PROXY_VARIABLES) {
                env.remove(*name);
            }
        }
        env.extend(self.variables());
    }

    /// Leads the programs of MCP servers to the proxy, too: some agents pass few of their variables on.
    fn lead_servers(&self, servers: &mut [(String, McpServer<String>)]) {
        for (_, server) in servers {
            if let McpServer::Stdio { env, .. } = server {
                for (name, value) in self.variables() {
                    if !env.iter().any(|(own, _)| *own == name) {
                        env.push((name, value));
                    }
                }
            }
        }
    }

    /// Returns what the agent reached and was refused, if its network is that of a sandbox.
    pub(in crate::trial) fn report(&self, is_contained: bool) -> Option<TrialNetwork> {
        match &self.reach {
            Reach::Own(ways) => Some(ways.exit.network()),
            Reach::Off => Some(TrialNetwork::new(NetworkMode::Off)),
            Reach::Open if is_contained => Some(TrialNetwork::new(NetworkMode::Open)),
            Reach::Open => None,
        }
    }

    /// Returns the hosts in a line for the log.
    pub(in crate::trial) fn words(&self) -> Option<String> {
        match &self.reach {
            Reach::Open => None,
            Reach::Off => Some("network: off".to_owned()),
            Reach::Own(ways) if ways.proxy.is_none() => {
                Some("network: off, but for services".to_owned())
            }
            Reach::Own(ways) if ways.hosts.is_empty() => {
                Some("network: no host is allowed".to_owned())
            }
            Reach::Own(ways) => Some(format!(
                "network: {}",
                prose::list(ways.hosts.iter().map(ToString::to_string), "and")
            )),
        }
    }
}

/// Keeps an agent that uses a proxy from asking it for the gateway, which is on this machine.
pub(super) fn pass_by_proxies(env: &mut Variables) {
    let is_proxy = |name: &String| name.to_lowercase().ends_with("_proxy");
    if !env.keys().any(is_proxy) {
        return;
    }
    for name in NO_PROXY_VARIABLES {
        let value = env.entry(name.to_owned()).or_default();
        if value.split(',').any(|host| host == GATEWAY_HOST) {
            continue;
        }
        if !value.is_empty() {
            value.push(',');
        }
        value.push_str(GATEWAY_HOST);
    }
}

/// Returns whether a proxy may be needed that Terca does not ask: one for plain `http`.
pub(in crate::trial) fn is_behind_plain_proxy(url: &str, env: &Variables) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let is_loopback = ["localhost", "127.", "[::1]"]
        .iter()
        .any(|host| rest.starts_with(host));
    !is_loopback && PLAIN_PROXIES.iter().any(|name| env.contains_key(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_with_a_proxy_finds_the_gateway_past_it() {
        let mut env = Variables::from([
            ("https_proxy".to_owned(), "http://proxy.example".to_owned()),
            ("NO_PROXY".to_owned(), "inside.example".to_owned()),
        ]);
        pass_by_proxies(&mut env);
        // A second time changes nothing.
        pass_by_proxies(&mut env);
        assert_eq!(env["NO_PROXY"], "inside.example,127.0.0.1");
        assert_eq!(env["no_proxy"], "127.0.0.1");
        let mut none = Variables::new();
        pass_by_proxies(&mut none);
        assert!(none.is_empty());
    }
}
