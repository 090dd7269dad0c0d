//! Entries of the pipeline `sai`, which models the routing of SONiC hardware with P4Runtime (PINS).
//!
//! In: the intent of a switch. Out: the entries of each table, each after those it refers to. Invariants:
//! ids are text. Router interfaces and next hops have the name of their port as id, and groups a digest of
//! their shares. The number of a port is the `id` in CONFIG_DB. All routes are in the default VRF,
//! whose name is empty and which needs no entry. The switch's own segments are in CONFIG_DB, because the
//! pipeline has no table for them. The switch removes its own segment from the destination of a packet, then
//! looks up the new destination in the routes here.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::{Connection, DeviceIntent, Hop, PortIntent, Target};
use closc_runtime::Info;
use closc_runtime::entry::{WeightedAction, action_set};
use closc_runtime::proto::v1;
use closc_runtime::value::Value;

use super::shares::reduce_shares;
use crate::error::{EntriesError, Fault};

/// The VRF that exists without an entry.
const DEFAULT_VRF: &str = "";

/// The mask that compares all bits of a MAC address.
const WHOLE_MAC: [u8; 6] = [0xff; 6];

/// Bytes of the digest in the name of a group, enough to make names unique on a switch.
const DIGEST_BYTES: usize = 8;

/// The ports of a route, as indices in the intent, with their shares.
type Shares = Vec<(usize, u64)>;

/// Returns the entities of a switch.
pub(crate) fn entities(intent: &DeviceIntent<'_>, info: &Info) -> Result<Vec<v1::Entity>, Fault> {
    let mut maker = EntryBuilder { intent, info, entities: Vec::new() };
    maker.local_mac()?;
    maker.links()?;
    let route_shares: Vec<Shares> = intent.routes.iter().map(|route| shares(&route.target, intent)).collect();
    let groups = maker.groups(&route_shares)?;
    maker.routes(&route_shares, &groups)?;
    super::check_capacity(intent, info, &maker.entities)?;
    Ok(maker.entities)
}

/// Returns the ports of a route with their shares, or none for a blackhole.
fn shares(target: &Target, intent: &DeviceIntent<'_>) -> Shares {
    let hops: &[Hop] = match target {
        Target::Ports(hops) => hops,
        Target::Blackhole => &[],
    };
    let cabled = |hop: &&Hop| intent.ports.get(hop.port).is_some_and(|port| port.connection.is_some());
    reduce_shares(hops.iter().filter(cabled).map(|hop| (hop.port, u64::from(hop.weight))))
}

struct EntryBuilder<'a> {
    intent: &'a DeviceIntent<'a>,
    info: &'a Info,
    entities: Vec<v1::Entity>,
}

impl<'a> EntryBuilder<'a> {
    fn push(&mut self, entry: v1::TableEntry) {
        self.entities.push(entry.into());
    }

    /// `l3_admit_table`: packets to the MAC address of the switch are routed, on every ingress port.
    fn local_mac(&mut self) -> Result<(), Fault> {
        let mac = self.intent.system.mac.0;
        let entry = self.info.entry("l3_admit_table")?.ternary("dst_mac", mac, WHOLE_MAC).priority(1);
        self.push(entry.action("admit_to_l3", &[]).build()?);
        Ok(())
    }

    fn cabled_ports(&self) -> impl Iterator<Item = (&'a PortIntent, &'a Connection)> + use<'a> {
        self.intent.ports.iter().filter_map(|port| Some((port, port.connection.as_ref()?)))
    }

    /// `router_interface_table`, `neighbor_table` and `nexthop_table`: one entry in each per cable.
    fn links(&mut self) -> Result<(), Fault> {
        let source = self.intent.system.mac.0;
        let mut neighbours = Vec::new();
        let mut next_hops = Vec::new();
        for (port, connection) in self.cabled_ports() {
            // The topology checks reject a neighbour whose MAC address would need discovery.
            let Some(mac) = connection.peer.mac().map(|mac| mac.0) else { continue };
            let (name, number) = (port.physical.name.as_str(), port.physical.number.to_string());
            let leaves = [("port", number.as_str().into()), ("src_mac", source.into())];
            let interface = self.info.entry("router_interface_table")?.exact("router_interface_id", name);
            self.push(interface.action("unicast_set_port_and_src_mac", &leaves).build()?);
            let address = connection.peer.address().to_ipv6();
            let neighbour = self.info.entry("neighbor_table")?.exact("router_interface_id", name);
            let neighbour = neighbour.exact("neighbor_id", address);
            neighbours.push(neighbour.action("set_dst_mac", &[("dst_mac", mac.into())]).build()?);
            let link = [("router_interface_id", name.into()), ("neighbor_id", address.into())];
            let next_hop = self.info.entry("nexthop_table")?.exact("nexthop_id", name);
            next_hops.push(next_hop.action("set_ip_nexthop", &link).build()?);
        }
        neighbours.into_iter().chain(next_hops).for_each(|entry| self.push(entry));
        Ok(())
    }

    /// `wcmp_group_table`: one group for each distinct set of shares. Returns their ids.
    fn groups(&mut self, route_shares: &[Shares]) -> Result<BTreeMap<Shares, String>, Fault> {
        let distinct: BTreeSet<&Shares> = route_shares.iter().filter(|shares| shares.len() > 1).collect();
        let mut ids = BTreeMap::new();
        for shares in distinct {
            self.check_sum(shares, route_shares)?;
            let id = self.id(shares);
            let hops: Vec<[(&str, Value<'_>); 1]> =
                shares.iter().map(|(port, _)| [("nexthop_id", self.name(*port).into())]).collect();
            let member = |((port, share), arguments): (&(usize, u64), _)| WeightedAction {
                action: "set_nexthop_id",
                arguments,
                weight: i32::try_from(*share).unwrap_or(i32::MAX),
                watch_port: Some(self.intent.ports[*port].physical.number.into()),
            };
            let actions: Vec<WeightedAction<'_>> =
                shares.iter().zip(hops.iter().map(|hop| &hop[..])).map(member).collect();
            let set = action_set(self.info, "wcmp_group_table", &actions)?;
            let entry = self.info.entry("wcmp_group_table")?.exact("wcmp_group_id", id.as_str());
            let entry = entry.action_set(set).build()?;
            self.push(entry);
            ids.insert(shares.clone(), id);
        }
        Ok(ids)
    }

    /// Rejects a group that is too large, and names the first route that uses it.
    fn check_sum(&self, shares: &Shares, route_shares: &[Shares]) -> Result<(), Fault> {
        let profile = self.info.profile("wcmp_group_selector")?;
        let (total, max) = (shares.iter().map(|(_, share)| share).sum(), profile.max_group_size.into());
        if max == 0 || total <= max {
            return Ok(());
        }
        let route =
            route_shares.iter().position(|other| other == shares).map(|at| self.intent.routes[at].prefix);
        Err(EntriesError::Group {
            device: self.intent.name.to_string(),
            prefix: route.unwrap_or_default().to_string(),
            total,
            profile: profile.preamble.name.clone(),
            max,
        }
        .into())
    }

    fn name(&self, port: usize) -> &'a str {
        &self.intent.ports[port].physical.name
    }

    /// Returns the name of a group. It is derived from the members, so an added or removed route does not rename other
    /// groups.
    fn id(&self, shares: &Shares) -> String {
        let mut hasher = blake3::Hasher::new();
        for (port, share) in shares {
            hasher.update(self.name(*port).as_bytes());
            hasher.update(&[0]);
            hasher.update(&share.to_be_bytes());
        }
        let digest = hasher.finalize();
        let hex = |text: String, byte: &u8| text + &format!("{byte:02x}");
        digest.as_bytes()[..DIGEST_BYTES].iter().fold("group-".to_owned(), hex)
    }

    /// `ipv6_table`.
    fn routes(&mut self, route_shares: &[Shares], groups: &BTreeMap<Shares, String>) -> Result<(), Fault> {
        let intent = self.intent;
        for (route, shares) in intent.routes.iter().zip(route_shares) {
            let entry = self.info.entry("ipv6_table")?.exact("vrf_id", DEFAULT_VRF);
            let entry =
                entry.lpm("ipv6_dst", route.prefix.network().to_ipv6(), route.prefix.prefix_len().into());
            let entry = match shares.as_slice() {
                // If all cables of a route are absent, its packets must not follow a shorter prefix.
                [] => entry.action("drop", &[]),
                [(port, _)] => entry.action("set_nexthop_id", &[("nexthop_id", self.name(*port).into())]),
                [..] => {
                    entry.action("set_wcmp_group_id", &[("wcmp_group_id", groups[shares].as_str().into())])
                }
            };
            self.push(entry.build()?);
        }
        Ok(())
    }
}
