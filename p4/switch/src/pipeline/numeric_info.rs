//! The P4Info of a program for a switch that does not translate types.
//!
//! In: a pipeline with types that are text for controllers. Out: the P4Info with numbers instead, in the widths of the
//! program. Invariants: everything except translated types stays the same.

use std::collections::HashMap;

use closc_runtime::proto::config;
use config::p4_bitstring_like_type_spec::TypeSpec as Bits;
use config::p4_data_type_spec::TypeSpec as Data;
use config::p4_new_type_spec::Representation;

use super::Pipeline;

impl Pipeline {
    /// Returns the P4Info with numbers instead of text, for BMv2, which rejects translated types.
    pub fn numeric_p4info(&self) -> config::P4Info {
        let mut p4info = self.info.message().clone();
        for table in &mut p4info.tables {
            self.number_table(table);
        }
        let params = self.param_widths();
        for action in &mut p4info.actions {
            let id = action.preamble.as_ref().map_or(0, |preamble| preamble.id);
            for param in &mut action.params {
                let known = params.get(&(id, param.id)).copied();
                self.number(param.type_name.as_ref(), known, &mut param.bitwidth);
            }
        }
        for set in &mut p4info.value_sets {
            let bound = set.preamble.as_ref().and_then(|preamble| self.value_set(preamble.id));
            let widths = bound.map_or(&[][..], |bound| &bound.fields);
            for field in &mut set.r#match {
                let known = widths.iter().find(|(id, _)| *id == field.id).map(|(_, bits)| *bits);
                self.number(field.type_name.as_ref(), known, &mut field.bitwidth);
            }
        }
        for header in &mut p4info.controller_packet_metadata {
            let is_in = header.preamble.as_ref().is_some_and(|preamble| preamble.name == "packet_in");
            let layout = if is_in { self.packet_in() } else { self.packet_out() };
            for field in &mut header.metadata {
                let known = layout.fields.iter().find(|(id, _)| *id == field.id).map(|(_, bits)| *bits);
                self.number(field.type_name.as_ref(), known, &mut field.bitwidth);
            }
        }
        if let Some(types) = &mut p4info.type_info {
            self.number_types(types);
        }
        p4info
    }

    fn number_table(&self, table: &mut config::Table) {
        let id = table.preamble.as_ref().map_or(0, |preamble| preamble.id);
        let bound = self.table(id).zip(self.info.table_by_id(id));
        for field in &mut table.match_fields {
            let known = bound.and_then(|(binding, info)| {
                let (at, _) = info.field_by_id(field.id)?;
                Some(self.program.tables[binding.index].key[*binding.fields.get(at)?].bits)
            });
            self.number(field.type_name.as_ref(), known, &mut field.bitwidth);
        }
    }

    /// Returns the width of each parameter in the program, by the ids of action and parameter.
    fn param_widths(&self) -> HashMap<(u32, u32), u32> {
        let actions = self.bindings.tables.values().flat_map(|table| &table.actions);
        actions
            .flat_map(|action| {
                let target = &self.program.actions[action.action as usize];
                action.params.iter().map(|param| ((action.id, param.id), target.params[param.param].1))
            })
            .collect()
    }

    /// Sets the width of an object whose type is text: its width in the program if known, otherwise the width
    /// of its type.
    fn number(&self, of: Option<&config::P4NamedType>, known: Option<u32>, bits: &mut i32) {
        let Some(text) = of.and_then(|of| self.texts.find(&of.name)) else { return };
        *bits = known.unwrap_or(text.bits).cast_signed();
    }

    fn number_types(&self, types: &mut config::P4TypeInfo) {
        for (name, spec) in &mut types.new_types {
            let Some(text) = self.texts.find(name) else { continue };
            let bits = config::P4BitTypeSpec { bitwidth: text.bits.cast_signed() };
            let bits =
                config::P4BitstringLikeTypeSpec { type_spec: Some(Bits::Bit(bits)), ..Default::default() };
            let number = config::P4DataTypeSpec { type_spec: Some(Data::Bitstring(bits)) };
            spec.representation = Some(Representation::OriginalType(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use closc_runtime::text::read_p4info;
    use closc_runtime::value::Width;

    use super::*;

    #[test]
    fn names_become_numbers_as_wide_as_the_program_has_them() {
        let info = include_str!("../../../pipelines/sai/sai.p4info.txtpb");
        let program = include_bytes!("../../../pipelines/sai/sai.bmv2.json");
        let info = read_p4info(info).expect("a P4Info");
        let named = Pipeline::new(info.clone(), program[..].into()).expect("a pipeline");
        let numbered =
            Pipeline::new(named.numeric_p4info(), program[..].into()).expect("its program has numbers");
        assert!(!named.texts().is_empty() && numbered.texts().is_empty());
        let table = numbered.info().table("l3_admit_table").expect("it is there");
        assert_eq!(table.field("in_port").expect("it is there").width, Width::Bits(9));
        let action = numbered.info().action("set_ip_nexthop").expect("it is there");
        assert_eq!(action.param("router_interface_id").expect("it is there").width, Width::Bits(16));
        assert_eq!(action.param("neighbor_id").expect("it is there").width, Width::Bits(128));
        let ids = |pipeline: &Pipeline| -> Vec<(u32, String)> {
            let tables = pipeline.info().tables().iter();
            tables.map(|table| (table.preamble.id, table.preamble.name.clone())).collect()
        };
        assert_eq!(ids(&named), ids(&numbered));
        assert_eq!(numbered.numeric_p4info(), *numbered.info().message(), "nothing is left to number");
    }
}
