//! From a draft without faults to a topology.
//!
//! In: a draft. Out: the topology, or `None` if a part is absent because of a fault. Invariants: numbers that do not
//! fit their type give `None` instead of another number.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_platform::{Os, Platform};
use closc_qos::profile::Profile;

use crate::choice::{HostOs, PacketOrder};
use crate::coordinate::{Nic, PlaneId, Subject, Switch, TierId, ZoneId};
use crate::document::{PortStageDoc, SlotDoc};
use crate::draft::{Draft, DraftBlock, DraftCable, DraftTier, DraftZone, resolve};
use crate::field;
use crate::model::{
    Addresses, Cables, Cages, Ecmp, Exceptions, HostSlot, Hosts, NicKind, PortBlock, Services, Site, Srv6,
    T2, Tier, Topology, ZoneTier,
};
use crate::port_order::{PortOrders, PortStage};
use crate::zone_size::ZoneSizes;

impl Draft<'_> {
    /// Builds the topology with a profile.
    pub(crate) fn finish(&self, profile: Profile) -> Option<Topology> {
        let doc = self.doc;
        Some(Topology {
            name: doc.fabric.value.clone(),
            description: doc.description.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            planes: u8::try_from(self.planes).ok()?,
            routing: self.routing,
            hosts: self.hosts()?,
            zones: u16::try_from(self.zones).ok()?,
            sites: self.sites(),
            t0: Tier { port_order: self.port_order(), ..tier(&self.t0)? },
            t1: tier(&self.t1)?,
            t1_count: u16::try_from(self.t1.count).ok()?,
            t2: match &self.t2 {
                Some(t2) => Some(self.t2(t2)?),
                None => None,
            },
            srv6: Srv6 { plan: self.layout.plan, first_block: self.block, layout: self.layout.finish()? },
            ecmp: Ecmp { pins: Arc::new(self.pins.finish()?), ..self.ecmp.clone() },
            addresses: Addresses {
                management_list: Arc::new(self.management.finish()?),
                ..self.addresses.clone()
            },
            cables: self.cables(),
            mtu: self.mtu,
            entropy: self.entropy,
            releases: doc
                .releases
                .iter()
                .flat_map(|all| &all.0)
                .map(|(os, own)| (os.value, own.value))
                .collect(),
            naming: self.names.naming.clone(),
            qos: profile,
            services: self.services(),
            domains: self.domains.finish()?,
            racks: self.racks.racks.clone(),
            exceptions: self.exceptions()?,
            spans: self.spans().clone(),
            zone_sizes: self.zone_sizes(),
            orders: PortOrders::default(),
        })
    }

    fn port_order(&self) -> Vec<PortStage> {
        self.doc.tiers.t0.port_order.iter().flatten().map(PortStageDoc::stage).collect()
    }

    fn t2(&self, t2: &DraftTier) -> Option<T2> {
        Some(T2 {
            tier: tier(t2)?,
            count: u16::try_from(t2.count).ok()?,
            wiring: self.wiring,
            zone_ports: u16::try_from(self.zone_ports?).ok()?,
            rows: u16::try_from(self.rows).ok()?,
            site: self.doc.tiers.t2.as_ref()?.site.as_ref().map(|site| site.value.clone()),
        })
    }

    fn hosts(&self) -> Option<Hosts> {
        let hosts = &self.doc.hosts;
        Some(Hosts {
            groups: u16::try_from(self.groups).ok()?,
            per_group: u16::try_from(self.per_group).ok()?,
            nics_per_node: u8::try_from(self.nics_per_node).ok()?,
            nics_per_adapter: u8::try_from(self.nics_per_adapter).ok()?,
            rails: u8::try_from(self.rails).ok()?,
            zones_per_node: u8::try_from(self.zones_per_node).ok()?,
            nic_speed: hosts.nic.speed.value,
            nic_lanes: u8::try_from(self.nic_lanes).ok()?,
            nic_cages: u8::try_from(self.nic_cages).ok()?,
            nic_by_zone: self.nics_by_zone()?,
            packet_order: hosts.packet_order.map_or(PacketOrder::Required, |order| order.value),
            os: hosts.os.map_or(HostOs::None, |os| os.value),
            outputs: hosts.outputs.iter().flatten().map(|output| output.value).collect(),
            slots: hosts.slots.iter().flatten().map(slot).collect(),
        })
    }

    /// Returns the NICs of zones that have a different one.
    fn nics_by_zone(&self) -> Option<BTreeMap<ZoneId, NicKind>> {
        let stated: Vec<u16> =
            self.doc.hosts.nic_by_zone.iter().flat_map(|zones| &zones.0).map(|z| z.0.value).collect();
        let places = self.places();
        let own = places.iter().filter(|place| place.zone.is_some_and(|zone| stated.contains(&zone)));
        own.map(|place| {
            let (lanes, cages) = (u8::try_from(place.lanes).ok()?, u8::try_from(place.cages).ok()?);
            let kind = NicKind { speed: place.nic.value, lanes, cages };
            Some((ZoneId(place.zone?), kind))
        })
        .collect()
    }

    fn sites(&self) -> Vec<Site> {
        let stated = self.doc.sites.as_deref().unwrap_or_default();
        stated
            .iter()
            .map(|site| Site {
                name: site.name.value.clone(),
                zones: site.zones.iter().map(|zone| ZoneId(zone.value)).collect(),
            })
            .collect()
    }

    fn cables(&self) -> Cables {
        let cables = &self.cables;
        Cables {
            nic_t0: cables.nic_t0.cable.clone(),
            t0_t1: cables.t0_t1.cable.clone(),
            t1_t2: cables.t1_t2.as_ref().map(|cable| cable.cable.clone()),
            t1_t2_by_zone: cables
                .by_zone
                .iter()
                .map(|(zone, cable)| (ZoneId(zone.value), cable.cable.clone()))
                .collect(),
        }
    }

    fn services(&self) -> Services {
        let Some(services) = &self.doc.services else { return Services::default() };
        let addresses = |stated: &Option<Vec<crate::read::Spanned<std::net::IpAddr>>>| {
            stated.as_deref().unwrap_or_default().iter().map(|address| address.value).collect()
        };
        let snmp = services.snmp.clone().unwrap_or_default();
        Services {
            ntp: addresses(&services.ntp),
            syslog: addresses(&services.syslog),
            snmp_contact: snmp.contact.map(|text| text.value.into()),
            snmp_location: snmp.location.map(|text| text.value.into()),
        }
    }

    fn exceptions(&self) -> Option<Exceptions> {
        let mut found = Exceptions::default();
        for entry in &self.exceptions.absent {
            match entry.subject.clone().ok()? {
                Subject::Switch(switch) => drop(found.absent_switches.insert(switch)),
                Subject::Nic(nic) => drop(found.absent_nics.insert(nic)),
                Subject::Link(link) => drop(found.absent_links.insert(link)),
                Subject::Node(node) => {
                    let nics = (0..self.nics_per_node).filter_map(|k| self.shape.nic_of(node, k as u8));
                    found.absent_nics.extend(nics);
                }
                Subject::Plane(plane) => found.absent_switches.extend(self.shape.plane_switches(plane)),
            }
        }
        for entry in &self.exceptions.drained {
            match entry.subject.clone().ok()? {
                Subject::Switch(switch) => drop(found.drained_switches.insert(switch)),
                Subject::Plane(plane) => drop(found.drained_planes.insert(plane)),
                Subject::Link(link) => drop(found.drained_links.insert(link)),
                Subject::Node(_) | Subject::Nic(_) => return None,
            }
        }
        found.has_isolation = self.states(field!("exceptions.isolated"));
        for entry in &self.exceptions.isolated {
            let Subject::Link(link) = entry.subject.clone().ok()? else { return None };
            found.isolated_links.insert(link);
            found.drained_links.insert(link);
        }
        for (entry, doc) in self.exceptions.cables() {
            let Subject::Link(link) = entry.subject.clone().ok()? else { return None };
            found.cables.insert(link, DraftCable::over(self.kind_of(link), Some(doc)).cable);
        }
        found.switches = self.switches()?;
        self.smaller_zones(&mut found)?;
        Some(found)
    }

    fn zone_sizes(&self) -> ZoneSizes {
        let groups = self.doc.hosts.groups_by_zone.iter().flat_map(|zones| &zones.0);
        let per_group = self.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0);
        ZoneSizes {
            groups: groups.map(|(zone, size)| (ZoneId(zone.value), size.value)).collect(),
            per_group: per_group.map(|(zone, size)| (ZoneId(zone.value), size.value)).collect(),
        }
    }

    /// Marks the T0 groups and NICs that a smaller zone lacks as absent.
    fn smaller_zones(&self, found: &mut Exceptions) -> Option<()> {
        for (zone, groups) in self.doc.hosts.groups_by_zone.iter().flat_map(|zones| &zones.0) {
            let zone = ZoneId(zone.value);
            for index in groups.value..u16::try_from(self.groups).ok()? {
                for plane in 0..self.planes {
                    let plane = PlaneId(u8::try_from(plane).ok()?);
                    found.absent_switches.insert(Switch { plane, tier: TierId::T0, zone, index });
                }
                let nics = 0..u16::try_from(self.per_group).ok()?;
                found.absent_nics.extend(nics.map(|downlink| Nic { zone, group: index, downlink }));
            }
        }
        let groups = u16::try_from(self.groups).ok()?;
        for (zone, nics) in self.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0) {
            let (zone, lacking) = (ZoneId(zone.value), nics.value..u16::try_from(self.per_group).ok()?);
            let all = (0..groups).flat_map(|group| lacking.clone().map(move |downlink| (group, downlink)));
            found.absent_nics.extend(all.map(|(group, downlink)| Nic { zone, group, downlink }));
        }
        Some(())
    }

    fn switches(&self) -> Option<BTreeMap<Switch, (Arc<Platform>, Os)>> {
        let mut found = BTreeMap::new();
        for (entry, doc) in self.exceptions.devices() {
            let Subject::Switch(switch) = entry.subject.clone().ok()? else { return None };
            let tier = self.tier(switch.tier)?;
            let (platform, os) = tier.hardware_in(tier.in_zone(switch.zone));
            let hardware = resolve(doc, self.catalogue, platform, os)?;
            found.insert(switch, hardware);
        }
        Some(found)
    }
}

fn slot(slot: &SlotDoc) -> HostSlot {
    HostSlot {
        pci: slot.pci.value,
        numa: slot.numa.map_or(0, |numa| numa.value),
        gpu: slot.gpu.map(|gpu| gpu.value),
        power: slot.power.as_ref().map(|power| power.value.clone()),
    }
}

fn tier(draft: &DraftTier) -> Option<Tier> {
    Some(Tier {
        platform: draft.platform.clone()?,
        os: draft.os?,
        down: block(&draft.down)?,
        up: block(&draft.up)?,
        parallel: u16::try_from(draft.parallel).ok()?,
        port_order: Vec::new(),
        by_plane: draft.by_plane.clone(),
        by_zone: draft.by_zone.iter().map(zone).collect::<Option<_>>()?,
    })
}

fn zone(draft: &DraftZone) -> Option<(ZoneId, ZoneTier)> {
    let own = ZoneTier {
        platform: draft.platform.clone(),
        os: draft.os,
        down: block(&draft.down)?,
        up: block(&draft.up)?,
    };
    Some((ZoneId(draft.zone.value), own))
}

fn block(draft: &DraftBlock) -> Option<PortBlock> {
    Some(PortBlock {
        count: u16::try_from(draft.count).ok()?,
        spare: u16::try_from(draft.spare).ok()?,
        cages: match draft.cages {
            Some(set) => Cages::Set(set),
            None => Cages::From(u16::try_from(draft.first_cage).ok()?),
        },
        breakout: draft.breakout?,
        first_port: u8::try_from(draft.first_port).ok()?,
    })
}
