//! Figures of a fabric besides its counts: rails, oversubscription, switches by model, unused cages.
//!
//! In: a plan and the catalogue. Out: [`Summary`]. Invariants: every switch counts towards exactly
//! one model; a cage counts as used if at least one of its ports is in use.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use closc_platform::{Catalogue, Os, Platform};
use closc_topology::TierId;
use schemars::JsonSchema;
use serde::Serialize;

/// Figures of a fabric.
#[derive(Serialize, JsonSchema)]
pub(super) struct Summary {
    /// T0 groups that the NICs of a node are spread over.
    rails: u8,
    /// Adapters, if they have several NICs.
    #[serde(skip_serializing_if = "Option::is_none")]
    adapters: Option<u64>,
    /// Switches by tier, hardware and ports.
    models: Vec<Model>,
    /// Cables whose ends have lanes of different speeds, so that standard cables or modules do not match.
    unequal_lanes: Vec<String>,
    /// Why the copper cables of NICs cannot be bought: several cages at both ends.
    crossed_copper: Option<String>,
}

/// Switches of one kind.
#[derive(Serialize, JsonSchema)]
struct Model {
    tier: &'static str,
    platform: String,
    os: &'static str,
    switches: u64,
    /// Cages of the switch; `null` for software.
    cages: Option<u64>,
    /// Cages without a port in use; `null` for software.
    unused_cages: Option<u64>,
    /// Ratio of the bandwidth towards the NICs and the bandwidth away from them; `null` at the top.
    oversubscription: Option<String>,
}

/// Properties by which switches are grouped: tier, platform, OS, and the port count, breakout and speed of both blocks.
type Kind<'a> = (TierId, &'a str, Os, [(u16, u8, u32); 2]);

impl Summary {
    /// Computes the figures of a plan.
    pub(super) fn of(plan: &Plan, catalogue: &Catalogue) -> Self {
        let topology = plan.topology();
        let mut found: BTreeMap<Kind<'_>, (&Arc<Platform>, u64)> = BTreeMap::new();
        for switch in plan.switches() {
            let (platform, os) = topology.hardware(switch);
            let blocks = topology.blocks(switch);
            let figures =
                blocks.map(|block| (block.count, block.breakout.ports, block.breakout.speed.mbps()));
            let kind = (switch.tier, platform.id.as_str(), os, figures);
            found.entry(kind).or_insert((platform, 0)).1 += 1;
        }
        let models = found.into_iter().map(|((tier, name, os, blocks), (platform, switches))| {
            let used = platform.cages_used(blocks.map(used_cages).iter().sum(), catalogue.chassis(platform));
            // Software switches have no cages.
            let cages = (!platform.is_software()).then_some(used);
            Model {
                tier: tier.label(),
                platform: name.to_owned(),
                os: os.keyword(),
                switches,
                cages: cages.map(|(_, all)| all.into()),
                unused_cages: cages.map(|(used, all)| all.saturating_sub(used).into()),
                oversubscription: ratio(blocks),
            }
        });
        let models = models.collect();
        let adapters = topology.has_adapters().then(|| plan.fabric().adapters());
        let unequal_lanes = closc_cabling::lanes::unequal(plan);
        let crossed_copper = closc_cabling::lanes::crossed_copper(plan);
        Summary { rails: topology.hosts.rails, adapters, models, unequal_lanes, crossed_copper }
    }

    /// Returns the number of adapters, if they have several NICs.
    pub(super) fn adapters(&self) -> Option<u64> {
        self.adapters
    }

    /// Returns a line per model, and per kind of cable that cannot be bought as usual.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{:>13}  {}\n", self.rails, label("rails", self.rails.into()));
        for model in &self.models {
            let (tier, platform, os) = (model.tier, &model.platform, model.os);
            let _ = write!(text, "{tier}: {} `{platform}` with `{os}`", number(model.switches));
            if let Some(ratio) = &model.oversubscription {
                let _ = write!(text, ", down to up {ratio}");
            }
            if let (Some(cages), Some(unused)) = (model.cages, model.unused_cages) {
                let _ = write!(text, ", {unused} of {cages} cages unused");
            }
            text.push('\n');
        }
        for note in self.unequal_lanes.iter().chain(&self.crossed_copper) {
            let _ = writeln!(text, "cables: {note}");
        }
        text
    }
}

/// Returns a plural, or its singular for one.
pub(super) fn label(plural: &str, count: u64) -> String {
    let (first, rest) =
        plural.split_once(" between").map_or((plural, ""), |(first, _)| (first, &plural[first.len()..]));
    match first.strip_suffix("switches") {
        _ if count != 1 || plural.ends_with("in all") => plural.to_owned(),
        Some(tier) => format!("{tier}switch{rest}"),
        None => format!("{}{rest}", first.strip_suffix('s').unwrap_or(first)),
    }
}

fn used_cages((count, ports, _): (u16, u8, u32)) -> u32 {
    u32::from(count).div_ceil(u32::from(ports.max(1)))
}

fn ratio([down, up]: [(u16, u8, u32); 2]) -> Option<String> {
    let total = |(count, _, mbps): (u16, u8, u32)| u64::from(count) * u64::from(mbps);
    let (down, up) = (total(down), total(up));
    if down == 0 || up == 0 {
        return None;
    }
    let divisor = greatest_common_divisor(down, up);
    Some(format!("{}:{}", down / divisor, up / divisor))
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
