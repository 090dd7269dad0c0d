//! The user that owns the client's end of a connection over loopback.
//!
//! In: the client's address, the kernel's list of TCP sockets (`/proc/net/tcp`, `/proc/net/tcp6`; proc_net_tcp in the kernel's
//! documentation). Out: the user that owns the client's socket.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr};

/// Maximum number of lines that are searched.
const LINES_MAX: usize = 1 << 16;

/// Returns the user that owns the socket with a local address.
pub(super) fn owner(address: SocketAddr) -> Option<u32> {
    let (file, own) = match address.ip() {
        IpAddr::V4(_) => ("/proc/net/tcp", hex(address)),
        IpAddr::V6(_) => ("/proc/net/tcp6", hex(address)),
    };
    let lines = BufReader::new(std::fs::File::open(file).ok()?).lines().take(LINES_MAX);
    lines.map_while(Result::ok).find_map(|line| {
        // Fields: number, local address, remote address, state, queues, timer, retransmissions, user.
        let mut fields = line.split_whitespace().skip(1);
        (fields.next()? == own).then(|| fields.nth(5)?.parse().ok()).flatten()
    })
}

/// Formats an address like the kernel: 32-bit words in native byte order, then the port.
fn hex(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |octets: &[u8]| {
        let octets = <[u8; 4]>::try_from(octets).expect("an address has whole words");
        format!("{:08X}", u32::from_ne_bytes(octets))
    };
    let words: String = octets.chunks(4).map(word).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_client_on_this_machine_has_a_user() {
        let own = std::fs::metadata("/proc/self").expect("it is mounted").uid();
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let stream = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
            assert_eq!(owner(stream.local_addr().expect("it is connected")), Some(own), "{listen}");
        }
        assert_eq!(owner("127.0.0.1:0".parse().expect("an address")), None);
    }
}
