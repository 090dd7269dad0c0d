//! A hitless wave may stop at any switch: the mixed fabric does not lose packets.
//!
//! Some switches have the previous configuration, and others already have the one of the wave. Static routes
//! are taken from the plans. `closc_verify` computes the BGP routes from the mixed files, without the plan.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use closc_artefacts::{Memory, Routing};
use closc_compile::compile_in_memory;
use closc_diff::rollout::{Limit, Rollout};
use closc_diff::{Options, Report, Side};
use closc_fabric::Fabric;
use closc_plan::{DeviceIntent, Plan, Target};
use closc_tests::exceptions::{regrown, related_shapes};
use closc_tests::shape::{Shape, T2};
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch};
use proptest::prelude::*;

/// A route: its destination, and the indices of its ports.
type Entry = (closc_artefacts::Prefix, Vec<usize>);

/// A fabric whose switches are configured by different plans.
struct MixedFabric<'a> {
    /// The plan and the configuration of each switch.
    of: BTreeMap<Switch, (&'a Plan, DeviceIntent<'a>)>,
    routes: BTreeMap<Switch, Vec<Entry>>,
    fabric: &'a Fabric,
}

impl<'a> MixedFabric<'a> {
    /// Builds the fabric from the plan of each switch, with the cables of the last plan.
    fn new(of: &BTreeMap<Switch, (&'a Plan, &Memory)>, last: (&'a Plan, &Memory)) -> MixedFabric<'a> {
        let intents: BTreeMap<_, _> =
            of.iter().map(|(switch, (plan, _))| (*switch, (*plan, plan.device(*switch)))).collect();
        let mut routes: BTreeMap<Switch, Vec<Entry>> = BTreeMap::new();
        for (switch, (_, intent)) in &intents {
            let ports = |target: &Target| match target {
                Target::Ports(hops) => hops.iter().map(|hop| hop.port).collect(),
                Target::Blackhole => Vec::new(),
            };
            routes.insert(
                *switch,
                intent.routes.iter().map(|route| (route.prefix, ports(&route.target))).collect(),
            );
        }
        if last.0.routing() == Routing::BgpUnnumbered {
            let converged =
                closc_verify::converged_routes(&files(of, last)).expect("the mixture can be read");
            for (switch, (plan, intent)) in &intents {
                let Some(found) = converged.get(&plan.switch_name(*switch)) else { continue };
                for (prefix, ways) in found {
                    let port = |name: &str| intent.ports.iter().position(|port| port.physical.name == name);
                    let ports: Vec<usize> = ways.iter().filter_map(|(name, _)| port(name)).collect();
                    routes.entry(*switch).or_default().push((*prefix, ports));
                }
            }
        }
        MixedFabric { of: intents, routes, fabric: last.0.fabric() }
    }

    /// Returns whether packets to a NIC arrive for every choice of next hops. With `last_resort`, drained elements may
    /// be used.
    fn arrives(&self, at: Switch, to: Nic, last_resort: bool, hops: u8) -> bool {
        let Some((plan, intent)) = self.of.get(&at) else { return false };
        let address = plan.addresses().nic(to);
        let routes = self.routes[&at].iter().filter(|(prefix, _)| prefix.contains(&address));
        let Some((_, ports)) = routes.max_by_key(|(prefix, _)| prefix.prefix_len()) else { return false };
        !ports.is_empty()
            && hops < 6
            && ports.iter().all(|port| {
                let Some(connection) = &intent.ports[*port].connection else { return false };
                if connection.drained && !last_resort {
                    return false;
                }
                match connection.link {
                    Link::Host(port) => port.nic == to,
                    link @ Link::Fabric { lower, .. } => {
                        let upper = self.fabric.upper_end(link).map(|(switch, _)| switch);
                        let far = if lower == at { upper } else { Some(lower) };
                        self.fabric.has_link(link)
                            && far.is_some_and(|far| {
                                self.has_port(far, link) && self.arrives(far, to, last_resort, hops + 1)
                            })
                    }
                }
            })
    }

    /// Returns whether a switch is configured at its end of a cable.
    fn has_port(&self, switch: Switch, link: Link) -> bool {
        let ports = self.of.get(&switch).map(|(_, intent)| &intent.ports);
        ports.is_some_and(|ports| {
            ports.iter().any(|port| port.connection.as_ref().is_some_and(|own| own.link == link))
        })
    }
}

/// Returns the files of each switch from its plan, and all other files from the last plan.
fn files(of: &BTreeMap<Switch, (&Plan, &Memory)>, (_, last): (&Plan, &Memory)) -> Memory {
    let is_of_switch = |path: &Utf8PathBuf| path.starts_with("switches");
    let rest = last.files.iter().filter(|(path, _)| !is_of_switch(path));
    let mut files: BTreeMap<Utf8PathBuf, Vec<u8>> =
        rest.map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
    for (switch, (plan, memory)) in of {
        let folder = Utf8PathBuf::from("switches").join(plan.switch_name(*switch).as_str());
        let own = memory.files.iter().filter(|(path, _)| path.starts_with(&folder));
        files.extend(own.map(|(path, bytes)| (path.clone(), bytes.clone())));
    }
    Memory { files }
}

/// Returns those of the given triples of plane and NIC pair for which no packet is lost. Drained elements are
/// used only with `last_resort`.
fn lossless_pairs(
    mixed: &MixedFabric<'_>,
    among: &[(PlaneId, Nic, Nic)],
    last_resort: bool,
) -> BTreeSet<(PlaneId, Nic, Nic)> {
    let arrives = |(plane, from, to): &&(PlaneId, Nic, Nic)| {
        let first = from.t0(*plane);
        mixed.has_port(first, Link::Host(NicPort { plane: *plane, nic: *from }))
            && mixed.arrives(first, *to, last_resort, 0)
    };
    among.iter().filter(arrives).copied().collect()
}

/// Returns a sample of the pairs of NICs that both plans have.
fn pairs(old: &Plan, new: &Plan) -> Vec<(PlaneId, Nic, Nic)> {
    let nics: Vec<Nic> = old.fabric().nics().filter(|nic| new.fabric().has_nic(*nic)).collect();
    let mut all = Vec::new();
    for plane in old.planes().take(2) {
        let plugged = |nic: &&Nic| new.fabric().has_link(Link::Host(NicPort { plane, nic: **nic }));
        let nics: Vec<&Nic> = nics.iter().filter(plugged).collect();
        let both = nics.iter().flat_map(|from| nics.iter().map(|to| (**from, **to)));
        all.extend(both.filter(|(from, to)| from != to).map(|(from, to)| (plane, from, to)));
    }
    let step = all.len() / 120 + 1;
    all.into_iter().step_by(step).collect()
}

/// Simulates a hitless rollout with switches in random order, and checks the fabric after every few of them.
fn check(old: &Plan, new: &Plan, seed: u64) -> Result<(), TestCaseError> {
    let side = |source: &str| Side { source: source.into(), fabric: "shape".into(), digest: source.into() };
    let report = Report::of_plans((old, side("old")), (new, side("new")), Options::default());
    if !report.rollout.expect("plans have one").hitless {
        return Ok(());
    }
    let Ok(rollout) = Rollout::new(old, new, Limit { share: 1.0 }) else { return Ok(()) };
    simulate_waves(old, new, &rollout, &rollout.stages(new), seed)
}

/// Simulates the waves, each with its plan.
fn simulate_waves(
    old: &Plan,
    new: &Plan,
    rollout: &Rollout,
    stages: &[Plan],
    mut seed: u64,
) -> Result<(), TestCaseError> {
    let trees: Vec<Memory> =
        stages.iter().map(|plan| compile_in_memory(plan).expect("it compiles")).collect();
    let first = compile_in_memory(old).expect("it compiles");
    let mut of: BTreeMap<Switch, (&Plan, &Memory)> =
        old.switches().map(|switch| (switch, (old, &first))).collect();
    let wanted = lossless_pairs(&MixedFabric::new(&of, (old, &first)), &pairs(old, new), false);
    let asked: Vec<_> = wanted.iter().copied().collect();
    for (wave, (plan, tree)) in rollout.waves.iter().zip(stages.iter().zip(&trees)) {
        prop_assert!(
            wave.drained.is_empty() && wave.removed_places.is_empty(),
            "hitless, and drains {:?}",
            wave.drained
        );
        let mut left: Vec<Switch> = wave.switches.iter().copied().collect();
        let look_at = left.len() / 3 + 1;
        while !left.is_empty() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let switch = left.swap_remove((seed >> 33) as usize % left.len());
            of.insert(switch, (plan, tree));
            if left.len().is_multiple_of(look_at) {
                let now = lossless_pairs(&MixedFabric::new(&of, (new, tree)), &asked, true);
                let lost: Vec<_> = wanted.difference(&now).take(3).collect();
                prop_assert!(lost.is_empty(), "lost: {lost:?} while {} are left of {:#?}", left.len(), wave);
            }
        }
    }
    // At the end, all files must be equal to those of the new plan.
    let last = compile_in_memory(new).expect("it compiles");
    let all = of.into_iter().filter(|(switch, _)| new.fabric().has_switch(*switch)).collect();
    let found = files(&all, (new, &last));
    for (path, bytes) in last.files.iter().filter(|(path, _)| path.starts_with("switches")) {
        prop_assert!(found.files.get(path) == Some(bytes), "`{path}` is not what it should be");
    }
    Ok(())
}

fn switch_routings() -> impl Strategy<Value = Routing> {
    prop_oneof![Just(Routing::EcmpStatic), Just(Routing::BgpUnnumbered)]
}

fn is_small((old, new): &(Shape, Shape)) -> bool {
    let size = |shape: &Shape| {
        let zones = shape.t2.as_ref().map_or(1, |t2| t2.zones);
        u16::from(shape.planes) * zones * (shape.groups + shape.t1)
    };
    size(old).max(size(new)) <= 32
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn growth_loses_nothing_wherever_it_stops(
        sides in regrown().prop_filter("small", is_small), routing in switch_routings(), seed in any::<u64>(),
    ) {
        check(&sides.0.plan_with_routing(routing), &sides.1.plan_with_routing(routing), seed)?;
    }

    #[test]
    fn nor_do_exceptions_that_are_hitless(
        sides in related_shapes().prop_filter("small", is_small), routing in switch_routings(), seed in any::<u64>(),
    ) {
        check(&sides.0.plan_with_routing(routing), &sides.1.plan_with_routing(routing), seed)?;
    }
}

/// Adds T1s above T0s that are in use.
#[test]
fn t0s_send_over_new_t1s_when_all_know_them() {
    for routing in [Routing::EcmpStatic, Routing::BgpUnnumbered] {
        let (old, new) = (Shape::SMALL, Shape { t1: 4, ..Shape::SMALL });
        let (old, new) = (old.plan_with_routing(routing), new.plan_with_routing(routing));
        let rollout =
            Rollout::new(&old, &new, Limit::one_plane(old.topology())).expect("it can be rolled out");
        let words: Vec<Vec<&str>> =
            rollout.waves.iter().map(|wave| wave.steps.iter().map(|step| step.keyword()).collect()).collect();
        assert_eq!(words, [vec!["install", "add", "verify"], vec!["join", "verify"], vec!["join", "verify"]]);
        assert_eq!(rollout.waves.iter().map(|wave| wave.pending_places.len()).collect::<Vec<_>>(), [4, 2, 0]);
        for seed in 0..8 {
            check(&old, &new, seed).unwrap();
        }
    }
}

/// Without the first stage, packets are lost, because some T0s send over a T1 to which other T0s do not have
/// a port yet.
#[test]
fn the_walk_sees_what_a_wrong_order_loses() {
    let (old, new) = (Shape::SMALL, Shape { t1: 4, ..Shape::SMALL });
    let (old, new) = (old.plan_with_routing(Routing::EcmpStatic), new.plan_with_routing(Routing::EcmpStatic));
    let rollout = Rollout::new(&old, &new, Limit::one_plane(old.topology())).expect("it can be rolled out");
    let stages = vec![new.clone(); rollout.waves.len()];
    let lost = (0..8).filter(|seed| simulate_waves(&old, &new, &rollout, &stages, *seed).is_err()).count();
    assert!(lost > 4, "{lost}");
}

/// Ends the drain of a switch while one of its cables becomes absent. The switch still has routes over that
/// cable.
#[test]
fn what_is_used_again_first_forgets_cables_that_go() {
    let flat = Shape { groups: 4, parallel: 3, ..Shape::SMALL };
    let t2 = T2 { zones: 2, steps: 2, parallel: 2, rows: 0, node_zones: 1 };
    let tall = Shape { t2: Some(t2), groups: 2, ..Shape::SMALL };
    let cable = |lower: &str, upper: &str, number: u16| format!("{lower}--{upper}#{number}");
    let low = |number| cable("p0-t0-002", "p0-t1-002", number);
    let high = |number| cable("z1-p0-t1-002", "p0-t2-002", number);
    let cases = [
        (&flat, vec!["p0-t1-002".to_owned()], vec![low(3)]),
        (&flat, vec!["p0-t1-002".to_owned()], vec![low(3), cable("p0-t0-003", "p0-t1-002", 1)]),
        (&flat, vec![low(1), low(2), low(3)], vec![low(3)]),
        (&tall, vec!["p0-t2-002".to_owned()], vec![high(2)]),
        (&tall, vec![high(1), high(2)], vec![high(2)]),
        (&tall, vec!["p0-t2-002".to_owned(), "z1-p0-t1-002".to_owned()], vec![high(2)]),
    ];
    let list = |key: &str, names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("    - \"{name}\"\n")).collect();
        format!("  {key}:\n{}", names.concat())
    };
    for (shape, drained, absent) in cases {
        for routing in [Routing::EcmpStatic, Routing::BgpUnnumbered] {
            let side = |text: String| Shape { exceptions: format!("exceptions:\n{text}"), ..shape.clone() };
            let old = side(list("drained", &drained)).plan_with_routing(routing);
            let new = side(list("absent", &absent)).plan_with_routing(routing);
            for seed in 0..8 {
                check(&old, &new, seed).unwrap_or_else(|why| panic!("{drained:?}, {absent:?}: {why}"));
            }
        }
    }
}
