//! Checks that no design beats the front, with all designs of two tiers from simple loops over all counts.

use closc_artefacts::Routing;
use closc_design::{Candidates, Compared, Limits, Need, Ratio, Verdict, merged, space};
use closc_platform::{Breakout, Catalogue, Os, Platform};
use proptest::prelude::*;

/// Boxes of the loops. Each supports any two of its breakouts under its operating system.
const BOXES: [&str; 2] = ["spectrum3-sn4700", "spectrum4-sn5600"];

/// Counts of a fabric of two tiers, as a person would write them down.
struct Plain {
    switches: u64,
    capacity: u64,
    cables: u64,
    modules: u64,
}

fn capacity(platform: &Platform) -> u64 {
    let panel = &platform.panel;
    let cage =
        panel.breakouts.iter().map(|split| u64::from(split.ports) * u64::from(split.speed.mbps())).max();
    cage.unwrap_or_default() * u64::from(panel.cages)
}

fn cages(ports: u64, split: Breakout) -> u64 {
    ports.div_ceil(split.ports.into())
}

/// Every fabric: any breakout of each side, any number of NICs on a T0, any T1s, with the parallel cables that they
/// need.
fn all(need: &Need, planes: u16, catalogue: &Catalogue) -> Vec<Plain> {
    let Some(speed) = need.port_speed(planes) else { return Vec::new() };
    let (nics, node) = (u64::from(need.nics), u64::from(need.nics_per_node));
    let boxes: Vec<&Platform> = BOXES.iter().map(|name| &**catalogue.get(name).expect("it ships")).collect();
    let mut found = Vec::new();
    for (low, high) in boxes.iter().flat_map(|low| boxes.iter().map(move |high| (*low, *high))) {
        let splits = |platform: &Platform| platform.panel.breakouts.clone();
        for down in splits(low).into_iter().filter(|down| down.speed == speed) {
            for (up, top) in
                splits(low).into_iter().flat_map(|up| splits(high).into_iter().map(move |top| (up, top)))
            {
                if up.speed != top.speed {
                    continue;
                }
                for per_group in (1..=nics).filter(|count| nics % count == 0 && count % node == 0) {
                    let groups = nics / per_group;
                    for (t1s, parallel) in
                        (2..=64_u64).flat_map(|t1s| (1..=16_u64).map(move |many| (t1s, many)))
                    {
                        let uplinks = t1s * parallel;
                        let bandwidth = |ports: u64, split: Breakout| ports * u64::from(split.speed.mbps());
                        let most = need.limits.oversubscription;
                        let is_even = |uplinks: u64| {
                            let down = bandwidth(per_group, down) * u64::from(most.up);
                            down <= bandwidth(uplinks, up) * u64::from(most.down)
                        };
                        // Only the fewest parallel cables that these T1s need.
                        let is_least = is_even(uplinks) && !is_even(uplinks - t1s);
                        let fits = cages(per_group, down) + cages(uplinks, up) <= low.panel.cages.into()
                            && cages(groups * parallel, top) <= high.panel.cages.into();
                        let is_used =
                            groups * parallel * 2 >= u64::from(high.panel.cages) * u64::from(top.ports);
                        if groups < 2 || !is_least || !fits || !is_used {
                            continue;
                        }
                        let planes = u64::from(planes);
                        found.push(Plain {
                            switches: planes * (groups + t1s),
                            capacity: planes * (groups * capacity(low) + t1s * capacity(high)) / 1000,
                            cables: planes * groups * uplinks,
                            modules: planes
                                * (groups * cages(uplinks, up) + t1s * cages(groups * parallel, top)),
                        });
                    }
                }
            }
        }
    }
    found
}

fn need(nodes: u32, planes: u16, speed: u32, ratio: (u32, u32)) -> Need {
    let nics_per_node = 4;
    Need {
        name: "fabric".to_owned(),
        nics: nodes * u32::from(nics_per_node),
        speed: closc_qos::units::Speed::gbps(speed),
        nics_per_node,
        rails: 1,
        planes: vec![planes],
        planes_by_nic: vec![1],
        tiers: vec![2],
        routings: vec![Routing::BgpUnnumbered],
        oses: vec![Os::Nvue],
        platforms: BOXES.map(str::to_owned).to_vec(),
        limits: Limits {
            oversubscription: Ratio::new(ratio.0.into(), ratio.1.into()).expect("no number is 0"),
            t0_loss: None,
            t1_loss: None,
            grow_to: None,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_loops_find_nothing_better(
        nodes in 2_u32..200,
        planes in prop::sample::select(vec![1_u16, 2, 4]),
        speed in prop::sample::select(vec![200_u32, 400, 800]),
        ratio in prop::sample::select(vec![(1_u32, 1_u32), (2, 1), (3, 2), (1, 2)]),
    ) {
        let catalogue = Catalogue::builtin();
        let need = need(nodes, planes, speed, ratio);
        let plain = all(&need, planes, &catalogue);
        let mut candidates = Candidates::new(Compared::default());
        let found = space(&need, &catalogue, &mut |design| candidates.add(design));
        let fronts = candidates.fronts(|_| Ok::<_, std::convert::Infallible>(Verdict::Firm)).expect("all pass");
        let front = merged(fronts.into_values());
        // If equal T0s cannot have exactly this number of NICs, the search tries the next number, but the loops do
        // not.
        let is_exact = |places: u32| places == need.nics;
        prop_assert!(plain.is_empty() || found.is_ok());
        for other in &plain {
            let is_held = front.iter().any(|found| {
                let kept = found.measure;
                is_exact(found.design.places())
                    && u64::from(kept.switches) <= other.switches
                    && kept.capacity <= other.capacity
                    && kept.cables <= other.cables
                    && kept.modules <= other.modules
            });
            prop_assert!(
                is_held,
                "not found: {} switches, {} Gb/s, {} cables, {} cages",
                other.switches, other.capacity, other.cables, other.modules
            );
        }
    }
}
