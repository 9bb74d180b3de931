//! The services of a trial: started before its `before`, alive for the agent and the tests, ended with it.
//!
//! A service runs outside of the agent's sandbox, contained as `before` is, in a directory that nobody else knows. It
//! listens on this machine at a port that Terca chooses. A command with the machine's network finds it there; into a
//! network of its own the service is led at the port that the suite names.

use std::fs::File;
use std::io::{self, Read};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::suite::{Service, ServiceScope, ServiceSource};
use terca_core::process::Signal;
use terca_core::text::prose;
use terca_core::transcript::Usage;
use terca_core::trial_error::ErrorKind;

use super::command::GRACE;
use super::containment::service_enclosure;
use super::output::{copy_masked, new_file};
use super::running_service::{RunningService, ServiceAddress, SharedService};
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::host::environment::Variables;
use crate::process::output_file::{Output, read_text};
use crate::process::pause::Stopwatch;
use crate::process::service::{ServiceProcess, ServiceProgram};
use crate::process::supervise::{Job, Turn};
use crate::sandbox::service_container;
use crate::workspace::trial_dirs::CommandDirs;

/// The time between two looks at a port.
const GLANCE: Duration = Duration::from_millis(20);
/// The time in which an engine hangs up where nobody listens in its container. A new container takes up to a second to be
/// found in its network.
const HANGS_UP_WITHIN: Duration = Duration::from_millis(1500);
/// The lines of a log that a message shows.
const SHOWN_LINES: usize = 3;
/// Asks until the answer is yes.
const UNTIL: &str = r#"until /bin/sh -c "$0"; do sleep 0.1; done"#;

/// Starts the services of a trial, one after the other, and waits until each is ready.
pub(super) fn start(run: &mut TrialRun<'_>) -> Result<(), StageError> {
    let case = run.spec.case.clone();
    for service in &case.services {
        if run.context.interrupt.is_stop() {
            return Err(StageError::Interrupted);
        }
        run.log.section(&format!("service: {}", service.name))?;
        run.doing(
            &format!("starting the service {}", service.name),
            Usage::default(),
        );
        match service.scope {
            ServiceScope::Trial => begin(run, service)?,
            ServiceScope::Suite => join(run, service)?,
        }
        if let Some(running) = run.services.last() {
            let port = running.address.on_machine.port();
            run.log.line(&format!("ready at port {port}"))?;
        }
    }
    Ok(())
}

/// Returns an error if a service has ended by itself.
pub(super) fn check(run: &TrialRun<'_>) -> Result<(), StageError> {
    let services = run.spec.case.services.iter().zip(&run.services);
    for (service, running) in services {
        if let Some(end) = running.process.end() {
            let reason = format!("ended before the agent started ({end})");
            return Err(failed(run, service, running, &reason));
        }
    }
    Ok(())
}

/// Ends the services that are the trial's own, and keeps what each has printed.
pub(super) fn end(run: &mut TrialRun<'_>) {
    let running = std::mem::take(&mut run.services);
    for (service, running) in run.spec.case.services.iter().zip(running) {
        let name = &service.name;
        if service.scope == ServiceScope::Trial {
            running.process.stop();
        }
        let ended = running.process.end();
        let place = run.folder.service_log(name);
        if let Err(error) = keep_log(&running, &place, run) {
            let note = format!("the log of the service `{name}` could not be kept: {error}");
            run.remarks.push(note);
        }
        if let Some(end) = ended.filter(|_| running.is_ready) {
            let place = place.strip_prefix(&run.folder.path).unwrap_or(&place);
            run.remarks.push(format!(
                "the service `{name}` ended during the trial ({end}); its log is {place}"
            ));
        }
    }
}

fn keep_log(running: &RunningService, place: &Utf8Path, run: &TrialRun<'_>) -> io::Result<()> {
    let from = running.process.log(running.log_from)?;
    copy_masked(&from, &mut new_file(place)?, &run.context.mask)
}

/// Takes the service that other trials have, or starts it for all of them.
fn join(run: &mut TrialRun<'_>, service: &Service) -> Result<(), StageError> {
    let context = run.context;
    let sandbox = run.spec.case.variant.sandbox.clone();
    let mut shared = context.services.shared();
    shared.retain(|known| known.running.process.end().is_none());
    let mut known = shared.iter();
    let known = known.find(|known| known.service == *service && known.sandbox == sandbox);
    if let Some(known) = known {
        let log = known.running.process.log(0)?;
        run.services.push(RunningService {
            log_from: log.metadata()?.len(),
            ..known.running.clone()
        });
        return Ok(());
    }
    begin(run, service)?;
    shared.extend(run.services.last().map(|running| SharedService {
        service: service.clone(),
        sandbox,
        running: running.clone(),
    }));
    Ok(())
}

/// The directories of a service.
struct ServiceDirs {
    root: Utf8PathBuf,
    data: Utf8PathBuf,
    home: Utf8PathBuf,
    tmp: Utf8PathBuf,
    io: Utf8PathBuf,
}

impl ServiceDirs {
    fn create(root: Utf8PathBuf) -> io::Result<Self> {
        let [data, home, tmp, io] = ["data", "home", "tmp", "io"].map(|name| root.join(name));
        for dir in [&data, &home, &tmp, &io] {
            fs_err::create_dir(dir)?;
        }
        Ok(ServiceDirs {
            root,
            data,
            home,
            tmp,
            io,
        })
    }

    fn for_command(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.home,
            tmp: &self.tmp,
            workspace: &self.data,
        }
    }

    /// Returns a shell command of the service, which starts in its directory.
    fn job(&self, args: &[&str], env: &Variables, output: &Output, timeout: Duration) -> Job {
        Job {
            program: "/bin/sh".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env.clone(),
            dir: self.data.clone(),
            stdin: None,
            stdout: output.path.clone(),
            stderr: output.path.clone(),
            timeout,
            stop_signal: Signal::Terminate,
            grace: GRACE,
            sweep: true,
            fixed_root: None,
        }
    }
}

/// Starts a service, and waits until it is ready. It is among those of the trial in any case, so that its log is kept.
fn begin(run: &mut TrialRun<'_>, service: &Service) -> Result<(), StageError> {
    let context = run.context;
    let address = ServiceAddress::new(service, context.services.new_port()?);
    let dirs = ServiceDirs::create(context.work.new_dir()?)?;
    let env = environment(run, service, &dirs, &address);
    let output = Output::create(&dirs.io)?;
    let program = match &service.source {
        ServiceSource::Command(command) => {
            run.log.line(&format!("$ {command}"))?;
            let job = dirs.job(&["-c", command], &env, &output, Duration::MAX);
            let walls = service_enclosure(run, dirs.for_command(), &dirs.io, &env);
            ServiceProgram::Command(Box::new(job), walls)
        }
        ServiceSource::Image(image) => {
            run.log.line(&format!("image {image}"))?;
            let ports = (address.on_machine, service.port);
            let made = service_container(
                image, ports, &service.env, &dirs.root, &output.path, &context.host,
            );
            let made = made.map_err(|error| setup_error(service, &error.to_string()))?;
            ServiceProgram::Container(made)
        }
    };
    let launcher = context.supervisors.launcher();
    let process = ServiceProcess::start(
        launcher,
        &context.interrupt,
        program,
        output,
        dirs.root.clone(),
    )?;
    let running = RunningService {
        address,
        process: Arc::new(process),
        log_from: 0,
        is_ready: false,
    };
    run.services.push(running.clone());
    match &service.ready {
        Some(ready) => wait_for_command(run, service, &running, ready, &dirs, &env)?,
        None => wait_for_port(run, service, &running)?,
    }
    if let Some(last) = run.services.last_mut() {
        last.is_ready = true;
    }
    Ok(())
}

/// Returns the variables of a service. One that trials share knows no trial.
fn environment(
    run: &TrialRun<'_>,
    service: &Service,
    dirs: &ServiceDirs,
    address: &ServiceAddress,
) -> Variables {
    let own_dirs = dirs.for_command();
    let mut env = match service.scope {
        ServiceScope::Trial => run.command_environment(own_dirs, &service.dir),
        ServiceScope::Suite => {
            let sealed = &run.context.sealed;
            let given = run.registry_variables();
            let suite_dir = sealed.dir(&run.context.suite_dir).into();
            let facts = [("TERCA_SUITE_DIR", suite_dir)];
            run.host()
                .for_suite(own_dirs, given, &sealed.dir(&service.dir), facts)
        }
    };
    let earlier = run.services.iter().map(|running| &running.address);
    let earlier = earlier.filter(|_| service.scope == ServiceScope::Trial);
    for known in earlier.chain([address]) {
        env.extend(known.variables(false));
    }
    env.extend(service.env.iter().cloned());
    env
}

/// Waits until the port of a service accepts connections.
fn wait_for_port(
    run: &TrialRun<'_>,
    service: &Service,
    running: &RunningService,
) -> Result<(), StageError> {
    let started = Stopwatch::start();
    while !accepts(service, running) {
        if run.context.interrupt.is_stop() {
            return Err(StageError::Interrupted);
        }
        if let Some(end) = running.process.end() {
            return Err(ended_early(run, service, running, &end));
        }
        if started.elapsed() >= service.timeout {
            let port = Service::variable(&service.name, "PORT");
            let reason = format!(
                "did not listen at ${port} ({}) within {}",
                running.address.on_machine.port(),
                prose::duration(service.timeout.as_secs_f64())
            );
            return Err(failed(run, service, running, &reason));
        }
        std::thread::sleep(GLANCE);
    }
    // Another program may have taken the port meanwhile.
    match running.process.end() {
        Some(end) => Err(ended_early(run, service, running, &end)),
        None => Ok(()),
    }
}

/// Tells whether a service accepts a connection. Docker accepts for it before it is there, and hangs up.
fn accepts(service: &Service, running: &RunningService) -> bool {
    let Ok(mut stream) = TcpStream::connect(running.address.on_machine) else {
        return false;
    };
    if service.source.command().is_some() {
        return true;
    }
    let _ = stream.set_read_timeout(Some(HANGS_UP_WITHIN));
    match stream.read(&mut [0]) {
        Ok(length) => length > 0,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        ),
    }
}

/// Waits until a command succeeds.
fn wait_for_command(
    run: &mut TrialRun<'_>,
    service: &Service,
    running: &RunningService,
    ready: &str,
    dirs: &ServiceDirs,
    env: &Variables,
) -> Result<(), StageError> {
    let output = Output::create(&dirs.io)?;
    let job = dirs.job(&["-c", UNTIL, ready], env, &output, service.timeout);
    let walls = service_enclosure(run, dirs.for_command(), &dirs.io, env);
    let process = &running.process;
    let ended = run.run_job(job, walls, &mut Vec::new(), &mut |_| match process.end() {
        Some(_) => Turn::Stop,
        None => Turn::Wait,
    })?;
    if let Some(end) = process.end() {
        return Err(ended_early(run, service, running, &end));
    }
    if ended.stopped {
        return Err(StageError::Interrupted);
    }
    if ended.exit.code() == Some(0) && !ended.timed_out {
        return Ok(());
    }
    let mut reason = format!(
        "was not ready within {}",
        prose::duration(service.timeout.as_secs_f64())
    );
    let said = output.rewound().ok();
    if let Some(said) = said.and_then(|said| last_lines(run, said)) {
        reason = format!("{reason}; `ready` says: {said}");
    }
    Err(failed(run, service, running, &reason))
}

fn ended_early(
    run: &TrialRun<'_>,
    service: &Service,
    running: &RunningService,
    end: &str,
) -> StageError {
    let reason = match end {
        "exit status 0" => {
            "ended before it was ready (exit status 0); a service stays in the foreground"
                .to_owned()
        }
        end => format!("ended before it was ready ({end})"),
    };
    failed(run, service, running, &reason)
}

/// Makes the error of a service, with the end of its log.
fn failed(
    run: &TrialRun<'_>,
    service: &Service,
    running: &RunningService,
    reason: &str,
) -> StageError {
    let log = running.process.log(running.log_from).ok();
    let log = match log.and_then(|log| last_lines(run, &log)) {
        Some(lines) => format!("its log ends: {lines}"),
        None => "it printed nothing".to_owned(),
    };
    setup_error(service, &format!("{reason}; {log}"))
}

fn setup_error(service: &Service, reason: &str) -> StageError {
    let message = format!("the service `{}` {reason}", service.name);
    StageError::new(ErrorKind::Setup, message)
}

/// Returns the last lines of an output.
fn last_lines(run: &TrialRun<'_>, file: &File) -> Option<String> {
    let text = run.context.mask.text(&read_text(file).ok()?);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut last: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let shown = last.split_off(last.len().saturating_sub(SHOWN_LINES));
    (!shown.is_empty()).then(|| shown.join(" / "))
}
