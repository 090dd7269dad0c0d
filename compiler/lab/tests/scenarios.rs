//! Scenarios on a fabric: those that ship fit it, what should be left follows from the cables, and what does not fit is
//! refused with its place. Nothing here needs a network.

mod common;

use closc_lab::job::{Pattern, Scenario, ScenarioFault, Seat, Timeline, Work, seats};
use closc_lab::model::Model;
use closc_lab::tree::{Digests, Tree};

use common::{Compiled, compile, shipped};

struct Fabric {
    _compiled: Compiled,
    model: Model,
    seats: Vec<Seat>,
}

impl Fabric {
    fn new() -> Fabric {
        let compiled = compile(&shipped("lab/eight-planes"), "sc");
        let tree = Tree::read_with(&compiled.tree, Digests::Compared).unwrap();
        let model = Model::of(&tree).unwrap();
        let seats = seats(&tree, &model);
        Fabric { _compiled: compiled, model, seats }
    }

    fn bind(&self, text: &str, pattern: Pattern) -> Result<Timeline, ScenarioFault> {
        let work = Work::new(pattern, self.seats.len(), 1, None, 1);
        Timeline::bind(&Scenario::parse(text)?, &self.model, &self.seats, &work)
    }

    fn plan(&self, steps: &str, pattern: Pattern) -> Vec<f64> {
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
        // Two of eight NICs, the one that sends over it and the one that it receives from, have seven of eight planes.
        ("nic-port", vec![1.0, 31.0 / 32.0, 1.0]),
        ("all-in-one", vec![1.0, 1.0, 1.0, 31.0 / 32.0, 27.0 / 32.0, 1.0]),
    ] {
        let text = shipped(&format!("lab/scenarios/{name}"));
        let timeline = fabric.bind(&text, Pattern::Permutation).unwrap();
        assert_eq!(timeline.plan, left, "{name}");
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
    // A plane whose T1s are all cut joins only NICs of one T0.
    let all = "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 2s, cut: p0-t1-002 }\n  - { at: 2s, cut: p0-t1-003 }\n  \
        - { at: 2s, cut: p0-t1-004 }\n";
    let plan = fabric.plan(all, Pattern::AllToAll);
    assert_eq!(plan[..4], [1.0; 4]);
    let far = 48.0 / 56.0;
    assert!((plan[4] - (1.0 - far / 8.0)).abs() < 1e-9, "{plan:?}");
    let back = format!("{port}  - {{ at: 3s, plane: 2 }}\n  - {{ at: 4s, restore: plane 2 }}\n");
    assert_eq!(fabric.plan(&back, Pattern::Ring), [1.0, 7.0 / 8.0, 6.0 / 8.0, 7.0 / 8.0]);
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let fabric = Fabric::new();
    let cases = [
        ("  - { at: 2s, cut: p0-t1-033 }\n", "3:5: ", "p0-t1-033"),
        ("  - { at: 2s, cut: su001-n001 }\n", "3:5: ", "su001-n001"),
        ("  - { at: 2s, plane: 8 }\n", "3:5: ", "plane 8 is not there: the fabric has planes 0 to 7"),
        ("  - { at: 2s, nic-port: p0-t0-001--p0-t1-001 }\n", "3:5: ", "is the cable of no NIC port"),
        (
            "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 3s, cut: p0-t1-001 }\n",
            "4:5: ",
            "not while p0-t1-001 cut",
        ),
        (
            "  - { at: 2s, cut: p0-t1-001 }\n  - { at: 3s, restore: p0-t1-002 }\n",
            "4:5: ",
            "broken then: `p0-t1-001`",
        ),
        ("  - { at: 2s, restore: all }\n", "3:5: ", "nothing is broken then"),
        (
            "  - { at: 2s, plane: 0 }\n  - { at: 3s, miswire: [p0-t0-001--p0-t1-001, p0-t0-002--p0-t1-001] }\n",
            "4:5: ",
            "not while plane 0 down",
        ),
    ];
    for (steps, place, wanted) in cases {
        let error = fabric.bind(&format!("duration: 60s\nsteps:\n{steps}"), Pattern::Ring).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(place) && said.contains(wanted), "{steps}{said}");
    }
}
