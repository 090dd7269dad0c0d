//! Pipelines whose port numbers are wider than those of v1model.
//!
//! In: the output of p4c for `p4/pipelines/fabric` or `sai`, whose `PortId_t` has nine bits as in v1model,
//! and a width. Out: the same pipeline with a `PortId_t` of that width. Invariants: tables, actions, fields
//! and their ids are unchanged. Only the widths of ports, the numbers of the two special ports ([`special`])
//! and the sizes of per-port objects change. A program is rejected if a place to change does not occur as
//! often as expected. A test covers every width.
//!
//! | object | in nine bits | in `w` bits |
//! |---|---|---|
//! | `ingress_port`, `egress_port`, `egress_spec`, the parameter `port` | 9 | `w` |
//! | the controller port (`CPU_PORT`) and the drop port | 510, 511 | 2^w - 2, 2^w - 1 |
//! | the high bits of a packet-out's port that must be zero | from 9 | from `w` |
//! | index of a counter by port and class | 12 | `w` + 3 |
//! | `routing_resolution_egress_port` of `sai`, whose P4Info is unchanged because its ports are text | 9 | `w` |
//! | size of `port_role`, `punt_limit` | 512 | 2^w |
//! | size of `nexthop` | 512 times 2 | 2^w times 2 |
//! | size of `nic_source`, `nic_inner_source` | 512 times 4 | 2^w times 4 |
//! | size of `trim`, `ecn`, `nic_class`, counters by port and class | 512 times 8 | 2^w times 8 |

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_runtime::proto::config::P4Info;
use closc_runtime::{Info, text};
use serde_json::Value;

use super::{Index, Pipeline};

/// Width of a port number in v1model, in bits.
pub(super) const NARROW: u8 = 9;

/// The largest width of a port for which a pipeline is generated.
pub(super) const WIDEST: u8 = 12;

/// Field of `sai` that contains a port.
const PORT_OF_SAI: &str = "routing_resolution_egress_port";

/// Per-port objects of `fabric`, with their entries per port.
const BY_PORT: [(&str, i64); 12] = [
    ("ingress.port_role", 1),
    ("ingress.punt_limit", 1),
    ("ingress.nexthop", 2),
    ("ingress.nic_source", 4),
    ("ingress.nic_inner_source", 4),
    ("ingress.nic_class", 8),
    ("ingress.nic_class_demoted", 8),
    ("egress.trim", 8),
    ("egress.ecn", 8),
    ("egress.port_class", 8),
    ("egress.trimmed", 8),
    ("egress.ecn_marked", 8),
];

/// Returns the numbers of the two special ports: the controller and the drop port.
pub(super) fn special(bits: u8) -> (u32, u32) {
    ((1 << bits) - 2, (1 << bits) - 1)
}

/// Generates the pipeline for ports of a width.
pub(super) fn widen_pipeline(narrow: &Pipeline, bits: u8) -> Result<Pipeline, String> {
    let mut p4info = text::read_p4info(narrow.p4info()).map_err(|error| error.to_string())?;
    let numbered = narrow.info().text_ports().is_none();
    if numbered {
        widen_info(&mut p4info, bits)?;
    }
    let program = narrow.bmv2().ok_or("the pipeline has no program for BMv2")?;
    let program = serde_json::from_str(program).map_err(|error| error.to_string())?;
    let rules = if numbered { numbered_rules() } else { named_rules() };
    let program = widen_program(program, bits, &rules)?;
    let index = Info::new(p4info.clone()).map_err(|error| error.to_string())?;
    let mut bmv2 = serde_json::to_string_pretty(&program).map_err(|error| error.to_string())?;
    bmv2.push('\n');
    Ok(Pipeline {
        p4info: if numbered { text::write(&p4info).into() } else { narrow.p4info.clone() },
        bmv2: Some(bmv2.into()),
        index: Index::Generated(Arc::new(index)),
        ..*narrow
    })
}

/// Returns the size of an object with ports of `bits` bits, or `None` if its size does not depend on the
/// ports. It is an error if the current size is not the one for nine bits.
fn size(name: &str, now: i64, bits: u8) -> Result<Option<i64>, String> {
    let Some((_, times)) = BY_PORT.iter().find(|(by_port, _)| *by_port == name) else { return Ok(None) };
    if now != times << NARROW {
        return Err(format!(
            "`{name}` has {now} entries, expected {times} for each of {} ports",
            1 << NARROW
        ));
    }
    Ok(Some(times << bits))
}

fn widen_info(info: &mut P4Info, bits: u8) -> Result<(), String> {
    let (narrow, wide) = (i32::from(NARROW), i32::from(bits));
    let mut found = 0;
    // Only port numbers are nine bits wide.
    let mut widen = |width: &mut i32| {
        if *width == narrow {
            *width = wide;
            found += 1;
        }
    };
    for field in info.tables.iter_mut().flat_map(|table| &mut table.match_fields) {
        widen(&mut field.bitwidth);
    }
    for param in info.actions.iter_mut().flat_map(|action| &mut action.params) {
        widen(&mut param.bitwidth);
    }
    expect("fields of the P4Info with the width of a port", found, 9)?;
    let mut sizes = 0;
    for table in &mut info.tables {
        let name = table.preamble.as_ref().map_or("", |preamble| &preamble.name);
        if let Some(wide) = size(name, table.size, bits)? {
            table.size = wide;
            sizes += 1;
        }
    }
    for counter in &mut info.counters {
        let name = counter.preamble.as_ref().map_or("", |preamble| &preamble.name);
        if let Some(wide) = size(name, counter.size, bits)? {
            counter.size = wide;
            sizes += 1;
        }
    }
    expect("per-port tables and counters of the P4Info", sizes, BY_PORT.len())
}

fn expect(objects: &str, found: usize, wanted: usize) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{found} {objects}, expected {wanted}")) }
}

/// The number of times that each rule was applied.
type RuleCounts = BTreeMap<&'static str, usize>;

/// Rewrites literals of the program according to their meaning.
struct Literals {
    bits: u8,
    counts: RuleCounts,
}

/// Returns the expected count of each rule, for a program whose ports are numbers in P4Runtime.
fn numbered_rules() -> RuleCounts {
    RuleCounts::from([
        ("ports", 3),
        ("indices", 5),
        ("parameters", 1),
        // Two tables have meters of the same size as the table.
        ("sizes", BY_PORT.len() + 2),
        ("controller port", 4),
        // Four masks, and two uses of the drop port, whose number equals the mask.
        ("masks of ports", 6),
        ("masks of indices", 15),
        ("high bits of a packet-out", 1),
    ])
}

/// Returns the expected count of each rule, for a program whose ports are text in P4Runtime.
fn named_rules() -> RuleCounts {
    RuleCounts::from([("ports", 4), ("parameters", 2), ("masks of ports", 2)])
}

fn widen_program(mut program: Value, bits: u8, wanted: &RuleCounts) -> Result<Value, String> {
    let mut found = RuleCounts::new();
    // Fields of standard metadata, and temporary fields for indices.
    for field in array_items(&mut program, "header_types").flat_map(|header| array_items(header, "fields")) {
        let Some(Value::String(name)) = field.get(0) else { continue };
        let (width, rule) = match (name.as_str(), field.get(1).and_then(Value::as_u64)) {
            ("ingress_port" | "egress_port" | "egress_spec" | PORT_OF_SAI, Some(9)) => (bits, "ports"),
            (name, Some(12)) if name.starts_with("tmp_") => (bits + 3, "indices"),
            _ => continue,
        };
        field[1] = width.into();
        *found.entry(rule).or_default() += 1;
    }
    for parameter in
        array_items(&mut program, "actions").flat_map(|action| array_items(action, "runtime_data"))
    {
        if parameter["bitwidth"] == NARROW {
            parameter["bitwidth"] = bits.into();
            *found.entry("parameters").or_default() += 1;
        }
    }
    for table in array_items(&mut program, "pipelines").flat_map(|pipeline| array_items(pipeline, "tables")) {
        resize(table, ("name", "max_size"), bits, &mut found)?;
    }
    for counter in array_items(&mut program, "counter_arrays").filter(|counter| counter["is_direct"] != true)
    {
        resize(counter, ("name", "size"), bits, &mut found)?;
    }
    for meter in array_items(&mut program, "meter_arrays").filter(|meter| meter["is_direct"] == true) {
        resize(meter, ("binding", "size"), bits, &mut found)?;
    }
    let mut literals = Literals { bits, counts: found };
    for part in ["parsers", "actions", "pipelines"] {
        literals.walk(&mut program[part]);
    }
    if literals.counts == *wanted {
        Ok(program)
    } else {
        Err(format!("rules applied {:?}, expected {wanted:?}", literals.counts))
    }
}

fn array_items<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> + use<'v> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn resize(
    object: &mut Value,
    (name, key): (&str, &str),
    bits: u8,
    counts: &mut RuleCounts,
) -> Result<(), String> {
    let name = object[name].as_str().unwrap_or_default().to_owned();
    if let Some(wide) = size(&name, object[key].as_i64().unwrap_or_default(), bits)? {
        object[key] = wide.into();
        *counts.entry("sizes").or_default() += 1;
    }
    Ok(())
}

impl Literals {
    fn walk(&mut self, value: &mut Value) {
        if value["op"] == ">>" && value["left"]["value"] == serde_json::json!(["packet_out", "egress_port"]) {
            value["right"]["value"] = format!("{:#x}", self.bits).into();
            *self.counts.entry("high bits of a packet-out").or_default() += 1;
        }
        match value {
            Value::Object(object) => {
                if object.get("type").is_some_and(|kind| kind == "hexstr")
                    && let Some(Value::String(number)) = object.get_mut("value")
                {
                    self.literal(number);
                }
                object.values_mut().for_each(|inner| self.walk(inner));
            }
            Value::Array(array) => array.iter_mut().for_each(|inner| self.walk(inner)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Rewrites a literal that has the digits of the controller port or of a mask, padded as p4c writes them.
    /// A literal with the same digits but a different meaning changes a count, and the program is rejected.
    fn literal(&mut self, number: &mut String) {
        let (cpu, mask) = special(self.bits);
        let (rule, wide) = match number.as_str() {
            "0x01fe" => ("controller port", cpu),
            "0x01ff" => ("masks of ports", mask),
            "0x0fff" => ("masks of indices", (1 << (self.bits + 3)) - 1),
            _ => return,
        };
        *number = format!("{wide:#06x}");
        *self.counts.entry(rule).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use closc_runtime::value::Width;

    use super::*;

    #[test]
    fn every_width_keeps_all_names_and_ids() {
        let narrow = Pipeline::fabric();
        for bits in NARROW + 1..=WIDEST {
            let wide = widen_pipeline(narrow, bits).expect("every rule is applied as often as expected");
            let ids = |pipeline: &Pipeline| -> Vec<(String, u32)> {
                let tables = pipeline.info().tables();
                tables.iter().map(|table| (table.preamble.name.clone(), table.preamble.id)).collect()
            };
            assert_eq!(ids(narrow), ids(&wide));
            let port_role = wide.info().table("ingress.port_role").expect("a table");
            let port = port_role.field("ingress_port").expect("a field");
            assert_eq!(port.width, Width::Bits(bits.into()));
            assert_ne!(narrow.for_target().cookie(), wide.for_target().cookie());
        }
    }

    #[test]
    fn text_for_ports_stays_text() {
        let narrow = Pipeline::sai();
        for bits in NARROW + 1..=WIDEST {
            let wide = widen_pipeline(narrow, bits).expect("every rule is applied as often as expected");
            assert_eq!(wide.info().message(), narrow.info().message());
            assert_ne!(narrow.for_target().cookie(), wide.for_target().cookie());
        }
    }

    #[test]
    fn widening_to_nine_bits_changes_nothing() {
        for narrow in [Pipeline::fabric(), Pipeline::sai()] {
            nine_bits(narrow);
        }
    }

    fn nine_bits(narrow: &Pipeline) {
        let again = widen_pipeline(narrow, NARROW).expect("every rule is applied as often as expected");
        assert_eq!(text::read_p4info(&again.p4info), text::read_p4info(narrow.p4info()));
        let program = |pipeline: &Pipeline| {
            let text = pipeline.bmv2().expect("a program for BMv2");
            serde_json::from_str::<Value>(text).expect("p4c and serde write JSON")
        };
        assert_eq!(program(&again), program(narrow));
    }

    #[test]
    fn another_program_is_refused() {
        let narrow = Pipeline::fabric();
        let without = narrow.bmv2().expect("a program for BMv2").replace("0x01fe", "0x01fd");
        let other =
            Pipeline { bmv2: Some(without.into()), ..widen_pipeline(narrow, NARROW).expect("a pipeline") };
        let error = widen_pipeline(&other, 10).map(|_| ()).expect_err("0x01fe does not occur");
        assert!(error.contains("controller port"), "{error}");
    }
}
