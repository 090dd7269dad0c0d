//! Compiles a document: resolves names, lays out headers, validates everything once.
//!
//! Objects are compiled in the order of references: headers, then arrays and calculations, actions, parser, control
//! flow.

mod arrays;
mod control;
mod entries;
mod headers;
mod operand;
mod parser;
mod primitive;
mod standard;

pub(crate) use entries::prefix_mask;

use std::collections::HashMap;
use std::hash::Hash;

use super::expr::Value as Number;
use super::{
    ActionCall, Calculation, Conditional, CounterArray, DirectCounter, Field, Header, HeaderType, MeterArray,
    Profile, Program, RegisterArray, Stack, Table, Union, UnionStack, ValueSet,
};
use crate::Error;
use crate::json::Document;

/// Maximum number of words of a packet's headers.
const MOST_WORDS: u64 = 1 << 17;
/// Maximum number of objects of one kind.
const MOST_OBJECTS: u64 = u16::MAX as u64;
/// Maximum width of a field, register or parameter.
const MOST_BITS: u64 = 1 << 16;

/// Names and ids of one kind of object.
struct Index<K> {
    kind: &'static str,
    map: HashMap<K, u16>,
}

impl<K: Hash + Eq + ToString> Index<K> {
    fn new(kind: &'static str) -> Self {
        Self { kind, map: HashMap::new() }
    }

    fn add(&mut self, key: K, index: usize) -> Result<(), Error> {
        if index as u64 >= MOST_OBJECTS {
            let place = format!("{} `{}`", self.kind, key.to_string());
            return Err(Error::Limit {
                place,
                property: "its number",
                value: index as u64,
                limit: MOST_OBJECTS,
            });
        }
        match self.map.entry(key) {
            std::collections::hash_map::Entry::Occupied(old) => {
                Err(Error::Duplicate { kind: self.kind, name: old.key().to_string() })
            }
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(index as u16);
                Ok(())
            }
        }
    }

    fn get<Q>(&self, key: &Q, place: &str) -> Result<u16, Error>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToString + ?Sized,
    {
        self.map.get(key).copied().ok_or_else(|| Error::unknown(self.kind, key.to_string(), place))
    }
}

/// Names resolved so far.
struct Builder<'a> {
    document: &'a Document,
    words: u32,
    types: Vec<HeaderType>,
    type_names: Index<String>,
    headers: Vec<Header>,
    header_names: Index<String>,
    header_ids: Index<i64>,
    stacks: Vec<Stack>,
    stack_names: Index<String>,
    unions: Vec<Union>,
    union_names: Index<String>,
    union_ids: Index<i64>,
    union_stacks: Vec<UnionStack>,
    union_stack_names: Index<String>,
    /// Member names of union types.
    union_members: HashMap<String, Vec<String>>,
    /// Type name of unions and union stacks.
    union_types: HashMap<String, String>,
    aliases: HashMap<(String, String), (String, String)>,
    counters: Vec<CounterArray>,
    direct_counters: Vec<DirectCounter>,
    counter_names: Index<String>,
    meters: Vec<MeterArray>,
    meter_names: Index<String>,
    meter_targets: HashMap<u16, Field>,
    registers: Vec<RegisterArray>,
    register_names: Index<String>,
    calculations: Vec<Calculation>,
    calculation_names: Index<String>,
    value_sets: Vec<ValueSet>,
    value_set_names: Index<String>,
    actions: Vec<super::Action>,
    action_ids: Index<i64>,
    profiles: Vec<Profile>,
    profile_names: Index<String>,
    tables: Vec<Table>,
    conditionals: Vec<Conditional>,
    calls: Vec<ActionCall>,
}

impl<'a> Builder<'a> {
    fn new(document: &'a Document) -> Self {
        Self {
            document,
            words: 0,
            types: Vec::new(),
            type_names: Index::new("header type"),
            headers: Vec::new(),
            header_names: Index::new("header"),
            header_ids: Index::new("header id"),
            stacks: Vec::new(),
            stack_names: Index::new("header stack"),
            unions: Vec::new(),
            union_names: Index::new("header union"),
            union_ids: Index::new("header union id"),
            union_stacks: Vec::new(),
            union_stack_names: Index::new("header union stack"),
            union_members: HashMap::new(),
            union_types: HashMap::new(),
            aliases: HashMap::new(),
            counters: Vec::new(),
            direct_counters: Vec::new(),
            counter_names: Index::new("counter array"),
            meters: Vec::new(),
            meter_names: Index::new("meter array"),
            meter_targets: HashMap::new(),
            registers: Vec::new(),
            register_names: Index::new("register array"),
            calculations: Vec::new(),
            calculation_names: Index::new("calculation"),
            value_sets: Vec::new(),
            value_set_names: Index::new("value set"),
            actions: Vec::new(),
            action_ids: Index::new("action id"),
            profiles: Vec::new(),
            profile_names: Index::new("action profile"),
            tables: Vec::new(),
            conditionals: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Reserves words of the packet.
    fn reserve(&mut self, words: usize) -> Result<u32, Error> {
        let start = self.words;
        let end = u64::from(start) + words as u64;
        if end > MOST_WORDS {
            let place = "the headers together".to_owned();
            return Err(Error::Limit {
                place,
                property: "their size in 64-bit words",
                value: end,
                limit: MOST_WORDS,
            });
        }
        self.words = end as u32;
        Ok(start)
    }
}

/// Compiles a document.
pub(super) fn program(document: &Document) -> Result<Program, Error> {
    let mut builder = Builder::new(document);
    let metadata = builder.headers()?;
    builder.arrays()?;
    builder.calculations()?;
    builder.actions()?;
    let errors = builder.errors();
    let parser = builder.parser()?;
    let (deparser, deparser_calls) = builder.deparser()?;
    let (ingress, egress) = builder.pipelines()?;
    let (verify, update) = builder.checksums()?;
    let digests = builder.digests()?;
    let field_lists = builder.field_lists()?;
    let standard = builder.standard()?;
    refuse_externs(document)?;
    Ok(Program {
        types: builder.types,
        headers: builder.headers,
        stacks: builder.stacks,
        unions: builder.unions,
        union_stacks: builder.union_stacks,
        words: builder.words as usize,
        metadata,
        parser,
        deparser,
        deparser_calls,
        verify,
        update,
        calculations: builder.calculations,
        actions: builder.actions,
        tables: builder.tables,
        conditionals: builder.conditionals,
        action_calls: builder.calls,
        profiles: builder.profiles,
        ingress,
        egress,
        counters: builder.counters,
        direct_counters: builder.direct_counters,
        meters: builder.meters,
        registers: builder.registers,
        value_sets: builder.value_sets,
        digests,
        field_lists,
        standard,
        errors,
    })
}

fn refuse_externs(document: &Document) -> Result<(), Error> {
    match document.extern_instances.first() {
        Some(instance) => {
            let problem = format!("v1model has no extern of type `{}`", instance.kind);
            Err(Error::invalid(format!("extern `{}`", instance.name), problem))
        }
        None => Ok(()),
    }
}

fn check_bits(bits: u64, place: &str) -> Result<u32, Error> {
    if bits > MOST_BITS {
        return Err(Error::Limit {
            place: place.to_owned(),
            property: "its width",
            value: bits,
            limit: MOST_BITS,
        });
    }
    Ok(bits as u32)
}

fn check_size(size: u64, place: &str) -> Result<u32, Error> {
    u32::try_from(size).map_err(|_| Error::Limit {
        place: place.to_owned(),
        property: "its size",
        value: size,
        limit: u64::from(u32::MAX),
    })
}
