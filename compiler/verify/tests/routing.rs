//! Fabrics in which switches choose the way: what can be checked is, and what is not is said.

mod common;

use closc_artefacts::Memory;
use closc_tests::shape;
use closc_verify::{Options, Report, verify};

fn tree(routing: &str, target: &str) -> Memory {
    common::tree(&shape::plan(&format!(
        "fabric: other\nplanes: 2\nrouting: {routing}\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 \
         }}, os: linux }}\ntiers:\n  t0: {{ {target}, up: 2 }}\n  t1: {{ {target} }}\ncables:\n  nic-t0: {{ length: 1m, \
         medium: dac }}\n  t0-t1: {{ length: 2m, medium: dac }}\naddresses: {{ management: 10.64.0.0/14 }}\n"
    )))
}

fn report(tree: &Memory) -> Report {
    verify(tree, &Options { hardware: common::hardware(), ..Options::default() })
        .expect("the tree can be read")
}

const SONIC: &str = "platform: th5-512x100g, os: sonic";
const FRR: &str = "platform: linux, os: frr";

#[test]
fn what_is_not_proved_is_said() {
    for (routing, target) in [
        ("ecmp-static", SONIC),
        ("ecmp-static", FRR),
        ("ecmp-static", "platform: linux, os: linux"),
        ("ecmp-static", "platform: bmv2, os: p4"),
        ("bgp-unnumbered", SONIC),
        ("bgp-unnumbered", FRR),
    ] {
        let report = report(&tree(routing, target));
        let text = report.text();
        assert!(report.holds(), "{routing}, {target}\n{text}");
        assert!(report.paths.is_none() && report.walk.is_none(), "nothing is claimed of paths");
        assert!(text.contains(&format!("not proved with routing {routing}: what nodes do")), "{text}");
        let speaks_bgp = text.contains("what happens while sessions come up or go down");
        assert_eq!(speaks_bgp, routing == "bgp-unnumbered", "{text}");
        let delivery = report.delivery.expect("deliveries are counted where switches choose");
        assert!(delivery.deliveries > 0 && delivery.arrive == delivery.deliveries, "{text}");
    }
}

#[test]
fn cables_are_checked_all_the_same() {
    for (routing, target) in [("ecmp-static", FRR), ("bgp-unnumbered", FRR), ("bgp-unnumbered", SONIC)] {
        let mut tree = tree(routing, target);
        let list = tree.files.get_mut(camino::Utf8Path::new("cables/plane-0.csv")).expect("a list");
        let text = String::from_utf8(list.clone()).expect("text");
        let swapped = text.replace("p0-t1-001,", "\0").replace("p0-t1-002,", "p0-t1-001,");
        *list = swapped.replace('\0', "p0-t1-002,").into_bytes();
        common::sign(&mut tree, "other", routing);
        let report = report(&tree);
        let found = report.violations.iter().any(|violation| violation.rule.code == "V0203");
        assert!(found, "{routing}: a device expects another neighbour\n{}", report.text());
    }
}

#[test]
fn lengths_of_single_cables_raise_no_alarm() {
    let fabric = |cables: &str| {
        let tier = "platform: linux, os: linux";
        let yaml = format!(
            "fabric: other\nplanes: 2\nzones: 2\nrouting: srv6-static\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, \
             lanes: 2 }}, os: linux }}\ntiers:\n  t0: {{ {tier}, up: 2 }}\n  t1: {{ {tier}, up: 2 }}\n  t2: {{ {tier} }}\ncables:\n  \
             nic-t0: {{ length: 3m, medium: virtual }}\n  t0-t1: {{ length: 30m, medium: virtual }}\n  t1-t2: {{ length: \
             500m, medium: virtual }}\n{cables}"
        );
        common::tree(&shape::plan(&yaml))
    };
    let single = |nic: &str, t0: &str, t1: &str| {
        format!(
            "exceptions:\n  cables:\n    z0-su001-n001/nic0.p0: {{ length: {nic} }}\n    z0-p0-t0-001--z0-p0-t1-001: {{ length: {t0} \
             }}\n    z1-p1-t1-002--p1-t2-001: {{ length: {t1} }}\n"
        )
    };
    for cables in [String::new(), single("1m", "1m", "1m"), single("300m", "2km", "80km")] {
        let report = report(&fabric(&cables));
        assert!(report.holds(), "{cables}\n{}", report.text());
    }
}
