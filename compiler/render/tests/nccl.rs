//! The topology file as NCCL reads it: which devices may talk directly.
//!
//! In: the file. Out: the distance of each GPU to each net, by NCCL's rules (`graph/xml.cc`, `graph/topo.cc`,
//! `graph/paths.cc`): a `system` of version 1 has CPUs, these have PCI devices, which have PCI devices, GPUs and NICs; the
//! parent of a device that the file has is not looked for in the machine; one PCI switch between two devices is PIX,
//! several are PXB, and over the CPU it is PHB. GPUDirect is used up to PXB unless somebody says otherwise.

use closc_plan::Plan;
use closc_render::{Templates, targets};
use closc_tests::shape::plan;
use closc_topology::HostOutput;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Pix,
    Pxb,
    Phb,
}

#[derive(Debug, Clone)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads elements up to the end tag of the one that is open: the XML that NCCL takes has no text and no quotes inside
/// values.
fn elements(text: &mut &str) -> Vec<Element> {
    let mut found = Vec::new();
    while let Some(start) = text.find('<') {
        let end = start + text[start..].find('>').expect("a tag ends");
        let tag = &text[start + 1..end];
        *text = &text[end + 1..];
        if tag.starts_with('/') {
            break;
        }
        let (body, is_empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let (name, mut rest) = body.split_once(' ').unwrap_or((body, ""));
        let mut attributes = Vec::new();
        while let Some((key, more)) = rest.split_once("=\"") {
            let (value, more) = more.split_once('"').expect("a value ends");
            attributes.push((key.trim().to_owned(), value.to_owned()));
            rest = more;
        }
        let children = if is_empty { Vec::new() } else { elements(text) };
        found.push(Element { name: name.to_owned(), attributes, children });
    }
    found
}

/// A device by the PCI devices above it, the CPU first, with the NIC ports or nothing for a GPU.
struct Device {
    above: Vec<String>,
    busid: String,
    net: Option<String>,
}

/// NCCL takes only what belongs somewhere; anything else is refused.
fn devices(element: &Element, above: &[String], out: &mut Vec<Device>) {
    let here = match element.name.as_str() {
        "cpu" => format!("cpu {}", element.get("numaid").expect("a CPU says which it is")),
        "pci" => element.get("busid").expect("a device has an address").to_owned(),
        other => panic!("`{other}` is no place for devices"),
    };
    assert_eq!(here, here.to_lowercase(), "NCCL compares addresses as text, and CUDA writes small letters");
    let class = element.get("class").unwrap_or_default();
    if class.starts_with("0x03") {
        out.push(Device { above: above.to_vec(), busid: here.clone(), net: None });
    }
    for child in &element.children {
        match (element.name.as_str(), child.name.as_str()) {
            ("cpu" | "pci", "pci") => devices(child, &[above, std::slice::from_ref(&here)].concat(), out),
            ("pci", "nic") => {
                let net = child.children.first().and_then(|net| net.get("name")).expect("a NIC has a net");
                out.push(Device { above: above.to_vec(), busid: here.clone(), net: Some(net.to_owned()) });
            }
            (place, what) => panic!("`{what}` in a `{place}`"),
        }
    }
}

fn read(text: &str) -> Vec<Device> {
    let mut rest = text;
    let all = elements(&mut rest);
    let [system] = all.as_slice() else { panic!("one root") };
    assert_eq!((system.name.as_str(), system.get("version")), ("system", Some("1")));
    let mut found = Vec::new();
    for cpu in &system.children {
        devices(cpu, &[], &mut found);
    }
    found
}

fn distance(a: &Device, b: &Device) -> Distance {
    let common = a.above.iter().zip(&b.above).take_while(|(a, b)| a == b).count();
    let switches = (a.above.len() - common) + (b.above.len() - common) + 1;
    match (common, switches) {
        (0 | 1, _) => Distance::Phb,
        (_, 1) => Distance::Pix,
        _ => Distance::Pxb,
    }
}

fn file(plan: &Plan) -> Option<String> {
    let node = plan.nodes().next().unwrap();
    let files = targets::host::render(&plan.host(node), HostOutput::Nccl, &Templates::shipped()).unwrap();
    let named = |name: &str| files.iter().find(|file| file.path.file_name() == Some(name));
    let conf = String::from_utf8(named("nccl.conf").unwrap().bytes.clone()).unwrap();
    let file = named("nccl-topology.xml").map(|file| String::from_utf8(file.bytes.clone()).unwrap());
    assert_eq!(conf.contains("NCCL_TOPO_FILE="), file.is_some(), "{conf}");
    file
}

fn fabric(slots: &str) -> Plan {
    plan(&format!(
        "
fabric: nccl
planes: 2
hosts:
  groups: 2
  per_group: 4
  nics_per_node: 4
  nic: {{ speed: 800G, lanes: 8 }}
  slots:
{slots}
tiers:
  t0: {{ platform: th5-128x400g, os: sonic, up: 2 }}
  t1: {{ platform: th5-128x400g, os: sonic }}
"
    ))
}

/// GPU and NIC of a pairing are under one switch, so that they talk directly; all others meet in the CPU.
#[test]
fn a_gpu_talks_directly_to_the_nics_that_are_paired_with_it() {
    let plan = fabric(
        "    - { pci: \"0000:18:00.0\", gpu: \"0000:1B:00.0\" }
    - { pci: \"0000:29:00.0\", gpu: \"0000:2c:00.0\" }
    - { pci: \"0000:9a:00.0\", gpu: \"0000:9d:00.0\", numa: 1 }
    - { pci: \"0000:ab:00.0\", numa: 1 }",
    );
    let text = file(&plan).expect("pairings are known");
    let devices = read(&text);
    let gpus: Vec<&Device> = devices.iter().filter(|device| device.net.is_none()).collect();
    assert_eq!(gpus.len(), 3, "{text}");
    for (gpu, nic) in [("0000:1b:00.0", "nic0"), ("0000:2c:00.0", "nic1"), ("0000:9d:00.0", "nic2")] {
        let own = gpus.iter().find(|device| device.busid == gpu).unwrap_or_else(|| panic!("{gpu} in {text}"));
        let mut direct = 0;
        for device in &devices {
            let Some(net) = &device.net else { continue };
            let is_paired = net.starts_with(nic);
            let expected = if is_paired { Distance::Pix } else { Distance::Phb };
            assert_eq!(distance(own, device), expected, "{gpu} to {net}\n{text}");
            direct += usize::from(is_paired);
        }
        assert!(direct > 0 && Distance::Pix <= Distance::Pxb, "GPUDirect of {gpu}");
    }
    // Where nothing is known of a NIC, NCCL finds the switches above it itself: the file may not have it.
    assert!(!text.contains("nic3"), "{text}");
    assert_eq!(
        text.matches("class=\"0x060400\" link_speed=\"64.0 GT/s PCIe\" link_width=\"16\"").count(),
        3,
        "{text}"
    );
}

#[test]
fn without_pairings_nccl_looks_for_itself() {
    let plan = fabric(
        "    - { pci: \"0000:18:00.0\" }
    - { pci: \"0000:29:00.0\" }
    - { pci: \"0000:9a:00.0\", numa: 1 }
    - { pci: \"0000:ab:00.0\", numa: 1 }",
    );
    assert_eq!(file(&plan), None);
}
