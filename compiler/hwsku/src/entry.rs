//! The catalogue entry of a box, as text.
//!
//! In: a [`Panel`], hwskus and their SDK settings. Out: YAML. Invariants: every number has its provenance. A number
//! that is not published is `assumed`, with the reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_platform::{CageSet, Maker, Release};

use crate::asic;
use crate::panel::{Panel, Split};
use crate::sdk::Sdk;

/// A hwsku whose ports match the panel.
pub(crate) struct Sku {
    pub(crate) name: String,
    /// Distinct breakouts.
    pub(crate) breakouts: Vec<Split>,
    /// The cages of each breakout, unless all cages have the same one.
    pub(crate) cages: BTreeMap<Split, Vec<u16>>,
    /// First release with the hwsku, if some supported releases lack it.
    pub(crate) since: Option<Release>,
    pub(crate) sdk: Sdk,
    /// Whether the hwsku states if ports negotiate.
    pub(crate) states_autoneg: bool,
}

/// Parts of an entry.
pub(crate) struct Entry<'a> {
    pub(crate) id: &'a str,
    /// Source of the files.
    pub(crate) source: &'a str,
    pub(crate) platform: &'a str,
    /// First release with the box, if some supported releases lack it.
    pub(crate) since: Option<Release>,
    pub(crate) maker: Option<Maker>,
    /// NVIDIA's ASIC, if it is one.
    pub(crate) spectrum: Option<&'a str>,
    /// Maximum number of ports that the ASIC can have at the same time, with the source, if known.
    pub(crate) logical_ports: Option<(u16, &'a str)>,
    pub(crate) panel: &'a Panel,
    /// Hwskus, the default one first.
    pub(crate) skus: &'a [Sku],
}

/// NVIDIA ASICs whose tables NVIDIA documents.
const DOCUMENTED: [&str; 3] = ["SPECTRUM-2", "SPECTRUM-3", "SPECTRUM-4"];

/// The document about the tables of these ASICs.
const CUMULUS: &str = "CumulusNetworks/docs 09f2c312 content/cumulus-linux-59/Layer-3/Routing/\
                       Forwarding-Table-Size-and-Profiles.md, profile `default`";

/// The driver of these ASICs.
const MLXSW: &str = "Linux drivers/net/ethernet/mellanox/mlxsw/spectrum_router.c";

/// Conditions of SONiC's SRv6 tests.
const TESTED: &str = "sonic-mgmt tests_mark_conditions.yaml, srv6/test_srv6_dataplane.py";

/// Number of routes in SONiC's tests.
const TESTS: &str = "the 6,400 /64 routes that SONiC's own tests announce to every T0 and T1";

/// Reason for the assumed width of ECMP groups.
const NARROWEST: &str =
    "no sai.profile has SAI_NUM_ECMP_MEMBERS; the least of SONiC's SKUs of 12.8 Tb/s and more has 64";

/// NVIDIA ASICs on which SONiC's SRv6 tests run: Spectrum-4 and later, if the tests list their hwskus.
const SRV6: [&str; 2] = ["SPECTRUM-4", "SPECTRUM-5"];

fn speed(mbps: u32) -> String {
    if mbps == 1_600_000 { "1.6T".to_owned() } else { format!("{}G", mbps / 1_000) }
}

/// Formats a breakout, as in `8x100G`, or `1x100G(4)` if it leaves lanes of the cage unused.
pub(crate) fn split(of: Split) -> String {
    let lanes = of.lanes.map(|lanes| format!("({lanes})")).unwrap_or_default();
    format!("{}x{}{lanes}", of.ports, speed(of.mbps))
}

fn splits(of: &[Split]) -> String {
    of.iter().copied().map(split).collect::<Vec<_>>().join(", ")
}

/// Formats the cages of breakouts, as in `, cages: { 8x100G: "0-11", 2x400G: "12-13" }`.
fn cages(of: &BTreeMap<Split, Vec<u16>>) -> String {
    let of = of.iter().rev().filter_map(|(own, cages)| {
        Some(format!("{}: \"{}\"", split(*own), CageSet::of(cages.iter().copied())?))
    });
    let of: Vec<String> = of.collect();
    if of.is_empty() { String::new() } else { format!(", cages: {{ {} }}", of.join(", ")) }
}

impl Entry<'_> {
    /// Returns the YAML of the entry.
    pub(crate) fn text(&self) -> String {
        let Entry { id, source, panel, skus, .. } = self;
        let usual = &skus[0];
        let is_partial = usual.cages.values().map(Vec::len).sum::<usize>() < panel.cages.len();
        let is_partial = is_partial && !usual.cages.is_empty();
        let whole = usual.breakouts.iter().copied().find(|split| split.lanes.is_none());
        let default = whole.filter(|_| !is_partial).unwrap_or(panel.breakouts[0]);
        let (counts, ports) = self.ports(if is_partial { None } else { Some(usual) }, default);
        let mut text = format!(
            "id: {id}\ntitle: {}, {counts}{}\nsources:\n  \
             - \"{source}: port_config.ini, hwsku.json, platform.json, sai.profile, SDK files\"\n\
             os: [sonic]\n",
            usual.name,
            if panel.step > 1 { " on every other cage" } else { "" },
        );
        self.panel(&mut text, default);
        self.sonic(&mut text);
        self.limits(&mut text, ports);
        text
    }

    /// Returns the ports of a hwsku as text, and their number. Without a hwsku, these are the ports of the panel with
    /// the default breakout.
    fn ports(&self, usual: Option<&Sku>, default: Split) -> (String, usize) {
        let all = self.panel.cages.len();
        let of = |split: Split| {
            let cages = usual.and_then(|sku| sku.cages.get(&split)).map_or(all, Vec::len);
            (cages * usize::from(split.ports), split.mbps)
        };
        let splits = usual.map_or_else(|| vec![default], |sku| sku.breakouts.clone());
        let counts: Vec<(usize, u32)> = splits.into_iter().map(of).collect();
        let words = counts.iter().enumerate().map(|(at, (ports, mbps))| {
            format!("{ports} {}of {}", if at == 0 { "ports " } else { "" }, speed(*mbps))
        });
        let words: Vec<String> = words.collect();
        (words.join(", "), counts.iter().map(|(ports, _)| ports).sum())
    }

    fn panel(&self, out: &mut String, default: Split) {
        let panel = self.panel;
        let _ = writeln!(
            out,
            "panel:\n  cages: {}\n  lanes: {}\n  lane_speed: {}\n  breakouts: [{}]",
            panel.cages.len(),
            panel.lanes,
            speed(panel.lane_mbps),
            splits(&panel.breakouts),
        );
        if !panel.partial.is_empty() {
            let _ = writeln!(out, "  partial: [{}]", splits(&panel.partial));
        }
        let _ = writeln!(out, "  default: {}", split(default));
        let [whole, parts] = [&panel.aliases.whole, &panel.aliases.split].map(|text| text.as_deref());
        let is = |a: &str, b: &str| whole.is_none_or(|text| text == a) && parts.is_none_or(|text| text == b);
        if is("etp{cage}", "etp{cage}{letter}") {
            let _ = writeln!(out, "  naming: sonic_lane");
        } else if is("Ethernet{cage}/1", "Ethernet{cage}/{lane}") {
            let _ = writeln!(out, "  naming: sonic_slash");
        } else {
            let one = whole.unwrap_or("Ethernet{name}");
            let parts = parts.unwrap_or("Ethernet{name}");
            let _ =
                writeln!(out, "  naming: sonic_lane\n  aliases: {{ whole: \"{one}\", split: \"{parts}\" }}");
        }
        let first = panel.cages[0].index;
        let equal = panel.cages_per_number;
        if equal > 1 {
            let _ = writeln!(out, "  numbers: {{ first: {first}, step: {}, cages: {equal} }}", panel.step);
        } else if (first, panel.step) != (1, 1) {
            let _ = writeln!(out, "  numbers: {{ first: {first}, step: {} }}", panel.step);
        }
        self.numbers(out);
        let ports = panel.breakouts.iter().map(|split| panel.cages.len() * usize::from(split.ports));
        let most = ports.max().unwrap_or(0);
        if let Some((max, source)) = self.logical_ports.filter(|(max, _)| usize::from(*max) < most) {
            let _ = writeln!(out, "  logical_ports: {{ max: {max}, source: {{ published: \"{source}\" }} }}");
        }
        if !panel.breakout_cages.is_empty() {
            let of = |(own, cages): (&Split, &Vec<u16>)| {
                Some(format!("{}: \"{}\"", split(*own), CageSet::of(cages.iter().copied())?))
            };
            let of: Vec<String> = panel.breakout_cages.iter().rev().filter_map(of).collect();
            let _ = writeln!(out, "  breakout_cages: {{ {} }}", of.join(", "));
        }
        let covers =
            |split: &&Split| self.spectrum.is_some_and(|asic| asic::disables_next(asic, split.ports));
        let covering: Vec<Split> =
            panel.breakouts.iter().filter(covers).filter(|_| panel.step == 1).copied().collect();
        if !covering.is_empty() {
            let _ = writeln!(out, "  disables_next: [{}]", splits(&covering));
        }
    }

    /// Writes the numbers of ports and lanes in the shortest form.
    fn numbers(&self, out: &mut String) {
        let cages = &self.panel.cages;
        let lanes = self.panel.lanes * usize::from(self.panel.step);
        let per_number = usize::from(self.panel.lanes_per_number);
        let names: Vec<u16> = cages.iter().map(|cage| cage.number).collect();
        let from = |first: u16, all: &[u16], pitch: usize| {
            all.iter().enumerate().all(|(at, number)| usize::from(*number) == usize::from(first) + at * pitch)
        };
        if !from(names[0], &names, lanes / per_number) {
            let _ = writeln!(out, "  port_numbers: {{ first: {names:?} }}");
        } else if names[0] != 0 {
            let _ = writeln!(out, "  port_numbers: {{ from: {} }}", names[0]);
        }
        if per_number > 1 {
            let _ = writeln!(out, "  lanes_per_number: {per_number}");
        }
        let firsts: Vec<u16> = cages.iter().map(|cage| cage.lanes[0]).collect();
        let follows = |lanes: &[u16]| lanes.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
        if !cages.iter().all(|cage| follows(&cage.lanes)) {
            let each: Vec<&Vec<u16>> = cages.iter().map(|cage| &cage.lanes).collect();
            let _ = writeln!(out, "  serial_lanes: {{ each: {each:?} }}");
        } else if from(firsts[0], &firsts, lanes) {
            let _ = writeln!(out, "  serial_lanes: {{ from: {} }}", firsts[0]);
        } else {
            let _ = writeln!(out, "  serial_lanes: {{ first: {firsts:?} }}");
        }
        if let Some(listed) = self.panel.listed {
            let _ = writeln!(out, "  listed_lanes: {}", listed.lanes);
        }
    }

    fn sonic(&self, out: &mut String) {
        let _ = writeln!(out, "sonic:\n  hwsku: {}\n  platform: {}", self.skus[0].name, self.platform);
        if let Some(since) = self.since {
            let _ = writeln!(out, "  since: \"{since}\"");
        }
        if let Some(maker) = self.maker {
            let _ = writeln!(out, "  asic: {}", maker.keyword());
        }
        if self.maker == Some(Maker::Nvidia) || self.skus.iter().any(|sku| sku.states_autoneg) {
            let _ = writeln!(out, "  states_autoneg: true");
        }
        let mut known = BTreeMap::new();
        for sku in self.skus {
            known.entry((&sku.breakouts, &sku.cages)).or_insert(sku);
        }
        if known.len() > 1 || !self.skus[0].cages.is_empty() {
            let _ = writeln!(out, "  hwskus:");
            let is_known = |sku: &&Sku| known[&(&sku.breakouts, &sku.cages)].name == sku.name;
            for sku in self.skus.iter().filter(is_known) {
                let _ = writeln!(
                    out,
                    "    - {{ breakouts: [{}], hwsku: {}{} }}",
                    splits(&sku.breakouts),
                    sku.name,
                    cages(&sku.cages)
                );
            }
        }
        let claims: Vec<String> = known.values().filter_map(|sku| self.facts(sku)).collect();
        if !claims.is_empty() {
            let _ = writeln!(out, "  facts:\n{}", claims.join("\n"));
        }
    }

    /// Returns the smallest published number of ECMP group members, and its hwsku.
    fn narrowest(&self) -> Option<(u32, &str)> {
        self.skus.iter().filter_map(|sku| Some((sku.sdk.ecmp_width?, sku.name.as_str()))).min()
    }

    /// Returns the facts about a hwsku: its first release, and uN if its SDK file is public. The number of ECMP group
    /// members is included if other hwskus of the box have fewer.
    fn facts(&self, sku: &Sku) -> Option<String> {
        let since = sku.since.map(|since| format!("since: \"{since}\""));
        let narrowest = self.narrowest().map(|(width, _)| width);
        let width = sku.sdk.ecmp_width.filter(|width| Some(*width) != narrowest).map(|width| {
            let source = format!("sai.profile: SAI_NUM_ECMP_MEMBERS={width}");
            format!("ecmp_width: {{ members: {width}, source: {{ published: \"{source}\" }} }}")
        });
        let all: Vec<String> = since.into_iter().chain(self.claim(&sku.sdk)).chain(width).collect();
        (!all.is_empty()).then(|| format!("    {}: {{ {} }}", sku.name, all.join(", ")))
    }

    fn limits(&self, out: &mut String, ports: usize) {
        let (sids, why_sids) = self.sids();
        let (members, why_members) = self.members();
        let has_un = sids > 0;
        let is_documented = self.spectrum.is_some_and(|asic| DOCUMENTED.contains(&asic));
        let sizes = if is_documented { "  ecmp_sizes: [256, 512, 1024, 2048, 4096]\n" } else { "" };
        let (routes, why_routes, neighbours, why_neighbours) = if is_documented {
            let table = |text| format!("published: \"{CUMULUS}: {text}\"");
            (
                37_000,
                table("half of 74k, as for prefixes longer than /64"),
                20_000,
                table("20k IPv6 neighbours"),
            )
        } else {
            (6_400, format!("assumed: \"{TESTS}\""), ports * 2, "assumed: \"twice the ports\"".to_owned())
        };
        let _ = writeln!(
            out,
            "limits:\n  my_sids: {sids}\n  ipv6_routes: {routes}\n  ecmp_width: {members}\n{sizes}  ecmp_groups: 128\n  \
             neighbours: {neighbours}\n  provenance:\n    my_sids: {{ {why_sids} }}\n    \
             ipv6_routes: {{ {why_routes} }}\n    \
             ecmp_width: {{ {why_members} }}\n    \
             ecmp_groups: {{ assumed: \"routeorch.cpp: what SONiC assumes where the ASIC does not answer\" }}\n    \
             neighbours: {{ {why_neighbours} }}\nfeatures: [{}]",
            if has_un { "un, ecn" } else { "ecn" }
        );
    }

    /// Returns the number of local SIDs, with the source.
    fn sids(&self) -> (u32, String) {
        let claims = || self.skus.iter().map(|sku| sku.sdk.tunnels().map(|(_, srv6)| srv6));
        if self.srv6_asic().is_some() || claims().any(|srv6| srv6 == Some(true)) {
            let why = "the 256 locators that NVIDIA documents for Spectrum-4; a uN-only fabric needs one";
            (256, format!("assumed: \"{why}\""))
        } else if claims().all(|srv6| srv6 == Some(false)) {
            (0, "published: \"SDK files: sai_tunnel_support without 0x10 of SRv6\"".to_owned())
        } else if self.spectrum.is_some_and(|asic| ["SPECTRUM", "SPECTRUM-2", "SPECTRUM-3"].contains(&asic)) {
            (0, format!("published: \"{TESTED}: not on Spectrum-1 to Spectrum-3\""))
        } else {
            (0, "assumed: \"no source publishes SRv6 for it\"".to_owned())
        }
    }

    /// Returns the maximum number of members of an ECMP group, with the source.
    fn members(&self) -> (u32, String) {
        match (self.narrowest(), self.spectrum) {
            (Some((width, name)), _) => {
                (width, format!("published: \"sai.profile of {name}: SAI_NUM_ECMP_MEMBERS={width}\""))
            }
            (None, Some(asic)) if DOCUMENTED.contains(&asic) => (
                128,
                format!(
                    "published: \"{MLXSW}: every size to 128, larger ones are rounded up to one of `ecmp_sizes`\""
                ),
            ),
            (None, _) => (64, format!("assumed: \"{NARROWEST}\"")),
        }
    }

    /// Returns NVIDIA's ASIC, if SONiC's SRv6 tests run on it.
    fn srv6_asic(&self) -> Option<&str> {
        self.spectrum.filter(|asic| SRV6.contains(asic))
    }

    /// Returns the claim about uN on a hwsku, from its SDK file or its ASIC.
    fn claim(&self, sdk: &Sdk) -> Option<String> {
        let claim = match (sdk.tunnels(), self.srv6_asic()) {
            (Some((value, true)), _) => {
                format!("published: \"SDK file: sai_tunnel_support {value}, of which 0x10 is SRv6\"")
            }
            (Some((value, false)), _) => {
                format!("lacking: \"SDK file: sai_tunnel_support {value}, without 0x10 of SRv6\"")
            }
            (None, Some(asic)) => {
                format!("published: \"asic_table.j2: {asic}; {TESTED}: Spectrum-4 and later\"")
            }
            (None, None) => return None,
        };
        Some(format!("un: {{ {claim} }}"))
    }
}
