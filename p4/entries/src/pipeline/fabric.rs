//! Entries of the pipeline `fabric` (`p4/pipelines/fabric`), and of pipelines with the same tables.
//!
//! In: the intent of a T0, T1 or T2, and the [`Form`] of the pipeline. Out: the entries of each table.
//! Invariants: ids of next hops are positions of ports on the panel. So a port keeps its next hop when other
//! ports are added or removed. A port without a cable has no entry, so its packets are dropped.

mod classes;
mod groups;
mod limits;
mod qos;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use closc_artefacts::StatedSwitch;
use closc_plan::{Connection, DeviceIntent, Peer, PortIntent, Target};
use closc_runtime::Info;
use closc_runtime::proto::v1;
use closc_runtime::value::{Value, Width};
use closc_topology::TierId;
use ipnet::Ipv6Net;

use crate::error::{EntriesError, Fault};
use groups::{Forwarding, Groups};
pub(super) use qos::{Marks, add_values_of_form};

/// Properties in which pipelines with these tables differ.
pub(super) struct Form {
    /// The name, for messages.
    pub(super) name: &'static str,
    /// Returns the numbers that a front port can have.
    pub(super) ports: fn(&Info) -> Result<RangeInclusive<u16>, Fault>,
    /// Returns the number of a port in the pipeline.
    pub(super) port: fn(&PortIntent) -> u16,
    /// Returns the bytes in one unit of queue depth, on a port with this MTU.
    pub(super) unit: fn(&DeviceIntent<'_>, u16) -> u64,
    /// Returns the arguments of `set_ecn_thresholds`, or `None` if the pipeline cannot mark with these thresholds.
    pub(super) marking: fn(Marks) -> Option<Arguments>,
    /// Returns the arguments of `set_wcmp_hash` for a seed and the mask of the queue pair.
    pub(super) hash: fn(&DeviceIntent<'_>, u32, u32) -> Arguments,
    /// Whether it limits the rate of packets to the controller and of strict classes.
    pub(super) limits: bool,
}

/// Arguments of an action.
pub(super) type Arguments = Vec<(&'static str, Value<'static>)>;

/// The pipeline of BMv2 and the embedded switch, which counts queues in packets.
pub(super) static FORM: Form = Form {
    name: "fabric",
    ports: |info| Ok(1..=front_port_max(info)?),
    port: |port| port.physical.device,
    // One packet counts as the port's MTU: profiles assume queues of full packets, and smaller packets are marked
    // earlier, never later.
    unit: |_, mtu| u64::from(mtu),
    marking: |marks| {
        Some(vec![
            ("min_depth_packets", marks.min.into()),
            ("max_depth_packets", marks.max.into()),
            ("max_probability_ppm", marks.probability_ppm.into()),
        ])
    },
    hash: |_, seed, qp_mask| vec![("seed", seed.into()), ("qp_mask", qp_mask.into())],
    limits: true,
};

/// The EtherType of LLDP, IEEE 802.1AB.
const LLDP: u16 = 0x88cc;

/// Returns the entities of a switch.
pub(crate) fn entities(intent: &DeviceIntent<'_>, info: &Info) -> Result<Vec<v1::Entity>, Fault> {
    entities_in(&FORM, intent, info)
}

/// Adds the marking, trimming and rate limits of a switch to its values in the manifest.
pub(crate) fn add_stated_values(
    intent: &DeviceIntent<'_>,
    switch: &mut StatedSwitch,
) -> Result<(), EntriesError> {
    add_values_of_form(&FORM, intent, switch)
}

/// Returns the entities of a switch for a pipeline of this form.
pub(super) fn entities_in(
    form: &'static Form,
    intent: &DeviceIntent<'_>,
    info: &Info,
) -> Result<Vec<v1::Entity>, Fault> {
    let ports = Ports::of(intent, form, &(form.ports)(info)?)?;
    let mut maker = EntryBuilder { form, intent, info, ports, entities: Vec::new() };
    maker.port_roles()?;
    maker.punts()?;
    maker.punt_limits()?;
    maker.nic_destinations()?;
    maker.nic_sources()?;
    maker.local_segments()?;
    maker.next_hops()?;
    maker.routes()?;
    maker.qos_entries()?;
    maker.nic_classes()?;
    maker.check_room()?;
    Ok(maker.entities)
}

/// Returns the largest number of a front port. With n bits, 2^n - 1 is the drop port, and 2^n - 2 is the
/// controller (`CPU_PORT` in `constants.p4`).
fn front_port_max(info: &Info) -> Result<u16, Fault> {
    Ok(match info.table("ingress.port_role")?.field("ingress_port")?.width {
        Width::Bits(bits @ 2..16) => (1 << bits) - 3,
        Width::Bits(_) | Width::Text => u16::MAX,
    })
}

/// A port with a cable.
#[derive(Clone, Copy)]
struct Port<'a> {
    /// Its number in the pipeline.
    number: u16,
    /// The id of its next hop: the position of the port on the panel.
    id: u16,
    intent: &'a PortIntent,
    connection: &'a Connection,
}

/// The ports of a switch, in the order of the intent; `None` for those without a cable.
struct Ports<'a>(Vec<Option<Port<'a>>>);

impl<'a> Ports<'a> {
    fn of(
        intent: &'a DeviceIntent<'_>,
        form: &Form,
        numbers: &RangeInclusive<u16>,
    ) -> Result<Self, EntriesError> {
        let port = |port| Self::port(intent, port, form, numbers);
        intent.ports.iter().map(port).collect::<Result<_, _>>().map(Ports)
    }

    fn port(
        intent: &DeviceIntent<'_>,
        port: &'a PortIntent,
        form: &Form,
        numbers: &RangeInclusive<u16>,
    ) -> Result<Option<Port<'a>>, EntriesError> {
        let (number, id) = ((form.port)(port), port.physical.number);
        match &port.connection {
            None => Ok(None),
            Some(connection) if numbers.contains(&number) => {
                Ok(Some(Port { number, id, intent: port, connection }))
            }
            Some(_) => Err(EntriesError::Port {
                device: intent.name.to_string(),
                port: port.physical.name.to_string(),
                number,
                pipeline: form.name,
                min_port: *numbers.start(),
                max: *numbers.end(),
            }),
        }
    }

    fn cabled_ports(&self) -> impl Iterator<Item = Port<'a>> + '_ {
        self.0.iter().copied().flatten()
    }
}

struct EntryBuilder<'a> {
    form: &'static Form,
    intent: &'a DeviceIntent<'a>,
    info: &'a Info,
    ports: Ports<'a>,
    entities: Vec<v1::Entity>,
}

impl EntryBuilder<'_> {
    fn push(&mut self, entity: impl Into<v1::Entity>) {
        self.entities.push(entity.into());
    }

    /// `port_role`: whether a NIC or a switch is at the other end of each cable.
    fn port_roles(&mut self) -> Result<(), Fault> {
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            let role = if port.intent.faces_nic() { "nic_port" } else { "fabric_port" };
            let entry = self.info.entry("ingress.port_role")?.exact("ingress_port", port.number);
            self.push(entry.action(role, &[]).build()?);
        }
        Ok(())
    }

    /// `punt`: LLDP goes to the controller, from every port with a cable.
    fn punts(&mut self) -> Result<(), Fault> {
        let reason = self.member("PuntReason", "LLDP")?;
        let entry = self.info.entry("ingress.punt")?.ternary("ether_type", LLDP, u16::MAX).priority(1);
        self.push(entry.action("punt_to_cpu", &[("reason", reason.into())]).build()?);
        Ok(())
    }

    /// `nic_destination`: NICs may send to paths that begin at this switch. If hosts do not choose paths,
    /// NICs may send to the common prefix of all routes.
    fn nic_destinations(&mut self) -> Result<(), Fault> {
        if self.intent.switch.tier != TierId::T0 {
            return Ok(());
        }
        let intent = self.intent;
        if let Some(srv6) = &intent.srv6 {
            for locator in &srv6.locators {
                self.nic_destination(locator.prefix, "permit_encapsulated", &[])?;
            }
            let reason = self.member("DropReason", "NIC_SEGMENT")?;
            self.nic_destination(srv6.block, "deny", &[("reason", reason.into())])
        } else {
            let routed = intent.routes.iter().filter(|route| route.target != Target::Blackhole);
            let Some(cover) = cover(routed.map(|route| route.prefix.to_ipv6())) else { return Ok(()) };
            self.nic_destination(cover, "permit_plain", &[])
        }
    }

    fn nic_destination(
        &mut self,
        prefix: Ipv6Net,
        action: &str,
        arguments: closc_runtime::entry::Arguments<'_>,
    ) -> Result<(), Fault> {
        let entry = self.info.entry("ingress.nic_destination")?;
        let entry = entry.lpm("dst", prefix.network(), prefix.prefix_len().into());
        self.push(entry.action(action, arguments).build()?);
        Ok(())
    }

    /// `nic_source` and `nic_inner_source`: only the addresses of the NIC at the other end and of its node.
    fn nic_sources(&mut self) -> Result<(), Fault> {
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            let Peer::Nic(nic) = &port.connection.peer else { continue };
            for address in BTreeSet::from([nic.inner, nic.address, nic.node_source]) {
                let entry = self.info.entry("ingress.nic_source")?.exact("ingress_port", port.number);
                self.push(entry.lpm("src", address.to_ipv6(), 128).action("permit_source", &[]).build()?);
            }
            if self.intent.srv6.is_some() {
                let entry = self.info.entry("ingress.nic_inner_source")?.exact("ingress_port", port.number);
                self.push(
                    entry.lpm("src", nic.inner.to_ipv6(), 128).action("permit_inner_source", &[]).build()?,
                );
            }
        }
        Ok(())
    }

    /// `my_sid`: one uN segment per locator.
    fn local_segments(&mut self) -> Result<(), Fault> {
        let intent = self.intent;
        for locator in intent.srv6.iter().flat_map(|srv6| &srv6.locators) {
            // Block and uSID are the 48 bits that the table compares.
            let sid = locator.prefix.network().to_bits() >> 80;
            let entry = self.info.entry("ingress.my_sid")?.exact("sid", sid);
            self.push(entry.action("un", &[]).build()?);
        }
        Ok(())
    }

    /// `nexthop`: one entry per cable, with the id of its port.
    fn next_hops(&mut self) -> Result<(), Fault> {
        let source = self.intent.system.mac.0;
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            // The topology checks reject a neighbour whose MAC address would need discovery.
            let Some(destination) = port.connection.peer.mac().map(|mac| mac.0) else { continue };
            let arguments =
                [("port", port.number.into()), ("src_mac", source.into()), ("dst_mac", destination.into())];
            let entry = self.info.entry("ingress.nexthop")?.exact("nexthop_id", port.id);
            self.push(entry.action("set_nexthop", &arguments).build()?);
        }
        Ok(())
    }

    /// `ipv6_route`, after the members, groups and `wcmp_group` entries of routes over several ports.
    fn routes(&mut self) -> Result<(), Fault> {
        let intent = self.intent;
        let groups = Groups::of(intent, &self.ports, self.info)?;
        let before = groups.entities(self.form, intent, self.info)?;
        self.entities.extend(before);
        for (route, forwarding) in intent.routes.iter().zip(groups.forwarding()) {
            let entry = self.info.entry("ingress.ipv6_route")?;
            let entry = entry.lpm("dst", route.prefix.network().to_ipv6(), route.prefix.prefix_len().into());
            let entry = match *forwarding {
                Forwarding::Port(port) => entry.action("set_nexthop_id", &[("nexthop_id", port.into())]),
                Forwarding::Group(group) => {
                    entry.action("set_wcmp_group", &[("wcmp_group_id", group.into())])
                }
                // If all cables of a route are absent, its packets must not follow a shorter prefix.
                Forwarding::Nowhere => entry.action("blackhole", &[]),
            };
            self.push(entry.build()?);
        }
        Ok(())
    }

    /// Returns the numeric value of an enum member of the P4 program.
    fn member(&self, name: &'static str, member: &'static str) -> Result<Vec<u8>, EntriesError> {
        let spec = self.info.types().and_then(|types| types.serializable_enums.get(name));
        let found = spec.and_then(|spec| spec.members.iter().find(|each| each.name == member));
        found.map(|member| member.value.clone()).ok_or(EntriesError::NoMember {
            pipeline: self.form.name,
            name,
            member,
        })
    }

    /// Checks that all entities fit in their tables and profiles.
    fn check_room(&self) -> Result<(), EntriesError> {
        super::check_capacity(self.intent, self.info, &self.entities)
    }
}

/// Returns the longest prefix that covers all the given ones.
fn cover(prefixes: impl Iterator<Item = Ipv6Net>) -> Option<Ipv6Net> {
    prefixes.reduce(|one, other| {
        let differing = one.network().to_bits() ^ other.network().to_bits();
        let length = (differing.leading_zeros() as u8).min(one.prefix_len()).min(other.prefix_len());
        Ipv6Net::new_assert(one.network(), length).trunc()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_is_the_longest_common_prefix() {
        let net = |text: &str| text.parse::<Ipv6Net>().expect("a prefix");
        let prefixes = ["2001:db8:1000:1::/64", "2001:db8:1000:2::/64", "2001:db8:1000:3::7/128"];
        assert_eq!(cover(prefixes.map(net).into_iter()), Some(net("2001:db8:1000::/62")));
        assert_eq!(cover([net("fc00::/7")].into_iter()), Some(net("fc00::/7")));
        assert_eq!(cover([].into_iter()), None);
    }
}
