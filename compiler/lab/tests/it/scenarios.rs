//! Scenarios on a fabric. The shipped ones are valid, and expected values are derived from the cables. Invalid ones
//! are rejected with line and column. The tests do not need a network.

use closc_lab::job::{
    JobEndpoint, Pattern, RemainingCapacity, Scenario, ScenarioFault, Spread, Timeline, Work, seats,
};
use closc_lab::model::Model;
use closc_lab::tree::{Digests, Tree};

use crate::common::{CompiledTree, compile, shipped};

struct Fabric {
    _compiled: CompiledTree,
    model: Model,
    seats: Vec<JobEndpoint>,
    spread: Spread,
}

impl Fabric {
    fn new() -> Fabric {
        Fabric::of(&shipped("lab/eight-planes"), false)
    }

    /// `rated` states that every cable has the rate of a NIC port.
    fn of(yaml: &str, rated: bool) -> Fabric {
        let compiled = compile(yaml, "sc");
        let tree = Tree::read_with(&compiled.tree, Digests::Compared).unwrap();
        let model = Model::of(&tree).unwrap();
        let seats = seats(&tree, &model);
        let spread = Spread::new(&tree, &model, &seats, rated);
        Fabric { _compiled: compiled, model, seats, spread }
    }

    fn bind(&self, text: &str, pattern: Pattern) -> Result<Timeline, ScenarioFault> {
        let work = Work::new(pattern, self.seats.len(), 1, None, 1);
        Timeline::bind(&Scenario::parse(text)?, &self.model, &self.spread, &work)
    }

    fn plan(&self, steps: &str, pattern: Pattern) -> Vec<f64> {
        self.remaining_capacity(steps, pattern).iter().map(|left| left.goodput).collect()
    }

    fn remaining_capacity(&self, steps: &str, pattern: Pattern) -> Vec<RemainingCapacity> {
        self.bind(&format!("duration: 60s\nsteps:\n{steps}"), pattern).unwrap().plan
    }
}

#[test]
fn what_ships_fits() {
    let fabric = Fabric::new();
    assert_eq!(fabric.seats.len(), 8);
    for (name, left) in [
        ("t1-reboot", vec![1.0, 1.0, 1.0]),
        ("gray-cable", vec![1.0, 1.0, 1.0]),
        ("plane-down", vec![1.0, 7.0 / 8.0, 1.0]),
        // Of eight NICs, two have one plane less: the NIC itself and its sender. A plane is one of eight.
        ("nic-port", vec![1.0, 31.0 / 32.0, 1.0]),
        ("all-in-one", vec![1.0, 1.0, 1.0, 31.0 / 32.0, 27.0 / 32.0, 1.0]),
    ] {
        let text = shipped(&format!("lab/scenarios/{name}"));
        let timeline = fabric.bind(&text, Pattern::Permutation).unwrap();
        let found: Vec<f64> = timeline.plan.iter().map(|left| left.goodput).collect();
        assert_eq!(found, left, "{name}");
        assert!(Scenario::parse(&text).unwrap().expect.lost_messages == Some(0), "{name}");
    }
}

#[test]
fn what_is_left_follows_from_the_cables_and_the_pattern() {
    let fabric = Fabric::new();
    let port = "  - { at: 2s, nic-port: su001-n001/nic0.p5 }\n";
    assert_eq!(fabric.plan(port, Pattern::Ring), [1.0, 7.0 / 8.0], "all wait for the slowest");
    // 14 of 56 pairs have that NIC at an end.
    assert_eq!(fabric.plan(port, Pattern::AllToAll), [1.0, 1.0 - 14.0 / 56.0 / 8.0]);
    assert_eq!(fabric.plan(port, Pattern::Incast), [1.0, 7.0 / 8.0], "the target's own port");
    // A plane with all T1s cut connects only NICs of the same T0.
    let all = "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 2s, cut: p0-t1-002 }\n  - { at: 2s, cut: p0-t1-003 }\n  \
        - { at: 2s, cut: p0-t1-004 }\n";
    let plan = fabric.plan(all, Pattern::AllToAll);
    assert_eq!(plan[..4], [1.0; 4]);
    let far = 48.0 / 56.0;
    assert!((plan[4] - (1.0 - far / 8.0)).abs() < 1e-9, "{plan:?}");
    let back = format!("{port}  - {{ at: 3s, plane: 2 }}\n  - {{ at: 4s, restore: plane 2 }}\n");
    assert_eq!(fabric.plan(&back, Pattern::Ring), [1.0, 7.0 / 8.0, 6.0 / 8.0, 7.0 / 8.0]);
}

/// A cut uplink reduces paths by its share. It does not reduce goodput as long as only NIC ports limit the rate. If
/// all cables have a limited rate and there are as many uplinks as NICs, goodput falls by 1 / uplinks in all planes.
#[test]
fn a_cut_uplink_costs_paths_and_where_none_is_to_spare_goodput() {
    let cut = "  - { at: 2s, cut: p0-t0-001--p0-t1-001 }\n";
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} and not {wanted}");
    let left = Fabric::new().remaining_capacity(cut, Pattern::AllToAll)[1];
    // 24 of 56 pairs are between that group and another, and lose one of 32 paths.
    near(left.paths, 1.0 - 24.0 / 56.0 / 32.0);
    near(left.goodput, 1.0);
    for uplinks in [2, 4, 8] {
        let text = shipped("lab/two-planes-p4").replace("per_group: 2", &format!("per_group: {uplinks}"));
        let text = text.replace("up: 2", &format!("up: {uplinks}")).replace("os: linux", "os: none");
        let share = 1.0 / f64::from(uplinks);
        let rated = Fabric::of(&text, true).remaining_capacity(cut, Pattern::Bisection)[1];
        near(rated.goodput, 1.0 - share);
        near(rated.paths, 1.0 - share / 2.0);
        near(Fabric::of(&text, false).remaining_capacity(cut, Pattern::Bisection)[1].goodput, 1.0);
    }
    // With one NIC and two uplinks, the other uplink carries all traffic.
    let spare =
        shipped("lab/two-planes-p4").replace("per_group: 2", "per_group: 1").replace("os: linux", "os: none");
    near(Fabric::of(&spare, true).remaining_capacity(cut, Pattern::Bisection)[1].goodput, 1.0);
}

/// Two groups without a common T1 have no path, even if other T0s are connected to all T1s.
#[test]
fn t1s_that_two_groups_have_not_in_common_join_nobody() {
    let fabric = Fabric::of(&shipped("lab/two-planes").replace("groups: 2", "groups: 3"), false);
    let cut = "  - { at: 2s, cut: p0-t0-001--p0-t1-001 }\n  - { at: 2s, cut: p0-t0-002--p0-t1-002 }\n";
    let left = fabric.remaining_capacity(cut, Pattern::AllToAll)[2];
    // 8 of 30 pairs are between those two groups. They lose half of their planes, and have no path in the other half.
    assert!((left.goodput - (1.0 - 8.0 / 30.0 / 2.0)).abs() < 1e-9, "{left:?}");
    // The 16 pairs with the third group have one of two paths there.
    assert!((left.paths - (1.0 - 8.0 / 30.0 / 2.0 - 16.0 / 30.0 / 4.0)).abs() < 1e-9, "{left:?}");
}

#[test]
fn zones_are_joined_by_what_is_left_between_t1s_and_t2s() {
    let fabric = Fabric::of(&shipped("examples/three-tiers"), true);
    let whole = fabric.remaining_capacity("", Pattern::AllToAll)[0];
    assert_eq!((whole.goodput, whole.paths), (1.0, 1.0));
    let cut = fabric.remaining_capacity("  - { at: 2s, cut: z0-p0-t1-001 }\n", Pattern::AllToAll)[1];
    assert!(cut.paths < 1.0 && cut.paths > 0.5 && cut.goodput <= 1.0, "{cut:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let fabric = Fabric::new();
    let cases = [
        ("  - { at: 2s, cut: p0-t1-033 }\n", "3:5: ", "p0-t1-033"),
        ("  - { at: 2s, cut: su001-n001 }\n", "3:5: ", "su001-n001"),
        ("  - { at: 2s, plane: 8 }\n", "3:5: ", "no plane 8 in this fabric; expected 0 to 7"),
        ("  - { at: 2s, nic-port: p0-t0-001--p0-t1-001 }\n", "3:5: ", "is not the cable of a NIC port"),
        (
            "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 3s, cut: p0-t1-001 }\n",
            "4:5: ",
            "not possible while p0-t1-001 cut",
        ),
        (
            "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 3s, restore: p0-t1-002 }\n",
            "4:5: ",
            "faults at that time: `p0-t1-001`",
        ),
        ("  - { at: 2s, restore: all }\n", "3:5: ", "there is no fault at that time"),
        (
            "  - { at: 2s, plane: 0 }\n  - { at: 3s, miswire: [p0-t0-001--p0-t1-001, p0-t0-002--p0-t1-001] }\n",
            "4:5: ",
            "not possible while plane 0 down",
        ),
    ];
    for (steps, place, wanted) in cases {
        let error = fabric.bind(&format!("duration: 60s\nsteps:\n{steps}"), Pattern::Ring).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(place) && said.contains(wanted), "{steps}{said}");
    }
}
