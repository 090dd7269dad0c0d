//! Requirements of a lab on the machine: programs and kernel features.

use std::fmt;

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// The `ip` program.
    Iproute,
    /// Virtual Ethernet pairs.
    Veth,
    /// Bridges, for the device that segments are bound to.
    Bridge,
    /// Kernel support for End with the NEXT-CSID flavour.
    NextCsid,
    /// Kernel support for End.DT6.
    Decapsulation,
    /// Kernel support for H.Encaps.Red.
    Encapsulation,
    /// Kernel support for next hop objects.
    NextHops,
    /// Another failure, as text.
    Other(String),
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::Iproute => "`ip` is not in PATH: install iproute2 6.1 or newer",
            Feature::Veth => "the kernel has no veth pairs (CONFIG_VETH)",
            Feature::Bridge => "the kernel has no bridges (CONFIG_BRIDGE)",
            Feature::NextCsid => {
                "no seg6local End with NEXT-CSID: Linux 6.1 with CONFIG_IPV6_SEG6_LWTUNNEL, iproute2 6.1"
            }
            Feature::Decapsulation => "no seg6local End.DT6: Linux 4.14 with CONFIG_IPV6_SEG6_LWTUNNEL",
            Feature::Encapsulation => {
                "no seg6 encap.red: Linux 6.0 with CONFIG_IPV6_SEG6_LWTUNNEL, iproute2 6.0"
            }
            Feature::NextHops => "no next-hop groups: Linux 5.3",
            Feature::Other(text) => text,
        })
    }
}
