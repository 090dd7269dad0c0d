//! No false alarms: random valid fabrics of every target, with random exceptions, verify; and walking every path
//! comes to the same number as the proof.

mod common;

use closc_verify::{Options, verify};
use common::fabrics::Fabrics;

#[test]
fn valid_fabrics_verify() {
    let mut fabrics = Fabrics::new();
    let (mut walked, mut absent, mut drained) = (0, 0, 0);
    for number in 0..200 {
        let (yaml, plan) = fabrics.next();
        let tree = common::tree(&plan);
        let report = verify(&tree, &Options::default()).expect("the tree can be read");
        assert!(report.holds(), "fabric {number}:\n{yaml}\n{}", report.text());
        let paths = report.paths.expect("hosts write paths");
        let walk = report.walk.expect("the fabric is small");
        assert_eq!((paths.named, paths.arrive, paths.in_use), (walk.walked, walk.arrive, walk.in_use));
        walked += walk.walked;
        absent += usize::from(paths.arrive < paths.named);
        drained += usize::from(paths.in_use < paths.arrive);
    }
    println!("{walked} paths walked; {absent} fabrics with absent paths, {drained} with drained ones");
    assert!(absent > 20 && drained > 20, "exceptions take paths away: {absent}, {drained}");
}
