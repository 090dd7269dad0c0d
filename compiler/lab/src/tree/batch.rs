//! What a batch file tells a device, as far as a lab has to know it.
//!
//! In: the text of an `ip.batch`. Out: [`Batch`]: own segments, ways to neighbours' segments, addresses of
//! ports. Always: the file is applied by `ip` itself; this reading only says what to expect of it.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use ipnet::Ipv6Net;

use crate::error::TreeFault;

/// What a batch file tells a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Own segments, in the order of the file.
    pub segments: Vec<Segment>,
    /// Port that each plain route leaves by; several ports: the first.
    pub ways: BTreeMap<Ipv6Net, String>,
    /// MAC address of each port.
    pub macs: BTreeMap<String, String>,
    /// Static neighbours by port.
    pub neighbours: BTreeMap<String, Neighbour>,
}

/// An own segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Block and uSID.
    pub prefix: Ipv6Net,
    /// Whether it decapsulates; otherwise it shifts and forwards.
    pub decapsulates: bool,
}

/// A static neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Its address; unspecified where a switch knows MAC addresses alone.
    pub address: Ipv6Addr,
    /// Its MAC address.
    pub mac: String,
}

impl Batch {
    /// Reads a batch file.
    pub fn parse(text: &str) -> Result<Batch, TreeFault> {
        let mut batch = Batch::default();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
            batch.line(&words).map_err(|what| TreeFault::Line { line: number + 1, what })?;
        }
        Ok(batch)
    }

    fn line(&mut self, words: &[&str]) -> Result<(), String> {
        match words {
            ["link", "set", "dev", port, rest @ ..] => {
                if let Some(mac) = after(rest, "address") {
                    self.macs.insert((*port).to_owned(), mac.to_owned());
                }
            }
            ["neighbour", "replace", address, rest @ ..] => {
                if let (Some(mac), Some(port)) = (after(rest, "lladdr"), after(rest, "dev")) {
                    let address = address.parse().map_err(|e| format!("`{address}`: {e}"))?;
                    self.neighbours.insert(port.to_owned(), Neighbour { address, mac: mac.to_owned() });
                }
            }
            ["route", "replace", "blackhole", ..] => {}
            ["route", "replace", prefix, rest @ ..] => self.route(parse_prefix(prefix)?, rest),
            _ => {}
        }
        Ok(())
    }

    fn route(&mut self, prefix: Ipv6Net, rest: &[&str]) {
        match after(rest, "action") {
            Some(action) => {
                self.segments.push(Segment { prefix, decapsulates: action.starts_with("End.D") });
            }
            None => {
                if let Some(port) = after(rest, "dev") {
                    self.ways.entry(prefix).or_insert_with(|| port.to_owned());
                }
            }
        }
    }
}

fn after<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.windows(2).find(|pair| pair[0] == key).map(|pair| pair[1])
}

fn parse_prefix(text: &str) -> Result<Ipv6Net, String> {
    let whole = || text.parse::<Ipv6Addr>().map(Ipv6Net::from);
    text.parse().or_else(|_| whole()).map_err(|_| format!("`{text}` is no prefix"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_ways_and_neighbours_are_read() {
        let batch = Batch::parse(
            "# a comment\n\
             link set dev eth1 address 02:c1:00:00:00:01 mtu 9216 addrgenmode none\n\
             neighbour replace 2001:db8::a lladdr 02:d0:00:01:00:01 dev eth1 nud permanent\n\
             route replace fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0\n\
             route replace fcbb:bbbb:8001::/48 encap seg6local action End.DT6 table 255 count dev sr0\n\
             route replace fcbb:bbbb:4001::/48 via 2001:db8::b dev eth3\n\
             route replace blackhole fcbb:bbbb::/32\n",
        )
        .unwrap();
        let segments: Vec<_> =
            batch.segments.iter().map(|s| (s.prefix.to_string(), s.decapsulates)).collect();
        assert_eq!(segments, [("fcbb:bbbb:1::/48".into(), false), ("fcbb:bbbb:8001::/48".into(), true)]);
        assert_eq!(batch.ways.values().collect::<Vec<_>>(), ["eth3"]);
        assert_eq!(batch.macs["eth1"], "02:c1:00:00:00:01");
        assert_eq!(batch.neighbours["eth1"].address, "2001:db8::a".parse::<Ipv6Addr>().unwrap());
    }

    #[test]
    fn a_bad_prefix_has_a_line() {
        let error = Batch::parse("\nroute replace nowhere via ::1 dev eth1\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2: `nowhere` is no prefix");
    }
}
