//! Reads `networkd/` of a node: `*.network` and `*.link` of systemd-networkd, and the udev rule that names RDMA
//! devices.

use closc_artefacts::{Family, Prefix};

use super::error::ReadError;
use super::netplan::{METRIC, destination, route_action, value};
use super::site::SiteGroup;
use crate::model::network::{GivenName, Interface, MAIN, NodeNetwork, TableRoute, TableRule};

/// The folder in that of a node.
pub(crate) const FOLDER: &str = "networkd";

/// A section: its name, its line, and its keys with their values.
struct Section<'a> {
    name: &'a str,
    line: usize,
    keys: Vec<(&'a str, &'a str)>,
}

/// Settings that sites may choose freely.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &["[Link] RequiredFamilyForOnline", "[Link] RequiredForOnline", "[Link] WakeOnLan"],
        reason: "conditions of booting, and wake-on-LAN",
    },
    SiteGroup { settings: &["[Link] Description", "[Network] Description"], reason: "a text for people" },
    SiteGroup { settings: &["[Network] EmitLLDP", "[Network] LLDP"], reason: "LLDP of the node" },
];

/// Sections that describe a single object: networkd merges repeated sections, and the last value of a key counts.
const SINGLE: [&str; 3] = ["Match", "Link", "Network"];

impl<'a> Section<'a> {
    /// Removes a key and returns its last value.
    fn take(&mut self, key: &str) -> Option<&'a str> {
        let at = self.keys.iter().rposition(|(name, _)| *name == key)?;
        let value = self.keys[at].1;
        self.keys.retain(|(name, _)| *name != key);
        Some(value)
    }

    /// Ends the section. Remaining keys are unknown, unless sites may choose them freely.
    fn end(self) -> Result<(), ReadError> {
        let of_site = |key: &str| {
            let own = format!("[{}] {key}", self.name);
            SITE.iter().any(|group| group.settings.contains(&own.as_str()))
        };
        let left = self.keys.iter().find(|(key, _)| !of_site(key));
        left.map_or(Ok(()), |(key, _)| {
            Err(ReadError::unknown(
                self.line,
                format!("`{key}` in `[{}]` is not known to the proof", self.name),
            ))
        })
    }

    /// Removes a key and returns its boolean value, in any form that systemd accepts.
    fn switch(&mut self, key: &str) -> Result<Option<bool>, ReadError> {
        let line = self.line;
        self.take(key)
            .map(|text| match text.to_ascii_lowercase().as_str() {
                "1" | "yes" | "y" | "true" | "t" | "on" => Ok(true),
                "0" | "no" | "n" | "false" | "f" | "off" => Ok(false),
                _ => Err(ReadError::at(line, format!("`{key}` is `{text}`, and not yes or no"))),
            })
            .transpose()
    }

    fn parse<T: std::str::FromStr>(&mut self, key: &str) -> Result<Option<T>, ReadError> {
        let line = self.line;
        self.take(key).map(|text| value(text).map_err(|error| ReadError::at(line, error.message))).transpose()
    }
}

/// Splits a unit into sections.
fn sections(text: &str) -> Result<Vec<Section<'_>>, ReadError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut own = 0;
    for (at, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.ends_with('\\') {
            return Err(ReadError::at(
                at,
                format!("`{line}` continues on the next line, which the proof does not model"),
            ));
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let known = sections.iter().position(|known| known.name == name && SINGLE.contains(&name));
            own = known.unwrap_or(sections.len());
            if known.is_none() {
                sections.push(Section { name, line: at, keys: Vec::new() });
            }
            continue;
        }
        let pair = line.split_once('=').zip(sections.get_mut(own));
        let Some(((key, value), section)) = pair else {
            return Err(ReadError::at(at, format!("`{line}` is not a setting of a section")));
        };
        let (key, value) = (key.trim_end(), value.trim_start());
        // networkd merges the values of repeated `[Match]` keys, and a match of any value suffices.
        let is_more = |(known, other): &(&str, &str)| *known == key && *other != value;
        if section.name == "Match" && section.keys.iter().any(is_more) {
            return Err(ReadError::at(at, format!("`{key}` in `[Match]` matches more than one thing")));
        }
        section.keys.push((key, value));
    }
    Ok(sections)
}

/// Reads a file of the folder into the network of a node.
pub(crate) fn read(network: &mut NodeNetwork, file: &str, text: &str) -> Result<(), ReadError> {
    network.binds = true;
    for place in [&mut network.loopback, &mut network.devices_file] {
        if place.is_empty() {
            FOLDER.clone_into(place);
        }
    }
    match file.rsplit('.').next() {
        Some("network") => self::network(network, file, text),
        Some("link") => link(network, file, text),
        Some("rules") => rules(network, file, text),
        _ => Err(ReadError::new("a file of a kind that systemd-networkd and udev do not read")),
    }
}

fn network(network: &mut NodeNetwork, file: &str, text: &str) -> Result<(), ReadError> {
    let mut own = Interface { file: file.to_owned(), anchor: "[Match]".to_owned(), ..Interface::default() };
    // These are the defaults of networkd.
    let (mut dhcp, mut advertised, mut link_local) = (false, true, true);
    for mut section in sections(text)? {
        match section.name {
            _ if section.keys.is_empty() => continue,
            "Match" => section.take("Name").unwrap_or_default().clone_into(&mut own.name),
            "Link" => {
                own.mtu = section.parse("MTUBytes")?;
                own.mac = section.parse("MACAddress")?;
            }
            "Network" => {
                dhcp = section.take("DHCP").is_some_and(|text| !is_no(text));
                advertised = !section.take("IPv6AcceptRA").is_some_and(is_no);
                link_local = !section.take("LinkLocalAddressing").is_some_and(is_no);
            }
            "Address" => {
                let address = section.parse("Address")?;
                let line = section.line;
                own.addresses.push(address.ok_or_else(|| ReadError::at(line, "an address without one"))?);
                if section.take("DuplicateAddressDetection") != Some("none") {
                    let message = format!(
                        "`{}` waits for duplicate address detection before it uses its address",
                        own.name
                    );
                    network.faults.push((file.to_owned(), "[Address]".to_owned(), message));
                }
            }
            "Route" => own.routes.push(route(&mut section)?),
            "RoutingPolicyRule" => own.rules.push(rule(&mut section)?),
            other => {
                return Err(ReadError::unknown(
                    section.line,
                    format!("`[{other}]` is not known to the proof"),
                ));
            }
        }
        section.end()?;
    }
    if own.name == "lo" {
        file.clone_into(&mut network.loopback);
        network.dropped.append(&mut own.routes);
        let more = !own.addresses.is_empty() || !own.rules.is_empty() || own.mtu.is_some();
        return if more { Err(ReadError::new("`lo` has settings other than routes")) } else { Ok(()) };
    }
    let open = [(dhcp, "DHCP"), (advertised, "router advertisements"), (link_local, "link-local addresses")];
    own.open = open.into_iter().filter_map(|(open, what)| open.then_some(what)).collect();
    if network.interfaces.iter().any(|known| known.name == own.name) {
        // networkd uses only the first matching file.
        let message = format!("`{}` is also configured in another file", own.name);
        network.faults.push((file.to_owned(), "[Match]".to_owned(), message));
    }
    network.interfaces.push(own);
    Ok(())
}

/// Returns whether a setting is disabled.
fn is_no(text: &str) -> bool {
    ["no", "false", "off", "0"].contains(&text)
}

fn route(section: &mut Section<'_>) -> Result<TableRoute, ReadError> {
    let line = section.line;
    let at = |error: ReadError| ReadError::at(line, error.message);
    let to = section.take("Destination").ok_or_else(|| ReadError::at(line, "a route without destination"))?;
    let (via, kind) = (section.take("Gateway"), section.take("Type"));
    Ok(TableRoute {
        to: destination(to).map_err(at)?,
        action: route_action(via, kind).map_err(at)?,
        metric: section.parse("Metric")?.unwrap_or(METRIC),
        table: table(section)?.unwrap_or(MAIN),
    })
}

fn table(section: &mut Section<'_>) -> Result<Option<u32>, ReadError> {
    if section.keys.contains(&("Table", "main")) {
        return Ok(section.take("Table").map(|_| MAIN));
    }
    section.parse("Table")
}

fn rule(section: &mut Section<'_>) -> Result<TableRule, ReadError> {
    let line = section.line;
    let lost = |what: &str| ReadError::at(line, format!("a rule without {what}"));
    let from = section.take("From").map(destination).transpose();
    let from = from.map_err(|error| ReadError::at(line, error.message))?;
    let family = match section.take("Family") {
        Some("both") => None,
        Some("ipv4") => Some(Family::V4),
        Some("ipv6") => Some(Family::V6),
        // Without addresses and `Family`, a rule applies to IPv4.
        None => Some(from.map_or(Family::V4, Prefix::family)),
        Some(other) => return Err(ReadError::at(line, format!("a rule of family `{other}`"))),
    };
    Ok(TableRule {
        from,
        family,
        out: section.take("OutgoingInterface").map(str::to_owned),
        table: table(section)?.ok_or_else(|| lost("table"))?,
        priority: section.parse("Priority")?.ok_or_else(|| lost("priority"))?,
    })
}

/// Parses a speed as systemd does, in Mb/s.
fn mbps(line: usize, text: &str) -> Result<u32, ReadError> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "M" => 1.0,
        "G" => 1_000.0,
        "T" => 1_000_000.0,
        _ => return Err(ReadError::at(line, format!("`{text}` is not a speed with M, G or T"))),
    };
    let number: f64 = digits.parse().map_err(|_| ReadError::at(line, format!("`{text}` is not a speed")))?;
    Ok((number * factor).round() as u32)
}

fn link(network: &mut NodeNetwork, file: &str, text: &str) -> Result<(), ReadError> {
    let mut given =
        GivenName { file: file.to_owned(), pci: String::new(), name: String::new(), ..GivenName::default() };
    for mut section in sections(text)? {
        match section.name {
            "Match" => {
                let path = section.take("Path").and_then(|path| path.strip_prefix("pci-"));
                path.unwrap_or_default().clone_into(&mut given.pci);
            }
            "Link" => {
                section.take("Name").unwrap_or_default().clone_into(&mut given.name);
                given.mtu = section.parse("MTUBytes")?;
                given.negotiates = section.switch("AutoNegotiation")?;
                given.speed =
                    section.take("BitsPerSecond").map(|text| mbps(section.line, text)).transpose()?;
            }
            other => {
                return Err(ReadError::unknown(
                    section.line,
                    format!("`[{other}]` is not known to the proof"),
                ));
            }
        }
        section.end()?;
    }
    network.names.push(given);
    Ok(())
}

/// Reads the udev rules: one line per device, in a fixed form.
fn rules(network: &mut NodeNetwork, file: &str, text: &str) -> Result<(), ReadError> {
    file.clone_into(&mut network.devices_file);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words: Vec<&str> = line.split(',').map(str::trim).collect();
        let mut take = |key: &str| {
            let at = words.iter().position(|word| word.starts_with(key))?;
            words.remove(at).strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
        };
        let fixed = (take("ACTION=="), take("SUBSYSTEM==")) == (Some("add"), Some("infiniband"));
        let (pci, program) = (take("KERNELS=="), take("PROGRAM="));
        let name = program.and_then(|program| program.strip_prefix("rdma_rename %k NAME_FIXED "));
        let Some((pci, name)) = pci.zip(name).filter(|_| fixed && words.is_empty()) else {
            return Err(ReadError::at(at + 1, format!("`{line}` is not a rule that names an RDMA device")));
        };
        network.devices.push((pci.to_owned(), name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: &str = "# T0\n[Match]\nName=nic0p0\n[Link]\nMTUBytes=9216\n[Network]\nDHCP=no\nIPv6AcceptRA=no\n\
        LinkLocalAddressing=no\n[Address]\nAddress=fd00::a/127\nDuplicateAddressDetection=none\n[Route]\n\
        Destination=fd00:1::/64\nGateway=fd00::b\nMetric=5\nTable=1000\n[RoutingPolicyRule]\nFrom=fd00::a/128\n\
        Table=1000\nPriority=1000\n";

    fn one(file: &str, text: &str) -> Result<NodeNetwork, ReadError> {
        let mut network = NodeNetwork::default();
        read(&mut network, file, text).map(|()| network)
    }

    #[test]
    fn units_are_read() {
        let network = one("50-nic0p0.network", UNIT).expect("it is whole");
        let [own] = network.interfaces.as_slice() else { panic!("one interface") };
        assert_eq!(
            (own.name.as_str(), own.mtu, own.open.len(), own.addresses.len()),
            ("nic0p0", Some(9216), 0, 1)
        );
        assert_eq!((own.routes[0].metric, own.routes[0].table, own.rules[0].priority), (5, 1000, 1000));
        assert!(network.faults.is_empty());
        let without = UNIT.replace("IPv6AcceptRA=no\n", "").replace("Detection=none", "Detection=ipv6");
        let open = one("50-nic0p0.network", &without).expect("it is whole");
        assert_eq!((open.interfaces[0].open.len(), open.faults.len()), (1, 1));
    }

    #[test]
    fn what_is_not_known_has_a_line() {
        for (more, line) in
            [("[Bridge]\nSTP=yes\n", 22), ("[Route]\nGateway=fd00::b\n", 22), ("no setting\n", 22)]
        {
            let error = one("50-nic0p0.network", &format!("{UNIT}{more}")).expect_err("it is not known");
            assert_eq!(error.line, Some(line), "{more}: {}", error.message);
            assert_eq!(error.unknown, more.starts_with("[Bridge]"), "{more}");
        }
        assert!(one("50-nic0p0.netdev", UNIT).is_err());
    }

    #[test]
    fn names_go_by_slot() {
        let link = "[Match]\nPath=pci-0000:5e:00.0\n[Link]\nName=nic0p0\nMTUBytes=9216\n";
        let network = one("50-nic0p0.link", link).expect("it is whole");
        assert_eq!(
            (network.names[0].pci.as_str(), network.names[0].name.as_str()),
            ("0000:5e:00.0", "nic0p0")
        );
        let rule = "ACTION==\"add\", SUBSYSTEM==\"infiniband\", KERNELS==\"0000:5e:00.0\", PROGRAM=\"rdma_rename %k NAME_FIXED nic0p0\"\n";
        let network = one("60-rdma.rules", rule).expect("it is whole");
        assert_eq!(network.devices, [("0000:5e:00.0".to_owned(), "nic0p0".to_owned())]);
        assert!(one("60-rdma.rules", &rule.replace("infiniband", "net")).is_err());
    }
}
