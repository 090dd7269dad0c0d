//! Target state of the kernel according to a tree, and address families.
//!
//! In: `ip.batch` and `devices.batch` of a tree, or files written from live state. Out: [`KernelTarget`],
//! facts with the scope of their comparison. Invariants: an unknown command is an error.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

use closc_artefacts::paths::{DEVICES_BATCH, FRR_CONF, IP_BATCH};

use super::{Facts, LINK, Texts, is_rule, route};

/// Target state, from files of commands for `ip`.
#[derive(Debug, Default)]
pub(super) struct KernelTarget {
    pub(super) facts: Facts,
    pub(super) ports: BTreeSet<String>,
    /// Whether addresses are compared, which is the case if the tree contains any. `has_routes` is the
    /// equivalent for routes. Neighbours are always compared.
    pub(super) has_addresses: bool,
    pub(super) has_routes: bool,
    /// Devices that closc creates.
    pub(super) created_devices: BTreeSet<String>,
}

/// First word of lines that widen the scope of a comparison. Only files written from live state have such lines,
/// because their commands may cover less than those of the tree.
pub(super) const SCOPE: &str = "#closc";

impl KernelTarget {
    /// Writes the scope of the comparison.
    pub(super) fn scope(&self) -> String {
        let words = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let mut text =
            format!("{SCOPE} ports {}\n{SCOPE} made {}\n", words(&self.ports), words(&self.created_devices));
        for (kind, holds) in [("addresses", self.has_addresses), ("routes", self.has_routes)] {
            if holds {
                let _ = writeln!(text, "{SCOPE} {kind}");
            }
        }
        text
    }

    pub(super) fn read(wanted: &Texts) -> Result<Self, String> {
        let mut made = KernelTarget::default();
        for file in [DEVICES_BATCH, IP_BATCH] {
            let text = wanted.get(file).map_or("", String::as_str);
            let is_command =
                |line: &&str| !line.is_empty() && (!line.starts_with('#') || line.starts_with(SCOPE));
            for line in text.lines().map(str::trim).filter(is_command) {
                let words: Vec<&str> = line.split_whitespace().collect();
                made.line(&words)
                    .ok_or_else(|| format!("`{line}` of `{file}` is not a command that can be compared"))?;
            }
        }
        Ok(made)
    }

    pub(super) fn line(&mut self, words: &[&str]) -> Option<()> {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        match words {
            [SCOPE, "ports", names @ ..] => self.ports.extend(all(names)),
            [SCOPE, "made", names @ ..] => self.created_devices.extend(all(names)),
            [SCOPE, "addresses"] => self.has_addresses = true,
            [SCOPE, "routes"] => self.has_routes = true,
            [SCOPE, fact @ ..] if is_rule(&fact.join(" ")) => drop(self.facts.insert(fact.join(" "))),
            ["link", "add", "name", port, "type", _] => {
                self.ports.insert((*port).to_owned());
                self.created_devices.insert((*port).to_owned());
                self.facts.insert(words.join(" "));
            }
            ["link", "set", "dev", port, "up"] => {
                self.ports.insert((*port).to_owned());
                self.facts.insert(words.join(" "));
            }
            ["link", "set", "dev", port, settings @ ..] => {
                self.ports.insert((*port).to_owned());
                for pair in settings.chunks(2) {
                    let [setting, value] = pair else { return None };
                    LINK.contains(setting).then_some(())?;
                    self.facts.insert(format!("link set dev {port} {setting} {value}"));
                }
            }
            ["address", "replace", _, "dev", _] | ["address", "replace", _, "dev", _, "nodad"] => {
                self.has_addresses = true;
                self.facts.insert(words.join(" "));
            }
            ["neighbour", "replace", _, "lladdr", _, "dev", _, "nud", "permanent"] => {
                self.facts.insert(words.join(" "));
            }
            ["route", "replace", route @ ..] => {
                self.has_routes = true;
                self.facts.insert(format!("route replace {}", route::of_words(route)?));
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the blocks of the fabric: the destinations of its blackholes.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &str> {
        self.facts.iter().filter_map(|fact| fact.strip_prefix("route replace blackhole "))
    }

    /// Returns whether a destination is in a block of the fabric.
    pub(super) fn is_in_block(&self, prefix: &str) -> bool {
        self.blocks().any(|block| covers(block, prefix))
    }

    pub(super) fn has_ipv4_routes(&self) -> bool {
        self.facts.iter().any(|fact| fact.starts_with("route ") && !fact.contains(':'))
    }

    /// Returns the prefixes of the fabric that the tree names: in commands for `ip`, and in routes and filters of FRR.
    pub(super) fn destinations(&self, wanted: &Texts) -> Vec<String> {
        let of_frr = ["ip route ", "ipv6 route ", "ip prefix-list ", "ipv6 prefix-list "];
        let frr = wanted.get(FRR_CONF).map_or("", String::as_str).lines().map(str::trim);
        let of_kernel = ["address ", "neighbour ", "route "];
        let kernel = self.facts.iter().filter(|fact| of_kernel.iter().any(|kind| fact.starts_with(kind)));
        let lines = frr.filter(|line| of_frr.iter().any(|kind| line.starts_with(kind)));
        let words = lines.flat_map(str::split_whitespace).chain(kernel.flat_map(|fact| fact.split(' ')));
        words.filter(|word| covers(word, word)).map(str::to_owned).collect()
    }

    /// Returns the address families whose policy rules are compared. Sessions and neighbours are always IPv6.
    pub(super) fn families(&self) -> impl Iterator<Item = Family> {
        let kinds = ["address ", "route "];
        let is_ipv4 = |fact: &String| kinds.iter().any(|kind| fact.starts_with(kind)) && !fact.contains(':');
        let has_ipv4 = self.facts.iter().any(is_ipv4);
        Family::ALL.into_iter().filter(move |family| *family == Family::V6 || has_ipv4)
    }
}

/// Returns whether a prefix contains another; `false` if one is not a prefix.
pub(super) fn covers(block: &str, prefix: &str) -> bool {
    let bits = |text: &str| -> Option<(bool, u128, u32)> {
        let (address, length) = text.split_once('/')?;
        let length: u32 = length.parse().ok()?;
        match address.parse().ok()? {
            IpAddr::V4(address) => Some((false, u128::from(address.to_bits()) << 96, length)),
            IpAddr::V6(address) => Some((true, address.to_bits(), length)),
        }
    };
    let (Some((family, block, length)), Some((other, address, longer))) = (bits(block), bits(prefix)) else {
        return false;
    };
    family == other && length <= longer && (block ^ address).leading_zeros() >= length
}

/// An address family, with its own routing tables in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) const ALL: [Family; 2] = [Family::V6, Family::V4];

    /// Returns the option of `ip`, which is also part of the name of a section.
    pub(super) fn option(self) -> &'static str {
        if self == Family::V6 { "-6" } else { "-4" }
    }

    /// Returns a destination with its length. `default` becomes `::/0` or `0.0.0.0/0`, because `ip -batch` reads
    /// `default` as IPv4.
    pub(super) fn prefix(self, destination: &str) -> String {
        match (self, destination) {
            (Family::V6, "default") => "::/0".to_owned(),
            (Family::V4, "default") => "0.0.0.0/0".to_owned(),
            (_, prefix) if prefix.contains('/') => prefix.to_owned(),
            (Family::V6, address) => format!("{address}/128"),
            (Family::V4, address) => format!("{address}/32"),
        }
    }
}
