//! sonic-mgmt: a testbed of the kind "network under test" (NUT), on which the tests of the SONiC project run.
//!
//! In: a plan, and the traffic generators of the site. Out: the files below `ansible/` of a checkout of
//! sonic-mgmt: devices, links, testbed, topology, inventory. Invariants: all switches run SONiC; a cable is
//! listed with both ends or not at all. The port of a generator depends only on the position of the NIC port.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use closc_plan::Plan;
use closc_topology::{Link, Switch, TierId};
use ipnet::IpNet;
use serde_json::json;
use smol_str::SmolStr;

use crate::simulate::speed;
use crate::{File, Refusal};

const FORMAT: &str = "sonic-mgmt";

/// Maximum number of switches of a testbed. For each switch, `nut_allocate_ip.py` counts from the first
/// address of a pool, so its run time grows with the square of this number.
const SWITCHES_MAX: u64 = 1_000;

/// IPv6 addresses of cables. `deploy-cfg` sets them; closc's configuration does not use them (RFC 5180 section 8).
const LINKS: &str = "2001:2::/64";
/// IPv6 loopbacks.
const LOOPBACKS: &str = "2001:2:0:1::/64";
/// BGP identifiers (RFC 2544 appendix C.2.2).
const ROUTER_IDS: &str = "198.18.0.0/16";

/// First private number of an autonomous system with 4 bytes (RFC 6996), and the distance between tiers.
const ASN_BASE: u32 = 4_200_000_000;
const ASN_STEP: u32 = 1_000_000;

/// A traffic generator, which takes the place of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Its name.
    pub name: String,
    /// Its management address, with the length of the subnet.
    pub address: IpNet,
}

/// A switch of the testbed.
struct Device {
    switch: Switch,
    name: SmolStr,
    hwsku: SmolStr,
    address: IpNet,
}

/// A testbed, checked and ready to be written.
pub struct Testbed<'p> {
    plan: &'p Plan,
    inventory: String,
    generators: &'p [Generator],
    devices: Vec<Device>,
}

impl<'p> Testbed<'p> {
    /// Checks a testbed. `inventory` names the inventory of sonic-mgmt. Without generators, cables of NICs are omitted.
    ///
    /// # Errors
    ///
    /// Refuses switches without SONiC or without a management address, and more switches than the tools
    /// support.
    pub fn new(plan: &'p Plan, inventory: &str, generators: &'p [Generator]) -> Result<Self, Refusal> {
        let counts = plan.fabric().counts();
        let count = counts.t0 + counts.t1 + counts.t2;
        if count > SWITCHES_MAX {
            return Err(Refusal::TooMany {
                format: FORMAT,
                subject: "switches",
                arithmetic: format!("{} T0s + {} T1s + {} T2s", counts.t0, counts.t1, counts.t2),
                count,
                maximum: SWITCHES_MAX,
                help: "test a smaller fabric with the same switches",
            });
        }
        let mut devices =
            plan.switches().map(|switch| device(plan, switch)).collect::<Result<Vec<_>, _>>()?;
        // The tools allocate addresses in the order of the list, and number the T0s first.
        devices.sort_by_key(|device| (device.switch.tier, device.switch));
        Ok(Testbed { plan, inventory: inventory.to_owned(), generators, devices })
    }

    /// Returns the files.
    pub fn files(&self) -> Vec<File<'_>> {
        let (name, inventory) = (self.plan.name(), &self.inventory);
        vec![
            File::new(format!("ansible/files/sonic_{inventory}_devices.csv"), |out| self.devices(out)),
            File::new(format!("ansible/files/sonic_{inventory}_links.csv"), |out| self.links(out)),
            File::new(format!("ansible/testbed.{name}.nut.yaml"), |out| self.testbed(out)),
            File::new(format!("ansible/vars/nut_topos/nut-{name}.yml"), |out| self.topology(out)),
            File::new(format!("ansible/{inventory}"), |out| self.inventory(out)),
        ]
    }

    fn devices(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "Hostname,ManagementIp,HwSku,Type,Protocol,Os")?;
        for Device { name, hwsku, address, .. } in &self.devices {
            writeln!(out, "{name},{address},{hwsku},DevSonic,,sonic")?;
        }
        for (at, Generator { name, address }) in self.generators.iter().enumerate() {
            let kind = if at == 0 && self.generators.len() > 1 { "_Primary" } else { "" };
            writeln!(out, "{name},{address},IXIA-tester,DevIxiaChassis{kind},,")?;
        }
        Ok(())
    }

    fn links(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode,AutoNeg")?;
        self.plan.fabric().links().try_for_each(|link| {
            let ends = self.plan.cable_ends(link);
            let Some((lower, lower_port)) = self.lower(link, ends.lower) else { return Ok(()) };
            let (upper, upper_port) = ends.upper;
            let (mbps, negotiates) = (speed(self.plan, link).mbps(), self.negotiates(link));
            writeln!(out, "{upper},{upper_port},{lower},{lower_port},{mbps},,Access,{negotiates}")
        })
    }

    /// Returns the lower end of a cable: a switch, or a port of a generator, which has a card for each of its nodes.
    fn lower(&self, link: Link, end: (SmolStr, SmolStr)) -> Option<(SmolStr, SmolStr)> {
        let Link::Host(port) = link else { return Some(end) };
        let topology = self.plan.topology();
        let (node, number) = topology.node_of(port.nic);
        let units = usize::from(topology.units());
        let in_unit = usize::from(topology.nodes_per_unit());
        let places = usize::from(topology.zones) * units * in_unit;
        let per_generator = places.div_ceil(self.generators.len().max(1));
        let unit = usize::from(node.zone.0) * units + usize::from(node.unit);
        let at = unit * in_unit + usize::from(node.index);
        let generator = self.generators.get(at / per_generator)?;
        let port = u32::from(number) * u32::from(topology.planes) + u32::from(port.plane.0);
        let name = format!("Port{}.{}", at % per_generator + 1, port + 1);
        Some((SmolStr::from(&*generator.name), SmolStr::from(name)))
    }

    /// Returns `on` if both ends of a cable negotiate its speed. An empty value means no.
    fn negotiates(&self, link: Link) -> &'static str {
        let fabric = self.plan.fabric();
        let os = fabric.upper_end(link).map(|(switch, _)| self.plan.os(switch));
        let is_on = os.and_then(|os| os.negotiates(self.plan.topology().release(os))) == Some(true);
        if fabric.cable(link).is_copper() && is_on { "on" } else { "" }
    }

    fn testbed(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let name = json!(self.plan.name());
        writeln!(out, "---\n- name: {name}")?;
        writeln!(out, "  comment: \"fabric {}, written by closc\"", self.plan.name())?;
        writeln!(out, "  inv_name: {}\n  topo: {}", json!(self.inventory), json!(self.topology_name()))?;
        writeln!(out, "  test_tags: []")?;
        list(out, "duts", self.devices.iter().map(|device| device.name.as_str()))?;
        list(out, "tgs", self.generators.iter().map(|generator| generator.name.as_str()))?;
        if let Some(first) = self.generators.first() {
            let address = first.address.addr();
            let host = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
            writeln!(out, "  tg_api_server: {}", json!(format!("{host}:443")))?;
        }
        writeln!(out, "  auto_recover: \"True\"")
    }

    fn topology_name(&self) -> String {
        format!("nut-{}", self.plan.name())
    }

    fn topology(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "dut_templates:")?;
        for tier in [TierId::T0, TierId::T1, TierId::T2] {
            let own = self.devices.iter().filter(|device| device.switch.tier == tier);
            let names: Vec<String> = own.map(|device| literal(&device.name)).collect();
            if names.is_empty() {
                continue;
            }
            let (kind, step) = match tier {
                TierId::T0 => ("ToRRouter", 1),
                TierId::T1 => ("LeafRouter", 0),
                TierId::T2 => ("SpineRouter", 0),
            };
            let asn = ASN_BASE + u32::from(tier.level()) * ASN_STEP;
            writeln!(out, "  - name: {}\n    type: {kind}", json!(format!("^({})$", names.join("|"))))?;
            writeln!(out, "    router_id: {ROUTER_IDS}\n    loopback_v6: {LOOPBACKS}\n    p2p_v6: {LINKS}")?;
            writeln!(out, "    asn_base: {asn}\n    asn_step: {step}")?;
        }
        let asn = ASN_BASE + 3 * ASN_STEP;
        writeln!(out, "tg_template:\n  type: ToRRouter\n  asn_base: {asn}\n  p2p_v6: {LINKS}")
    }

    fn inventory(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut groups: BTreeMap<&str, Vec<&Device>> = BTreeMap::new();
        for device in &self.devices {
            groups.entry(&device.hwsku).or_default().push(device);
        }
        let own = json!(self.inventory);
        writeln!(out, "all:\n  children:\n    {own}:\n      children:\n        sonic:\n          children:")?;
        for hwsku in groups.keys() {
            writeln!(out, "            {}:", json!(group(hwsku)))?;
        }
        if !self.generators.is_empty() {
            writeln!(out, "        ptf:\n          hosts:")?;
        }
        for Generator { name, address } in self.generators {
            writeln!(out, "            {}: {{ ansible_host: {} }}", json!(name), json!(address.addr()))?;
        }
        for (hwsku, devices) in groups {
            writeln!(out, "{}:\n  vars: {{ hwsku: {} }}\n  hosts:", json!(group(hwsku)), json!(hwsku))?;
            for Device { name, address, .. } in devices {
                writeln!(out, "    {}: {{ ansible_host: {} }}", json!(name), json!(address.addr()))?;
            }
        }
        Ok(())
    }
}

fn device(plan: &Plan, switch: Switch) -> Result<Device, Refusal> {
    let name = plan.switch_name(switch);
    let os = plan.os(switch);
    if !os.has_hwskus() {
        return Err(Refusal::Unknown {
            format: FORMAT,
            subject: format!("tests for `{}`, which {name} runs", os.keyword()),
            help: "all switches of its testbeds run `sonic`",
        });
    }
    let address = plan.addresses().management(switch).ok_or_else(|| Refusal::Unknown {
        format: FORMAT,
        subject: format!("management address of {name}"),
        help: "set `addresses.management` in the fabric file",
    })?;
    Ok(Device { switch, hwsku: plan.device(switch).hardware.clone(), name, address })
}

/// Writes a list of YAML, with one value per line.
fn list<'n>(out: &mut dyn io::Write, key: &str, names: impl Iterator<Item = &'n str>) -> io::Result<()> {
    let text = names.fold(String::new(), |mut text, name| {
        let _ = write!(text, "\n    - {}", json!(name));
        text
    });
    let value = if text.is_empty() { " []" } else { &text };
    writeln!(out, "  {key}:{value}")
}

/// Returns a regular expression for a name.
fn literal(name: &str) -> String {
    name.replace('.', "\\.")
}

/// Returns the name of an Ansible group of switches with a hwsku.
fn group(hwsku: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("sonic_{}", hwsku.chars().map(sign).collect::<String>())
}
