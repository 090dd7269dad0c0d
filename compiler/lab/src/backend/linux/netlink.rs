//! Reads counters of segments from the kernel over route netlink.
//!
//! In: the namespace of the calling thread. Out: packets and errors of every seg6local route with counters. Invariants:
//! the numbers below are part of the kernel's user-space API (`linux/rtnetlink.h`, `linux/seg6_local.h`) and do not
//! change.

use std::net::Ipv6Addr;
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use crate::LabError;
use crate::backend::SegmentCounter;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const FLAGS: u16 = 0x301;
const AF_INET6: u8 = 10;
const RTA_DST: u16 = 1;
const RTA_ENCAP_TYPE: u16 = 21;
const RTA_ENCAP: u16 = 22;
const LWTUNNEL_ENCAP_SEG6_LOCAL: u16 = 7;
const SEG6_LOCAL_COUNTERS: u16 = 10;
const SEG6_LOCAL_CNT_PACKETS: u16 = 2;
const SEG6_LOCAL_CNT_ERRORS: u16 = 4;
/// Lengths of `nlmsghdr` and `rtmsg`.
const HEADER: usize = 16;
const ROUTE: usize = 12;

/// Reads every seg6local route: prefix, its length, counters.
pub(super) fn segments() -> Result<Vec<(Ipv6Addr, u8, SegmentCounter)>, LabError> {
    let what = || "ask the kernel for routes";
    let socket =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)
            .map_err(LabError::os(what()))?;
    send(socket.as_raw_fd(), &request(), MsgFlags::empty()).map_err(LabError::os(what()))?;
    let mut out = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length =
            recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(LabError::os(what()))?;
        let mut rest = &buffer[..length];
        while let Some((kind, body, after)) = message(rest) {
            match kind {
                NLMSG_DONE => return Ok(out),
                NLMSG_ERROR => {
                    let code = i32::from_ne_bytes(array(body).unwrap_or_default());
                    return Err(LabError::io(what())(std::io::Error::from_raw_os_error(-code)));
                }
                RTM_NEWROUTE => out.extend(route(body)),
                _ => {}
            }
            rest = after;
        }
    }
}

fn request() -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + ROUTE);
    out.extend(((HEADER + ROUTE) as u32).to_ne_bytes());
    out.extend(RTM_GETROUTE.to_ne_bytes());
    out.extend(FLAGS.to_ne_bytes());
    out.extend([0; 8]);
    out.push(AF_INET6);
    out.extend([0; ROUTE - 1]);
    out
}

/// Splits off the first message: its kind, its body, and the rest.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(array(bytes)?) as usize;
    let kind = u16::from_ne_bytes(array(bytes.get(4..)?)?);
    let body = bytes.get(HEADER..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or(&[])))
}

fn route(body: &[u8]) -> Option<(Ipv6Addr, u8, SegmentCounter)> {
    let (family, prefix_len) = (*body.first()?, *body.get(1)?);
    let attributes = body.get(ROUTE..)?;
    let kind = u16::from_ne_bytes(array(find(attributes, RTA_ENCAP_TYPE)?)?);
    if family != AF_INET6 || kind != LWTUNNEL_ENCAP_SEG6_LOCAL {
        return None;
    }
    let address = Ipv6Addr::from(<[u8; 16]>::try_from(find(attributes, RTA_DST)?).ok()?);
    let counters = find(find(attributes, RTA_ENCAP)?, SEG6_LOCAL_COUNTERS)?;
    let value = |kind| Some(u64::from_ne_bytes(array(find(counters, kind)?)?));
    let counter =
        SegmentCounter { packets: value(SEG6_LOCAL_CNT_PACKETS)?, errors: value(SEG6_LOCAL_CNT_ERRORS)? };
    Some((address, prefix_len, counter))
}

/// Finds an attribute; the nesting bit of its kind is ignored.
fn find(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    const NESTED: u16 = 1 << 15;
    while let (Some(length), Some(kind)) = (array(bytes), bytes.get(2..).and_then(array)) {
        let length = usize::from(u16::from_ne_bytes(length));
        let value = bytes.get(4..length)?;
        if u16::from_ne_bytes(kind) & !NESTED == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.get(..N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut out = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    #[test]
    fn a_route_with_counters_is_read() {
        let mut counters = attribute(SEG6_LOCAL_CNT_PACKETS, &7u64.to_ne_bytes());
        counters.extend(attribute(3, &900u64.to_ne_bytes()));
        counters.extend(attribute(SEG6_LOCAL_CNT_ERRORS, &1u64.to_ne_bytes()));
        let mut body = vec![AF_INET6, 48];
        body.extend([0; ROUTE - 2]);
        let address: Ipv6Addr = "fcbb:bbbb:1801::".parse().unwrap();
        body.extend(attribute(RTA_DST, &address.octets()));
        body.extend(attribute(RTA_ENCAP_TYPE, &LWTUNNEL_ENCAP_SEG6_LOCAL.to_ne_bytes()));
        body.extend(attribute(RTA_ENCAP | 1 << 15, &attribute(SEG6_LOCAL_COUNTERS | 1 << 15, &counters)));
        let counter = SegmentCounter { packets: 7, errors: 1 };
        assert_eq!(route(&body), Some((address, 48, counter)));
    }

    #[test]
    fn broken_messages_are_no_routes() {
        assert_eq!(route(&[]), None);
        assert_eq!(route(&[AF_INET6; 20]), None);
        assert!(message(&[1, 2, 3]).is_none());
        assert!(message(&[255; 16]).is_none());
        assert!(message(&[0; 16]).is_none());
        assert_eq!(find(&[3, 0, 1, 0], 1), None);
    }
}
