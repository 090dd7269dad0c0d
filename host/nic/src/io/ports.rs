//! Assigns interfaces to the ports of a NIC, on nodes with several NICs.
//!
//! In: configured names, or the kernel's addresses and routes to the T0s. Out: the interface of each plane, and the T0
//! behind it. Invariants: ports are never guessed. NICs of a node on the same T0s have the same routes except for
//! interface and metric. If the assignment is ambiguous, no port is assigned, and `doubt` returns the reason.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use closc_paths::Table;
use serde::Deserialize;
use serde_json::Value;

use crate::io::setup::{self, SetupFault};

/// Names of a NIC's ports, by plane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Names {
    /// Ports are found from addresses and routes.
    #[default]
    Found,
    /// One name with `{plane}` in place of the plane number.
    Pattern(String),
    /// One name per plane, from 0; empty if the NIC has no port there.
    List(Vec<String>),
}

/// Placeholder for the plane number.
const PLANE: &str = "{plane}";

impl FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Names, String> {
        let is_name = |name: &str| {
            let bad = |c: char| c.is_whitespace() || c.is_control() || c == '/';
            (1..16).contains(&name.len()) && !name.contains(bad)
        };
        let refuse = |name: &str| {
            let name = name.escape_default();
            Err(format!(
                "`{name}` is not an interface name; expected 1 to 15 bytes without spaces and slashes, or a name with `{PLANE}`"
            ))
        };
        if text.is_empty() {
            return Ok(Names::Found);
        }
        if text.contains(PLANE) {
            let is_good = is_name(&text.replace(PLANE, "15")) && !text.contains(',');
            return if is_good { Ok(Names::Pattern(text.to_owned())) } else { refuse(text) };
        }
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        match names.iter().find(|name| !name.is_empty() && !is_name(name)) {
            Some(bad) => refuse(bad),
            None => Ok(Names::List(names)),
        }
    }
}

impl Names {
    /// Returns the configured interface of a plane; empty if the NIC has no port in the plane, and `None` if
    /// interfaces are not configured.
    pub(super) fn of(&self, plane: u8) -> Option<String> {
        match self {
            Names::Found => None,
            Names::Pattern(pattern) => Some(pattern.replace(PLANE, &plane.to_string())),
            Names::List(names) => Some(names.get(usize::from(plane)).cloned().unwrap_or_default()),
        }
    }

    /// Rejects a list whose length differs from the number of planes, or with a repeated name.
    ///
    /// # Errors
    ///
    /// Returns both numbers, or the repeated name.
    pub(crate) fn fit(&self, planes: u8) -> Result<(), SetupFault> {
        let Names::List(names) = self else { return Ok(()) };
        if names.len() != usize::from(planes) {
            let text = format!(
                "`--ports` has {} names, but the fabric has {planes} planes: write one name per plane, empty if the NIC has no port",
                names.len()
            );
            return Err(SetupFault::Table(text));
        }
        let mut seen = BTreeSet::new();
        match names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
            Some(twice) => Err(SetupFault::Table(format!("`--ports` has `{twice}` for two planes"))),
            None => Ok(()),
        }
    }
}

/// A route to the T0 of a plane.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Route {
    dst: String,
    gateway: Option<String>,
    dev: Option<String>,
    #[serde(default)]
    metric: u32,
}

/// An interface and its addresses.
#[derive(Debug, Default, Deserialize)]
struct Interface {
    #[serde(default)]
    ifname: String,
    #[serde(default)]
    addr_info: Vec<Address>,
}

#[derive(Debug, Default, Deserialize)]
struct Address {
    local: Option<Ipv6Addr>,
}

/// NICs of this machine on the same T0s, found by their addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Sharers {
    /// Their number.
    count: usize,
    /// The index of this NIC among them, by downlink.
    place: usize,
    /// Interfaces with this NIC's address and with that of no other NIC.
    carriers: Vec<String>,
}

/// The reason why the ports of a NIC cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// Number of NICs of the machine on the same T0s.
    nics: usize,
    /// Number of different metrics of routes to these T0s.
    metrics: usize,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubt { nics, metrics } = self;
        write!(
            f,
            "{nics} NICs of this machine are on its T0s, but routes to them have {metrics} metrics, so the ports of the NIC are unknown: write the names of its ports (`--ports 'nic0p{{plane}}'`), or repair the routes (`ip -batch ip.batch`)"
        )
    }
}

/// The port of a plane, according to the kernel's routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NextHop {
    /// The interface.
    pub(super) device: String,
    /// The T0's address on that cable.
    gateway: String,
    /// The MAC address of the T0, if it is known.
    pub(super) neighbour: Option<[u8; 6]>,
}

impl NextHop {
    fn new(device: String, gateway: String) -> NextHop {
        NextHop { device, gateway, neighbour: None }
    }

    /// Looks up the neighbour.
    fn resolve_neighbour(self) -> NextHop {
        let show = ["-j", "-6", "neighbour", "show", "to", &self.gateway, "dev", &self.device];
        let known = setup::ip(&show, "").ok();
        let known: Option<Value> = known.and_then(|text| serde_json::from_str(&text).ok());
        let neighbour = known.as_ref().and_then(|known| known.get(0)?.get("lladdr")?.as_str()).and_then(mac);
        NextHop { neighbour, ..self }
    }
}

/// The ports of a NIC.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ports {
    names: Names,
    /// The metric of this NIC's routes, once known: `ip.batch` and the files of a node assign one per NIC.
    metric: Option<u32>,
    doubt: Option<Doubt>,
}

impl Ports {
    /// Creates an assignment with these names.
    pub(crate) fn new(names: Names) -> Ports {
        Ports { names, ..Ports::default() }
    }

    /// Returns whether the NIC has a port in a plane according to the configured names; true without such names.
    pub(super) fn has(&self, plane: u8) -> bool {
        self.names.of(plane).is_none_or(|name| !name.is_empty())
    }

    /// Returns why no port is assigned although there are routes.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Queries the kernel for the ports and neighbours towards the T0s of some planes. An entry is `None` if there is
    /// no route, for example because the port is down, or if the port is ambiguous.
    pub(super) fn next_hops(
        &mut self,
        table: &Table<'_>,
        downlink: u16,
        planes: &[u8],
    ) -> Vec<Option<NextHop>> {
        let found = self.query_next_hops(table, downlink, planes);
        found.into_iter().map(|hop| hop.map(NextHop::resolve_neighbour)).collect()
    }

    fn query_next_hops(&mut self, table: &Table<'_>, downlink: u16, planes: &[u8]) -> Vec<Option<NextHop>> {
        let t0 = |plane: u8| Ipv6Addr::from(table.t0_probe(plane, downlink));
        if self.names != Names::Found {
            let named = |plane: &u8| query_next_hop(t0(*plane), Some(&self.names.of(*plane)?));
            return planes.iter().map(named).collect();
        }
        if planes.is_empty() {
            return Vec::new();
        }
        let sharers = sharers(table, downlink);
        if sharers.count < 2 {
            self.doubt = None;
            return planes.iter().map(|plane| query_next_hop(t0(*plane), None)).collect();
        }
        let all: Vec<Vec<Route>> = (0..table.header().planes).map(|plane| routes(t0(plane))).collect();
        self.learn(&sharers, &all);
        let of = |plane: &u8| choose(all.get(usize::from(*plane))?, &sharers, self.metric);
        planes.iter().map(of).collect()
    }

    /// Finds the metric of the NIC's routes. Each NIC on the same T0s has its own metric, in the order of downlinks.
    fn learn(&mut self, sharers: &Sharers, all: &[Vec<Route>]) {
        let metrics: BTreeSet<u32> = all.iter().flatten().map(|route| route.metric).collect();
        if metrics.len() == sharers.count {
            self.metric = metrics.iter().nth(sharers.place).copied();
        }
        let carried = |route: &Route| route.dev.as_ref().is_some_and(|dev| sharers.carriers.contains(dev));
        let is_known = self.metric.is_some() || all.iter().flatten().any(carried) || metrics.is_empty();
        self.doubt = (!is_known).then_some(Doubt { nics: sharers.count, metrics: metrics.len() });
    }
}

/// Chooses this NIC's route to a T0: one over an interface with the NIC's address, as netplan and networkd set it up.
/// Without such a route, it chooses the one with the NIC's metric.
fn choose(routes: &[Route], sharers: &Sharers, metric: Option<u32>) -> Option<NextHop> {
    let carries = |route: &&Route| route.dev.as_ref().is_some_and(|dev| sharers.carriers.contains(dev));
    let is_mine = |route: &&Route| metric == Some(route.metric);
    let mut mine = routes.iter().filter(is_mine);
    let found = (routes.iter().find(carries), mine.next(), mine.next());
    let ((Some(route), _, _) | (None, Some(route), None)) = found else { return None };
    Some(NextHop::new(route.dev.clone()?, route.gateway.clone()?))
}

/// Queries the next hop of packets to a T0, for a given interface if there is one.
fn query_next_hop(to: Ipv6Addr, device: Option<&str>) -> Option<NextHop> {
    // The name is empty if the NIC has no port in this plane.
    if device.is_some_and(str::is_empty) {
        return None;
    }
    let (to, mut args) = (to.to_string(), vec!["-j", "-6", "route", "get"]);
    args.push(&to);
    args.extend(device.iter().flat_map(|device| ["oif", device]));
    let route = setup::ip(&args, "").ok()?;
    let route = serde_json::from_str::<Vec<Route>>(&route).ok()?.into_iter().next()?;
    let found = NextHop::new(route.dev?, route.gateway?);
    // If the interface has no route, the kernel may return another one.
    device.is_none_or(|device| found.device == device).then_some(found)
}

/// Returns the most specific routes to a T0.
fn routes(to: Ipv6Addr) -> Vec<Route> {
    let shown = setup::ip(&["-j", "-6", "route", "show", "match", &to.to_string()], "");
    let all = shown.ok().and_then(|text| serde_json::from_str::<Vec<Route>>(&text).ok());
    longest_match(all.unwrap_or_default())
}

fn longest_match(mut all: Vec<Route>) -> Vec<Route> {
    all.retain(|route| route.gateway.is_some());
    let len = |route: &Route| match route.dst.split_once('/') {
        Some((_, len)) => len.parse::<u8>().unwrap_or(0),
        None if route.dst == "default" => 0,
        None => 128,
    };
    let longest = all.iter().map(len).max();
    all.retain(|route| Some(len(route)) == longest);
    all
}

/// Finds the NICs of this machine on the same T0s.
fn sharers(table: &Table<'_>, downlink: u16) -> Sharers {
    let pool = setup::pool(table);
    let shown = setup::ip(&["-j", "-6", "address", "show", "to", &pool], "");
    let interfaces = shown.ok().and_then(|text| serde_json::from_str::<Vec<Interface>>(&text).ok());
    let interfaces = interfaces.unwrap_or_default();
    let h = table.header();
    let downlink_of = |address: Ipv6Addr| {
        let to = table.destination(address.octets())?;
        ((to.zone, to.group) == (h.zone, h.group)).then_some(to.downlink)
    };
    let found = interfaces.iter().flat_map(|interface| {
        let addresses = interface.addr_info.iter().filter_map(|info| downlink_of(info.local?));
        addresses.map(|downlink| (downlink, interface.ifname.clone()))
    });
    sharers_of(&found.collect::<Vec<_>>(), downlink)
}

/// Finds the sharing NICs from pairs of a NIC's downlink and the interface with its address.
fn sharers_of(found: &[(u16, String)], downlink: u16) -> Sharers {
    let downlinks: BTreeSet<u16> = found.iter().map(|(other, _)| *other).collect();
    let Some(place) = downlinks.iter().position(|other| *other == downlink) else {
        // The address belongs to another node, so no NICs share T0s here.
        return Sharers::default();
    };
    let is_shared = |name: &str| found.iter().any(|(other, carrier)| *other != downlink && carrier == name);
    let mine = found.iter().filter(|(other, name)| *other == downlink && !is_shared(name));
    Sharers { count: downlinks.len(), place, carriers: mine.map(|(_, name)| name.clone()).collect() }
}

fn mac(text: &str) -> Option<[u8; 6]> {
    let mut bytes = text.split(':').map(|byte| u8::from_str_radix(byte, 16));
    let mut mac = [0; 6];
    for byte in &mut mac {
        *byte = bytes.next()?.ok()?;
    }
    bytes.next().is_none().then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(dev: &str, metric: u32) -> Route {
        let dst = "fcbb:bbbb:1::/48".to_owned();
        Route { dst, gateway: Some(format!("fd00::{dev}")), dev: Some(dev.into()), metric }
    }

    fn device(hop: Option<NextHop>) -> Option<String> {
        hop.map(|hop| hop.device)
    }

    fn bridge_sharers(place: u16) -> Sharers {
        sharers_of(&[(4, "sr0".into()), (6, "sr0".into())], [4, 6][usize::from(place)])
    }

    #[test]
    fn names_are_a_pattern_a_list_or_none() {
        assert_eq!("".parse(), Ok(Names::Found));
        let pattern: Names = "nic1p{plane}".parse().unwrap();
        assert_eq!((pattern.of(3), pattern.fit(8).is_ok()), (Some("nic1p3".into()), true));
        let list: Names = "eth0,,eth2".parse().unwrap();
        assert_eq!([0, 1, 2].map(|plane| list.of(plane).unwrap()), ["eth0", "", "eth2"]);
        assert!(list.fit(3).is_ok());
        assert!(list.fit(2).unwrap_err().to_string().contains("3 names, but the fabric has 2 planes"));
        let twice: Names = "eth0,eth0".parse().unwrap();
        assert!(twice.fit(2).unwrap_err().to_string().contains("`eth0` for two planes"));
        for bad in
            ["a b", "a/b", "sixteen-bytes-long", "x{plane},y{plane}", "fourteen-bytes{plane}", "a\u{1b}"]
        {
            assert!(bad.parse::<Names>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_nic_has_its_own_metric() {
        let all = [vec![route("nic0p0", 1024), route("nic1p0", 1025)], vec![route("nic1p1", 1025)]];
        for (place, wanted) in [(0, [Some("nic0p0"), None]), (1, [Some("nic1p0"), Some("nic1p1")])] {
            let (mut ports, sharers) = (Ports::default(), bridge_sharers(place));
            ports.learn(&sharers, &all);
            let found = [0, 1].map(|plane: usize| device(choose(&all[plane], &sharers, ports.metric)));
            assert_eq!(found, wanted.map(|name| name.map(str::to_owned)));
            assert_eq!(ports.doubt(), None);
        }
    }

    #[test]
    fn what_was_known_stays_known_and_nothing_is_guessed() {
        let (mut ports, sharers) = (Ports::default(), bridge_sharers(1));
        // All ports of one NIC are down, but it is unknown of which NIC.
        let one = [vec![route("nic1p0", 1025)]];
        ports.learn(&sharers, &one);
        assert_eq!(choose(&one[0], &sharers, ports.metric), None);
        assert!(ports.doubt().unwrap().to_string().contains("2 NICs of this machine"));
        ports.learn(&sharers, &[vec![route("nic0p0", 1024), route("nic1p0", 1025)]]);
        ports.learn(&sharers, &one);
        assert_eq!(device(choose(&one[0], &sharers, ports.metric)).as_deref(), Some("nic1p0"));
        assert_eq!(ports.doubt(), None);
        // The other NIC's port must not be used instead.
        assert_eq!(choose(&[route("nic0p0", 1024)], &sharers, ports.metric), None);
        // Two routes with the same metric are ambiguous.
        let same = [route("a", 1025), route("b", 1025)];
        assert_eq!(choose(&same, &sharers, ports.metric), None);
        ports.learn(&sharers, &[Vec::new()]);
        assert_eq!(ports.doubt(), None, "no port is up at all");
    }

    #[test]
    fn an_interface_that_carries_the_address_is_a_port() {
        let found = [(4, "a0".into()), (6, "b0".into()), (4, "a1".into()), (6, "b1".into())];
        let sharers = sharers_of(&found, 6);
        assert_eq!((sharers.count, sharers.place), (2, 1));
        let mut ports = Ports::default();
        let routes = [route("a0", 1024), route("b0", 1024)];
        ports.learn(&sharers, std::slice::from_ref(&routes.to_vec()));
        assert_eq!(device(choose(&routes, &sharers, ports.metric)).as_deref(), Some("b0"));
        assert_eq!(ports.doubt(), None);
        assert_eq!(sharers_of(&[(4, "a0".into())], 9), Sharers::default(), "of another node");
    }

    #[test]
    fn the_most_exact_routes_count() {
        let mut all = vec![route("a", 1), route("b", 2)];
        all.push(Route { dst: "fcbb:bbbb::/32".into(), ..route("c", 1) });
        all.push(Route { dst: "default".into(), ..route("d", 1) });
        all.push(Route { dst: "fcbb:bbbb:1:1::/64".into(), gateway: None, ..route("e", 1) });
        assert_eq!(longest_match(all), [route("a", 1), route("b", 2)]);
    }
}
