//! `closc demo`: the collector locates a fault of the tour, and does not report others.

use crate::common::Place;

#[test]
fn the_first_fault_of_the_tour_is_named() {
    let place = Place::new();
    let done = place.closc(&["demo", "--no-page", "--tour", "--for", "4", "--plot", "demo.svg"]);
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}{err}");
    assert!(err.contains("loses power."), "{err}");
    assert!(out.contains("1 fault named, after"), "{out}{err}");
    assert!(place.read("demo.svg").starts_with("<svg"), "both curves are drawn");
}
