//! Tables agree with the plan and with each other, in every file format.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_tables::{Format, Selection, Table, write};
use closc_topology::PlaneId;

const SRV6: &str = include_str!("../../../topologies/lab/two-planes.yaml");

/// A row by the names of its columns.
type NamedRow = BTreeMap<String, String>;

fn plan(routing: &str) -> Plan {
    let plain = SRV6.lines().filter(|line| !line.starts_with("routing:"));
    let text = format!("{}\nrouting: {routing}\n", plain.collect::<Vec<_>>().join("\n"));
    closc_tests::shape::plan(&text.replace("platform: linux, os: linux", "platform: linux, os: frr"))
}

fn bytes(plan: &Plan, table: Table, selection: &Selection, format: Format) -> (Vec<u8>, u64) {
    let mut out = Vec::new();
    let count = write(plan, table, selection, format, &mut out).expect("writing to memory succeeds");
    (out, count)
}

fn rows(plan: &Plan, table: Table, selection: &Selection) -> Vec<NamedRow> {
    let (out, count) = bytes(plan, table, selection, Format::Csv);
    let mut reader = csv::Reader::from_reader(out.as_slice());
    let rows: Vec<NamedRow> =
        reader.deserialize().map(|row| row.expect("a row of the header's length")).collect();
    assert_eq!(rows.len() as u64, count, "{}", table.name());
    rows
}

fn pairs(plan: &Plan) -> Selection {
    let nics: Vec<_> = plan.fabric().nics().collect();
    let (first, last) = (nics[0], nics[nics.len() - 1]);
    Selection { planes: Vec::new(), pairs: vec![(first, last), (last, first)] }
}

#[test]
fn tables_are_consistent() {
    for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
        let plan = plan(routing);
        let all = Selection::default();
        let counts = plan.fabric().counts();
        let (devices, links, ports) = (
            rows(&plan, Table::Devices, &all),
            rows(&plan, Table::Links, &all),
            rows(&plan, Table::Ports, &all),
        );
        assert_eq!(devices.len() as u64, counts.t0 + counts.t1 + counts.t2 + counts.nodes, "{routing}");
        assert_eq!(links.len() as u64, counts.host_links + counts.fabric_links, "{routing}");
        let linked: BTreeMap<(&str, &str), (&str, &str)> = ports
            .iter()
            .filter(|port| port["state"] == "linked")
            .map(|p| ((&*p["device"], &*p["port"]), (&*p["far_device"], &*p["far_port"])))
            .collect();
        assert_eq!(linked.len(), 2 * links.len(), "every cable has two ports with different names");
        let addresses = rows(&plan, Table::Addresses, &all);
        let of_ports: BTreeMap<(&str, &str), &str> =
            addresses.iter().map(|row| ((&*row["device"], &*row["interface"]), &*row["address"])).collect();
        for link in &links {
            let lower = (&*link["lower_device"], &*link["lower_port"]);
            let upper = (&*link["upper_device"], &*link["upper_port"]);
            assert_eq!((linked[&lower], linked[&upper]), (upper, lower), "{}", link["link"]);
            for (end, address) in [(lower, &link["lower_address"]), (upper, &link["upper_address"])] {
                assert_eq!(of_ports.get(&end).copied().unwrap_or(""), address, "{routing}: {}", link["link"]);
            }
        }
        let known: BTreeSet<&str> = devices.iter().map(|device| &*device["device"]).collect();
        assert!(known.len() == devices.len() && ports.iter().all(|port| known.contains(&*port["device"])));
        let values: BTreeSet<&str> = addresses.iter().map(|row| &*row["address"]).collect();
        assert_eq!(values.len(), addresses.len(), "no address is given twice");
        let routes = rows(&plan, Table::Routes, &all);
        assert!(
            !routes.is_empty() && routes.iter().all(|route| known.contains(&*route["device"])),
            "{routing}"
        );
    }
}

#[test]
fn prefix_lengths_are_those_of_the_family() {
    for (hosts, lengths) in [("10.0.0.0/8", ["32", "31", "32"]), ("fd00:1::/48", ["128", "127", "128"])] {
        let text = SRV6.replace("routing: srv6-static", "routing: ecmp-static");
        let plan = closc_tests::shape::plan(&format!("{text}\naddresses: {{ hosts: \"{hosts}\" }}\n"));
        let addresses = rows(&plan, Table::Addresses, &Selection::default());
        for (kind, length) in ["loopback", "link", "nic"].into_iter().zip(lengths) {
            let mut of_kind = addresses.iter().filter(|row| row["kind"] == kind).peekable();
            assert!(
                of_kind.peek().is_some() && of_kind.all(|row| row["prefix_length"] == length),
                "{hosts} {kind}"
            );
        }
    }
}

#[test]
fn usids_and_paths_are_those_of_the_plan() {
    let plan = plan("srv6-static");
    let sids = rows(&plan, Table::Sids, &Selection::default());
    let counts = plan.fabric().counts();
    let segments = plan.segments();
    let own: usize = plan.switches().map(|switch| segments.switch_usids(switch).count()).sum();
    assert_eq!(sids.len() as u64, own as u64 + counts.host_links);
    let wanted = pairs(&plan);
    let paths = rows(&plan, Table::Paths, &wanted);
    let (from, to) = wanted.pairs[0];
    assert_eq!(paths.len(), 2 * plan.paths(from, to).count());
    let first = plan.paths(from, to).next().expect("there is a path");
    assert_eq!(paths[0]["destination"], first.destination.to_string());
    assert_eq!(paths[0]["entropy"], first.entropy.to_string());
    assert_eq!(paths[0]["switches"].split(' ').count(), first.hops.len());
    assert_eq!(paths[0]["links"].split(' ').count(), first.hops.len() + 1);
    // Without pairs, the table of paths is empty. Without uSIDs, both it and the table of uSIDs are empty.
    assert_eq!(rows(&plan, Table::Paths, &Selection::default()).len(), 0);
    let other = self::plan("ecmp-static");
    assert_eq!(rows(&other, Table::Sids, &Selection::default()).len(), 0);
    assert_eq!(rows(&other, Table::Paths, &pairs(&other)).len(), 0);
}

#[test]
fn planes_add_up() {
    let plan = plan("srv6-static");
    let of = |planes: Vec<PlaneId>| Selection { planes, pairs: pairs(&plan).pairs };
    for table in [Table::Links, Table::Routes, Table::Paths, Table::Sids] {
        let all = rows(&plan, table, &of(Vec::new()));
        let parts: usize = plan.planes().map(|plane| rows(&plan, table, &of(vec![plane])).len()).sum();
        assert_eq!(all.len(), parts, "{}", table.name());
        let one = rows(&plan, table, &of(vec![PlaneId(1)]));
        assert!(!one.is_empty() && one.iter().all(|row| row["plane"] == "1"), "{}", table.name());
    }
}

#[test]
fn json_lines_equal_csv() {
    let plan = plan("srv6-static");
    let wanted = pairs(&plan);
    for table in Table::ALL {
        let (out, _) = bytes(&plan, table, &wanted, Format::Jsonl);
        let text = String::from_utf8(out).expect("text");
        let read = |line: &str| -> serde_json::Map<String, serde_json::Value> {
            serde_json::from_str(line).expect("one object per line")
        };
        let named = |(name, value): (String, serde_json::Value)| match value {
            serde_json::Value::Null => (name, String::new()),
            serde_json::Value::String(text) => (name, text),
            number => (name, number.to_string()),
        };
        let found: Vec<NamedRow> =
            text.lines().map(|line| read(line).into_iter().map(named).collect()).collect();
        assert_eq!(found, rows(&plan, table, &wanted), "{}", table.name());
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_equals_csv() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    let plan = plan("srv6-static");
    let wanted = pairs(&plan);
    for table in Table::ALL {
        let (out, count) = bytes(&plan, table, &wanted, Format::Parquet);
        assert_eq!(out, bytes(&plan, table, &wanted, Format::Parquet).0, "the same rows give the same bytes");
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).expect("it is Parquet");
        assert_eq!(reader.metadata().file_metadata().num_rows() as u64, count, "{}", table.name());
        let named = |(name, field): (&String, &Field)| match field {
            Field::Null => (name.clone(), String::new()),
            Field::Str(text) => (name.clone(), text.clone()),
            number => (name.clone(), number.to_string()),
        };
        let read = reader.get_row_iter(None).expect("rows");
        let found: Vec<NamedRow> =
            read.map(|row| row.expect("a row").get_column_iter().map(named).collect()).collect();
        assert_eq!(found, rows(&plan, table, &wanted), "{}", table.name());
    }
}

/// Reads Parquet with Apache Arrow and prints the rows as JSON Lines, with each value as text.
#[cfg(feature = "parquet")]
const ARROW: &str = "
import io, json, sys
import pyarrow.parquet
table = pyarrow.parquet.read_table(io.BytesIO(sys.stdin.buffer.read()))
for row in table.to_pylist():
    print(json.dumps({name: '' if value is None else str(value) for name, value in row.items()}))
";

/// Reads the files with Apache Arrow, if `CLOSC_PYARROW` names a Python interpreter with pyarrow.
#[cfg(feature = "parquet")]
#[test]
fn arrow_reads_the_same() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let Some(python) = std::env::var_os("CLOSC_PYARROW") else {
        return closc_skip::skip("`CLOSC_PYARROW` is not set; expected the path of a Python with pyarrow");
    };
    let plan = plan("srv6-static");
    let wanted = pairs(&plan);
    for table in Table::ALL {
        let (out, count) = bytes(&plan, table, &wanted, Format::Parquet);
        let mut command = Command::new(&python);
        command.args(["-c", ARROW]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python runs");
        child.stdin.take().expect("a pipe").write_all(&out).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", table.name());
        let text = String::from_utf8(output.stdout).expect("text");
        let found: Vec<NamedRow> =
            text.lines().map(|line| serde_json::from_str(line).expect("one object per line")).collect();
        assert_eq!(found.len() as u64, count, "{}", table.name());
        assert_eq!(found, rows(&plan, table, &wanted), "{}", table.name());
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_its_feature() {
    assert!(!Format::Parquet.is_built_in());
    let out = Vec::new();
    assert!(write(&plan("srv6-static"), Table::Links, &Selection::default(), Format::Parquet, out).is_err());
}
