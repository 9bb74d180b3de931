//! A filter of the kernel's calls (seccomp), which a process lays on itself and on everything that it starts.
//!
//! It closes the ways past a sandbox of bubblewrap or Landlock, and parts of the kernel that programs can do without. It
//! sees numbers and no paths, so it cannot tell whose files a `chmod` is for. Engines of containers have filters of
//! their own.
//!
//! A refused call fails as on a kernel that does not have it, where programs have another way then, and else as one
//! that needs a privilege. Left alone are `ptrace` and its relatives, which debuggers and leak checkers need and which
//! reach the trial's own processes alone; `personality`, which checkers of threads need; and what needs a capability,
//! because nobody inside has one.

/// The facts about a sandbox in which rules take the place of namespaces.
#[derive(Debug, Clone, Copy)]
pub struct WithoutNamespaces {
    /// The process may use memory that all programs of the user share.
    pub is_service: bool,
    /// The rules restrict TCP, and no other sockets of the internet.
    pub has_rules_for_tcp: bool,
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::collections::BTreeMap;
    use std::env::consts::ARCH;
    use std::io;

    use libc::{
        AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, CLONE_NEWUSER, ENOSYS, EPERM, IPPROTO_TCP,
        MSG_FASTOPEN, SOCK_STREAM, c_int, c_long,
    };
    use seccompiler::SeccompCmpOp::{MaskedEq, Ne};
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, apply_filter, sock_filter,
    };

    use super::WithoutNamespaces;

    /// Calls that no sandbox has: keys of the user's session, a queue of calls that no filter sees, and more of the
    /// kernel than programs need.
    const MISSING: [c_long; 9] = [
        libc::SYS_add_key,
        libc::SYS_bpf,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_perf_event_open,
        libc::SYS_request_key,
        libc::SYS_userfaultfd,
    ];
    /// Memory, queues and semaphores that all programs of a user share (System V).
    const SHARED: [c_long; 12] = [
        libc::SYS_msgctl,
        libc::SYS_msgget,
        libc::SYS_msgrcv,
        libc::SYS_msgsnd,
        libc::SYS_semctl,
        libc::SYS_semget,
        libc::SYS_semop,
        libc::SYS_semtimedop,
        libc::SYS_shmat,
        libc::SYS_shmctl,
        libc::SYS_shmdt,
        libc::SYS_shmget,
    ];
    /// The bits of a socket's type that are no flags.
    const TYPE: u64 = 0xf;
    /// The number of the first call of x32, which has the same calls under other numbers.
    const X32: u32 = 0x4000_0000;

    type Rules = Vec<(c_long, Vec<SeccompRule>)>;

    /// Lays the filter on this process, which must have no other thread. `None` is for one with namespaces.
    pub fn enter(walls: Option<WithoutNamespaces>) -> io::Result<()> {
        let mut missing: Rules = MISSING.map(always).into();
        let (mut refused, mut sockets) = (Rules::new(), vec![rule(&no_families())?]);
        if let Some(walls) = walls {
            let new_user = rule(&[(0, has(CLONE_NEWUSER))])?;
            refused.push((libc::SYS_clone, vec![new_user.clone()]));
            refused.push((libc::SYS_unshare, vec![new_user]));
            // Its flags are in memory, where no filter can look; programs then call `clone`.
            missing.push(always(libc::SYS_clone3));
            if !walls.is_service {
                missing.extend(SHARED.map(always));
            }
            if walls.has_rules_for_tcp {
                sockets.extend(other_than_tcp()?);
                // It connects without asking the walls.
                for (call, flags) in [
                    (libc::SYS_sendto, 3),
                    (libc::SYS_sendmsg, 2),
                    (libc::SYS_sendmmsg, 3),
                ] {
                    refused.push((call, vec![rule(&[(flags, has(MSG_FASTOPEN))])?]));
                }
            }
        }
        refused.push((libc::SYS_socket, sockets));
        if ARCH == "x86_64" {
            apply(&no_x32())?;
        }
        apply(&compile(missing, ENOSYS).map_err(io::Error::other)?)?;
        apply(&compile(refused, EPERM).map_err(io::Error::other)?)
    }

    /// Returns conditions for sockets that are neither of this machine nor of the internet. Those to the machine's host
    /// (vsock) pass every namespace.
    fn no_families() -> [(u8, Condition); 4] {
        [AF_UNIX, AF_NETLINK, AF_INET, AF_INET6].map(|family| (0, is_not(family)))
    }

    /// Returns rules for sockets of the internet for which the walls have none: UDP, and what is like TCP.
    fn other_than_tcp() -> io::Result<Vec<SeccompRule>> {
        let internet = [(0, is_not(AF_UNIX)), (0, is_not(AF_NETLINK))];
        let types = (0..=TYPE).filter(|kind| *kind != SOCK_STREAM as u64);
        let types = types.map(|kind| vec![(1, (MaskedEq(TYPE), kind))]);
        let protocols = vec![(2, is_not(0)), (2, is_not(IPPROTO_TCP))];
        let rules = types.chain([protocols]);
        rules
            .map(|more| rule(&[&internet[..], &more].concat()))
            .collect()
    }

    type Condition = (SeccompCmpOp, u64);

    fn is_not(value: c_int) -> Condition {
        (Ne, value as u64)
    }

    fn has(flag: c_int) -> Condition {
        (MaskedEq(flag as u64), flag as u64)
    }

    fn always(call: c_long) -> (c_long, Vec<SeccompRule>) {
        (call, Vec::new())
    }

    /// Returns a rule for calls whose arguments meet all conditions.
    fn rule(conditions: &[(u8, Condition)]) -> io::Result<SeccompRule> {
        let conditions = conditions.iter().map(|(argument, (operator, value))| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
        });
        let conditions = conditions
            .collect::<Result<_, _>>()
            .map_err(io::Error::other)?;
        SeccompRule::new(conditions).map_err(io::Error::other)
    }

    /// Makes a filter by which calls fail with this error. A program for another processor is ended.
    fn compile(rules: Rules, error: c_int) -> Result<BpfProgram, BackendError> {
        let rules: BTreeMap<_, _> = rules.into_iter().collect();
        let fail = SeccompAction::Errno(error as u32);
        SeccompFilter::new(rules, SeccompAction::Allow, fail, ARCH.try_into()?)?.try_into()
    }

    /// Returns a filter that refuses all calls of x32, whose numbers are not in the others.
    fn no_x32() -> BpfProgram {
        let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
        vec![
            step(0x20, 0, 0),
            step(0x35, 1, X32),
            step(0x06, 0, SeccompAction::Errno(ENOSYS as u32).into()),
            step(0x06, 0, SeccompAction::Allow.into()),
        ]
    }

    fn apply(program: &BpfProgram) -> io::Result<()> {
        apply_filter(program).map_err(|error| {
            io::Error::other(format!("no filter of system calls can be made: {error}"))
        })
    }
}

#[cfg(target_os = "linux")]
pub use kernel::enter;

/// Does nothing: this system has no sandboxes.
#[cfg(not(target_os = "linux"))]
pub fn enter(_: Option<WithoutNamespaces>) -> std::io::Result<()> {
    Ok(())
}
