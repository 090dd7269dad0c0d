//! Descriptors that the service manager keeps while the process restarts (`FileDescriptorStoreMax=`,
//! `sd_listen_fds(3)`).
//!
//! In: `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the environment. Out: the TUN device and the
//! socket for frames of the previous process. Invariants: a descriptor is used only if its type matches its
//! name. Others are closed. While the manager keeps them, the TUN device and its routes remain, and both
//! descriptors queue packets. So a restart loses no packets until a queue is full.

use std::os::fd::{AsFd as _, OwnedFd};

use crate::io::sys;

/// Name of the TUN device's descriptor.
pub(crate) const TUN: &str = "tun";
/// Name of the descriptor of the socket for frames.
pub(crate) const PACKETS: &str = "packets";
/// Maximum number of descriptors that are taken. No version of this program stores as many.
const MOST: i32 = 16;

/// Descriptors of the previous process.
#[derive(Debug, Default)]
pub(crate) struct InheritedDescriptors {
    /// The TUN device.
    pub(crate) tun: Option<OwnedFd>,
    /// The socket for frames.
    pub(crate) packets: Option<OwnedFd>,
}

impl InheritedDescriptors {
    /// Takes the descriptors that the service manager passed to this process. Call it once.
    pub(crate) fn from_environment(tun: Option<&str>) -> InheritedDescriptors {
        let text = |name: &str| std::env::var(name).ok();
        // Ignore descriptors for another process, such as the shell that started this one.
        let own = std::process::id().to_string();
        if text("LISTEN_PID").is_none_or(|pid| pid != own) {
            return InheritedDescriptors::default();
        }
        let count = text("LISTEN_FDS").and_then(|count| count.parse().ok()).unwrap_or(0);
        let names = text("LISTEN_FDNAMES").unwrap_or_default();
        InheritedDescriptors::of(sys::take_inherited(i32::clamp(count, 0, MOST)), &names, tun)
    }

    /// Assigns descriptors to their names, which are separated by colons.
    fn of(descriptors: Vec<OwnedFd>, names: &str, tun: Option<&str>) -> InheritedDescriptors {
        let mut kept = InheritedDescriptors::default();
        for (descriptor, name) in descriptors.into_iter().zip(names.split(':')) {
            match name {
                TUN if tun.is_some() && sys::tun_name(descriptor.as_fd()).as_deref() == tun => {
                    kept.tun = Some(descriptor);
                }
                PACKETS if sys::is_packets(descriptor.as_fd()) => kept.packets = Some(descriptor),
                _ => {}
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn a_descriptor_that_is_not_what_its_name_says_is_closed() {
        let null = || OwnedFd::from(File::open("/dev/null").unwrap());
        let socket = OwnedFd::from(UnixDatagram::unbound().unwrap());
        let kept =
            InheritedDescriptors::of(vec![null(), socket, null()], "tun:packets:other", Some("closc0"));
        assert!(kept.tun.is_none() && kept.packets.is_none());
        // More descriptors than names, then unknown names.
        assert!(InheritedDescriptors::of(vec![null(), null()], "tun", None).tun.is_none());
        assert!(InheritedDescriptors::of(Vec::new(), "tun:packets", Some("closc0")).packets.is_none());
    }

    #[test]
    fn a_socket_for_frames_is_taken() {
        let Ok(socket) = sys::open_packets() else {
            closc_skip::skip("packet sockets need CAP_NET_RAW");
            return;
        };
        let kept = InheritedDescriptors::of(vec![socket], "packets", None);
        assert!(kept.packets.is_some() && kept.tun.is_none());
    }
}
