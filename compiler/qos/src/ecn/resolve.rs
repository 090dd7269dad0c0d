//! Computes thresholds from a rule and a port.
//!
//! In: [`Ecn`] and [`EcnContext`]. Out: [`EcnThresholds`], or `None` if the class is not marked. Invariants: computed
//! thresholds are reduced for a small buffer, as their steps show. Configured thresholds are never changed; they are
//! rejected if they do not fit.

use super::error::EcnError;
use super::fixed::FixedThresholds;
use super::presets::EcnPreset;
use super::rule::{ComputedThresholds, Ecn, Fill};
use super::{EcnContext, EcnThresholds, Limit};
use crate::explain::{Breakdown, Unit, exact};
use crate::units::{Bytes, Speed};

const SOURCE: &str = "computed from speed, round-trip time and buffer";

impl Ecn {
    /// Computes the thresholds of a port; `None` if the class is not marked.
    pub fn thresholds(&self, port: &EcnContext) -> Result<Option<EcnThresholds>, EcnError> {
        match self {
            Self::Off => Ok(None),
            Self::Preset(preset) => {
                let thresholds = preset_thresholds(*preset, port)?;
                Ok(Some(if preset.drops() { thresholds } else { thresholds.for_marks_alone() }))
            }
            Self::Thresholds(FixedThresholds { min, max, probability }) => {
                EcnThresholds::new(*min, *max, *probability, port.limit, "as written").map(Some)
            }
            Self::Fill(fill) => share(*fill, port).map(Some),
            Self::Computed(rule) => compute_thresholds(*rule, port).map(Some),
        }
    }
}

/// Returns published thresholds, scaled if they were published for a different speed.
fn preset_thresholds(preset: EcnPreset, port: &EcnContext) -> Result<EcnThresholds, EcnError> {
    let FixedThresholds { min, max, probability } = preset.published_thresholds(port.place);
    let at = preset.published_speed().filter(|at| *at != port.speed);
    let Some(at) = at else {
        return EcnThresholds::new(min, max, probability, port.limit, format!("preset `{preset}`"));
    };
    let mut terms = Breakdown::default();
    let mut scale = |name: &'static str, bytes: Bytes| {
        let scaled = round_to_cells(times(bytes, port.speed, at), port.cell);
        let formula = format!("{bytes} x {} / {at}, whole cells of {}", port.speed, port.cell);
        terms.bytes(name, exact(scaled.0, 1_u8), formula, format!("preset `{preset}`"));
        scaled
    };
    let (min, max) = (scale("minimum", min), scale("maximum", max));
    let origin = format!("preset `{preset}`, scaled from {at} to {}", port.speed);
    let thresholds = EcnThresholds::new(min, max, probability, port.limit, origin)?;
    Ok(EcnThresholds { terms, ..thresholds })
}

/// Returns thresholds that are shares of the maximum queue length.
fn share(fill: Fill, port: &EcnContext) -> Result<EcnThresholds, EcnError> {
    let mut terms = Breakdown::default();
    let limit = port.limit.bytes();
    let mut part = |name: &'static str, percent: crate::codes::Percent| {
        let bytes = round_to_cells(percent.of(limit), port.cell);
        let formula = format!("{percent} % of {limit}, whole cells of {}", port.cell);
        terms.bytes(name, exact(bytes.0, 1_u8), formula, port.limit.name());
        bytes
    };
    let (min, max) = (part("minimum", fill.min), part("maximum", fill.max));
    let origin = format!("{} % and {} % of {}", fill.min, fill.max, port.limit.name());
    let thresholds = EcnThresholds::new(min, max, fill.probability, port.limit, origin)?;
    Ok(EcnThresholds { terms, ..thresholds })
}

/// Computes thresholds: a share of the bandwidth-delay product, and a multiple of this share. Both are smaller if the
/// buffer requires it.
fn compute_thresholds(rule: ComputedThresholds, port: &EcnContext) -> Result<EcnThresholds, EcnError> {
    let mut terms = Breakdown::default();
    let bdp = port.speed.bytes_in(port.base_rtt);
    terms.bytes(
        "bandwidth-delay product",
        exact(bdp.0, 1_u8),
        format!("{} x {}", port.speed, port.base_rtt),
        SOURCE,
    );
    let ratio = u64::from(rule.max_over_min.get());
    let wanted = Bytes(bdp.0.saturating_mul(u64::from(rule.min.get())) / 100);
    // The largest possible maximum below the limit.
    let ceiling = Bytes(port.limit.bytes().0.saturating_sub(1)).round_down(port.cell);
    let fits = wanted.0.saturating_mul(ratio) <= ceiling.0;
    let chosen = if fits { wanted } else { Bytes(ceiling.0 / ratio) };
    // A threshold below two packets would count only the packet to be marked.
    let floor = Bytes(port.mtu.0.saturating_mul(2)).round_up(port.cell);
    if chosen < floor && Bytes(floor.0.saturating_mul(ratio)) > ceiling {
        let (limit, what) = (port.limit.bytes(), port.limit.name());
        return Err(EcnError::NoRoom { floor, ratio, limit, limit_name: what });
    }
    let min = round_to_cells(chosen.max(floor), port.cell);
    let max = Bytes(min.0 * ratio);
    let cell = port.cell;
    let why = if chosen < floor {
        format!("2 x MTU {}, the least that indicates a queue, whole cells of {cell}", port.mtu)
    } else if fits {
        format!("{} % of the bandwidth-delay product, whole cells of {cell}", rule.min)
    } else {
        format!("{ceiling} / {ratio}: the buffer, not the round trip, sets it, whole cells of {cell}")
    };
    terms.bytes("minimum", exact(min.0, 1_u8), why.clone(), SOURCE);
    terms.bytes("maximum", exact(max.0, 1_u8), format!("{ratio} x minimum"), SOURCE);
    terms.push(
        port.limit.name(),
        exact(port.limit.bytes().0, 1_u8),
        Unit::Bytes,
        "the maximum must stay below",
        limit_source(port.limit),
    );
    let origin = format!("computed at {} and {}: {why}", port.speed, port.base_rtt);
    let thresholds = EcnThresholds::new(min, max, rule.probability, port.limit, origin)?;
    Ok(EcnThresholds { terms, ..thresholds })
}

const fn limit_source(limit: Limit) -> &'static str {
    match limit {
        Limit::Xoff(_) => "ECN must act before PFC (DCQCN)",
        Limit::Queue(_) => "ECN must act before packets are lost",
    }
}

/// Scales bytes by the ratio of two speeds, rounded down.
fn times(bytes: Bytes, speed: Speed, at: Speed) -> Bytes {
    let scaled = u128::from(bytes.0) * u128::from(speed.mbps()) / u128::from(at.mbps());
    Bytes(u64::try_from(scaled).unwrap_or(u64::MAX))
}

/// Rounds down to whole cells, but to at least one.
fn round_to_cells(bytes: Bytes, cell: Bytes) -> Bytes {
    bytes.round_down(cell).max(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::ecn::rule::{BdpPercent, MaxOverMin};
    use crate::units::Nanoseconds;

    fn port(speed: u32, limit: u64) -> EcnContext {
        EcnContext {
            speed: Speed::gbps(speed),
            cell: Bytes(254),
            mtu: Bytes(4_200),
            place: Place::Edge,
            base_rtt: Nanoseconds(6_000),
            limit: Limit::Xoff(Bytes(limit)),
        }
    }

    fn resolve(ecn: Ecn, port: EcnContext) -> EcnThresholds {
        ecn.thresholds(&port).unwrap().expect("the rule is not off")
    }

    #[test]
    fn published_numbers_stay_as_they_are() {
        let found = resolve(Ecn::Preset(EcnPreset::SonicAzure), port(800, 3_000_000));
        assert_eq!((found.min(), found.max()), (Bytes(1_048_576), Bytes(2_097_152)));
        assert_eq!(found.origin(), "preset `sonic-azure`");
    }

    #[test]
    fn numbers_for_one_speed_scale_with_the_speed() {
        // The source states 400 KB and 1600 KB at 100G, in addition to the 25G numbers.
        let context = EcnContext { cell: Bytes(1), ..port(100, 10_000_000) };
        let found = resolve(Ecn::Preset(EcnPreset::HpccDcqcn), context);
        assert_eq!((found.min(), found.max()), (Bytes(400_000), Bytes(1_600_000)));
        assert_eq!(found.origin(), "preset `hpcc-dcqcn`, scaled from 25G to 100G");
    }

    #[test]
    fn lossy_ai_marks_later_at_the_edge_than_above() {
        let at = |place| resolve(Ecn::Preset(EcnPreset::SonicAi), EcnContext { place, ..port(100, 900_000) });
        assert_eq!(at(Place::LastHop).max(), Bytes(282_624));
        assert_eq!(at(Place::Fabric).max(), Bytes(239_616));
        assert!(!at(Place::Fabric).drops(), "the hwskus only mark");
        let context = EcnContext { place: Place::Fabric, ..port(100, 900_000) };
        assert!(resolve(Ecn::Preset(EcnPreset::SonicAiTh5), context).drops());
    }

    /// The numbers are the same for ports of 100G and 400G on Tomahawk 5, and for ports of 100G and 800G on Spectrum.
    #[test]
    fn lossy_ai_does_not_scale() {
        for (preset, max) in [(EcnPreset::SonicAi, 239_616), (EcnPreset::SonicAiTh5, 282_624)] {
            for speed in [100, 400, 800] {
                let context = EcnContext { place: Place::Fabric, ..port(speed, 900_000) };
                let found = resolve(Ecn::Preset(preset), context);
                assert_eq!((found.min(), found.max()), (Bytes(166_912), Bytes(max)), "{preset} {speed}");
            }
        }
    }

    #[test]
    fn computed_starts_at_the_bandwidth_delay_product() {
        // 400 Gb/s x 6 us = 300,000 B, 1,181 cells of 254 B.
        let found = resolve(Ecn::Computed(ComputedThresholds::default()), port(400, 2_000_000));
        assert_eq!((found.min(), found.max()), (Bytes(299_974), Bytes(1_199_896)));
        assert_eq!(found.terms().terms()[0].value.to_string(), "300000");
    }

    #[test]
    fn computed_gives_way_to_a_small_buffer() {
        let found = resolve(Ecn::Computed(ComputedThresholds::default()), port(400, 500_000));
        assert!(found.max() < Bytes(500_000));
        assert_eq!(found.max().0, found.min().0 * 4);
        assert!(found.origin().contains("the buffer, not the round trip, sets it"), "{}", found.origin());
    }

    #[test]
    fn computed_refuses_a_buffer_of_a_few_packets() {
        let error = Ecn::Computed(ComputedThresholds::default()).thresholds(&port(400, 20_000)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no room for ECN: a minimum of two packets (8636B) and a maximum of 4 times that do not fit below \
             the PFC XOFF point at 20KB"
        );
    }

    #[test]
    fn chosen_thresholds_are_refused_not_moved() {
        let rule = FixedThresholds { min: Bytes(1_000), max: Bytes(9_000), probability: Percent::MAX };
        let error = Ecn::Thresholds(rule).thresholds(&port(100, 9_000)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ECN maximum 9KB (as written) is not below the PFC XOFF point at 9KB: marking would come too late"
        );
    }

    use crate::codes::Percent;

    proptest::proptest! {
        #[test]
        fn whatever_resolves_keeps_the_order(
            mbps in 1_000_u32..=1_600_000,
            rtt in 500_u64..2_000_000,
            limit in 1_u64..200_000_000,
            cell in 1_u64..512,
            mtu in 64_u64..9_216,
            min in 1_u16..1_000,
            ratio in 2_u8..32,
        ) {
            let context = EcnContext {
                speed: Speed::from_mbps(mbps).unwrap(),
                cell: Bytes(cell),
                mtu: Bytes(mtu),
                place: Place::Fabric,
                base_rtt: Nanoseconds(rtt),
                limit: Limit::Xoff(Bytes(limit)),
            };
            let rule = ComputedThresholds {
                min: BdpPercent::new(min).unwrap(),
                max_over_min: MaxOverMin::new(ratio).unwrap(),
                probability: Percent::MAX,
            };
            let rules = EcnPreset::ALL.map(Ecn::Preset).into_iter().chain([Ecn::Computed(rule)]);
            for rule in rules {
                if let Ok(Some(found)) = rule.thresholds(&context) {
                    proptest::prop_assert!(found.min() < found.max());
                    proptest::prop_assert!(found.max() < Bytes(limit));
                }
            }
        }
    }
}
