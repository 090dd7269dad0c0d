//! The commands of `tc.batch` that a lab allows.
//!
//! In: a line of the file. Out: a [`Queueing`], and its text for `tc`. Invariants: the input of `tc` is written from
//! the command, never copied from the file. Every command affects only the queues of one port.

use std::fmt;
use std::str::FromStr;

use crate::error::TreeFault;
use crate::name::Interface;

/// Maximum length of a line in a message.
const LINE_MAX: usize = 60;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Queueing {
    /// Divides a port into bands.
    Bands {
        /// The port.
        port: Interface,
        /// Number of bands.
        bands: u8,
        /// Number of strict bands.
        strict: u8,
        /// Quantum of each weighted band, in bytes.
        quanta: Vec<u32>,
        /// The band of each priority.
        priorities: Vec<u8>,
    },
    /// Adds a queue to a band.
    Queue {
        /// The port.
        port: Interface,
        /// The band, from 1.
        band: u8,
        /// The handle of the queue.
        handle: u8,
        /// Maximum queue length in bytes.
        bytes: u32,
        /// ECN thresholds; absent without marking.
        marks: Option<Marks>,
    },
    /// Removes all filters.
    Forget(Interface),
    /// Adds a filter for a band.
    Filter {
        /// The port.
        port: Interface,
        /// Preference; lower ones are matched first.
        pref: u16,
        /// Traffic-class byte and mask; absent for all packets.
        byte: Option<(u8, u8)>,
        /// The band, from 1.
        band: u8,
    },
}

/// ECN thresholds of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    min: u32,
    max: u32,
    packet: u32,
    burst: u32,
    /// Maximum marking probability, in millionths.
    probability: u32,
    rate_mbps: u32,
}

impl Queueing {
    /// Reads the commands of a file.
    pub(crate) fn read_all(text: &str) -> Result<Vec<Queueing>, TreeFault> {
        let mut commands = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_ascii_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let command = read(&words).ok_or_else(|| {
                let line: String =
                    words.join(" ").chars().take(LINE_MAX).flat_map(char::escape_debug).collect();
                TreeFault::Line { line: number + 1, message: format!("a lab does not run `{line}`") }
            });
            commands.push(command?);
        }
        Ok(commands)
    }

    /// Writes commands for `tc -batch`, one per line.
    pub(crate) fn write_all(commands: &[Queueing]) -> String {
        commands.iter().map(|command| command.to_string() + "\n").collect()
    }
}

fn read(words: &[&str]) -> Option<Queueing> {
    match words {
        ["qdisc", "replace", "dev", port, "root", "handle", "1:", "ets", rest @ ..] => bands(port, rest),
        [
            "qdisc",
            "replace",
            "dev",
            port,
            "parent",
            parent,
            "handle",
            handle,
            kind,
            "limit",
            bytes,
            rest @ ..,
        ] => Some(Queueing::Queue {
            port: value(port)?,
            band: class(parent)?,
            handle: u8::from_str_radix(handle.strip_suffix(':')?, 16).ok()?,
            bytes: value(bytes)?,
            marks: match (*kind, rest) {
                ("bfifo", []) => None,
                ("red", rest) => Some(marks(rest)?),
                _ => return None,
            },
        }),
        ["filter", "del", "dev", port, "parent", "1:"] => Some(Queueing::Forget(value(port)?)),
        ["filter", "add", "dev", port, "parent", "1:", "protocol", "ipv6", rest @ ..] => filter(port, rest),
        _ => None,
    }
}

fn bands(port: &str, words: &[&str]) -> Option<Queueing> {
    let ["bands", bands, rest @ ..] = words else { return None };
    let (strict, rest) = match rest {
        ["strict", strict, rest @ ..] => (value(strict)?, rest),
        rest => (0, rest),
    };
    let at = rest.iter().position(|word| *word == "priomap")?;
    let (quanta, priorities) = rest.split_at(at);
    let quanta = match quanta {
        ["quanta", quanta @ ..] => quanta,
        [] => &[],
        _ => return None,
    };
    Some(Queueing::Bands {
        port: value(port)?,
        bands: value(bands)?,
        strict,
        quanta: quanta.iter().map(|quantum| value(quantum)).collect::<Option<_>>()?,
        priorities: priorities[1..].iter().map(|band| value(band)).collect::<Option<_>>()?,
    })
}

fn filter(port: &str, words: &[&str]) -> Option<Queueing> {
    let ["pref", pref, "u32", "match", rest @ ..] = words else { return None };
    let (byte, band) = match rest {
        ["ip6", "priority", byte, mask, "flowid", band] => {
            (Some((self::byte(byte)?, self::byte(mask)?)), band)
        }
        ["u32", "0", "0", "flowid", band] => (None, band),
        _ => return None,
    };
    Some(Queueing::Filter { port: value(port)?, pref: value(pref)?, byte, band: class(band)? })
}

fn marks(words: &[&str]) -> Option<Marks> {
    let [
        "min",
        least,
        "max",
        most,
        "avpkt",
        packet,
        "burst",
        burst,
        "probability",
        probability,
        "bandwidth",
        rate,
        "ecn",
        "nodrop",
    ] = words
    else {
        return None;
    };
    let digits = probability.strip_prefix("0.").filter(|digits| (1..=6).contains(&digits.len()))?;
    Some(Marks {
        min: value(least)?,
        max: value(most)?,
        packet: value(packet)?,
        burst: value(burst)?,
        probability: value(&format!("{digits:0<6}"))?,
        rate_mbps: value(rate.strip_suffix("mbit")?)?,
    })
}

/// Returns the band of a class, from 1.
fn class(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix("1:")?, 16).ok()
}

fn byte(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn value<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

impl fmt::Display for Queueing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queueing::Bands { port, bands, strict, quanta, priorities } => {
                write!(f, "qdisc replace dev {port} root handle 1: ets bands {bands}")?;
                if *strict > 0 {
                    write!(f, " strict {strict}")?;
                }
                if !quanta.is_empty() {
                    list(f, "quanta", quanta)?;
                }
                list(f, "priomap", priorities)
            }
            Queueing::Queue { port, band, handle, bytes, marks } => {
                let kind = if marks.is_some() { "red" } else { "bfifo" };
                write!(
                    f,
                    "qdisc replace dev {port} parent 1:{band:x} handle {handle:x}: {kind} limit {bytes}"
                )?;
                marks.iter().try_for_each(|marks| write!(f, "{marks}"))
            }
            Queueing::Forget(port) => write!(f, "filter del dev {port} parent 1:"),
            Queueing::Filter { port, pref, byte, band } => {
                write!(f, "filter add dev {port} parent 1: protocol ipv6 pref {pref} u32 match")?;
                match byte {
                    Some((byte, mask)) => write!(f, " ip6 priority {byte:#04x} {mask:#04x}")?,
                    None => f.write_str(" u32 0 0")?,
                }
                write!(f, " flowid 1:{band:x}")
            }
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, word: &str, numbers: &[impl fmt::Display]) -> fmt::Result {
    write!(f, " {word}")?;
    numbers.iter().try_for_each(|number| write!(f, " {number}"))
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Marks { min: least, max: most, packet, burst, probability, rate_mbps } = self;
        write!(
            f,
            " min {least} max {most} avpkt {packet} burst {burst} probability 0.{probability:06} \
             bandwidth {rate_mbps}mbit ecn nodrop"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_as_they_are_read() {
        let text = "\
qdisc replace dev eth1 root handle 1: ets bands 3 strict 1 quanta 9216 18432 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
qdisc replace dev eth1 root handle 1: ets bands 2 strict 2 priomap 1 1
qdisc replace dev eth1 parent 1:a handle 16: bfifo limit 9216000
qdisc replace dev eth1 parent 1:3 handle 21: red limit 9216000 min 40000 max 160000 avpkt 1000 burst 40 probability 0.200000 bandwidth 10000mbit ecn nodrop
filter del dev eth1 parent 1:
filter add dev eth1 parent 1: protocol ipv6 pref 7 u32 match ip6 priority 0xb8 0xfc flowid 1:1
filter add dev eth1 parent 1: protocol ipv6 pref 101 u32 match u32 0 0 flowid 1:a
";
        let commands = Queueing::read_all(&format!("# a comment\n\n{text}")).unwrap();
        assert_eq!(Queueing::write_all(&commands), text);
        let short = text.replace("0.200000", "0.20");
        assert_eq!(Queueing::write_all(&Queueing::read_all(&short).unwrap()), text);
    }

    #[test]
    fn nothing_else_is_a_command() {
        for line in [
            "qdisc del dev eth1 root",
            "qdisc replace dev eth1 root handle 1: ets bands 3",
            "qdisc replace dev eth1 root handle 1: htb",
            "qdisc replace dev ../x root handle 1: ets bands 1 strict 1 priomap 0",
            "qdisc replace dev eth1 ingress",
            "qdisc replace dev eth1 parent 1:1 handle 11: bfifo limit 5 action bpf obj /tmp/x.o",
            "filter add dev eth1 parent 1: bpf obj /tmp/x.o",
            "filter add dev eth1 parent 1: protocol ipv6 pref 7 u32 match u32 0 0 flowid 1:1 action mirred egress redirect dev lo",
            "-batch /etc/passwd",
            "exec bpf import /tmp/x",
        ] {
            let error = Queueing::read_all(line).unwrap_err();
            assert!(matches!(error, TreeFault::Line { line: 1, .. }), "{line}: {error}");
        }
    }
}
