//! Switches whose P4Info has other ids and lacks tables: the same entries, bound by name.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use closc_deploy::{Fleet, Inventory, Outcome, PushReport, Tree, drift, open_gate, plan, push, silent};
use closc_entries::Pipeline;
use closc_runtime::Info;
use closc_runtime::proto::config::match_field::{Match, MatchType};
use closc_runtime::proto::config::p4_new_type_spec::Representation;
use closc_runtime::proto::config::p4_new_type_translation::SdnType;
use closc_runtime::proto::config::{
    self, P4Info, P4NamedType, P4NewTypeSpec, P4NewTypeTranslation, Preamble,
};
use closc_runtime::text;
use closc_switch::{Clock, Endpoint, Service, Switch as Embedded, SwitchConfig};

use crate::support::{Files, options, reader, small_tree};

/// Changes the id of an object; the first byte, which is the kind of object, stays.
fn change_id(id: u32) -> u32 {
    id ^ 0x0000_a55a
}

fn edit_preambles(p4info: &mut P4Info, change: impl Fn(&mut Preamble)) {
    let P4Info {
        tables,
        actions,
        action_profiles,
        counters,
        direct_counters,
        direct_meters,
        controller_packet_metadata,
        ..
    } = p4info;
    let preambles = tables.iter_mut().map(|object| &mut object.preamble);
    let preambles = preambles.chain(actions.iter_mut().map(|object| &mut object.preamble));
    let preambles = preambles.chain(action_profiles.iter_mut().map(|object| &mut object.preamble));
    let preambles = preambles.chain(counters.iter_mut().map(|object| &mut object.preamble));
    let preambles = preambles.chain(direct_counters.iter_mut().map(|object| &mut object.preamble));
    let preambles = preambles.chain(direct_meters.iter_mut().map(|object| &mut object.preamble));
    let preambles = preambles.chain(controller_packet_metadata.iter_mut().map(|object| &mut object.preamble));
    preambles.flatten().for_each(change);
}

/// The P4Info of the pipeline with every id changed, without some tables.
fn foreign(lacking: &[&str]) -> P4Info {
    renumber_ids(Pipeline::fabric().info().message().clone(), lacking)
}

/// A P4Info with every id changed, without some tables.
pub(crate) fn renumber_ids(mut p4info: P4Info, lacking: &[&str]) -> P4Info {
    let is_lacking = |preamble: &Option<Preamble>| {
        preamble.as_ref().is_some_and(|preamble| lacking.contains(&preamble.name.as_str()))
    };
    let gone: Vec<u32> = p4info
        .tables
        .iter()
        .filter(|table| is_lacking(&table.preamble))
        .map(|table| table.preamble.as_ref().expect("a table has one").id)
        .collect();
    p4info.tables.retain(|table| !is_lacking(&table.preamble));
    p4info.direct_counters.retain(|counter| !gone.contains(&counter.direct_table_id));
    p4info.direct_meters.retain(|meter| !gone.contains(&meter.direct_table_id));
    edit_preambles(&mut p4info, |preamble| preamble.id = change_id(preamble.id));
    for table in &mut p4info.tables {
        table.match_fields.iter_mut().for_each(|field| field.id += 20);
        table.action_refs.iter_mut().for_each(|action| action.id = change_id(action.id));
        table.direct_resource_ids.iter_mut().for_each(|id| *id = change_id(*id));
        for id in [&mut table.implementation_id, &mut table.const_default_action_id] {
            *id = if *id == 0 { 0 } else { change_id(*id) };
        }
        if let Some(call) = &mut table.initial_default_action {
            call.action_id = change_id(call.action_id);
            call.arguments.iter_mut().for_each(|argument| argument.param_id += 40);
        }
    }
    for action in &mut p4info.actions {
        action.params.iter_mut().for_each(|param| param.id += 40);
    }
    for profile in &mut p4info.action_profiles {
        profile.table_ids.iter_mut().for_each(|id| *id = change_id(*id));
    }
    for counter in &mut p4info.direct_counters {
        counter.direct_table_id = change_id(counter.direct_table_id);
    }
    for meter in &mut p4info.direct_meters {
        meter.direct_table_id = change_id(meter.direct_table_id);
    }
    p4info
}

/// A small fabric of embedded switches without a program.
struct Site {
    tree: Files,
    inventory: Inventory,
    endpoints: Vec<Endpoint>,
    switches: BTreeMap<String, Arc<Embedded>>,
}

impl Site {
    async fn start() -> Site {
        let tree = small_tree(1, 2, 2);
        let mut site =
            Site { inventory: Inventory::default(), endpoints: Vec::new(), switches: BTreeMap::new(), tree };
        let names = Tree::open(reader(site.tree.clone())).expect("a tree").devices().clone();
        for (name, device_id) in names.into_keys().zip(1..) {
            let config = SwitchConfig { device_id, clock: Clock::wall(), ..SwitchConfig::default() };
            let switch = Arc::new(Embedded::new(config));
            let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
            let served = Endpoint::serve(Service::new([switch.clone()]), anywhere, None).await;
            let served = served.expect("loopback has a port");
            let device = closc_deploy::Device::at(served.address().to_string(), device_id);
            site.inventory.devices.insert(name.clone(), device);
            site.endpoints.push(served);
            site.switches.insert(name, switch);
        }
        site
    }

    /// Changes the inventory entry of every switch.
    fn with(&mut self, change: impl Fn(&mut closc_deploy::Device)) {
        self.inventory.devices.values_mut().for_each(change);
    }

    fn fleet(&self, beside: &Files) -> Result<Fleet, String> {
        let tree = Arc::new(Tree::open(reader(self.tree.clone())).expect("a tree"));
        let beside = reader(beside.clone());
        Fleet::new(&self.inventory, &*beside, &tree, |_| true).map_err(|error| error.to_string())
    }

    async fn push(&self, beside: &Files) -> PushReport {
        push(&self.fleet(beside).expect("they go together"), &options(), silent(), open_gate()).await
    }
}

/// The files of a site's own program.
fn site_files(p4info: &P4Info) -> Files {
    let mut files = Files::new();
    files.insert("own.p4info.txtpb".to_owned(), text::write(p4info).into_bytes());
    files.insert("own.json".to_owned(), Pipeline::fabric().bmv2().expect("it has one").as_bytes().to_vec());
    files
}

fn with_artefacts(device: &mut closc_deploy::Device) {
    let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
    device.artefacts = Some(closc_deploy::Artefacts { p4info, device_config });
}

fn faults(report: &PushReport) -> Vec<String> {
    report.failures().map(|(_, fault)| fault.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_p4info_with_other_numbers_and_without_trim_and_ecn_is_pushed_with_a_note() {
    let mut site = Site::start().await;
    site.with(with_artefacts);
    let lacking = ["egress.trim", "egress.ecn"];
    let p4info = foreign(&lacking);
    let beside = site_files(&p4info);
    let report = site.push(&beside).await;
    assert!(report.is_good(), "{:?}", faults(&report));
    assert!(report.updates().insert > 50, "{:?}", report.updates());
    let notes = report.omission_notes();
    assert_eq!(notes.len(), 2, "{notes:?}");
    for (note, (table, what)) in notes.iter().zip([("egress.ecn", "(ecn)"), ("egress.trim", "(trim)")]) {
        assert!(note.contains(&format!("no table `{table}` {what}. ")), "{note}");
        assert!(note.contains(" 3 other switches have ") && note.contains("Omitted entries: "), "{note}");
    }
    // The switch has its own ids, and all other entries of the tree.
    let own = Info::new(p4info).expect("it holds together");
    assert!(own.table("ingress.my_sid").expect("it is there").preamble.id != info_id("ingress.my_sid"));
    let again = site.push(&beside).await;
    assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
    let found = drift(&site.fleet(&beside).expect("they go together"), &options(), silent()).await;
    assert!(found.is_clean(), "{}", found.show());
}

fn info_id(table: &str) -> u32 {
    Pipeline::fabric().info().table(table).expect("it is there").preamble.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_that_keeps_its_program_is_bound_to_what_it_returns() {
    let mut site = Site::start().await;
    // Another controller sets the program.
    site.with(with_artefacts);
    let beside = site_files(&foreign(&["egress.trim"]));
    assert!(site.push(&beside).await.is_good());
    site.with(|device| (device.artefacts, device.keeps_program) = (None, true));
    let none = Files::new();
    let report = site.push(&none).await;
    assert!(report.is_good(), "{:?}", faults(&report));
    assert_eq!(report.updates().total(), 0, "the entries are those that were bound by file");
    assert_eq!(report.omission_notes().len(), 1);
    let made = plan(&site.fleet(&none).expect("they go together"), &options(), silent()).await.expect("made");
    assert!(made.show().contains("note: ") && made.is_empty(), "{}", made.show());
    let found = drift(&site.fleet(&none).expect("they go together"), &options(), silent()).await;
    assert!(found.is_clean(), "{}", found.show());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_without_a_program_has_none_to_keep() {
    let mut site = Site::start().await;
    site.with(|device| device.keeps_program = true);
    let report = site.push(&Files::new()).await;
    let said = faults(&report);
    assert_eq!(said.len(), 4);
    assert!(
        said[0].contains("the inventory sets `keeps_program` for this switch: it runs no program"),
        "{}",
        said[0]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_no_fabric_does_without_is_missing_by_name() {
    let mut site = Site::start().await;
    site.with(with_artefacts);
    let report = site.push(&site_files(&foreign(&["ingress.my_sid"]))).await;
    assert!(matches!(report.devices.values().next(), Some(Outcome::Failed(_))));
    let said = faults(&report);
    assert!(said[0].contains("no table `ingress.my_sid`"), "{}", said[0]);
    assert!(said[0].contains("every fabric needs it (sid)"), "{}", said[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_fields_and_actions_of_other_names_are_bound_by_a_file_of_roles() {
    let mut site = Site::start().await;
    let mut p4info = foreign(&[]);
    let rename = |preamble: &mut Preamble| {
        for (from, to) in [("ingress.ipv6_route", "fib.v6"), ("ingress.blackhole", "fib.discard")] {
            if preamble.name == from {
                (preamble.name, preamble.alias) = (to.to_owned(), to.to_owned());
            }
        }
    };
    edit_preambles(&mut p4info, rename);
    let mut beside = site_files(&p4info);
    let program = Pipeline::fabric().bmv2().expect("it has one");
    let program = program.replace("\"ingress.ipv6_route\"", "\"fib.v6\"");
    beside.insert(
        "own.json".to_owned(),
        program.replace("\"ingress.blackhole\"", "\"fib.discard\"").into_bytes(),
    );
    site.with(with_artefacts);
    let said = faults(&site.push(&beside).await);
    assert!(said[0].contains("no table `ingress.ipv6_route`"), "{}", said[0]);
    let roles = b"route: { table: fib.v6, actions: { blackhole: discard } }";
    beside.insert("roles.yaml".to_owned(), roles.to_vec());
    site.with(|device| device.roles = Some("roles.yaml".to_owned()));
    let report = site.push(&beside).await;
    assert!(report.is_good(), "{:?}", faults(&report));
    assert_eq!(site.push(&beside).await.updates().total(), 0);
    beside.insert("roles.yaml".to_owned(), b"router: { table: fib.v6 }".to_vec());
    let refused = site.fleet(&beside).map(drop).expect_err("there is no such role");
    assert!(refused.starts_with("`roles.yaml`: unknown role `router`"), "{refused}");
}

/// The P4Info of the pipeline with text for ports and next hops, as on hardware that runs SONiC.
fn with_names() -> P4Info {
    let mut p4info = foreign(&[]);
    let named = |name: &str| {
        let name = match name {
            "nexthop_id" => "nexthop_id_t",
            name if name.ends_with("port") => "port_id_t",
            _ => return None,
        };
        Some(P4NamedType { name: name.to_owned() })
    };
    let fields = p4info.tables.iter_mut().flat_map(|table| &mut table.match_fields);
    let exact = Some(Match::MatchType(MatchType::Exact.into()));
    for field in fields.filter(|field| field.r#match == exact) {
        if let Some(name) = named(&field.name) {
            (field.bitwidth, field.type_name) = (0, Some(name));
        }
    }
    for param in p4info.actions.iter_mut().flat_map(|action| &mut action.params) {
        if let Some(name) = named(&param.name) {
            (param.bitwidth, param.type_name) = (0, Some(name));
        }
    }
    let text = P4NewTypeTranslation {
        uri: String::new(),
        sdn_type: Some(SdnType::SdnString(config::p4_new_type_translation::SdnString {})),
    };
    let text = P4NewTypeSpec {
        representation: Some(Representation::TranslatedType(text)),
        ..P4NewTypeSpec::default()
    };
    let types = p4info.type_info.get_or_insert_default();
    for name in ["nexthop_id_t", "port_id_t"] {
        types.new_types.insert(name.to_owned(), text.clone());
    }
    p4info
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_ports_are_text_where_the_switch_translates_them() {
    let mut site = Site::start().await;
    site.with(with_artefacts);
    let p4info = with_names();
    let beside = site_files(&p4info);
    let report = site.push(&beside).await;
    assert!(report.is_good(), "{:?}", faults(&report));
    let again = site.push(&beside).await;
    assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
    let found = drift(&site.fleet(&beside).expect("they go together"), &options(), silent()).await;
    assert!(found.is_clean(), "{}", found.show());
    let info = Info::new(p4info).expect("it holds together");
    let table_id = info.table("ingress.nexthop").expect("it is there").preamble.id;
    let request = closc_runtime::proto::v1::TableEntry { table_id, ..Default::default() };
    let switch = site.switches.values().next().expect("there are some");
    let read = switch.read(&[request.into()]).expect("it runs a program").entities;
    let shown: Vec<String> =
        read.iter().map(|entity| closc_runtime::render::entity(&info, entity).to_string()).collect();
    assert!(!shown.is_empty() && shown.iter().all(|line| line.contains("nexthop_id=\"")), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_p4info_of_the_switch_forbids_is_not_sent() {
    let mut site = Site::start().await;
    site.with(with_artefacts);
    let mut p4info = foreign(&[]);
    edit_preambles(&mut p4info, |preamble| {
        if preamble.name == "ingress.nexthop" {
            preamble.annotations.push("@entry_restriction(\"nexthop_id::value > 1000\")".to_owned());
        }
    });
    let report = site.push(&site_files(&p4info)).await;
    let said = faults(&report);
    assert!(said[0].contains("the program restricts entries: `nexthop_id::value > 1000`"), "{}", said[0]);
}
