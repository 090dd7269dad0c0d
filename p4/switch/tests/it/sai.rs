//! Programs that model SONiC hardware with P4Runtime: `p4/pipelines/sai`, and the public ones (sonic-pins: middleblock,
//! tor), compiled separately by p4c.
//!
//! `CLOSC_SAI` names a folder with `NAME.json` and `NAME.p4info.txtpb` for each of the public ones. The entries are
//! those of a switch that spreads one IPv6 prefix over three ports by weight: ids are text, and every restriction is
//! enforced.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_runtime::Info;
use closc_runtime::entry::{EntryBuilder, WeightedAction, action_set};
use closc_runtime::order::Order;
use closc_runtime::proto::v1;
use closc_runtime::text::read_p4info;
use closc_switch::{EngineConfig, Pipeline, Store};
use tonic::Code;

use crate::common::{self, Bench};

/// Ports of the group with their weights.
const WAYS: [(u32, i32); 3] = [(1, 1), (2, 2), (3, 5)];

/// MAC address of the switch.
const OWN_MAC: u64 = 0x02_00_00_00_00_01;

fn sai_program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines/sai/sai.bmv2.json")
}

/// Returns the public programs, if available.
fn public() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("CLOSC_SAI") else {
        closc_skip::skip("CLOSC_SAI is not set; expected a folder of compiled sonic-pins programs");
        return Vec::new();
    };
    let found = std::fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|file| file.expect("so its files").path());
    let found: Vec<PathBuf> =
        found.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
    assert!(!found.is_empty(), "the folder has no program");
    found
}

fn programs() -> Vec<PathBuf> {
    std::iter::once(sai_program()).chain(public()).collect()
}

fn bench(program: &Path) -> Bench {
    let json = std::fs::read(program).expect("it can be read");
    let is_own = program == sai_program();
    let (info, json) = if is_own {
        (program.with_extension("").with_extension("p4info.txtpb"), json)
    } else {
        (program.with_extension("p4info.txtpb"), add_hash_input(&json))
    };
    let info = std::fs::read_to_string(info).expect("a P4Info beside it");
    let info = read_p4info(&info).expect("it is a P4Info");
    let pipeline = Arc::new(Pipeline::with_restrictions(info, json.into()).expect("it is a pipeline"));
    Bench { store: Store::new(pipeline, EngineConfig::default()), now_ns: 0 }
}

/// The public models leave the input of the selector 0, because hardware hashes by itself. Here the input is
/// the source address.
fn add_hash_input(program: &[u8]) -> Vec<u8> {
    let mut program: serde_json::Value = serde_json::from_slice(program).expect("it is JSON");
    for pipeline in program["pipelines"].as_array_mut().expect("there are some") {
        for profile in pipeline["action_profiles"].as_array_mut().expect("a list") {
            profile["selector"] = serde_json::json!({
                "algo": "crc32",
                "input": [{ "type": "field", "value": ["ipv6", "src_addr"] }],
            });
        }
    }
    serde_json::to_vec(&program).expect("it stays JSON")
}

fn neighbour(port: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(0xfe80 << 112 | u128::from(port))
}

fn build_entry(builder: EntryBuilder<'_>) -> v1::TableEntry {
    builder.build().expect("the entry is right")
}

/// All entries of the switch, in any order.
fn entries(info: &Info) -> Vec<v1::TableEntry> {
    let at = |table: &str| info.entry(table).expect("every program has the table");
    let mut entries = vec![
        build_entry(
            at("l3_admit_table")
                .ternary("dst_mac", OWN_MAC, 0xffff_ffff_ffffu64)
                .priority(1)
                .action("admit_to_l3", &[]),
        ),
        build_entry(
            at("ipv6_table")
                .exact("vrf_id", "")
                .lpm("ipv6_dst", "fcbb:bbbb:1801::".parse::<Ipv6Addr>().expect("an address"), 48)
                .action("set_wcmp_group_id", &[("wcmp_group_id", "to-t1".into())]),
        ),
    ];
    let names: Vec<String> = WAYS.iter().map(|(port, _)| format!("p3-t0-017:Ethernet{port}")).collect();
    let arguments: Vec<[(&str, closc_runtime::value::Value<'_>); 1]> =
        names.iter().map(|name| [("nexthop_id", name.as_str().into())]).collect();
    let mut ways = Vec::new();
    for (((port, weight), name), arguments) in WAYS.into_iter().zip(&names).zip(&arguments) {
        let interface = ("router_interface_id", name.as_str().into());
        let text = port.to_string();
        let mac = (0x02_00_00_00_10_00 + u64::from(port)).into();
        let leave = [("port", text.as_str().into()), ("src_mac", OWN_MAC.into())];
        entries.push(build_entry(
            at("router_interface_table")
                .exact("router_interface_id", name.as_str())
                .action("unicast_set_port_and_src_mac", &leave),
        ));
        entries.push(build_entry(
            at("neighbor_table")
                .exact("router_interface_id", name.as_str())
                .exact("neighbor_id", neighbour(port))
                .action("set_dst_mac", &[("dst_mac", mac)]),
        ));
        let to = [interface, ("neighbor_id", neighbour(port).into())];
        entries.push(build_entry(
            at("nexthop_table").exact("nexthop_id", name.as_str()).action("set_ip_nexthop", &to),
        ));
        ways.push(WeightedAction { action: "set_nexthop_id", arguments, weight, watch_port: Some(port) });
    }
    let set = action_set(info, "wcmp_group_table", &ways).expect("the set is right");
    entries.push(build_entry(at("wcmp_group_table").exact("wcmp_group_id", "to-t1").action_set(set)));
    entries
}

/// A UDP packet over IPv6 to the prefix.
fn packet(flow: u16) -> Vec<u8> {
    let mut frame = common::ethernet(OWN_MAC, 0x02_00_00_00_99_99, 0x86dd);
    frame.extend_from_slice(&[0x60, 0, 0, 0, 0, 8, 17, 64]);
    let source = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(flow));
    frame.extend_from_slice(&source.octets());
    frame.extend_from_slice(&"fcbb:bbbb:1801::9".parse::<Ipv6Addr>().expect("an address").octets());
    frame.extend_from_slice(&flow.wrapping_mul(40_503).to_be_bytes());
    frame.extend_from_slice(&[0x12, 0xb7, 0, 8, 0, 0]);
    frame
}

#[test]
fn models_route_by_entries_with_names() {
    for program in programs() {
        let mut bench = bench(&program);
        let info = bench.store.pipeline().info().clone();
        let entries = entries(&info);
        let updates = entries.iter().rev().cloned().map(v1::Update::insert).collect();
        let ordered = Order::new(&info).arrange(updates);
        assert!(
            ordered.waves.len() >= 5,
            "{} waves: {} come one after the other",
            program.display(),
            ordered.waves.len()
        );
        for update in ordered.updates {
            bench.write(update);
        }
        let read = bench.read(v1::TableEntry::default());
        for entry in &entries {
            assert!(read.contains(&entry.clone().into()), "{entry:?} is read as it was written");
        }

        let mut shares: BTreeMap<u32, u32> = BTreeMap::new();
        // Only frames to the switch's own MAC address are routed.
        let stray = [&common::ethernet(OWN_MAC + 1, 7, 0x86dd)[..], &packet(1)[14..]].concat();
        assert!(program != sai_program() || bench.send(9, &stray).is_empty());
        for flow in 0..4_000 {
            let sent = bench.send(9, &packet(flow));
            let [(port, frame)] = &sent[..] else { panic!("{}: flow {flow}: {sent:?}", program.display()) };
            assert_eq!(
                frame[..6],
                (0x02_00_00_00_10_00 + u64::from(*port)).to_be_bytes()[2..],
                "its neighbour"
            );
            assert_eq!(frame[21], 63, "one hop less");
            *shares.entry(*port).or_default() += 1;
        }
        println!("{}: {shares:?}", program.display());
        for (port, weight) in WAYS {
            let (share, wanted) = (shares[&port], 4_000 * weight.unsigned_abs() / 8);
            assert!(share.abs_diff(wanted) * 10 < wanted * 2, "port {port}: {share} flows of {wanted}");
        }
        for entry in &entries {
            let v1::TableEntry { table_id, r#match, priority, .. } = entry.clone();
            bench.write(v1::Update::delete(v1::TableEntry {
                table_id,
                r#match,
                priority,
                ..Default::default()
            }));
        }
        assert!(!bench.send(9, &packet(1)).iter().any(|(port, _)| WAYS.iter().any(|(way, _)| way == port)));
    }
}

#[test]
fn models_restrict_what_they_say() {
    for program in programs() {
        let mut bench = bench(&program);
        // The P4Info used to build the entries does not restrict them.
        let info = bench.store.pipeline().info().message().clone();
        let info = Info::without_restrictions(info).expect("it is a P4Info");
        let default =
            build_entry(info.entry("vrf_table").expect("there").exact("vrf_id", "").action("no_action", &[]));
        let params = [("port", "1".into()), ("src_mac", 0u64.into())];
        let interface =
            info.entry("router_interface_table").expect("there").exact("router_interface_id", "1");
        let zero_mac = build_entry(interface.action("unicast_set_port_and_src_mac", &params));
        let acl = info.entry("acl_pre_ingress_table").ok().map(|entry| {
            let entry = entry.ternary("dscp", 3u8, 63u8).priority(1);
            build_entry(entry.action("set_vrf", &[("vrf_id", "".into())]))
        });
        for entry in [default, zero_mac].into_iter().chain(acl) {
            assert_eq!(bench.refuse(v1::Update::insert(entry)), Code::InvalidArgument);
        }
    }
}
