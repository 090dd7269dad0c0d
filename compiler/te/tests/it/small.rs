//! Small fabrics that can be checked by hand.

use closc_plan::Plan;
use closc_platform::Balance;
use closc_te::{FaultKind, Matrix, Options, Outcome, Via, engineer, fail};
use closc_tests::shape::{Shape, T2, plan};
use closc_topology::TierBalance;

/// Two planes of two T0s and two T1s, two NICs of 2 x 100G in each group.
const LAB: &str = include_str!("../../../../topologies/lab/two-planes.yaml");

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

fn matrix(plan: &Plan, rows: &str) -> Matrix {
    let text = format!("source,destination,gbps\n{rows}");
    Matrix::from_csv(plan, text.as_bytes()).unwrap_or_else(|faults| panic!("{rows}: {faults:?}"))
}

fn fail_elements(plan: &Plan, names: &[&str]) -> Plan {
    let mut topology = plan.topology().clone();
    for name in names {
        fail(&mut topology, name).unwrap_or_else(|unknown| panic!("{unknown}"));
    }
    Plan::new(closc_fabric::Fabric::new(std::sync::Arc::new(topology)))
}

fn place(plan: &Plan, rows: &str) -> Outcome {
    engineer(plan, &matrix(plan, rows), &Options::default()).expect("there are not too many pairs")
}

#[test]
fn an_even_fabric_needs_no_pins() {
    let plan = plan(LAB);
    // 100 Gb/s from two NICs over two planes: 25 on each NIC port, 100 / 4 on each uplink.
    let placed = place(&plan, "group-0001,group-0002,100\n");
    close(placed.max(), 0.25);
    close(placed.ecmp_max(), 0.25);
    close(placed.bound(), 0.25);
    assert_eq!(placed.pin_count(), 0);
    assert!(placed.fits());
}

/// The report lists pins of the file. They change no figure.
#[test]
fn pins_of_the_file_are_not_counted_and_named() {
    let hashed = plan(&LAB.replace("srv6-static", "ecmp-static"));
    let pinned = plan(&format!("{}ecmp: {{ pin: downlink }}\n", LAB.replace("srv6-static", "ecmp-static")));
    let rows = "su001-n001/nic0,su002-n001/nic0,40\n";
    let report = |plan: &Plan| place(plan, rows).report(plan, &[]);
    assert!(report(&hashed).not_counted.is_empty());
    let found = report(&pinned);
    assert_eq!(found.not_counted, ["`ecmp.pin: downlink`"]);
    assert_eq!(found.methods, report(&hashed).methods);
    assert!(closc_te::human(&found).contains("not counted: `ecmp.pin: downlink` of the file"));
}

/// Returns the same plan with a different balancing of its switches. The model does not check which systems
/// support it.
fn with_balance(plan: &Plan, balance: TierBalance) -> Plan {
    let mut topology = plan.topology().clone();
    topology.ecmp.balance = balance;
    Plan::new(closc_fabric::Fabric::new(std::sync::Arc::new(topology)))
}

/// Hashed flows collide. Switches that balance by load or packet by packet use all paths. Flowlets count as a hash.
#[test]
fn balancing_by_packet_spreads_every_flow() {
    let hashed = plan(&LAB.replace("srv6-static", "ecmp-static"));
    let rows = "group-0001,group-0002,100\n";
    let of = |balance| {
        let plan = with_balance(&hashed, TierBalance { t0: balance, ..TierBalance::default() });
        let placed = place(&plan, rows);
        (placed.max(), placed.pin_count(), placed.report(&plan, &[]))
    };
    let (hash, ..) = of(Balance::Hash);
    for balance in [Balance::Adaptive, Balance::Spray] {
        let (max, pins, report) = of(balance);
        close(max, 0.25);
        assert_eq!((pins, &report.balanced[..]), (0, &[format!("`{}` on T0s", balance.keyword())][..]));
        assert!(closc_te::human(&report).contains("as placed, switches balance: `"));
    }
    let (flowlets, pins, report) = of(Balance::Flowlet);
    close(flowlets, hash);
    assert_eq!((pins > 0, report.balanced.len()), (place(&hashed, rows).pin_count() > 0, 1));
}

/// Each tier balances on its own. If some tiers hash, no flows collide in the others, and everything arrives.
#[test]
fn tiers_balance_by_themselves() {
    let t2 = T2 { zones: 2, steps: 4, parallel: 1, rows: 0, node_zones: 1 };
    let yaml = Shape { groups: 4, t1: 4, t2: Some(t2), ..Shape::SMALL }.yaml();
    let plan = plan(&format!("routing: ecmp-static\n{yaml}"));
    let rows = "zone 0,zone 1,100\n";
    let of = |t0, t1, t2| {
        let placed = place(&with_balance(&plan, TierBalance { t0, t1, t2 }), rows);
        let report = placed.report(&plan, &[]);
        let te = report.methods.into_iter().find(|method| method.name == "te").expect("the method");
        te.tiers.into_iter().map(|tier| (tier.figures.max, tier.figures.mean)).collect::<Vec<_>>()
    };
    let (hash, adaptive) = (Balance::Hash, Balance::Adaptive);
    let all = of(adaptive, adaptive, adaptive);
    let above = of(adaptive, hash, hash);
    let below = of(hash, adaptive, adaptive);
    for (one, other) in [(&all, &above), (&all, &below)] {
        for ((_, mean), (_, of_other)) in one.iter().zip(other) {
            close(*mean, *of_other);
        }
    }
    // The stages are NIC up, T0 up, T1 up, T1 down, T0 down and NIC down.
    assert!(all.iter().zip(&above).all(|((one, _), (other, _))| *one <= other + 1e-9), "{all:?} {above:?}");
    close(all[1].0, above[1].0);
    assert!(all.iter().zip(&above).any(|((one, _), (other, _))| *one < other - 1e-9), "{all:?} {above:?}");
}

#[test]
fn places_are_spread_over_their_nics() {
    let plan = plan(LAB);
    // `all` to `all`: each of 4 NICs sends a quarter of the demand, and a third of that to its neighbour on the same
    // T0.
    let placed = place(&plan, "all,all,240\n");
    let report = placed.report(&plan, &[]);
    let tiers = &report.methods[0].tiers;
    close(tiers[0].figures.max, 60.0 / 2.0 / 100.0);
    assert_eq!((tiers[1].tier, tiers[1].figures.cables), ("T0 to T1", 8));
    // Two NICs send 60 each, and two thirds of that leave the group: 80 over 4 uplinks.
    close(tiers[1].figures.mean, 0.2);
    // The node has one NIC, which sends 50 Gb/s (`mbps` is Mb/s) over two ports of 100G. A demand of 0 adds nothing.
    let text = "destination,mbps,source\nsu002-n001/nic0,50000,su001-n001\nzone 0,0,all\n";
    let placed =
        engineer(&plan, &Matrix::from_csv(&plan, text.as_bytes()).expect("it is legal"), &Options::default())
            .expect("there are not too many pairs");
    close(placed.max(), 0.25);
}

#[test]
fn a_plane_that_lost_half_its_uplinks_gets_less() {
    let plan = fail_elements(&plan(LAB), &["p0-t1-001"]);
    // Plane 0 has one uplink left, and plane 1 has two. 240 over three uplinks are 80 each, so 80 in plane 0 and 160 in
    // plane 1. Spread evenly over planes, it would be 120 on the single uplink. NIC ports carry 80 in plane 1.
    let placed = place(&plan, "group-0001,group-0002,240\n");
    close(placed.ecmp_max(), 1.2);
    assert!((placed.max() - 0.8).abs() < 0.002, "{}", placed.max());
    assert!((placed.bound() - 0.8).abs() < 0.002, "{}", placed.bound());
    let pins: Vec<_> = placed.pins(&plan).collect();
    assert_eq!(pins.len(), 1);
    let weights: Vec<_> = pins[0].planes.iter().map(|plane| (plane.plane, plane.weight)).collect();
    assert_eq!(weights, [(0, 500), (1, 1000)]);
    assert!(pins[0].planes.iter().all(|plane| plane.via == Via::Even(true)));
    assert!(placed.fits());
}

#[test]
fn what_does_not_fit_is_said_with_the_reason() {
    let base = plan(LAB);
    // Two NICs send 400 Gb/s at most.
    let placed = place(&base, "group-0001,group-0002,500\n");
    assert!(!placed.fits());
    let report = placed.report(&base, &[]);
    close(report.carried_gbps, 400.0);
    assert_eq!(report.unplaced.len(), 1);
    assert!(report.unplaced[0].why.contains("full"), "{:?}", report.unplaced);
    // No T1 remains.
    let names = ["p0-t1-001", "p0-t1-002", "plane 1"];
    let dark = fail_elements(&base, &names);
    let placed = place(&dark, "group-0001,group-0002,10\nsu001-n001,su001-n002,5\n");
    let report = placed.report(&dark, &names.map(str::to_owned));
    close(report.carried_gbps, 5.0);
    assert!(report.unplaced[0].why.contains("no plane"), "{:?}", report.unplaced);
    // A NIC that does not exist sends nothing; one without a cable cannot send.
    let holes = fail_elements(&base, &["su001-n001/nic0", "su001-n002/nic0.p0", "su001-n002/nic0.p1"]);
    let placed = place(&holes, "su001-n001,group-0002,1\nsu001-n002,group-0002,2\n");
    let why: Vec<_> = placed.report(&holes, &[]).unplaced.iter().map(|left| (left.gbps, left.why)).collect();
    assert_eq!(why.len(), 2);
    assert!(why[0].1.contains("no usable cable") && why[1].1.contains("no NIC"), "{why:?}");
}

#[test]
fn single_nics_are_counted_one_by_one() {
    let plan = plan(LAB);
    // One NIC of the group sends everything: its two ports carry 80 each.
    let placed = place(&plan, "su001-n001,group-0002,160\n");
    close(placed.max(), 0.8);
    let report = placed.report(&plan, &[]);
    assert_eq!(report.hottest[0].cable, "su001-n001/nic0.p0");
    assert!(report.proof.contains("su001-n001/nic0"), "{}", report.proof);
}

#[test]
fn switches_that_hash_get_one_path_for_each_slice() {
    let yaml = LAB.replace("srv6-static", "ecmp-static");
    let plan = plan(&yaml);
    let placed = place(&plan, "group-0001,group-0002,200\n");
    // Two slices of one NIC each, on two uplinks of each plane: 50 on each of four uplinks.
    close(placed.max(), 0.5);
    let pins: Vec<_> = placed.pins(&plan).collect();
    assert_eq!(pins.len(), 2);
    let mut ports = std::collections::BTreeSet::new();
    for pin in &pins {
        assert_eq!(pin.to_nics.as_ref().map(Vec::len), Some(1));
        for plane in &pin.planes {
            let Via::Hops(hops) = &plane.via else { panic!("{plane:?}") };
            assert_eq!(hops.len(), 2);
            assert_eq!(hops[0].switch, format!("p{}-t0-001", plane.plane));
            ports.insert((plane.plane, hops[0].port.clone()));
        }
    }
    assert_eq!(ports.len(), 4);
}

#[test]
fn faults_of_a_matrix_come_all_at_once_with_their_lines() {
    let plan = plan(LAB);
    let text = "source,destination,gbps\n# why not\ngroup-3,all,1\nsu001-n01,all,1\nall,all,x\nall,all\n\
                su001-n001,su001-n001/nic0,1\nsu001-n001/nic0,su001-n001/nic0,1\n";
    let faults = Matrix::from_csv(&plan, text.as_bytes()).expect_err("it is full of faults");
    let lines: Vec<u64> = faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 8], "{faults:#?}");
    assert!(faults[1].to_string().contains("did you mean `su001-n001`?"), "{}", faults[1]);
    for (header, wanted) in [
        ("from,destination,gbps\n", FaultKind::Missing("source")),
        ("source,destination\n", FaultKind::Missing("gbps")),
        ("source,destination,gbps,mbps\n", FaultKind::Twice("mbps".to_owned())),
        ("source,destination,gbps\n", FaultKind::Empty),
        ("", FaultKind::Empty),
    ] {
        let faults = Matrix::from_csv(&plan, header.as_bytes()).expect_err("it is at fault");
        assert!(faults.iter().any(|fault| fault.kind == wanted), "{header}: {faults:?}");
    }
}

/// A T1 that lost one of two cables to the destination gets half the traffic of the others, if next-hop groups have
/// weights. Static routes of FRR have none, so this T1 gets as much as the others.
#[test]
fn by_itself_the_fabric_follows_the_weights_of_the_plan() {
    let yaml = "fabric: weights\nplanes: 1\nrouting: ecmp-static\nhosts: { groups: 3, per_group: 2, nic: { speed: 100G, \
                lanes: 1 } }\ntiers:\n  t0: { platform: linux, os: linux, up: 4, parallel: 2 }\n  t1: { platform: linux, \
                os: linux }\ncables:\n  nic-t0: { length: 1m, medium: virtual }\n  t0-t1: { length: 1m, medium: virtual \
                }\nexceptions: { absent: [ p0-t0-002--p0-t1-001 ] }\n";
    let linux = plan(yaml);
    let placed = place(&linux, "group-0001,group-0002,90\n");
    // Weights 1, 1, 2, 2 on four uplinks of 100G: a third goes to the T1 with one cable, two thirds to the T1 with two.
    close(placed.ecmp_max(), 0.45);
    let report = placed.report(&linux, &[]);
    assert_eq!(report.ecmp, "weighted");
    let shown = closc_te::human(&report);
    let names: Vec<&str> = report.methods.iter().map(|method| method.name).collect();
    assert_eq!(names, ["te", "ecmp-fluid", "ecmp-hashed"]);
    assert!(shown.contains("weighted ECMP, as a fluid") && !shown.contains("ecmp even"), "{shown}");
    let up = report.methods[1].tiers.iter().find(|tier| tier.tier == "T0 to T1").expect("there are uplinks");
    close(up.figures.max, 0.3);
    let down =
        report.methods[1].tiers.iter().find(|tier| tier.tier == "T1 to T0").expect("there are uplinks");
    close(down.figures.max, 0.3);
    let frr = plan(&yaml.replace("os: linux", "os: frr"));
    let placed = place(&frr, "group-0001,group-0002,90\n");
    let report = placed.report(&frr, &[]);
    let up = report.methods[1].tiers.iter().find(|tier| tier.tier == "T0 to T1").expect("there are uplinks");
    // Without weights both T1s get equal shares, and the single cable of one T1 is full when the uplinks are half full.
    // Two full uplinks to the other T1 carry no more, so the plan keeps all four.
    close(up.figures.max, 0.225);
    let down =
        report.methods[1].tiers.iter().find(|tier| tier.tier == "T1 to T0").expect("there are uplinks");
    close(down.figures.max, 0.45);
}

/// With BGP, switches of EOS announce no bandwidths (W0906), so a T1 that lost one of two cables keeps its share.
#[test]
fn bgp_without_bandwidths_has_equal_shares() {
    let yaml = "fabric: equal\nplanes: 1\nrouting: bgp-unnumbered\nqos: none\nhosts: { groups: 3, per_group: 2, nic: { \
                speed: 200G, lanes: 2 } }\ntiers:\n  t0: { platform: th5-256x200g, os: sonic, up: 4, parallel: 2 }\n  t1: { \
                platform: th5-256x200g, os: sonic }\nexceptions: { absent: [ p0-t0-002--p0-t1-001 ] }\nwarnings: { \
                W0901: allow, W0906: allow, W0203: allow, W0302: allow, W0301: allow }\n";
    let busiest = |os: &str, tier: &str| {
        let plan = plan(&yaml.replace("os: sonic", &format!("os: {os}")));
        let report = place(&plan, "group-0001,group-0002,90\n").report(&plan, &[]);
        let tier = report.methods[1].tiers.iter().find(|row| row.tier == tier).expect("there are uplinks");
        tier.figures.max
    };
    // A third of 90 Gb/s goes to the T1 with one cable if switches announce bandwidths, and half if they do not.
    let [weighted, equal] = ["sonic", "eos"].map(|os| [busiest(os, "T0 to T1"), busiest(os, "T1 to T0")]);
    close(weighted[1] / weighted[0], 1.0);
    close(equal[1] / equal[0], 2.0);
    close(equal[1] / weighted[1], 1.5);
}
