//! The topology file as NCCL reads it: the accepted syntax, the elements that NCCL adds, and devices that communicate
//! directly.
//!
//! In: the file, and the NICs of the node. Out: the distance of each GPU to each NIC, by NCCL's rules.
//! `parser.rs` contains the rules of the parser. Invariants: NCCL adds a NIC below the PCI device of its
//! address. If a device in the file has no link speed and width, NCCL reads them from the machine. For
//! devices in the file, NCCL does not search the machine for the parent. One PCI switch between two devices
//! is PIX, several are PXB, and a path over the CPU is PHB. GPUDirect is used up to PXB unless
//! `NCCL_NET_GDR_LEVEL` is set (NCCL 2.30.7, `src/graph/topo.cc`, `paths.cc`).

mod parser;

use closc_plan::Plan;
use closc_render::{Templates, targets};
use closc_tests::shape::plan;
use closc_topology::HostOutput;
use proptest::prelude::*;

use parser::{ELEMENTS_MAX, Element, parse};

/// RDMA devices that NCCL uses (`src/transport/net_ib/common.h`: `MAX_IB_DEVS`).
const DEVICES_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Pix,
    Pxb,
    Phb,
}

/// A PCI device with the devices above it, the CPU first.
#[derive(Debug)]
struct Device {
    ancestors: Vec<String>,
    busid: String,
    class: String,
}

/// Lists the devices of the file. NCCL exits if a required value is neither in the file nor known from the machine.
fn devices(element: &Element, above: &[String], out: &mut Vec<Device>) {
    let here = match element.name.as_str() {
        "cpu" => format!("cpu {}", element.get("numaid").expect("a CPU has a `numaid`")),
        "pci" => element.get("busid").expect("a device has an address").to_owned(),
        other => panic!("`{other}` is not a place for devices"),
    };
    assert_eq!(
        here,
        here.to_lowercase(),
        "NCCL compares addresses as text, and the kernel writes lower case"
    );
    if element.name == "pci" {
        let class = element.get("class").expect("a device has a class").to_owned();
        let in_machine = !here.starts_with("ffff:");
        for link in ["link_width", "link_speed"] {
            assert!(in_machine || element.get(link).is_some(), "`{link}` of `{here}` is missing");
        }
        out.push(Device { ancestors: above.to_vec(), busid: here.clone(), class });
    }
    for child in &element.children {
        // If the file contains the `net` element of a device, NCCL does not read the link width and speed of
        // the device from the machine. It exits if the file lacks them.
        assert_eq!(child.name, "pci", "`{}` in `{here}`", child.name);
        devices(child, &[above, std::slice::from_ref(&here)].concat(), out);
    }
}

fn read(text: &str) -> Vec<Device> {
    let system = parse(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let mut found = Vec::new();
    for cpu in &system.children {
        devices(cpu, &[], &mut found);
    }
    found
}

fn distance(a: &Device, b: &Device) -> Distance {
    let common = a.ancestors.iter().zip(&b.ancestors).take_while(|(a, b)| a == b).count();
    let switches = (a.ancestors.len() - common) + (b.ancestors.len() - common) + 1;
    match (common, switches) {
        (0 | 1, _) => Distance::Phb,
        (_, 1) => Distance::Pix,
        _ => Distance::Pxb,
    }
}

fn file(plan: &Plan) -> Option<String> {
    let node = plan.nodes().next().unwrap();
    let files = targets::host::render(&plan.host(node), HostOutput::Nccl, &Templates::builtin()).unwrap();
    let named = |name: &str| files.iter().find(|file| file.path.file_name() == Some(name));
    let conf = String::from_utf8(named("nccl.conf").unwrap().bytes.clone()).unwrap();
    let file = named("nccl-topology.xml").map(|file| String::from_utf8(file.bytes.clone()).unwrap());
    assert_eq!(conf.contains("NCCL_TOPO_FILE="), file.is_some(), "{conf}");
    file
}

fn fabric(planes: u8, nics: u8, slots: &str) -> Plan {
    plan(&format!(
        "
fabric: nccl
planes: {planes}
hosts:
  groups: 2
  per_group: {nics}
  nics_per_node: {nics}
  nic: {{ speed: {}G, lanes: {planes} }}
  slots:
{slots}
tiers:
  t0: {{ platform: th5-512x100g, os: sonic, up: 2 }}
  t1: {{ platform: th5-512x100g, os: sonic }}
warnings: {{ W0302: allow }}
",
        u32::from(planes) * 100
    ))
}

/// GPU and NIC of a pairing are below one PCI switch, so they communicate directly. The paths of all others cross the
/// CPU.
#[test]
fn a_gpu_communicates_directly_with_its_paired_nics() {
    let plan = fabric(
        2,
        4,
        "    - { pci: \"0000:18:00.0\", gpu: \"0000:1B:00.0\" }
    - { pci: \"0000:29:00.0\", gpu: \"0000:2c:00.0\" }
    - { pci: \"0000:9a:00.0\", gpu: \"0000:9d:00.0\", numa: 1 }
    - { pci: \"0000:ab:00.0\", numa: 1 }",
    );
    let text = file(&plan).expect("pairings are known");
    let devices = read(&text);
    let gpus: Vec<&Device> = devices.iter().filter(|device| device.class.starts_with("0x03")).collect();
    assert_eq!(gpus.len(), 3, "{text}");
    let pairs = [
        ("0000:1b:00.0", "0000:18:00.0"),
        ("0000:2c:00.0", "0000:29:00.0"),
        ("0000:9d:00.0", "0000:9a:00.0"),
    ];
    for (gpu, nic) in pairs {
        let own = gpus.iter().find(|device| device.busid == gpu).unwrap_or_else(|| panic!("{gpu} in {text}"));
        let nics: Vec<&Device> = devices.iter().filter(|device| device.class == "0x020000").collect();
        assert_eq!(nics.len(), 3, "{text}");
        for device in nics {
            let expected = if device.busid == nic { Distance::Pix } else { Distance::Phb };
            assert_eq!(distance(own, device), expected, "{gpu} to {}\n{text}", device.busid);
        }
    }
    // If a NIC has no GPU, NCCL detects the switches above it, so the file must not contain it.
    assert!(!text.contains("0000:ab"), "{text}");
    assert_eq!(
        text.matches("class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"").count()
            + text.matches("class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"").count(),
        3,
        "{text}"
    );
}

#[test]
fn without_pairings_nccl_detects_the_topology() {
    let plan = fabric(
        2,
        4,
        "    - { pci: \"0000:18:00.0\" }
    - { pci: \"0000:29:00.0\" }
    - { pci: \"0000:9a:00.0\", numa: 1 }
    - { pci: \"0000:ab:00.0\", numa: 1 }",
    );
    assert_eq!(file(&plan), None);
}

/// NICs of a node: whether each has a GPU, and its NUMA node.
fn nics() -> impl Strategy<Value = Vec<(bool, u8)>> {
    proptest::collection::vec((proptest::bool::weighted(0.9), 0u8..4), 1..=16)
}

proptest! {
    /// NCCL accepts the file of every node, has room for its own additions, and finds each paired NIC next to its
    /// GPU.
    #[test]
    fn nccl_takes_every_file(planes in prop::sample::select(vec![1u8, 2, 4, 8]), nics in nics()) {
        let slot = |(at, (has_gpu, numa)): (u8, &(bool, u8))| {
            let gpu = if *has_gpu { format!(", gpu: \"0000:{:02x}:00.0\", numa: {numa}", 0x80 + at) } else { String::new() };
            format!("    - {{ pci: \"0000:{:02x}:00.0\"{gpu} }}", 0x10 + at)
        };
        let slots: Vec<String> = (0u8..).zip(&nics).map(slot).collect();
        let plan = fabric(planes, nics.len() as u8, &slots.join("\n"));
        let Some(text) = file(&plan) else {
            prop_assert!(nics.iter().all(|nic| !nic.0));
            return Ok(());
        };
        let devices = read(&text);
        let device = |bus: u8| devices.iter().find(|device| device.busid == format!("0000:{bus:02x}:00.0"));
        for (at, (has_gpu, numa)) in (0u8..).zip(&nics) {
            let (nic, gpu) = (device(0x10 + at), device(0x80 + at));
            prop_assert_eq!((nic.is_some(), gpu.is_some()), (*has_gpu, *has_gpu));
            let (Some(nic), Some(gpu)) = (nic, gpu) else { continue };
            prop_assert_eq!(distance(gpu, nic), Distance::Pix);
            prop_assert_eq!(&nic.ancestors[0], &format!("cpu {numa}"));
        }
        // Elements that NCCL adds in one process: the NICs that are not in the file, a `nic` in each NIC
        // with a `net` per port, and one GPU.
        let ports = (nics.len() * usize::from(planes)).min(DEVICES_MAX);
        let missing = nics.iter().filter(|nic| !nic.0).count();
        let added = 1 + missing + nics.len() + ports;
        prop_assert!(parser::count(&text) + added <= ELEMENTS_MAX, "{text}");
    }
}

/// The parser rejects files that NCCL rejects, so the tests above detect such files.
#[test]
fn the_parser_has_limits() {
    let nics = |nics: usize, ports: usize| {
        let net = "<pci busid=\"a\"><nic><net name=\"b\"/></nic></pci>".repeat(ports);
        let pairing = format!("<pci busid=\"s\"><pci busid=\"g\"/>{net}</pci>");
        format!(
            "<system version=\"1\"><cpu numaid=\"0\">{}</cpu><cpu numaid=\"1\"/></system>",
            pairing.repeat(nics)
        )
    };
    assert_eq!(parser::count(&nics(16, 8)), 419, "a device for each port of 16 NICs of 8 ports");
    assert_eq!(parse(&nics(16, 8)).unwrap_err(), "more than 256 elements");
    assert!(parse(&nics(1, 4)).is_ok());
    // The end tag after the last element needs room, too.
    let flat =
        |count: usize| format!("<system version=\"1\">{}</system>", "<cpu numaid=\"0\"/>".repeat(count));
    assert_eq!(parse(&flat(128)).map(|system| system.children.len()), Ok(128));
    assert_eq!(parse(&flat(129)).unwrap_err(), "more than 128 elements in `system`");
    let deep = |count: usize| {
        let cpu = format!("<cpu numaid=\"0\">{}</cpu>", "<pci busid=\"a\"/>".repeat(126));
        format!(
            "<system version=\"1\">{cpu}<cpu numaid=\"1\">{}</cpu></system>",
            "<pci busid=\"a\"/>".repeat(count)
        )
    };
    assert!(parse(&deep(126)).is_ok(), "1 + 2 + 126 + 126 is 255");
    assert_eq!(parse(&deep(127)).unwrap_err(), "more than 256 elements");
    for (fault, wrong) in [
        ("`system` has version 2", "<system version=\"2\"></system>"),
        ("expected `<`, found `?`", "?xml"),
        ("a value of more than 253 bytes", &format!("<system version=\"{}\"/>", "1".repeat(254))),
        ("more than 16 attributes in `system`", &format!("<system version=\"1\"{}/>", " a=\"b\"".repeat(16))),
        ("`cpu` is not valid at its place", "<cpu numaid=\"0\"/>"),
        ("`system` ends with `cpu`", "<system version=\"1\"></cpu>"),
        ("`system` has no end tag", "<system version=\"1\">"),
    ] {
        assert_eq!(parse(wrong).unwrap_err(), fault, "{wrong}");
    }
}
