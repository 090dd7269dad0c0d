//! Writes and parses names of elements.
//!
//! In: an element, or its written name. Out: the name, or the elements. Invariants: names are the same as in
//! `exceptions` of a fabric file and in `closc drain`. Other elements are written as a keyword and a number
//! or name.
//!
//! | name | element |
//! |---|---|
//! | `p3-t0-017`, `p3-t0-017--p3-t1-005`, `su017-n004`, `su017-n004/nic2`, `su017-n004/nic2.p3`, `plane 3` | as in `exceptions`, ranges in brackets too |
//! | `p3-t0-017/cage9`, `p3-t0-017/cage[9-12]` | the module in the cage with this number on the panel |
//! | `su017-n004/nic2/cage1` | the module of a NIC |
//! | `su017-n004/adapter1`, `su017-n004/adapter1/cage1` | an adapter with several NICs; its module |
//! | `group 17`, `group [1-4]`, `zone 1 group 17` | a T0 group, counted from 1 as in names of T0s |
//! | `zone 1`, `site north` | a zone, counted from 0; a site by its name |
//! | `domain feed-a` | a failure domain of the fabric file or of a list |
//! | `span south`, `span south at 50%` | the cables between a site and the T2s in another site; half of them |

use closc_topology::{Link, Nic, NicPort, Node, PlaneId, Subject, Switch, TierId, ZoneId, expand_ranges};

use crate::element::{Element, Elements, Kind};

const CAGE: &str = "/cage";
const ADAPTER: &str = "/adapter";
const LINK: &str = "--";

/// Returns whether a word is a kind of element, or a common name for one.
fn is_kind(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    Kind::parse(&word).is_some() || ["switch", "cable", "link"].contains(&word.as_str())
}

impl Elements<'_> {
    /// Returns the name of an element.
    pub fn name(&self, element: Element) -> String {
        let topology = self.fabric.topology();
        let naming = &topology.naming;
        match element {
            Element::Link(link) => topology.link_name(link).unwrap_or_default(),
            Element::Switch(switch) => naming.switch(switch).to_string(),
            Element::Cage(switch, cage) => {
                format!("{}{CAGE}{}", naming.switch(switch), self.panel_number(switch, cage))
            }
            Element::Nic(nic) => {
                let (node, number) = topology.node_of(nic);
                naming.nic(node, number)
            }
            Element::NicCage(nic, cage) => {
                let owner = if topology.has_adapters() { Element::Adapter(nic) } else { Element::Nic(nic) };
                format!("{}{CAGE}{}", self.name(owner), cage + 1)
            }
            Element::Adapter(nic) => topology.adapter_name(nic),
            Element::Node(node) => naming.node(node).to_string(),
            Element::Group(zone, group) if topology.has_zones() => {
                format!("zone {zone} group {}", group + 1)
            }
            Element::Group(_, group) => format!("group {}", group + 1),
            Element::Plane(plane) => format!("plane {plane}"),
            Element::Zone(zone) => format!("zone {zone}"),
            Element::Site(site) => {
                let name = topology.sites.get(usize::from(site)).map_or("", |site| site.name.as_str());
                format!("site {name}")
            }
            Element::Span(site, lost) => {
                let name = topology.sites.get(usize::from(site)).map_or("", |site| site.name.as_str());
                if lost == 100 { format!("span {name}") } else { format!("span {name} at {}%", 100 - lost) }
            }
            Element::Domain(domain) => {
                let name = self.domains.get(domain as usize).map_or("", |domain| domain.name.as_str());
                format!("domain {name}")
            }
        }
    }

    /// Returns the names of elements, joined with `+`.
    pub fn names(&self, elements: &[Element]) -> String {
        let names: Vec<String> = elements.iter().map(|element| self.name(*element)).collect();
        names.join(" + ")
    }

    fn panel_number(&self, switch: Switch, cage: u16) -> u16 {
        self.fabric.topology().hardware(switch).0.panel.cage_number(cage)
    }

    /// Returns the elements that a name denotes. Fails unless all of them exist.
    pub fn parse(&self, name: &str) -> Result<Vec<Element>, String> {
        let name = name.trim();
        let words: Vec<&str> = name.split_whitespace().collect();
        let is_range = name.contains('[');
        let is_part = name.contains(CAGE) || name.contains(ADAPTER);
        if is_range && (matches!(words.as_slice(), ["group" | "zone", ..]) || is_part) {
            let found: Result<Vec<Vec<Element>>, String> =
                expand_ranges(name)?.iter().map(|name| self.parse(name)).collect();
            return Ok(found?.concat());
        }
        if let Some(domain) = name.strip_prefix("domain:") {
            return self.domain(domain.trim()).map(|found| vec![found]);
        }
        match words.as_slice() {
            ["group", group] => self.group("0", group).map(|found| vec![found]),
            ["zone", zone, "group", group] => self.group(zone, group).map(|found| vec![found]),
            ["zone", zone] => self.zone(zone).map(|zone| vec![Element::Zone(zone)]),
            ["site", site] => self.site(site).map(|found| vec![Element::Site(found)]),
            ["span", site] => self.span_named(site, "0%").map(|found| vec![found]),
            ["span", site, "at", left] => self.span_named(site, left).map(|found| vec![found]),
            ["domain", domain] => self.domain(domain).map(|found| vec![found]),
            [word, rest @ ..]
                if is_kind(word) && (rest.is_empty() || !word.eq_ignore_ascii_case("plane")) =>
            {
                Err(self.kind_alone(word, name))
            }
            _ => match name.split_once(CAGE) {
                Some((switches, cage)) => self.cages_named(switches, cage),
                None => self.exception(name),
            },
        }
    }

    /// Returns the error for a kind in place of a name. The message contains the name of an element of that
    /// kind.
    fn kind_alone(&self, word: &str, name: &str) -> String {
        let (topology, zone) = (self.fabric.topology(), ZoneId(0));
        let switch = |tier| Switch { plane: PlaneId(0), tier, zone, index: 0 };
        let node = Node { zone, unit: 0, index: 0 };
        let [t0, t1, t2] = TierId::ALL.map(|tier| topology.naming.switch(switch(tier)));
        let form = match word.to_ascii_lowercase().as_str() {
            "plane" => "plane 0".to_owned(),
            "zone" => "zone 0".to_owned(),
            "group" => "group 1".to_owned(),
            "site" | "domain" => format!("{word} NAME"),
            "span" => "span SITE".to_owned(),
            "t1" => t1.to_string(),
            "t2" => t2.to_string(),
            "node" => topology.naming.node(node).to_string(),
            "nic" => topology.naming.nic(node, 0),
            "nic-t0" | "nic-port" => topology.naming.nic_port(node, 0, PlaneId(0)),
            "transceiver" | "breakout" | "cage" => format!("{t0}{CAGE}1"),
            "adapter" => format!("{}{ADAPTER}0", topology.naming.node(node)),
            "nic-transceiver" | "nic-cage" if topology.has_adapters() => {
                format!("{}{ADAPTER}0{CAGE}1", topology.naming.node(node))
            }
            "nic-transceiver" | "nic-cage" => format!("{}{CAGE}1", topology.naming.nic(node, 0)),
            "t1-t2" => format!("{t1}{LINK}{t2}"),
            "t0-t1" | "cable" | "link" => format!("{t0}{LINK}{t1}"),
            _ => t0.to_string(),
        };
        let each = Kind::parse(&word.to_ascii_lowercase())
            .map_or_else(String::new, |kind| format!(", or `--each {}` for each of them", kind.keyword()));
        format!("`{name}` is not the name of an element: write one as `{form}`{each}")
    }

    fn exception(&self, name: &str) -> Result<Vec<Element>, String> {
        if name.contains(ADAPTER) {
            return self.adapter(name).map(|found| vec![found]);
        }
        // `--avoid` and `closc drain` also accept `plane=3`.
        let plane = name.strip_prefix("plane=").map(|number| format!("plane {number}"));
        let found = self.fabric.topology().parse_names(plane.as_deref().unwrap_or(name));
        let found = found.map_err(|unknown| self.keyword_for(name).unwrap_or(unknown))?;
        let absent_planes = self.fabric.topology().absent_planes();
        found
            .into_iter()
            .map(|(name, subject)| {
                let (element, there) = match subject {
                    Subject::Plane(plane) => (Element::Plane(plane), !absent_planes.contains(&plane)),
                    Subject::Switch(switch) => (Element::Switch(switch), self.fabric.has_switch(switch)),
                    Subject::Node(node) => (Element::Node(node), self.has_node(node)),
                    Subject::Nic(nic) => (Element::Nic(nic), self.fabric.has_nic(nic)),
                    Subject::Link(link) => (Element::Link(link), self.fabric.has_link(link)),
                };
                there.then_some(element).ok_or_else(|| self.not_there(&name, &subject))
            })
            .collect()
    }

    /// Returns the adapter with a name.
    fn adapter(&self, name: &str) -> Result<Element, String> {
        let topology = self.fabric.topology();
        if !topology.has_adapters() {
            return Err(format!("`{name}` does not exist: `hosts.nics_per_adapter` is 1, so name the NIC"));
        }
        let first = topology.parse_adapter(name).ok_or_else(|| {
            let last = topology.hosts.nics_per_node / topology.hosts.nics_per_adapter - 1;
            format!("`{name}` is not an adapter of this fabric; adapters of a node are `NODE{ADAPTER}0` to `{last}`")
        })?;
        let is_there = self.nics_of_adapter(first).next().is_some();
        is_there
            .then_some(Element::Adapter(first))
            .ok_or_else(|| format!("all NICs of `{name}` are declared absent in the fabric file"))
    }

    /// Returns the error for the name of a site or domain without its keyword; `None` for any other name.
    fn keyword_for(&self, name: &str) -> Option<String> {
        let keyword = if self.site(name).is_ok() {
            "site"
        } else if self.domain(name).is_ok() {
            "domain"
        } else {
            return None;
        };
        Some(format!("`{name}` is a {keyword}: write `{keyword} {name}`"))
    }

    /// Returns why a named element does not exist: its zone may be smaller, or the element may be declared
    /// absent.
    fn not_there(&self, name: &str, subject: &Subject) -> String {
        let (zone, group) = match subject {
            Subject::Switch(switch) if switch.tier == TierId::T0 => (switch.zone, switch.index),
            Subject::Nic(nic) | Subject::Link(Link::Host(NicPort { nic, .. })) => (nic.zone, nic.group),
            Subject::Link(Link::Fabric { lower, .. }) if lower.tier == TierId::T0 => {
                (lower.zone, lower.index)
            }
            Subject::Node(node) => {
                let nic = self.fabric.topology().nic_of(*node, 0);
                (nic.zone, nic.group)
            }
            Subject::Plane(_) | Subject::Switch(_) | Subject::Link(Link::Fabric { .. }) => {
                return format!("`{name}` is declared absent in the fabric file");
            }
        };
        let groups = self.groups_of(zone);
        if group >= groups {
            return format!("there is no `{name}`: zone {zone} has T0 groups 1 to {groups}");
        }
        format!("`{name}` is declared absent in the fabric file, or its zone has fewer NICs in a group")
    }

    /// Returns whether a node has an existing NIC.
    fn has_node(&self, node: Node) -> bool {
        let topology = self.fabric.topology();
        (0..topology.hosts.nics_per_node).any(|number| self.fabric.has_nic(topology.nic_of(node, number)))
    }

    /// Returns the cages with this number in all switches or NICs that a name denotes.
    fn cages_named(&self, devices: &str, cage: &str) -> Result<Vec<Element>, String> {
        let number: u16 =
            cage.parse().map_err(|_| format!("`cage{cage}` has no number: write `DEVICE/cage9`"))?;
        let of_device = |element| match element {
            Element::Switch(switch) => self.switch_cage(switch, number),
            Element::Nic(nic) if self.fabric.topology().has_adapters() => {
                let adapter = self.fabric.topology().adapter_name(nic);
                Err(format!("`{}` shares its cages: write `{adapter}{CAGE}{number}`", self.name(element)))
            }
            Element::Nic(nic) | Element::Adapter(nic) => self.nic_cage(nic, number),
            _ => Err(format!("`{}` is not a switch or NIC and has no cages", self.name(element))),
        };
        self.exception(devices)?.into_iter().map(of_device).collect()
    }

    /// Returns the cage of a switch with this number on the panel.
    fn switch_cage(&self, switch: Switch, number: u16) -> Result<Element, String> {
        let platform = &self.fabric.topology().hardware(switch).0;
        let panel = &platform.panel;
        let step = panel.number_step.max(1);
        let above = number.checked_sub(panel.first_number).filter(|above| above % step == 0);
        let cage = above.map(|above| above / step).filter(|cage| *cage < panel.cages);
        let name = || self.name(Element::Switch(switch));
        let cage = cage.ok_or_else(|| {
            let (first, last) = (panel.cage_number(0), panel.cage_number(panel.cages.saturating_sub(1)));
            let steps = if step == 1 { String::new() } else { format!(" in steps of {step}") };
            let id = &platform.id;
            format!(
                "`{}` has no cage {number}; cages of `{id}` have the numbers {first} to {last}{steps}",
                name()
            )
        })?;
        match self.in_cage(switch, cage).next() {
            Some(_) => Ok(Element::Cage(switch, cage)),
            None => Err(format!("cage {number} of `{}` holds no cable", name())),
        }
    }

    /// Returns the cage of a NIC or adapter by its number from 1.
    fn nic_cage(&self, nic: Nic, number: u16) -> Result<Element, String> {
        let count = self.fabric.topology().nic_cages(nic.zone);
        let owner =
            if self.fabric.topology().has_adapters() { Element::Adapter(nic) } else { Element::Nic(nic) };
        let name = || self.name(owner);
        let cage =
            number.checked_sub(1).and_then(|cage| u8::try_from(cage).ok()).filter(|cage| *cage < count);
        let cage = cage.ok_or_else(|| {
            let cages = if count == 1 { "cage 1".to_owned() } else { format!("cages 1 to {count}") };
            format!("`{}` has no cage {number}; it has {cages}", name())
        })?;
        if self.is_plugged(nic, cage) {
            Ok(Element::NicCage(nic, cage))
        } else {
            Err(format!("cage {number} of `{}` holds no cable", name()))
        }
    }

    fn group(&self, zone: &str, group: &str) -> Result<Element, String> {
        let zone = self.zone(zone)?;
        let count = self.groups_of(zone);
        let number = group.parse::<u16>().ok().filter(|number| (1..=count).contains(number));
        let of_zone =
            if self.fabric.topology().has_zones() { format!(" of zone {zone}") } else { String::new() };
        let number = number.ok_or_else(|| {
            format!("`{group}` is not a T0 group{of_zone}; T0 groups are numbered from 1 to {count}")
        })?;
        if !self.has_group(zone, number - 1) {
            return Err(format!("group {group}{of_zone} is declared absent in the fabric file"));
        }
        Ok(Element::Group(zone, number - 1))
    }

    fn zone(&self, zone: &str) -> Result<ZoneId, String> {
        let zones = self.fabric.topology().zones;
        let number = zone.parse::<u16>().ok().filter(|number| *number < zones).map(ZoneId);
        number.ok_or_else(|| format!("`{zone}` is not a zone; zones are numbered from 0 to {}", zones - 1))
    }

    /// Returns the span of a site, of which `left` percent remain.
    fn span_named(&self, site: &str, left: &str) -> Result<Element, String> {
        let at = self.site(site)?;
        let topology = self.fabric.topology();
        match topology.t2_site() {
            None => return Err("no site has the T2s: set `tiers.t2.site`".to_owned()),
            Some(t2s) if t2s == usize::from(at) => {
                return Err(format!("the T2s are in `{site}`: write the name of a site without T2s"));
            }
            Some(_) => {}
        }
        let left = left.strip_suffix('%').and_then(|left| left.parse::<u8>().ok()).filter(|left| *left < 100);
        let left = left.ok_or("the remaining share of a span must be 0% to 99%")?;
        Ok(Element::Span(at, 100 - left))
    }

    fn site(&self, name: &str) -> Result<u16, String> {
        let sites = &self.fabric.topology().sites;
        let at = sites.iter().position(|site| site.name == name);
        at.map(|at| at as u16).ok_or_else(|| match sites.as_slice() {
            [] => format!("`{name}` is not a site: the fabric file has no `sites`"),
            _ => format!(
                "`{name}` is not a site; expected one of {}",
                listed(sites.iter().map(|site| site.name.as_str()))
            ),
        })
    }

    fn domain(&self, name: &str) -> Result<Element, String> {
        let at = self.domains.iter().position(|domain| domain.name == name);
        at.map(|at| Element::Domain(at as u32)).ok_or_else(|| {
            if self.domains.is_empty() {
                format!("`{name}` is not a domain: neither the fabric file nor a list defines any")
            } else {
                let known = self.domains.iter().map(|domain| domain.name.as_str());
                format!("`{name}` is not a domain; expected one of {}", listed(known))
            }
        })
    }
}

/// Lists at most five names, as code.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.take(5).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
