//! Messages to the service manager that started the process (`sd_notify(3)`).
//!
//! In: `NOTIFY_SOCKET` and `WATCHDOG_USEC` from the environment, turns of the loop. Out: descriptors to keep for the
//! next process (`FDSTORE=1`), `READY=1` once, then `WATCHDOG=1` twice per interval. Invariants: without a service
//! manager nothing is sent. A loop that hangs sends nothing, so the manager detects it.

use std::ffi::OsStr;
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};

/// The service manager.
#[derive(Debug, Default)]
pub struct Manager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// Half of the watchdog interval; `None` without a watchdog.
    period_ns: Option<u64>,
    next_ns: u64,
}

impl Manager {
    /// Finds the service manager from the environment.
    ///
    /// # Errors
    ///
    /// Returns why its socket cannot be used.
    pub fn from_environment() -> io::Result<Manager> {
        let text = |name: &str| std::env::var(name).ok();
        // Ignore a watchdog for another process, such as the shell that started this one.
        let own = std::process::id().to_string();
        let is_ours = text("WATCHDOG_PID").is_none_or(|pid| pid == own);
        let watchdog = text("WATCHDOG_USEC").filter(|_| is_ours).and_then(|usec| usec.parse().ok());
        match std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty()) {
            Some(path) => Manager::at(&path, watchdog),
            None => Ok(Manager::default()),
        }
    }

    /// Makes a manager for a socket, with a watchdog interval in microseconds.
    fn at(path: &OsStr, watchdog_us: Option<u64>) -> io::Result<Manager> {
        let address = match path.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            _ => SocketAddr::from_pathname(path)?,
        };
        let socket = UnixDatagram::unbound()?;
        // The loop must not block if the manager does not read.
        socket.set_nonblocking(true)?;
        let period_ns = watchdog_us.map(|us| (us.saturating_mul(500)).max(1));
        Ok(Manager { socket: Some((socket, address)), period_ns, next_ns: 0 })
    }

    /// Asks the manager to keep a descriptor for the next process, instead of any others with this name. A
    /// manager without space for it ignores the message. The descriptor is then closed when the process ends.
    ///
    /// # Errors
    ///
    /// Returns why the message was not sent.
    pub(crate) fn store(&self, name: &str, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let Some((socket, address)) = &self.socket else { return Ok(()) };
        self.send(&format!("FDSTOREREMOVE=1\nFDNAME={name}"));
        let address = match address.as_abstract_name() {
            Some(name) => UnixAddr::new_abstract(name)?,
            None => UnixAddr::new(address.as_pathname().ok_or(io::ErrorKind::InvalidInput)?)?,
        };
        let text = format!("FDSTORE=1\nFDNAME={name}");
        let (text, descriptors) = ([IoSlice::new(text.as_bytes())], [descriptor.as_raw_fd()]);
        let rights = [ControlMessage::ScmRights(&descriptors)];
        sendmsg(socket.as_raw_fd(), &text, &rights, MsgFlags::empty(), Some(&address))?;
        Ok(())
    }

    /// Reports that the service is up.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// Reports that the loop is running, if a report is due.
    pub fn notify_watchdog(&mut self, now_ns: u64) {
        let Some(period_ns) = self.period_ns.filter(|_| now_ns >= self.next_ns) else { return };
        self.next_ns = now_ns + period_ns;
        self.send("WATCHDOG=1");
    }

    /// Returns the time between two reports; `None` without a watchdog.
    pub fn period(&self) -> Option<Duration> {
        self.period_ns.map(Duration::from_nanos)
    }

    /// Returns when the next report is due; `u64::MAX` without a watchdog.
    pub fn next_due_ns(&self) -> u64 {
        self.period_ns.map_or(u64::MAX, |_| self.next_ns)
    }

    fn send(&self, word: &str) {
        if let Some((socket, address)) = &self.socket {
            // If the manager cannot accept a message now, it is lost. The loop must not fail because of that.
            let _ = socket.send_to_addr(word.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_turns_sends_two_messages_in_each_interval() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let inbox = UnixDatagram::bind(&path).unwrap();
        inbox.set_nonblocking(true).unwrap();
        let came = || -> Vec<String> {
            let mut bytes = [0; 64];
            let next =
                || inbox.recv(&mut bytes).ok().map(|n| String::from_utf8(bytes[..n].to_vec()).unwrap());
            std::iter::from_fn(next).collect()
        };
        let mut manager = Manager::at(path.as_os_str(), Some(2_000_000)).unwrap();
        manager.ready();
        assert_eq!(came(), ["READY=1"]);
        let second = 1_000_000_000;
        for tenth in 0..=30 {
            manager.notify_watchdog(5 * second + tenth * second / 10);
        }
        assert_eq!(came(), ["WATCHDOG=1"; 4]);
        assert_eq!(manager.next_due_ns(), 9 * second);
        // Without a watchdog only the start is reported. Without a manager nothing is sent.
        let mut manager = Manager::at(path.as_os_str(), None).unwrap();
        manager.notify_watchdog(second);
        assert_eq!((came().len(), manager.next_due_ns()), (0, u64::MAX));
        Manager::default().ready();
    }

    #[test]
    fn an_abstract_socket_is_one_too() {
        let name = format!("closc-notify-{}", std::process::id());
        let inbox = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        Manager::at(OsStr::new(&format!("@{name}")), None).unwrap().ready();
        let mut bytes = [0; 16];
        assert_eq!(inbox.recv(&mut bytes).unwrap(), 7);
    }
}
