//! A switch that another controller is changing, and one that accepted a newer signed tree.

use std::fs;

use closc_deploy::{SequenceGuard, SonicOptions};
use closc_sonic::ConfigDb;

use super::{FakeSwitch, NEW, OLD, fault, put};

fn of(sequence: u64, allow_older: bool) -> SonicOptions {
    SonicOptions { release: Some(SequenceGuard { sequence, allow_older }), ..SonicOptions::default() }
}

/// Regression: two controllers changed a switch at the same time, and each rolled back the other's change after reading
/// it back.
#[tokio::test]
async fn a_switch_that_another_controller_changes_is_refused_with_its_name() {
    let Some(switch) = FakeSwitch::new() else { return };
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it is mounted");
    fs::create_dir_all(switch.path("state")).expect("ours");
    let lease = |until: &str, owner: &str| {
        put(&switch.path("state/lease"), &format!("41 {} {until} {owner}\n", boot.trim()), 0o600);
        put(&switch.path("state/fence"), "41\n", 0o600);
    };
    lease("99999999999", "1000@elsewhere/1/2/3/4");
    let refused = switch.push(NEW).await;
    let why = fault(&refused).to_string();
    assert!(why.contains("`1000@elsewhere/1/2/3/4` changes this switch"), "{why}");
    assert_eq!(switch.config("db.json"), ConfigDb::parse(OLD).expect("right"), "nothing was applied");
    // A lease that has expired, and one of a process of this machine that is gone.
    lease("0", "1000@elsewhere/1/2/3/4");
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(NEW, &report);
    assert!(!switch.path("state/lease").exists(), "a push that ended holds nothing");
    assert_eq!(fs::read_to_string(switch.path("state/fence")).expect("it is there"), "42\n");
    switch.renew();
    fs::create_dir_all(switch.path("state")).expect("ours");
    let own = SonicOptions::default().owner;
    let (rest, _) = own.rsplit_once('/').expect("the start of this process is last");
    lease("99999999999", &format!("{rest}/1"));
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(NEW, &report);
}

/// Regression: an older tree with a valid signature replaced a newer one.
#[tokio::test]
async fn a_switch_remembers_the_newest_tree_that_it_took() {
    let Some(switch) = FakeSwitch::new() else { return };
    let old = NEW.replace("9100", "9000");
    let remembered = || fs::read_to_string(switch.path("state/sequence")).unwrap_or_default();
    assert!(switch.push_with(NEW, of(7, false)).await.is_good(), "{}", switch.log());
    assert_eq!(remembered(), "7\n");
    let refused = switch.push_with(&old, of(6, false)).await;
    let why = fault(&refused).to_string();
    assert!(why.contains("has a tree with sequence number 7, and this one has 6"), "{why}");
    switch.assert_good(NEW, &refused);
    // A tree without changes counts too.
    assert!(switch.push_with(NEW, of(8, false)).await.is_good(), "{}", switch.log());
    assert_eq!(remembered(), "8\n");
    let back = switch.push_with(&old, of(6, true)).await;
    assert!(back.is_good(), "{back:?}\n{}", switch.log());
    switch.assert_good(&old, &back);
    assert_eq!(remembered(), "6\n", "a deliberate rollback is remembered");
    // If no signature is required, the number stays.
    assert!(switch.push(NEW).await.is_good(), "{}", switch.log());
    assert_eq!(remembered(), "6\n");
    put(&switch.path("state/sequence"), "damaged\n", 0o600);
    assert!(!switch.push_with(&old, of(9, false)).await.is_good());
    switch.assert_good(NEW, &back);
}
