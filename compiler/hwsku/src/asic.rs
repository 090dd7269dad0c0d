//! Limits of ASICs, by the IDs of their PCI devices.
//!
//! In: `pcie.yaml` of a box. Out: the ports that its ASIC can have at the same time. Invariants: each number has a
//! public source. An unknown ASIC has no limit.

/// The ID of a PCI device, the maximum number of ports of the ASIC, and the source.
const LOGICAL_PORTS: [(&str, u16, &str); 5] = [
    ("b970", 128, TOMAHAWK_2),
    ("b971", 128, TOMAHAWK_2),
    (
        "b990",
        256,
        "sonic-buildimage Nokia-IXR7220-H4-64D/ixr7220_h4_64d.bcm, PC_PORT_PHYS_MAP: physical ports 1 to 256, four for each cage",
    ),
    (
        "b993",
        128,
        "sonic-buildimage Nokia-IXR7220-H4-32D/ixr7220_h4_32d.bcm, PC_PORT_PHYS_MAP: physical ports 1 to 64 and 193 to 256, \
         four for each cage",
    ),
    ("f910", 576, TOMAHAWK_6),
];

const TOMAHAWK_6: &str = "sonic-buildimage Nokia-IXR7220-H6-O256/h6-128.yml, PC_PORT_PHYS_MAP: 18 port numbers for every \
                          32 of 1,024 lanes";

const TOMAHAWK_2: &str = "sonic-buildimage INVENTEC-D7264Q28B/th2-d7264q28b-64x100g.config.bcm: every 16 FalconCores have 32 \
                          logical ports: 1-32, 34-65, 68-99, 102-133";

/// Returns the maximum number of ports of an NVIDIA ASIC, with the source.
pub(crate) fn ports_of_spectrum(asic: &str) -> Option<(u16, &'static str)> {
    (asic == "SPECTRUM-4").then_some((256, SPECTRUM_4))
}

/// Returns whether this number of ports in a cage takes the local ports of the next cage: Spectrum-4 has four for each
/// cage ([`SPECTRUM_4`]; NVIDIA's Cumulus Linux 5.15, Switch Port Attributes).
pub(crate) fn disables_next(asic: &str, ports: u8) -> bool {
    asic == "SPECTRUM-4" && ports > 4
}

const SPECTRUM_4: &str = "sonic-buildimage ACS-SN5600/sai_5600.xml, ACS-SN5400/sai_5400.xml: four local ports for each of \
                          64 cages";

/// Returns the maximum number of ports of the ASIC in a list of PCI devices, with the source. A line is `id: b990` or
/// `id: 'b990'`.
pub(crate) fn logical_ports(devices: &str) -> Option<(u16, &'static str)> {
    let id = |line: &str| {
        Some(
            line.trim()
                .trim_start_matches("- ")
                .strip_prefix("id:")?
                .trim()
                .trim_matches(['\'', '"'])
                .to_owned(),
        )
    };
    let ids: Vec<String> = devices.lines().filter_map(id).collect();
    let known = LOGICAL_PORTS.iter().find(|(known, ..)| ids.iter().any(|id| id == known));
    known.map(|(_, ports, source)| (*ports, *source))
}
