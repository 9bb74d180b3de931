//! What a command costs: time, processor, memory, bytes.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use wait4::Wait4;

#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: Duration,
    /// User and system time of the process and of everything below it that was waited for.
    pub cpu: Duration,
    /// The same of the process alone, to a hundredth of a second.
    pub own_cpu: Duration,
    /// The largest of the process and of everything below it.
    pub peak_bytes: u64,
    /// Handed to `write`, whatever the file, by the process and everything below it.
    pub written_bytes: u64,
}

/// Runs a command to its end. It must succeed: what fails early is no measurement.
pub fn measure(command: &mut Command) -> io::Result<Cost> {
    let started = Instant::now();
    let mut child = command.spawn()?;
    let pid = Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("no process id"))?;
    // It has ended, but is still there to be asked.
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )?;
    let wall = started.elapsed();
    let (own_cpu, written_bytes) = (own_cpu(pid)?, written(pid)?);
    let end = child.wait4()?;
    if !end.status.success() {
        return Err(io::Error::other(format!(
            "{command:?} ended with {}",
            end.status
        )));
    }
    let cpu = end.rusage.utime + end.rusage.stime;
    Ok(Cost {
        wall,
        cpu,
        own_cpu,
        peak_bytes: end.rusage.maxrss,
        written_bytes,
    })
}

fn own_cpu(pid: Pid) -> io::Result<Duration> {
    /// What `/proc` counts in, on every Linux there is.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs_err::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()))?;
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u32 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u32>().ok())
        .sum();
    Ok(TICK * ticks)
}

fn written(pid: Pid) -> io::Result<u64> {
    let text = fs_err::read_to_string(format!("/proc/{}/io", pid.as_raw_nonzero()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.parse().ok())
        .ok_or_else(|| io::Error::other("/proc has no wchar"))
}

/// The least of several measurements, figure by figure: what else the machine did is not what is asked.
pub fn least(costs: &[Cost]) -> io::Result<Cost> {
    let least = |figure: fn(&Cost) -> Duration| costs.iter().map(figure).min();
    match (
        least(|cost| cost.wall),
        least(|cost| cost.cpu),
        least(|cost| cost.own_cpu),
    ) {
        (Some(wall), Some(cpu), Some(own_cpu)) => Ok(Cost {
            wall,
            cpu,
            own_cpu,
            // Of memory and bytes the most: there is no excuse for a peak.
            peak_bytes: costs.iter().map(|cost| cost.peak_bytes).max().unwrap_or(0),
            written_bytes: costs
                .iter()
                .map(|cost| cost.written_bytes)
                .max()
                .unwrap_or(0),
        }),
        _ => Err(io::Error::other("nothing was measured")),
    }
}

/// Two commands in turn, again and again, so that both see the same machine.
pub fn side_by_side(
    repeats: usize,
    mut one: impl FnMut() -> io::Result<Cost>,
    mut other: impl FnMut() -> io::Result<Cost>,
) -> io::Result<(Cost, Cost)> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        ones.push(one()?);
        others.push(other()?);
    }
    Ok((least(&ones)?, least(&others)?))
}

pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}
