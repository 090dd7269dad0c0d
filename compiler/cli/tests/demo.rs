//! `closc demo`: a fault of its tour is named, and nothing else.

mod common;

use common::Place;

#[test]
fn the_first_fault_of_the_tour_is_named() {
    let place = Place::new();
    let out = place.closc(&["demo", "--no-page", "--tour", "--for", "4", "--plot", "demo.svg"]);
    let (said, told) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{told}");
    assert!(told.contains("loses power."), "{told}");
    assert!(said.contains("1 fault named, after"), "{said}{told}");
    assert!(place.read("demo.svg").starts_with("<svg"), "both curves are drawn");
}
