//! The services of a trial while they run, and those that the trials of a run share.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard};

use terca_core::config::sandbox::Sandbox;
use terca_core::config::suite::Service;

use crate::locked;
use crate::process::service::ServiceProcess;

/// The host at which every command of a trial finds its services.
const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Ports below this one cannot be listened on by everybody.
const LEAST_PORT: u16 = 1024;
/// The ports of services, below those that the kernel gives to connections.
const PORTS: std::ops::Range<u16> = 12_000..32_000;
const MOST_TRIES: usize = 1000;

/// The place at which a service is found.
#[derive(Debug, Clone)]
pub(in crate::trial) struct ServiceAddress {
    name: String,
    /// The port that it is known by.
    known_port: u16,
    /// Its address on this machine.
    pub on_machine: SocketAddr,
}

impl ServiceAddress {
    pub(in crate::trial) fn new(service: &Service, port: u16) -> Self {
        ServiceAddress {
            name: service.name.clone(),
            known_port: service.port,
            on_machine: SocketAddr::from((HOST, port)),
        }
    }

    /// Returns its address in a network of the trial's own.
    pub(in crate::trial) fn inside(&self) -> SocketAddr {
        match self.known_port {
            0..LEAST_PORT => self.on_machine,
            port => SocketAddr::from((HOST, port)),
        }
    }

    /// Returns its address inside of a network of the trial's own or on this machine.
    pub(in crate::trial) fn address(&self, is_inside: bool) -> SocketAddr {
        match is_inside {
            true => self.inside(),
            false => self.on_machine,
        }
    }

    /// Returns the variables that lead to it, inside of a network of the trial's own or on this machine.
    pub(in crate::trial) fn variables(&self, is_inside: bool) -> [(String, String); 2] {
        let address = self.address(is_inside);
        [
            (Service::variable(&self.name, "HOST"), HOST.to_string()),
            (
                Service::variable(&self.name, "PORT"),
                address.port().to_string(),
            ),
        ]
    }
}

/// A service of a trial that was started.
#[derive(Debug, Clone)]
pub(in crate::trial) struct RunningService {
    pub address: ServiceAddress,
    pub process: Arc<ServiceProcess>,
    /// The length of its log when the trial began.
    pub log_from: u64,
    /// It was ready, so that the trial went on.
    pub is_ready: bool,
}

/// A service that trials share, by what makes it the same.
pub(in crate::trial) struct SharedService {
    pub service: Service,
    pub sandbox: Option<Sandbox>,
    pub running: RunningService,
}

/// The services of a run.
#[derive(Default)]
pub struct RunServices {
    /// The ports that were chosen.
    ports: Mutex<HashSet<u16>>,
    shared: Mutex<Vec<SharedService>>,
}

impl std::fmt::Debug for RunServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunServices").finish_non_exhaustive()
    }
}

impl RunServices {
    /// Chooses a port that nobody listens on and no other service of the run has.
    pub(in crate::trial) fn new_port(&self) -> io::Result<u16> {
        for _ in 0..MOST_TRIES {
            let port = fastrand::u16(PORTS);
            if TcpListener::bind((HOST, port)).is_ok() && locked(&self.ports).insert(port) {
                return Ok(port);
            }
        }
        Err(io::Error::other("no port is free for a service"))
    }

    /// Returns the services that trials share. Nobody else starts one meanwhile.
    pub(in crate::trial) fn shared(&self) -> MutexGuard<'_, Vec<SharedService>> {
        locked(&self.shared)
    }

    /// Ends the services that trials share.
    pub fn end(&self) {
        locked(&self.shared).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let services = RunServices::default();
        let ports: HashSet<u16> = (0..200).map(|_| services.new_port().unwrap()).collect();
        assert_eq!(ports.len(), 200);
    }
}
