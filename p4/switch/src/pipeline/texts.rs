//! Types that are text for controllers and numbers in the data plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_runtime::info::{Info, PacketHeader};

use super::bind::{Bindings, PacketLayout};
use crate::program::Program;

/// A type that is translated from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextType {
    /// Minimum of the widths that it has in the data plane.
    pub(crate) bits: u32,
    /// Whether it is a type of ports, whose names are their numbers.
    pub(crate) port: bool,
}

/// All such types by name; empty for most programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(BTreeMap<Arc<str>, TextType>);

impl Texts {
    /// Finds the types used in tables, actions, value sets and packet headers, each with its minimum width.
    pub(super) fn new(info: &Info, program: &Program, bindings: &Bindings) -> Self {
        let mut this = Self::default();
        for table in info.tables() {
            let Some(binding) = bindings.tables.get(&table.preamble.id) else { continue };
            let key = &program.tables[binding.index].key;
            for (field, place) in table.fields().iter().zip(&binding.fields) {
                this.see(info, field.text.as_ref(), key[*place].bits);
            }
            for bound in &binding.actions {
                let Some(action) = info.action_by_id(bound.id) else { continue };
                let target = &program.actions[bound.action as usize];
                for (param, at) in action.params().iter().zip(&bound.params) {
                    this.see(info, param.text.as_ref(), target.params[at.param].1);
                }
            }
        }
        for set in info.value_sets() {
            let Some(binding) = bindings.value_sets.get(&set.preamble.id) else { continue };
            for (field, (_, bits)) in set.fields.iter().zip(&binding.fields) {
                this.see(info, field.text.as_ref(), *bits);
            }
        }
        this.see_header(info, info.packet_in(), &bindings.packet_in);
        this.see_header(info, info.packet_out(), &bindings.packet_out);
        this
    }

    fn see_header(&mut self, info: &Info, header: Option<&Arc<PacketHeader>>, layout: &PacketLayout) {
        let fields = header.map_or(&[][..], |header| header.fields());
        for (field, (_, bits)) in fields.iter().zip(&layout.fields) {
            self.see(info, field.text.as_ref(), *bits);
        }
    }

    fn see(&mut self, info: &Info, name: Option<&Arc<str>>, bits: u32) {
        let Some(name) = name.filter(|_| bits > 0) else { return };
        let port = info.is_port_type(name);
        let known = self.0.entry(Arc::clone(name)).or_insert(TextType { bits, port });
        known.bits = known.bits.min(bits);
    }

    /// Returns the types in the order of names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, TextType)> {
        self.0.iter().map(|(name, text)| (name, *text))
    }

    /// Finds a type by its name.
    pub(crate) fn find(&self, name: &str) -> Option<TextType> {
        self.0.get(name).copied()
    }

    /// Returns whether the pipeline lacks such types.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
