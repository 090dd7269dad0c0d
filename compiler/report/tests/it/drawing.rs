//! Drawings have the counts of the plan, and Graphviz accepts their DOT files.

use std::io::Write as _;
use std::process::{Command, Stdio};

use closc_plan::Plan;
use closc_report::{Form, Subject, draw};
use closc_topology::{PlaneId, Switch, TierId, ZoneId};

const MRC: &str = include_str!("../../../../topologies/reference/mrc-8x512.yaml");
const EXCEPTIONS: &str = include_str!("../../../../topologies/examples/exceptions.yaml");
const MILLION: &str = include_str!("../../../../topologies/reference/million.yaml");

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

const T1: Switch = Switch { plane: PlaneId(1), tier: TierId::T1, zone: ZoneId(0), index: 2 };

#[test]
fn drawings_have_the_counts_of_the_plan() {
    let fabric = draw(&plan(MRC), Subject::Fabric, Form::Svg);
    assert_eq!(fabric.matches(">512 T0s<").count(), 8);
    assert_eq!(fabric.matches(">256 T1s<").count(), 8);
    assert_eq!(fabric.matches(">131,072 cables of 100G<").count(), 16);
    assert!(fabric.contains(">131,072 NICs<"), "{fabric}");
    let million = draw(&plan(MILLION), Subject::Plane(PlaneId(7)), Form::Svg);
    assert_eq!(million.matches("<rect class=\"box").count(), 1 + 3 * 16);
    assert!(million.contains(">2,048 T2s<") && million.len() < 100_000, "{} bytes", million.len());
    // One T1 is absent in plane 0, and one NIC in both planes.
    let holes = plan(EXCEPTIONS);
    let fabric = draw(&holes, Subject::Fabric, Form::Svg);
    assert!(fabric.contains(">127 T1s<") && fabric.contains(">128 T1s<"), "{fabric}");
    assert!(
        fabric.contains(">32,512 cables of 100G<") && fabric.contains(">32,768 cables of 100G<"),
        "{fabric}"
    );
    assert!(fabric.contains(">32,767 cables of 100G<"), "{fabric}");
    let switch = draw(&holes, Subject::Switch(T1), Form::Svg);
    assert!(
        switch.contains(">p1-t1-003<") && switch.contains(">p1-t0-001<") && switch.contains(">244 more<"),
        "{switch}"
    );
}

/// Graphviz accepts the DOT files.
#[test]
fn graphviz_reads_them() {
    let holes = plan(EXCEPTIONS);
    let subjects = [Subject::Fabric, Subject::Plane(PlaneId(0)), Subject::Switch(T1)];
    let texts = subjects.map(|subject| draw(&holes, subject, Form::Dot));
    for text in &texts {
        assert!(text.starts_with("graph \"exceptions") && text.ends_with("}\n"), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
    }
    if Command::new("dot").arg("-V").stderr(Stdio::null()).status().is_err() {
        return closc_skip::skip("Graphviz (`dot`) is not installed");
    }
    for text in texts {
        let mut dot = Command::new("dot")
            .arg("-Tplain")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        dot.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        assert!(dot.wait().expect("it ends").success(), "{text}");
    }
}

/// NICs with several cages: each drawing names the cage of the plane that it shows.
#[test]
fn drawings_name_the_cages_of_nics_with_several() {
    use closc_tests::shape::Shape;
    let text = Shape { planes: 4, ..Shape::SMALL }.yaml();
    let of = |cages: u8| plan(&text.replace("lanes: 4 }", &format!("lanes: 4, cages: {cages} }}")));
    let (one, two) = (of(1), of(2));
    let t0 = |plane| Switch { plane: PlaneId(plane), tier: TierId::T0, zone: ZoneId(0), index: 0 };
    for form in [Form::Svg, Form::Dot] {
        let fabric = draw(&two, Subject::Fabric, form);
        assert!(fabric.contains("each with 2 cages and a port in every plane"), "{fabric}");
        for (plane, cage) in [(0, "cage 1 of 2"), (1, "cage 1 of 2"), (2, "cage 2 of 2"), (3, "cage 2 of 2")]
        {
            for subject in [Subject::Plane(PlaneId(plane)), Subject::Switch(t0(plane))] {
                let drawing = draw(&two, subject, form);
                assert_eq!(drawing.matches(cage).count(), 2, "{drawing}");
                assert!(!draw(&one, subject, form).contains("cage"));
            }
        }
    }
}
