//! Reads SONiC's `config_db.json`.
//!
//! In: the bytes. Out: a [`Device`] that borrows from them. Invariants: rows are processed one by one, without an
//! intermediate tree. An unknown table is a fault, because it could affect forwarding.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use closc_artefacts::{Address, Prefix};
use ipnet::IpNet;
use serde::Deserialize;
use serde::de::{DeserializeSeed as _, Deserializer, IgnoredAny, MapAccess};

use super::access::{self, AccessLists};
use super::counters::{self, CounterRow};
use super::harmless::{self, PEERS};
use super::metadata::{self, Field};
use super::peers;
use super::place::FILE;
use super::qos::{self, PORT_TABLES, SMALL_TABLES};
use super::services::{self, ServiceRow};
use super::site::is_of_site;
use crate::model::device::{Device, FaultKind, Hop, Mac, Port, Ports, Route, Segment, Via};
use crate::model::language::Language;
use crate::model::place::{Fact, Step};
use crate::read::error::{ReadError, text};
use crate::read::json::{Rows, Str, Value, Words, tables, value};
use crate::read::sections::{Section, SectionCache};
use crate::read::value::{parse, split};

/// Reads a file, table by table. Tables cached from another switch are not parsed again. `isolates` states whether the
/// switch must have the list of isolated ports.
pub(crate) fn read<'a>(
    language: &'static Language,
    bytes: &'a [u8],
    known: &SectionCache,
    isolates: bool,
) -> Result<Device<'a>, ReadError> {
    let mut reader = Reader {
        device: Device::new(language),
        ports: Ports::default(),
        qos: Vec::new(),
        locators: Vec::new(),
        segments: Vec::new(),
        created_ports: HashSet::new(),
        loopbacks: BTreeMap::new(),
        access: AccessLists::default(),
    };
    reader.ports.reserve(known.ports());
    tables(text(bytes)?, |name, rest| reader.part(name, rest, known))?;
    reader.finish(known, isolates)
}

struct Reader<'a> {
    device: Device<'a>,
    ports: Ports<'a>,
    /// QoS tables.
    qos: Vec<(&'static str, Arc<Section>)>,
    locators: Vec<(Cow<'a, str>, LocatorRow<'a>)>,
    segments: Vec<(Cow<'a, str>, SegmentRow<'a>)>,
    /// Indices of ports with their own row in `INTERFACE`.
    created_ports: HashSet<u16>,
    /// Loopback interfaces, and whether each has its own row.
    loopbacks: BTreeMap<String, bool>,
    access: AccessLists,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortRow<'a> {
    #[serde(borrow)]
    admin_status: Option<Str<'a>>,
    #[serde(borrow)]
    adv_interface_types: Option<Str<'a>>,
    #[serde(borrow)]
    adv_speeds: Option<Str<'a>>,
    #[serde(borrow)]
    alias: Option<Str<'a>>,
    #[serde(borrow)]
    autoneg: Option<Str<'a>>,
    /// The ID, which only the controller uses.
    #[serde(rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(borrow)]
    index: Option<Str<'a>>,
    #[serde(borrow)]
    link_training: Option<Str<'a>>,
    #[serde(borrow)]
    mode: Option<Str<'a>>,
    #[serde(borrow)]
    pfc_asym: Option<Str<'a>>,
    #[serde(borrow)]
    role: Option<Str<'a>>,
    #[serde(borrow)]
    subport: Option<Str<'a>>,
    #[serde(borrow)]
    tpid: Option<Str<'a>>,
    #[serde(borrow)]
    description: Option<Str<'a>>,
    #[serde(borrow)]
    fec: Option<Str<'a>>,
    #[serde(borrow)]
    lanes: Option<Str<'a>>,
    #[serde(borrow)]
    mtu: Option<Str<'a>>,
    #[serde(borrow)]
    speed: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerRow<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    port: Str<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighbourRow<'a> {
    #[serde(borrow)]
    family: Str<'a>,
    #[serde(borrow)]
    neigh: Str<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RouteRow<'a> {
    #[serde(borrow)]
    blackhole: Option<Str<'a>>,
    #[serde(borrow)]
    ifname: Option<Str<'a>>,
    #[serde(borrow)]
    distance: Option<Str<'a>>,
    #[serde(borrow)]
    nexthop: Option<Str<'a>>,
    #[serde(borrow, rename = "nexthop-vrf")]
    nexthop_vrf: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LocatorRow<'a> {
    #[serde(borrow)]
    prefix: Str<'a>,
    #[serde(borrow)]
    block_len: Str<'a>,
    #[serde(borrow)]
    node_len: Str<'a>,
    #[serde(borrow)]
    func_len: Str<'a>,
    #[serde(borrow)]
    arg_len: Str<'a>,
    #[serde(borrow)]
    vrf: Str<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentRow<'a> {
    #[serde(borrow)]
    action: Str<'a>,
    #[serde(borrow)]
    decap_dscp_mode: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManagementRow<'a> {
    #[serde(borrow)]
    gwaddr: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InterfaceRow<'a> {
    #[serde(borrow)]
    ipv6_use_link_local_only: Option<Str<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HashRow<'a> {
    #[serde(borrow)]
    ecmp_hash: Vec<Str<'a>>,
}

impl PortRow<'_> {
    /// Returns fields that change the function of a port, each with its value and its only allowed value, SONiC's
    /// default.
    fn defaults(&self) -> impl Iterator<Item = (&'static str, &str, &'static str)> {
        let fields = [
            ("adv_interface_types", &self.adv_interface_types, "all"),
            ("adv_speeds", &self.adv_speeds, "all"),
            ("link_training", &self.link_training, "off"),
            ("mode", &self.mode, "routed"),
            ("pfc_asym", &self.pfc_asym, "off"),
            ("role", &self.role, "Ext"),
            ("tpid", &self.tpid, "0x8100"),
        ];
        fields.into_iter().filter_map(|(field, value, meant)| Some((field, &*value.as_ref()?.0, meant)))
    }
}

/// Reads the rows of an access-list table.
fn access<'a, A: MapAccess<'a>>(
    map: &mut A,
    found: &mut BTreeMap<String, access::Row>,
) -> Result<(), A::Error> {
    map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row: access::Row| {
        found.insert(key.into_owned(), row);
        Ok(())
    }))
}

/// A row without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BareRow {}

impl<'a> Reader<'a> {
    /// Processes the table at the start of a text, and returns the length of the table.
    fn part(&mut self, name: &str, rest: &'a str, known: &SectionCache) -> Result<usize, serde_json::Error> {
        let Some(name) =
            PORT_TABLES.iter().chain(&SMALL_TABLES).chain(&harmless::TABLES).find(|known| **known == name)
        else {
            return value(rest, |json| self.table(name, &mut Value(json)));
        };
        let is_harmless = harmless::TABLES.contains(name);
        let section = if let Some(section) = known.table(name, rest) {
            section
        } else {
            let length = if is_harmless {
                value(rest, |json| harmless::check(name, json))?
            } else {
                value(rest, |json| qos::check(name, json))?
            };
            known.keep(name, &rest[..length])
        };
        let length = section.text.len();
        if *name == PEERS {
            self.device.peers = known.peers(&section, peers::read)?;
        }
        if harmless::SERVERS.contains(name) {
            self.device.settings.push((Cow::Borrowed(name), harmless::sort_rows(&section.text)?.into()));
        }
        if !is_harmless {
            self.qos.push((name, section));
        }
        Ok(length)
    }

    fn table<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "CABLE_LENGTH" => map.next_value_seed(Rows::new(&mut |_, row: Lengths<'a>| {
                for (port, meters) in row.0 {
                    self.ports.port(port).length_m = Some(meters);
                }
                Ok(())
            })),
            "DEVICE_METADATA" => {
                map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row| self.device_metadata(&key, row)))
            }
            "DEVICE_NEIGHBOR" => map.next_value_seed(Rows::new(&mut |key, row: PeerRow<'a>| {
                self.ports.port(key).peer = Some((row.name.0, row.port.0));
                Ok(())
            })),
            "INTERFACE" => map.next_value_seed(Rows::new(&mut |key, row| self.interface(key, &row))),
            "LOOPBACK_INTERFACE" => {
                map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, _: BareRow| self.loopback(&key)))
            }
            "MGMT_INTERFACE" => {
                map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row| self.management(&key, &row)))
            }
            "NEIGH" => map.next_value_seed(Rows::new(&mut |key, row| self.neighbour(key, &row))),
            "PORT" => map.next_value_seed(Rows::new(&mut |key, row| self.port(key, row))),
            "SRV6_MY_LOCATORS" => map.next_value_seed(Rows::new(&mut |key, row: LocatorRow<'a>| {
                self.locators.push((key, row));
                Ok(())
            })),
            "SRV6_MY_SIDS" => map.next_value_seed(Rows::new(&mut |key, row: SegmentRow<'a>| {
                self.segments.push((key, row));
                Ok(())
            })),
            "SWITCH_HASH" => map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row: HashRow<'a>| {
                if key != "GLOBAL" {
                    return Err(format!("`SWITCH_HASH|{key}` is not a row of this table"));
                }
                let fields: Vec<&str> = row.ecmp_hash.iter().map(|field| &*field.0).collect();
                self.device.settings.push(("ecmp_hash".into(), fields.join(",").into()));
                Ok(())
            })),
            "STATIC_ROUTE" => map.next_value_seed(Rows::new(&mut |key, row| self.route(key, &row))),
            other => self.aside(other, map),
        }
    }

    /// Processes all other tables: access lists, counters, services, settings of the site, and unknown
    /// tables.
    fn aside<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "ACL_RULE" => access(map, &mut self.access.rules),
            "ACL_TABLE" => access(map, &mut self.access.lists),
            "ACL_TABLE_TYPE" => access(map, &mut self.access.kinds),
            "FLEX_COUNTER_TABLE" => {
                map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row: CounterRow<'a>| {
                    counters::judge(key, &row, &mut self.device);
                    Ok(())
                }))
            }
            "FEATURE" => {
                self.device.not_judged.push(format!("services of the site in table `FEATURE` of `{FILE}`"));
                map.next_value_seed(Rows::new(&mut |key: Cow<'a, str>, row: ServiceRow<'a>| {
                    services::judge(&key, &row, &mut self.device);
                    Ok(())
                }))
            }
            // This table contains the number of the switch for controllers. `pins::ports` reads it.
            "NODE_CFG" => map.next_value::<IgnoredAny>().map(|_| ()),
            site if is_of_site(site) => {
                self.device.not_judged.push(format!("table `{site}` of `{FILE}`"));
                map.next_value::<IgnoredAny>().map(|_| ())
            }
            other => {
                self.device.fault(
                    FaultKind::Unknown,
                    FILE,
                    Fact::table(other),
                    format!("table `{other}` is not one that the proof models"),
                );
                map.next_value::<IgnoredAny>().map(|_| ())
            }
        }
    }

    /// Processes a row of `DEVICE_METADATA`.
    fn device_metadata(&mut self, key: &str, row: BTreeMap<Str<'a>, Words<'a>>) -> Result<(), String> {
        match key {
            "localhost" => row.into_iter().try_for_each(|(field, value)| self.metadata(field.0, value.0)),
            // The baseboard management controller has its own network.
            "bmc" => {
                self.device.not_judged.push(format!("`bmc` of `DEVICE_METADATA` in `{FILE}`"));
                Ok(())
            }
            _ => Err(format!("`DEVICE_METADATA|{key}` is not a device")),
        }
    }

    /// Processes a field of `DEVICE_METADATA|localhost`: a property of the switch, or a setting that all switches
    /// share.
    fn metadata(&mut self, field: Cow<'a, str>, value: Cow<'a, str>) -> Result<(), String> {
        match &*field {
            "hostname" => self.device.hostname = Some(value),
            "hwsku" => self.device.hardware = Some(value),
            "type" => self.device.kind = Some(value),
            "mac" => self.device.mac = Some(parse(&value)?),
            "bgp_asn" => self.device.asn = Some(parse(&value)?),
            "platform" => self.device.platform = Some(value),
            // The router ID differs between switches, so it is not a shared setting.
            "bgp_router_id" => {}
            other => {
                match metadata::field(other) {
                    Field::Judged | Field::WrittenOut => {}
                    Field::NotJudged => {
                        let what = format!("`{other}` of `DEVICE_METADATA` in `{FILE}`");
                        self.device.not_judged.push(what);
                        return Ok(());
                    }
                    Field::Unknown => {
                        let fact =
                            Fact::Path(vec!["DEVICE_METADATA".into(), "localhost".into(), other.into()]);
                        let message =
                            format!("`{other}` of `DEVICE_METADATA` is not one that the proof models");
                        self.device.fault(FaultKind::Unknown, FILE, fact, message);
                    }
                }
                self.device.settings.push((field, value));
            }
        }
        Ok(())
    }

    fn port(&mut self, key: Cow<'a, str>, row: PortRow<'a>) -> Result<(), String> {
        for (field, value, meant) in row.defaults() {
            if value != meant {
                let fact = Fact::Path(vec!["PORT".into(), (&*key).into(), field.into()]);
                let message = format!("port `{key}` has `{field}` {value}; expected {meant}");
                self.device.fault(FaultKind::Setting, FILE, fact, message);
            }
        }
        // SONiC rejects a port without lanes (sonic-port YANG).
        if row.lanes.is_none() {
            let message = format!("port `{key}` has no `lanes`");
            self.device.fault(FaultKind::Setting, FILE, Fact::row("PORT", &*key), message);
        }
        let port = self.ports.port(key);
        port.cage = Some(
            [row.alias, row.index, row.subport].map(|field| field.map_or_else(Cow::default, |text| text.0)),
        );
        port.declared = true;
        port.up = row.admin_status.is_some_and(|status| status.0 == "up");
        port.description = row.description.map(|text| text.0);
        port.lanes = row.lanes.map(|text| text.0);
        port.wire.fec = row.fec.map(|fec| fec.0 == "rs");
        port.wire.negotiates = match row.autoneg.as_ref().map(|word| &*word.0) {
            None => None,
            Some("on") => Some(true),
            Some("off") => Some(false),
            Some(other) => return Err(format!("`autoneg` is `{other}`; expected `on` or `off`")),
        };
        port.wire.mtu = row.mtu.map(|mtu| parse(&mtu.0)).transpose()?;
        port.wire.speed = row.speed.map(|speed| parse(&speed.0)).transpose()?;
        Ok(())
    }

    fn interface(&mut self, key: Cow<'a, str>, row: &InterfaceRow<'a>) -> Result<(), String> {
        let link_local = match row.ipv6_use_link_local_only.as_ref().map(|text| &*text.0) {
            Some("enable") => true,
            None | Some("disable") => false,
            Some(other) => return Err(format!("`INTERFACE|{key}`: `{other}` is neither enable nor disable")),
        };
        match split(key, '|') {
            Ok((port, address)) => {
                let address = parse(&address)?;
                self.ports.port(port).addresses.push(address);
            }
            Err(port) => {
                let index = self.ports.index(port.clone());
                self.created_ports.insert(index);
                self.ports.port(port).discovery.link_local |= link_local;
            }
        }
        Ok(())
    }

    fn loopback(&mut self, key: &str) -> Result<(), String> {
        let (name, address) =
            key.split_once('|').map_or((key, None), |(name, address)| (name, Some(address)));
        *self.loopbacks.entry(name.to_owned()).or_default() |= address.is_none();
        if let Some(address) = address {
            self.device.loopbacks.push(parse(address)?);
        }
        Ok(())
    }

    fn management(&mut self, key: &str, row: &ManagementRow<'a>) -> Result<(), String> {
        let (port, address) = key.split_once('|').ok_or_else(|| format!("`{key}` has no address"))?;
        if port != harmless::MANAGEMENT_PORT {
            return Err(format!("`{port}` is not a management port"));
        }
        let address: IpNet = parse(address)?;
        let gateway: Option<IpAddr> = row.gwaddr.as_ref().map(|text| parse(&text.0)).transpose()?;
        self.device.management.push((address, gateway));
        Ok(())
    }

    fn neighbour(&mut self, key: Cow<'a, str>, row: &NeighbourRow<'a>) -> Result<(), String> {
        let (port, address) = split(key, '|').map_err(|key| format!("`NEIGH|{key}` has no address"))?;
        let text = address;
        let address: Address = parse(&text)?;
        if row.family.0 != address.family().name() {
            return Err(format!("`NEIGH|{port}|{text}` is of family `{}`", row.family.0));
        }
        let mac: Mac = parse(&row.neigh.0)?;
        self.ports.port(port).neighbours.push((address, mac));
        Ok(())
    }

    fn route(&mut self, key: Cow<'a, str>, row: &RouteRow<'a>) -> Result<(), String> {
        // Without a VRF in its key, a route is in the default one.
        let (vrf, prefix) = split(key, '|').unwrap_or_else(|prefix| (Cow::Borrowed("default"), prefix));
        let foreign =
            row.nexthop_vrf.as_ref().is_some_and(|vrf| vrf.0.split(',').any(|vrf| vrf != "default"));
        if foreign {
            return Err(format!("`STATIC_ROUTE|{vrf}|{prefix}` leaves the default VRF"));
        }
        let unreachable =
            |text: &Str<'_>| !text.0.split(',').all(|distance| distance.parse::<u8>().is_ok_and(|d| d < 255));
        if row.distance.as_ref().is_some_and(unreachable) {
            return Err(format!("`STATIC_ROUTE|{vrf}|{prefix}` has an invalid distance"));
        }
        if vrf != "default" {
            return Err(format!("`STATIC_ROUTE|{vrf}|{prefix}` is of VRF `{vrf}`"));
        }
        let net: Prefix = parse(&prefix)?;
        let via = self.via(row)?;
        // bgpcfgd expects next hops in the address family of the prefix (managers_static_rt.py), and otherwise drops
        // the route.
        let hops = match &via {
            Via::Blackhole => &[][..],
            Via::One(hop) => std::slice::from_ref(hop),
            Via::Many(hops) => hops,
        };
        if hops.iter().filter_map(|hop| hop.gateway).any(|gateway| gateway.family() != net.family()) {
            return Err(format!("`STATIC_ROUTE|{vrf}|{prefix}` has next hops of another family"));
        }
        let route = Route { prefix: net, text: prefix, via };
        self.device.routes.push(route);
        Ok(())
    }

    fn via(&mut self, row: &RouteRow<'a>) -> Result<Via, String> {
        let blackhole =
            row.blackhole.as_ref().is_some_and(|text| text.0.split(',').any(|word| word == "true"));
        match (&row.ifname, &row.nexthop) {
            (None, None) if blackhole => Ok(Via::Blackhole),
            (Some(Str(ports)), Some(Str(gateways))) if !blackhole => {
                let ports = pieces(ports);
                let gateways: Vec<&str> = gateways.split(',').collect();
                if ports.len() != gateways.len() {
                    return Err(format!("{} ports, but {} next hops", ports.len(), gateways.len()));
                }
                let hop = |(port, gateway): (Cow<'a, str>, &str)| {
                    let gateway = Some(parse::<Address>(gateway)?);
                    Ok::<Hop, String>(Hop { port: self.ports.index(port), gateway, mac: None, weight: 1 })
                };
                let mut hops: Vec<Hop> =
                    ports.into_iter().zip(gateways).map(hop).collect::<Result<_, _>>()?;
                Ok(if hops.len() == 1 { Via::One(hops.remove(0)) } else { Via::Many(hops) })
            }
            _ => Err("a route is a blackhole, or has `ifname` and `nexthop`".to_owned()),
        }
    }

    fn finish(mut self, known: &SectionCache, isolates: bool) -> Result<Device<'a>, ReadError> {
        self.read_segments()?;
        let sections: Vec<Arc<Section>> = self.qos.iter().map(|(_, section)| Arc::clone(section)).collect();
        let tables: Vec<(&str, &str)> =
            self.qos.iter().map(|(name, section)| (*name, &*section.text)).collect();
        let qos = known.outcome(&sections, || qos::read(&tables))?;
        for (name, index) in &qos.ports {
            self.ports.port_named(name).qos = *index;
        }
        if self.ports.len() > usize::from(u16::MAX) {
            return Err(ReadError::new("more than 65,535 ports"));
        }
        let Reader { mut device, mut ports, access, created_ports: created, loopbacks, .. } = self;
        access.judge(isolates, &mut ports, &mut device);
        known.expect_ports(ports.len());
        device.ports = ports.finish();
        report_missing_rows(&mut device, &created, &loopbacks);
        qos::apply(&qos, &mut device);
        Ok(device)
    }

    /// Reads own segments. Each must be a uN of a locator without function bits.
    fn read_segments(&mut self) -> Result<(), ReadError> {
        for (key, row) in std::mem::take(&mut self.segments) {
            let (locator, prefix) = split(key, '|')
                .map_err(|key| ReadError::new(format!("`SRV6_MY_SIDS|{key}` does not name a locator")))?;
            let parsed: Prefix = parse(&prefix).map_err(ReadError::new)?;
            let known = self.locators.iter().find(|(name, _)| *name == locator).map(|(_, row)| row);
            for message in segment_faults(&prefix, parsed, &row, &locator, known) {
                let own = Fact::row("SRV6_MY_SIDS", &*format!("{locator}|{prefix}"));
                let facts = vec![own, Fact::row("SRV6_MY_LOCATORS", &*locator)];
                self.device.fault(FaultKind::Segment, FILE, facts, message);
            }
            self.device.segments.push(Segment { prefix: parsed, text: prefix });
        }
        let lost: Vec<String> = self
            .locators
            .iter()
            .filter(|(_, row)| {
                let address: Option<Address> = row.prefix.0.parse().ok();
                !self.device.segments.iter().any(|segment| Some(segment.prefix.network()) == address)
            })
            .map(|(name, _)| name.to_string())
            .collect();
        for name in lost {
            let message = format!("locator `{name}` has no segment");
            let facts = vec![Fact::row("SRV6_MY_LOCATORS", &*name), Fact::table("SRV6_MY_SIDS")];
            self.device.fault(FaultKind::Segment, FILE, facts, message);
        }
        Ok(())
    }
}

/// Reports missing rows without an address. SONiC's intfmgrd sets addresses, and its nbrmgrd neighbours, only on
/// interfaces that have such a row (`IntfMgr::isIntfCreated`, `NbrMgr::isIntfStateOk` of sonic-swss). Without the row,
/// they wait forever.
fn report_missing_rows(device: &mut Device<'_>, created: &HashSet<u16>, loopbacks: &BTreeMap<String, bool>) {
    let used = |(index, port): &(usize, &Port<'_>)| {
        let used = !port.addresses.is_empty() || !port.neighbours.is_empty();
        used && !created.contains(&(*index as u16))
    };
    let ports =
        device.ports.iter().enumerate().filter(used).map(|(_, port)| ("INTERFACE", port.name.to_string()));
    let loopbacks = loopbacks.iter().filter(|(_, made)| !**made);
    let loopbacks = loopbacks.map(|(name, _)| ("LOOPBACK_INTERFACE", name.clone()));
    let found: Vec<(&str, String)> = ports.chain(loopbacks).collect();
    for (table, name) in found {
        let facts = vec![Fact::row(table, Step::Start(format!("{name}|"))), Fact::table(table)];
        let message =
            format!("`{name}` has addresses or neighbours, but no row `{table}|{name}`, so SONiC sets none");
        device.fault(FaultKind::Setting, FILE, facts, message);
    }
}

/// Returns the reasons why a segment is not a uN.
fn segment_faults(
    text: &str,
    prefix: Prefix,
    row: &SegmentRow<'_>,
    name: &str,
    locator: Option<&LocatorRow<'_>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    if row.action.0 != "uN" {
        faults.push(format!("segment `{text}` is `{}`; expected `uN`", row.action.0));
    }
    // With a mode, the SID can decapsulate. `pipe` does not change the inner DSCP, so a probe that ends here is
    // unaffected. Without a mode, orchagent creates a SID without a tunnel (srv6orch, `mySidTunnelRequired`).
    if row.decap_dscp_mode.as_ref().is_none_or(|mode| mode.0 != "pipe") {
        faults.push(format!("segment `{text}` has no `decap_dscp_mode`, or one other than `pipe`"));
    }
    let Some(locator) = locator else {
        faults.push(format!("segment `{text}` names locator `{name}`, which is not defined"));
        return faults;
    };
    if locator.prefix.0.parse() != Ok(prefix.network()) {
        faults.push(format!("segment `{text}` is not in its locator `{name}`, `{}`", locator.prefix.0));
    }
    // With the default function length of 16, a plain End is programmed after a reload (sonic-buildimage issue 24454).
    let lengths = [
        ("block_len", &locator.block_len, "32"),
        ("node_len", &locator.node_len, "16"),
        ("func_len", &locator.func_len, "0"),
        ("arg_len", &locator.arg_len, "0"),
        ("vrf", &locator.vrf, "default"),
    ];
    for (field, found, wanted) in lengths {
        if found.0 != wanted {
            faults.push(format!("locator `{name}` has `{field}` {} instead of {wanted}", found.0));
        }
    }
    faults
}

/// The lengths in `CABLE_LENGTH`, in metres.
struct Lengths<'a>(Vec<(Cow<'a, str>, u32)>);

impl<'de: 'a, 'a> Deserialize<'de> for Lengths<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lengths = Vec::new();
        let mut each = |port: Cow<'de, str>, length: Str<'de>| {
            let meters = length.0.strip_suffix('m').and_then(|number| number.parse().ok());
            lengths.push((port, meters.ok_or_else(|| format!("`{}` is not a length in metres", length.0))?));
            Ok(())
        };
        Rows::new(&mut each).deserialize(deserializer)?;
        Ok(Lengths(lengths))
    }
}

/// Splits a list at commas.
fn pieces<'a>(list: &Cow<'a, str>) -> Vec<Cow<'a, str>> {
    match list {
        Cow::Borrowed(text) => text.split(',').map(Cow::Borrowed).collect(),
        Cow::Owned(text) => text.split(',').map(|piece| Cow::Owned(piece.to_owned())).collect(),
    }
}
