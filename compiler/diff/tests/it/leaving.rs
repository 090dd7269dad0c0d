//! Checks, step by step in random rollouts, that traffic leaves elements before they are removed.
//!
//! From the steps, the test derives the switches and cables that hosts and neighbours may still use. From
//! both fabrics, it derives which of these exist. It shares only the steps with the code under test.

use std::collections::BTreeSet;

use closc_artefacts::Routing;
use closc_diff::rollout::{Limit, Rollout, RolloutError, Step, Wave, named_waves};
use closc_diff::{Place, Population};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_tests::exceptions::related_shapes;
use closc_tests::shape::{Shape, any_routing, three_tiers, try_plan, two_tiers};
use closc_topology::{Link, Nic, PlaneId, Switch, TierId};
use proptest::prelude::*;

/// Usable and unusable paths.
struct State<'a> {
    old: &'a Plan,
    new: &'a Plan,
    population: Population,
    /// Paths denied by hosts, or skipped by neighbours.
    avoided_places: BTreeSet<Place>,
    /// Places with work in progress in the current wave.
    work_places: BTreeSet<Place>,
    /// Switches whose configuration no longer contains removed elements.
    cleaned_switches: BTreeSet<Switch>,
    stopped_nics: BTreeSet<Nic>,
    taken_out: bool,
    installed: bool,
    /// New places that switches already use.
    joined_places: BTreeSet<Place>,
    /// Switches that have ports towards new elements.
    extended_switches: BTreeSet<Switch>,
    replaced: bool,
}

/// Returns the switches at the ends of a cable.
fn ends(fabric: &Fabric, link: Link) -> Vec<Switch> {
    let lower = if let Link::Fabric { lower, .. } = link { Some(lower) } else { None };
    fabric.upper_end(link).map(|(switch, _)| switch).into_iter().chain(lower).collect()
}

impl State<'_> {
    fn applies(&mut self, wave: &Wave, step: &Step) {
        let of = |plane: PlaneId| wave.drained.iter().filter(move |place| place.plane() == plane);
        match step {
            Step::DenyPaths { plane, .. } | Step::Drain { plane, .. } => {
                self.avoided_places.extend(of(*plane));
            }
            Step::AllowPaths { plane, .. } | Step::Return { plane, .. } => {
                self.work_places.clear();
                for place in of(*plane).filter(|place| !wave.removed_places.contains(place)) {
                    self.avoided_places.remove(place);
                }
            }
            Step::StopNics { .. } => self.stopped_nics.extend(&self.population.nics.removed),
            Step::StartNics { .. } => self.stopped_nics.clear(),
            Step::Install { .. } if wave.plane.is_none() => self.installed = true,
            Step::Install { .. }
            | Step::Replace { .. }
            | Step::Upgrade { .. }
            | Step::Add { .. }
            | Step::Change { .. }
            | Step::Reload { .. } => {
                self.work_places.extend(wave.drained.iter());
                self.extended_switches.extend(&wave.switches);
            }
            Step::Join { .. } => self.joined_places.extend(&wave.joined_places),
            Step::Part { .. } => panic!("only what undoes a wave has it"),
            Step::Remove { .. } => {
                self.cleaned_switches.extend(wave.switches.difference(&wave.stale_switches));
            }
            Step::ReplaceTables { .. } => self.replaced = true,
            Step::TakeOut { .. } => self.taken_out = true,
            Step::WaitIdle | Step::Verify | Step::ReplaceNics { .. } => {}
        }
    }

    /// Returns the cables that carry traffic, according to the current tables or routes.
    fn used_cables(&self) -> BTreeSet<Link> {
        if self.replaced {
            let fabric = self.new.fabric();
            return fabric.links().filter(|link| !fabric.is_drained(*link)).collect();
        }
        let fabric = self.old.fabric();
        let stopped = |link: &Link| matches!(link, Link::Host(port) if self.stopped_nics.contains(&port.nic));
        let left = |link: &Link| {
            let switches = ends(fabric, *link).into_iter().map(Place::Switch);
            switches.chain([Place::Link(*link)]).any(|place| self.avoided_places.contains(&place))
        };
        let used = fabric.links().filter(|link| !fabric.is_drained(*link) && !stopped(link) && !left(link));
        let new = self.new.fabric();
        let joined = |link: &Link| {
            let switches = ends(new, *link).into_iter().map(Place::Switch);
            switches.chain([Place::Link(*link)]).any(|place| self.joined_places.contains(&place))
        };
        used.chain(new.links().filter(joined)).collect()
    }

    /// Returns the cables that are absent or being moved.
    fn unusable(&self) -> BTreeSet<Link> {
        let (old, new) = (self.old.fabric(), self.new.fabric());
        let mut found = BTreeSet::new();
        for link in old.links() {
            let switches = ends(old, link);
            let place = |place: &Place| self.work_places.contains(place);
            let is_worked_on =
                place(&Place::Link(link)) || switches.iter().any(|s| place(&Place::Switch(*s)));
            let goes = !new.has_link(link);
            if is_worked_on
                || goes && (self.taken_out || switches.iter().any(|s| self.cleaned_switches.contains(s)))
            {
                found.insert(link);
            }
        }
        let is_ready = |link: &Link| {
            self.installed && ends(new, *link).iter().all(|switch| self.extended_switches.contains(switch))
        };
        found.extend(new.links().filter(|link| !old.has_link(*link) && !is_ready(link)));
        found
    }
}

fn check(old: &Plan, new: &Plan, planes: f64) -> Result<(), TestCaseError> {
    let limit = Limit { share: planes * Limit::one_plane(old.topology()).share };
    let rollout = match Rollout::new(old, new, limit) {
        Ok(rollout) => rollout,
        Err(
            RolloutError::AtOnce { .. }
            | RolloutError::Segments(_)
            | RolloutError::TooNarrow { .. }
            | RolloutError::CutOff { .. }
            | RolloutError::Target { .. },
        ) => return Ok(()),
    };
    let population = Population::compare(old.fabric(), new.fabric());
    let mut state = State {
        old,
        new,
        population,
        avoided_places: BTreeSet::new(),
        work_places: BTreeSet::new(),
        cleaned_switches: BTreeSet::new(),
        stopped_nics: BTreeSet::new(),
        taken_out: false,
        installed: false,
        joined_places: BTreeSet::new(),
        extended_switches: BTreeSet::new(),
        replaced: false,
    };
    for (number, wave) in rollout.waves.iter().enumerate() {
        for step in &wave.steps {
            state.applies(wave, step);
            let (used, unusable) = (state.used_cables(), state.unusable());
            let wrong: Vec<String> = used.intersection(&unusable).map(|link| old.link_name(*link)).collect();
            prop_assert!(wrong.is_empty(), "wave {number}, `{step}`: {wrong:?} in use\n{:#?}", rollout.waves);
        }
        state.work_places.clear();
    }
    // Each removed element is listed exactly once.
    let gone: Vec<Place> = rollout.waves.iter().flat_map(|wave| wave.removed_places.clone()).collect();
    let once: BTreeSet<Place> = gone.iter().copied().collect();
    prop_assert_eq!(gone.len(), once.len());
    let exceptions = &old.topology().exceptions;
    for switch in &state.population.switches.removed {
        let drained =
            exceptions.drained_switches.contains(switch) || exceptions.drained_planes.contains(&switch.plane);
        prop_assert!(drained || once.contains(&Place::Switch(*switch)), "{switch:?} goes and is not named");
    }
    for place in &once {
        let stays = match place {
            Place::Switch(switch) => new.fabric().has_switch(*switch),
            Place::Link(link) => new.fabric().has_link(*link),
        };
        prop_assert!(!stays, "{place:?} is named as gone and stays");
    }
    Ok(())
}

/// Returns a shape, and the same shape with each count slightly larger or smaller.
fn resized_shapes() -> impl Strategy<Value = (Shape, Shape)> {
    let small =
        two_tiers().prop_filter("few enough cables", |shape| shape.groups * shape.planes as u16 <= 16);
    (prop_oneof![small, three_tiers()], any::<[u8; 5]>()).prop_map(|(shape, by)| {
        let new = shape.resize(by.map(|by| i32::from(by % 3) - 1));
        (shape, new)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_used_that_is_gone_or_drained((old, new) in related_shapes(), routing in any_routing()) {
        check(&old.plan_with_routing(routing), &new.plan_with_routing(routing), 2.0)?;
    }

    #[test]
    fn nothing_is_used_that_smaller_numbers_have_no_place_for(
        (old, new) in resized_shapes(), routing in any_routing(), drained in any::<bool>(),
    ) {
        let mut new = new;
        if drained {
            new.exceptions = "exceptions: { drained: [p0-t1-001] }\n".to_owned();
        }
        if try_plan(&new.yaml()).is_ok() {
            check(&old.plan_with_routing(routing), &new.plan_with_routing(routing), 2.0)?;
        }
    }
}

const LARGE: Shape = Shape {
    planes: 2,
    groups: 3,
    per_group: 3,
    rails: 1,
    t1: 3,
    parallel: 1,
    t2: None,
    exceptions: String::new(),
};

/// Three T0s and T1s per plane become two. Hosts first stop using the third ones, and never return to them.
#[test]
fn a_smaller_fabric_leaves_what_goes_first() {
    for routing in [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered] {
        let small = Shape { groups: 2, per_group: 2, t1: 2, ..LARGE };
        let (old, new) = (LARGE.plan_with_routing(routing), small.plan_with_routing(routing));
        let rollout =
            Rollout::new(&old, &new, Limit::one_plane(old.topology())).expect("it can be rolled out");
        let text = named_waves(&rollout, &old, &new);
        assert_eq!(text[0].gone, ["p0-t0-003", "p0-t1-003", "p1-t0-003", "p1-t1-003"], "{routing:?}");
        let waves: Vec<_> =
            rollout.waves.iter().map(|wave| (wave.plane.map(|p| p.0), wave.drained.len())).collect();
        assert_eq!(waves, [(None, 4), (None, 0)], "what stays is not drained, {routing:?}");
        let words: Vec<&str> =
            text.iter().flat_map(|wave| &wave.steps).map(|step| step.action.as_str()).collect();
        assert!(!words.contains(&"add"), "nothing comes: {words:?}");
        assert!(words.contains(&"stop-nics") && words.ends_with(&["take-out"]), "{words:?}");
        check(&old, &new, 1.0).expect("nothing is used that goes");
    }
}

/// A switch that is used again gets its new configuration first. If it also loses a cable in use, packets of that cable
/// would be lost until the cable is drained, so no order is offered.
#[test]
fn an_undrained_switch_keeps_cables_in_use() {
    let of = |lines: &str| {
        let exceptions = format!("exceptions: {{ {lines} }}\n");
        Shape { planes: 2, groups: 4, t1: 4, exceptions, ..Shape::SMALL }
            .plan_with_routing(Routing::EcmpStatic)
    };
    let cable = |t0: u8| format!("p0-t0-00{t0}--p0-t1-001");
    let old = of(&format!("drained: [{}, {}]", cable(1), cable(2)));
    let order = |new: &Plan| Rollout::new(&old, new, Limit { share: 0.5 });
    let idle = order(&of(&format!("absent: [{}]", cable(2)))).expect("the removed cable is drained");
    let t1 = |wave: &closc_diff::rollout::Wave| wave.switches.iter().any(|switch| switch.tier == TierId::T1);
    assert!(t1(&idle.waves[0]), "{idle:#?}");
    let refused = order(&of(&format!("absent: [{}, {}]", cable(2), cable(3)))).expect_err("it is refused");
    assert_eq!(
        refused.to_string(),
        "no order keeps traffic up: a switch with an undrained cable also loses a cable in use: remove that cable in \
         a separate change"
    );
    // Nothing uses a drained switch, so it can lose any cable.
    let old = of(&format!("drained: [p0-t1-001, {}]", cable(2)));
    let order =
        Rollout::new(&old, &of(&format!("absent: [{}, {}]", cable(2), cable(3))), Limit { share: 0.5 });
    assert!(order.is_ok(), "{order:#?}");
}
