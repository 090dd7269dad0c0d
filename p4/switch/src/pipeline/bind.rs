//! Binds the ids of a P4Info to the indices of a program by name, and checks that bound objects are the same.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use closc_runtime::info::{ActionProfile, ActionRef, Info, Metadata, PacketHeader, Table, ValueSet};

use super::proof::Proof;
use crate::program::{self, HeaderType, Program, TableKind};

/// A parameter of an action.
#[derive(Clone, Debug)]
pub(crate) struct ParamBinding {
    /// Id in the action.
    pub(crate) id: u32,
    /// Place in the program's action.
    pub(crate) param: usize,
}

/// An action as a table uses it.
#[derive(Clone, Debug)]
pub(crate) struct ActionBinding {
    /// Id in the P4Info.
    pub(crate) id: u32,
    /// Index in the program.
    pub(crate) action: u16,
    /// Parameters in the order of the P4Info.
    pub(crate) params: Vec<ParamBinding>,
}

#[derive(Clone, Debug)]
pub(crate) struct TableBinding {
    /// Index in the program.
    pub(crate) index: usize,
    /// Places in the program's key, in the order of the P4Info.
    pub(crate) fields: Vec<usize>,
    /// Actions in the order of the P4Info.
    pub(crate) actions: Vec<ActionBinding>,
    /// Index of the profile in the program.
    pub(crate) profile: Option<usize>,
}

impl TableBinding {
    /// Returns an action by its index in the program.
    pub(crate) fn action_at(&self, index: u16) -> Option<&ActionBinding> {
        self.actions.iter().find(|action| action.action == index)
    }
}

/// An action profile.
#[derive(Clone, Debug)]
pub(crate) struct ProfileBinding {
    /// Index in the program.
    pub(crate) index: usize,
    /// Actions of its tables.
    pub(crate) actions: Vec<ActionBinding>,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub(crate) struct ValueSetBinding {
    /// Index in the program.
    pub(crate) index: usize,
    /// Ids and widths of its fields in order.
    pub(crate) fields: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct DigestBinding {
    /// Number used in actions.
    pub(crate) number: u32,
}

/// The header of packets to or from the controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketLayout {
    /// Ids and widths of its fields in order.
    pub(crate) fields: Vec<(u32, u32)>,
}

impl PacketLayout {
    /// If controllers use other widths, the widths of the program apply. A header has different names in the
    /// P4Info and in the program, but its fields have the same names.
    fn new(header: &PacketHeader, program: &Program, proof: &mut Proof) -> Self {
        let same = |ty: &&HeaderType| {
            let names = ty.fields.iter().map(|field| &field.name);
            names.eq(header.fields().iter().map(|field| &field.name))
        };
        let ty = program.types.iter().find(same);
        let width = |(at, field): (usize, &Metadata)| {
            let bits = ty.map_or(field.width.bits(), |ty| ty.fields[at].bits);
            let place = || format!("header `{}`, field `{}`", header.preamble.name, field.name);
            proof.width(place, (field.width, field.translated), bits);
            (field.id, bits)
        };
        Self { fields: header.fields().iter().enumerate().map(width).collect() }
    }

    /// Returns how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        crate::bits::bytes_for(self.fields.iter().map(|(_, bits)| *bits as usize).sum())
    }
}

/// All objects by id.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    pub(super) tables: HashMap<u32, TableBinding>,
    pub(super) profiles: HashMap<u32, ProfileBinding>,
    /// Counter, meter and register arrays.
    pub(super) arrays: HashMap<u32, usize>,
    pub(super) value_sets: HashMap<u32, ValueSetBinding>,
    pub(super) digests: BTreeMap<u32, DigestBinding>,
    pub(super) packet_in: PacketLayout,
    pub(super) packet_out: PacketLayout,
}

impl Bindings {
    pub(super) fn new(info: &Info, program: &Program) -> Result<Self, Vec<String>> {
        let mut this = Self::default();
        let mut proof = Proof::default();
        check_origin(info, program, &mut proof);
        for table in info.tables() {
            if let Some(index) = program.table(&table.preamble.name) {
                let binding = bind_table(table, index, program, &mut proof);
                this.tables.insert(table.preamble.id, binding);
            }
        }
        for profile in info.profiles() {
            this.bind_profile(profile, program, &mut proof);
        }
        this.bind_arrays(info, program, &mut proof);
        for set in info.value_sets() {
            this.bind_value_set(set, program, &mut proof);
        }
        this.bind_digests(info, program, &mut proof);
        let mut layout = |header: &Arc<PacketHeader>| PacketLayout::new(header, program, &mut proof);
        this.packet_in = info.packet_in().map(&mut layout).unwrap_or_default();
        this.packet_out = info.packet_out().map(&mut layout).unwrap_or_default();
        proof.finish(this)
    }

    /// The compiler removes a profile together with its tables, so a missing one is not an error.
    fn bind_profile(&mut self, profile: &ActionProfile, program: &Program, proof: &mut Proof) {
        let name = &profile.preamble.name;
        let Some(index) = program.profiles.iter().position(|target| target.name == *name) else { return };
        proof.profile(profile, &program.profiles[index]);
        let first = profile.table_ids.iter().find_map(|id| self.tables.get(id));
        let actions = first.map_or_else(Vec::new, |table| table.actions.clone());
        self.profiles.insert(profile.preamble.id, ProfileBinding { index, actions });
    }

    fn bind_arrays(&mut self, info: &Info, program: &Program, proof: &mut Proof) {
        for counter in info.counters() {
            let (names, name) = (program.counters.iter().map(|array| &array.name), &counter.preamble.name);
            let Some(index) = proof.position(names, name, "counter array") else { continue };
            proof.size("counter array", name, counter.size, program.counters[index].size);
            self.arrays.insert(counter.preamble.id, index);
        }
        for meter in info.meters() {
            let (names, name) = (program.meters.iter().map(|array| &array.name), &meter.preamble.name);
            let Some(index) = proof.position(names, name, "meter array") else { continue };
            proof.size("meter array", name, meter.size, program.meters[index].size);
            proof.meter_unit(meter, &program.meters[index]);
            self.arrays.insert(meter.preamble.id, index);
        }
        for register in info.registers() {
            let (names, name) = (program.registers.iter().map(|array| &array.name), &register.preamble.name);
            let Some(index) = proof.position(names, name, "register array") else { continue };
            proof.register(info, register, &program.registers[index]);
            self.arrays.insert(register.preamble.id, index);
        }
    }

    /// Digests with a named type have the same name in the P4Info and in the program; the compiler numbers
    /// the others in order.
    fn bind_digests(&mut self, info: &Info, program: &Program, proof: &mut Proof) {
        for (place, digest) in info.digests().iter().enumerate() {
            let name = &digest.preamble.name;
            let by_name = program.digests.iter().find(|(_, candidate)| candidate.name == *name);
            let same_count = program.digests.len() == info.digests().len();
            let by_place = program.digests.iter().nth(place).filter(|_| same_count);
            let Some((number, spec)) = by_name.or(by_place) else {
                proof.report_missing("digest", name);
                continue;
            };
            proof.digest(info, digest, spec);
            self.digests.insert(digest.preamble.id, DigestBinding { number: *number });
        }
    }

    fn bind_value_set(&mut self, set: &ValueSet, program: &Program, proof: &mut Proof) {
        let (names, name) = (program.value_sets.iter().map(|set| &set.name), &set.preamble.name);
        let Some(index) = proof.position(names, name, "value set") else { return };
        proof.value_set(set, &program.value_sets[index]);
        let fields = set.fields.iter().map(|field| (field.id, field.width.bits())).collect();
        self.value_sets.insert(set.preamble.id, ValueSetBinding { index, fields });
    }
}

/// Checks that a P4Info and a program come from the same source. The compiler removes tables that are never
/// applied, so a table that only the P4Info contains is not a difference. A table that only the program
/// contains is a difference.
fn check_origin(info: &Info, program: &Program, proof: &mut Proof) {
    // Tables generated by the compiler have names without a control prefix.
    let mut named = program.tables.iter().filter(|table| table.name.contains('.'));
    let strange = named.any(|target| info.tables().iter().all(|table| table.preamble.name != target.name));
    if strange {
        for table in info.tables().iter().filter(|table| program.table(&table.preamble.name).is_none()) {
            proof.report_missing("table", &table.preamble.name);
        }
    }
}

fn bind_table(table: &Table, index: usize, program: &Program, proof: &mut Proof) -> TableBinding {
    let spec = &program.tables[index];
    proof.table(table, spec, program);
    let fields = bind_fields(table, spec, proof);
    let actions = table.actions().iter();
    let actions = actions.filter_map(|action| bind_action(action, spec, program, proof)).collect();
    let profile = match spec.kind {
        TableKind::Simple => None,
        TableKind::Indirect(profile) => Some(profile as usize),
    };
    TableBinding { index, fields, actions, profile }
}

fn bind_fields(table: &Table, spec: &program::Table, proof: &mut Proof) -> Vec<usize> {
    let count = |fields: usize| format!("{fields} fields of the key");
    let (info, program) = (table.fields().len(), spec.key.len());
    proof.equal(|| format!("table `{}`", table.preamble.name), count(info), count(program));
    if info != program {
        return Vec::new();
    }
    let mut bind = |(at, field): (usize, &closc_runtime::info::MatchField)| {
        // Names differ for keys that are expressions or have `@name`; the order never differs.
        let named = spec.key.iter().position(|key| key.name == field.name);
        let place = if spec.key[at].name == field.name { at } else { named.unwrap_or(at) };
        let key = &spec.key[place];
        let name = || format!("table `{}`, field `{}`", table.preamble.name, field.name);
        proof.width(name, (field.width, field.translated), key.bits);
        proof.kind(name, &field.kind, key.kind);
        place
    };
    table.fields().iter().enumerate().map(&mut bind).collect()
}

/// Binds an action; `None` if the compiler removed it from the table.
fn bind_action(
    reference: &ActionRef,
    spec: &program::Table,
    program: &Program,
    proof: &mut Proof,
) -> Option<ActionBinding> {
    let action = &reference.action;
    let name = &action.preamble.name;
    let mut candidates = spec.actions.iter().map(|(index, _)| *index);
    let index = candidates.find(|index| program.actions[*index as usize].name == *name)?;
    let target = &program.actions[index as usize];
    let count = |params: usize| format!("{params} parameters");
    proof.equal(|| format!("action `{name}`"), count(action.params().len()), count(target.params.len()));
    let mut bind = |(at, param): (usize, &closc_runtime::info::Param)| {
        let named = target.params.iter().position(|(name, _)| *name == param.name);
        let place = named.unwrap_or(at);
        let (_, bits) = target.params.get(place)?;
        let name = || format!("action `{name}`, parameter `{}`", param.name);
        proof.width(name, (param.width, param.translated), *bits);
        Some(ParamBinding { id: param.id, param: place })
    };
    let params = action.params().iter().enumerate().filter_map(&mut bind).collect();
    Some(ActionBinding { id: action.preamble.id, action: index, params })
}
