//! Pushes to BMv2, if `simple_switch_grpc` is installed: a push must cope with its answers.

use std::collections::BTreeMap;

use closc_deploy::{Counts, Device, Inventory, Outcome, PipelineStep, PushOptions, drift, silent};
use closc_runtime::client::{Backoff, Client, Controller, Endpoint, Options, Session};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId, ElectionId};

use crate::support::{Files, Lab, T0, options, small_tree, stray, tree_with_groups};

/// A running BMv2 without interfaces.
pub(crate) struct Bmv2(closc_skip::Bmv2);

impl Bmv2 {
    /// Starts it, or skips the test with a reason.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let program = closc_skip::program("simple_switch_grpc")?;
        let target = ["--cpu-port", "510", "--priority-queues", "8"];
        Some(Bmv2(closc_skip::Bmv2::start(&program, 1, &target).expect("the program runs")))
    }

    /// Its P4Runtime address.
    pub(crate) fn address(&self) -> String {
        self.0.address()
    }

    /// Its address for packets of ports.
    pub(crate) fn packets(&self) -> String {
        self.0.packets()
    }

    /// Restarts it without any state.
    fn restart(&mut self) {
        self.0.restart().expect("the program runs");
    }

    /// The tree with only this switch in the inventory.
    fn lab(&self, files: Files) -> Lab {
        let mut inventory = Inventory::default();
        inventory.devices.insert(T0.to_owned(), Device::at(self.address(), 1));
        Lab { files, targets: BTreeMap::new(), inventory }
    }
}

/// Options that wait until BMv2 listens.
pub(crate) fn patient() -> PushOptions {
    let pause = Backoff { max: std::time::Duration::from_millis(200), ..options().pause };
    PushOptions { attempts: 200, pause, ..options() }
}

async fn push_counts(lab: &Lab) -> (PipelineStep, Counts) {
    match lab.push_with(&patient()).await.devices.remove(T0) {
        Some(Outcome::Good(good)) => (good.pipeline, good.updates),
        other => panic!("{other:#?}"),
    }
}

#[tokio::test]
async fn bmv2_is_pushed_read_back_and_repaired() {
    let Some(mut bmv2) = Bmv2::start() else { return };
    let lab = bmv2.lab(small_tree(1, 4, 4));
    let n = lab.target_entities(T0).len() as u64;
    let all = Counts { insert: n, modify: 0, delete: 0 };
    assert_eq!(push_counts(&lab).await, (PipelineStep::Cleared, all));
    assert_eq!(push_counts(&lab).await, (PipelineStep::Unchanged, Counts::default()));
    assert!(drift(&lab.fleet(), &patient(), silent()).await.is_clean());

    // Another controller writes.
    let endpoint = Endpoint::plain(&bmv2.address()).expect("an address");
    let client = Client::connect(&endpoint, DeviceId(1), Options::default()).await.expect("it listens");
    let rival = Session::open(client, Controller::new(ElectionId(9))).await.expect("a stream");
    rival.wait_primary(crate::support::PATIENCE).await.expect("the greater id");
    let gone = v1::Update::delete(lab.target_entities(T0)[0].clone());
    rival.write(&[v1::Update::insert(stray(1)), gone]).await.expect("both are right");
    let before = drift(&lab.fleet(), &patient(), silent()).await.show();
    assert_eq!(before.lines().count(), 3, "{before}");
    // The other controller has to leave first: BMv2 supports one primary.
    rival.close().await;
    assert_eq!(push_counts(&lab).await.1, Counts { insert: 1, modify: 0, delete: 1 });

    bmv2.restart();
    assert_eq!(push_counts(&lab).await, (PipelineStep::Cleared, all));
    assert!(drift(&lab.fleet(), &patient(), silent()).await.is_clean());
}

#[tokio::test]
async fn bmv2_takes_weighted_groups_and_their_changes() {
    let Some(bmv2) = Bmv2::start() else { return };
    let lab = bmv2.lab(tree_with_groups(1, 4, 4, 3));
    let first = push_counts(&lab).await.1;
    assert!(first.insert > 0 && first.modify == 1, "the setting of the hash is a default entry: {first:?}");
    assert_eq!(push_counts(&lab).await.1, Counts::default());
    // Other weights are other groups; the old ones are removed after the routes have moved.
    let other = bmv2.lab(tree_with_groups(1, 4, 4, 5));
    let changed = push_counts(&other).await.1;
    assert_eq!(changed, Counts { insert: 4, modify: 2, delete: 4 });
    assert_eq!(push_counts(&other).await.1, Counts::default());
    // And back to a tree without groups.
    let plain = bmv2.lab(small_tree(1, 4, 4));
    let undone = push_counts(&plain).await.1;
    assert!(undone.delete >= 8 && undone.modify == 3, "{undone:?}");
    assert_eq!(push_counts(&plain).await.1, Counts::default());
}
