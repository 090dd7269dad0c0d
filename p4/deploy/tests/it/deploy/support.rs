//! A compiled fabric in memory, with a scripted target for each switch.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use closc_artefacts::{Entry, Manifest, Routing};
use closc_deploy::{Device, Event, Fleet, Inventory, Observer, Outcome, PushOptions, PushReport, Tree};
use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_plan::{DeviceIntent, Hop, Plan, Target};
use closc_runtime::client::{Backoff, Jitter};
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeOptions, FakeTarget, Script};
use closc_runtime::{DeviceId, Info};
use closc_tests::shape::Shape;

/// Long enough for a loaded machine; only a failing test waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// Files by path, as in a compiled tree.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The compiled tree of a small fabric of P4 switches.
pub(crate) fn small_tree(planes: u8, groups: u16, t1: u16) -> Files {
    tree_with(planes, groups, t1, |_| {})
}

/// The compiled tree of a small fabric with weighted routes over all uplinks on every T0.
pub(crate) fn tree_with_groups(planes: u8, groups: u16, t1: u16, share: u16) -> Files {
    tree_with(planes, groups, t1, |intent| {
        let up: Vec<usize> = (0..intent.ports.len()).filter(|port| !intent.ports[*port].is_down()).collect();
        let hops = |share: u16| {
            let weight = |place: usize| if place == 0 { share } else { 1 };
            up.iter().enumerate().map(|(place, port)| Hop { port: *port, weight: weight(place) }).collect()
        };
        for (number, route) in intent.routes.iter_mut().take(2).enumerate() {
            route.target = Target::Ports(hops(share + number as u16));
        }
    })
}

fn tree_with(planes: u8, groups: u16, t1: u16, edit: impl Fn(&mut DeviceIntent<'_>)) -> Files {
    tree_of(&small_plan(planes, groups, t1), edit)
}

/// Plans a small fabric of P4 switches.
pub(crate) fn small_plan(planes: u8, groups: u16, t1: u16) -> Plan {
    let shape = Shape {
        planes,
        groups,
        per_group: 2,
        rails: 1,
        t1,
        parallel: 1,
        t2: None,
        exceptions: String::new(),
    };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    closc_tests::shape::plan(&yaml)
}

/// Compiles a plan, with each intent edited first.
pub(crate) fn tree_of(plan: &Plan, edit: impl Fn(&mut DeviceIntent<'_>)) -> Files {
    let mut files = Files::new();
    for file in Pipeline::all_of(plan).into_iter().flat_map(pipeline_files) {
        files.insert(file.path, file.text.into_bytes());
    }
    for switch in plan.switches() {
        let mut intent = plan.device(switch);
        edit(&mut intent);
        let pipeline = Pipeline::of(plan, switch).expect("it has one");
        let file = entries_file(pipeline, &intent).expect("the pipeline takes the intent");
        files.insert(file.path, file.text.into_bytes());
    }
    add_manifest(&mut files);
    files
}

/// Adds the manifest of the other files.
pub(crate) fn add_manifest(files: &mut Files) {
    files.remove("manifest.json");
    let mut manifest = Manifest::new("shape", Routing::Srv6Static);
    manifest.files = files.iter().map(|(path, bytes)| (path.into(), Entry::of(bytes))).collect();
    let manifest = manifest.to_bytes();
    files.insert("manifest.json".to_owned(), manifest);
}

/// Reads files from memory.
pub(crate) fn reader(files: Files) -> Arc<dyn closc_artefacts::Files> {
    Arc::new(move |path: &str| {
        files.get(path).cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    })
}

/// Returns the plane in the prefix of a name.
pub(crate) fn plane_of(name: &str) -> Option<u8> {
    name.strip_prefix('p')?.split('-').next()?.parse().ok()
}

/// A fabric and its targets.
pub(crate) struct Lab {
    pub(crate) files: Files,
    pub(crate) targets: BTreeMap<String, FakeTarget>,
    pub(crate) inventory: Inventory,
}

impl Lab {
    /// Starts a target for every switch of a fabric.
    pub(crate) async fn start(files: Files) -> Self {
        let tree = Tree::open(reader(files.clone())).expect("the tree is right");
        let mut lab = Lab { files, targets: BTreeMap::new(), inventory: Inventory::default() };
        for (number, name) in tree.devices().keys().enumerate() {
            let device = DeviceId(number as u64 + 1);
            let options = FakeOptions { device, ..Default::default() };
            let target = FakeTarget::with(options).await.expect("loopback has a port");
            let mut entry = Device::at(target.address(), device.0);
            entry.plane = plane_of(name);
            lab.inventory.devices.insert(name.clone(), entry);
            lab.targets.insert(name.clone(), target);
        }
        lab
    }

    /// Starts a fabric of one plane with one T0 and one T1, with only the T0 in the inventory.
    pub(crate) async fn one() -> Self {
        let mut lab = Lab::start(small_tree(1, 1, 1)).await;
        lab.inventory.devices.retain(|name, _| name == T0);
        lab.targets.retain(|name, _| name == T0);
        lab
    }

    pub(crate) fn fleet(&self) -> Fleet {
        let tree = Arc::new(Tree::open(reader(self.files.clone())).expect("the tree is right"));
        let listed: Vec<String> = self.inventory.devices.keys().cloned().collect();
        let select = |name: &str| listed.iter().any(|listed| listed == name);
        Fleet::new(&self.inventory, &*reader(Files::new()), &tree, select).expect("they go together")
    }

    pub(crate) fn target(&self) -> &FakeTarget {
        &self.targets[T0]
    }

    pub(crate) fn script(&self, script: Script) {
        self.target().set_script(script);
    }

    /// Pushes with the options of the tests.
    pub(crate) async fn push(&self) -> PushReport {
        self.push_with(&options()).await
    }

    pub(crate) async fn push_with(&self, options: &PushOptions) -> PushReport {
        let fleet = self.fleet();
        let push = closc_deploy::push(&fleet, options, closc_deploy::silent(), closc_deploy::open_gate());
        tokio::time::timeout(PATIENCE, push).await.expect("a push ends")
    }

    /// Pushes, and checks that every target then has its target state and that another push sends nothing.
    pub(crate) async fn converge(&self) {
        let report = self.push().await;
        assert!(report.is_good(), "{report:#?}");
        for (name, target) in &self.targets {
            assert_eq!(live_entities(target), self.target_entities(name), "{name}");
        }
        let before: u64 = self.targets.values().map(FakeTarget::n_updates).sum();
        let again = self.push().await;
        assert!(again.is_good(), "{again:#?}");
        assert_eq!(again.updates().total(), 0);
        assert_eq!(self.targets.values().map(FakeTarget::n_updates).sum::<u64>(), before);
    }

    /// The entities that the tree wants, in the order of their keys.
    pub(crate) fn target_entities(&self, name: &str) -> Vec<v1::Entity> {
        let text = &self.files[&format!("switches/{name}/entries.txtpb")];
        let text = std::str::from_utf8(text).expect("text");
        let updates = closc_runtime::text::read_entries(text).expect("text format");
        sorted(updates.into_iter().filter_map(|update| update.entity).collect())
    }
}

/// The entities of a target in the order of their keys.
pub(crate) fn live_entities(target: &FakeTarget) -> Vec<v1::Entity> {
    sorted(target.entities())
}

fn sorted(mut entities: Vec<v1::Entity>) -> Vec<v1::Entity> {
    entities.sort_by_key(closc_runtime::EntityKey::of);
    entities
}

/// The first T0 of the small fabrics.
pub(crate) const T0: &str = "p0-t0-001";

pub(crate) fn info() -> &'static Arc<Info> {
    Pipeline::fabric().info()
}

/// An entry that is in no tree: an additional route.
pub(crate) fn stray(number: u32) -> v1::Entity {
    let prefix = std::net::Ipv6Addr::from_bits(0xfd << 120 | u128::from(number) << 64);
    let entry = info().entry("ingress.ipv6_route").expect("a table").lpm("dst", prefix, 64);
    entry.action("blackhole", &[]).build().expect("right").into()
}

/// Options with short waits, so that faults end soon.
pub(crate) fn options() -> PushOptions {
    let (initial, max) = (Duration::from_millis(5), Duration::from_millis(50));
    PushOptions { pause: Backoff { initial, max, jitter: Jitter::None }, ..PushOptions::default() }
}

/// Options with one attempt.
pub(crate) fn single_attempt() -> PushOptions {
    PushOptions { attempts: 1, ..options() }
}

/// Returns the fault of a switch, as shown to people.
pub(crate) fn fault(report: &PushReport, device: &str) -> String {
    match &report.devices[device] {
        Outcome::Failed(fault) => {
            closc_deploy::DeviceError { device: device.to_owned(), fault: fault.clone() }.to_string()
        }
        other => panic!("{device} did not fail: {other:?}"),
    }
}

/// Waits until another task makes a condition true.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Records all events.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Event>>>);

impl Recorder {
    pub(crate) fn observer(&self) -> Observer {
        let events = self.0.clone();
        Arc::new(move |event| {
            events.lock().expect("no test panics in here").push(event);
            Ok(())
        })
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().expect("no test panics in here").clone()
    }
}
