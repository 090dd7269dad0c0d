//! Binds the ids of a P4Info to the indices of a program, by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use closc_runtime::info::{ActionProfile, ActionRef, Info, Metadata, PacketHeader, Table, ValueSet};
use closc_runtime::proto::config;
use closc_runtime::value::Width;
use config::p4_new_type_spec::Representation;
use config::p4_new_type_translation::SdnType;

use super::PipelineError;
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

/// A table.
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

/// A digest.
#[derive(Clone, Debug)]
pub(crate) struct DigestBinding {
    /// Number that actions use.
    pub(crate) number: u32,
}

/// The header of packets to or from the controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketLayout {
    /// Ids and widths of its fields in order.
    pub(crate) fields: Vec<(u32, u32)>,
}

impl PacketLayout {
    /// The program has its own widths where the controller sees other ones. Headers have no name in common, but the
    /// names of their fields.
    fn new(header: &PacketHeader, program: &Program) -> Self {
        let same = |ty: &&HeaderType| {
            let names = ty.fields.iter().map(|field| &field.name);
            names.eq(header.fields().iter().map(|field| &field.name))
        };
        let ty = program.types.iter().find(same);
        let width = |(at, field): (usize, &Metadata)| {
            let bits = ty.map_or(field.width.bits(), |ty| ty.fields[at].bits);
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
    pub(super) fn new(info: &Info, program: &Program) -> Result<Self, PipelineError> {
        let mut this = Self::default();
        let translated = Translated::new(info);
        check_origin(info, program)?;
        for table in info.tables() {
            if let Some(index) = program.table(&table.preamble.name) {
                let binding = bind_table(table, index, program, &translated)?;
                this.tables.insert(table.preamble.id, binding);
            }
        }
        for profile in info.profiles() {
            if let Some(binding) = this.bind_profile(profile, program) {
                this.profiles.insert(profile.preamble.id, binding);
            }
        }
        this.bind_arrays(info, program)?;
        for set in info.value_sets() {
            this.value_sets.insert(set.preamble.id, bind_value_set(set, program)?);
        }
        this.bind_digests(info, program)?;
        let layout = |header: &Arc<PacketHeader>| PacketLayout::new(header, program);
        this.packet_in = info.packet_in().map(layout).unwrap_or_default();
        this.packet_out = info.packet_out().map(layout).unwrap_or_default();
        Ok(this)
    }

    fn bind_profile(&self, profile: &ActionProfile, program: &Program) -> Option<ProfileBinding> {
        let index = program.profiles.iter().position(|target| target.name == profile.preamble.name)?;
        let first = profile.table_ids.iter().find_map(|id| self.tables.get(id));
        let actions = first.map_or_else(Vec::new, |table| table.actions.clone());
        Some(ProfileBinding { index, actions })
    }

    fn bind_arrays(&mut self, info: &Info, program: &Program) -> Result<(), PipelineError> {
        for counter in info.counters() {
            let names = program.counters.iter().map(|array| &array.name);
            let index = position(names, &counter.preamble.name, "counter array")?;
            same_size(&counter.preamble.name, counter.size, program.counters[index].size)?;
            self.arrays.insert(counter.preamble.id, index);
        }
        for meter in info.meters() {
            let names = program.meters.iter().map(|array| &array.name);
            let index = position(names, &meter.preamble.name, "meter array")?;
            same_size(&meter.preamble.name, meter.size, program.meters[index].size)?;
            self.arrays.insert(meter.preamble.id, index);
        }
        for register in info.registers() {
            let names = program.registers.iter().map(|array| &array.name);
            let index = position(names, &register.preamble.name, "register array")?;
            same_size(&register.preamble.name, register.size, program.registers[index].size)?;
            self.arrays.insert(register.preamble.id, index);
        }
        Ok(())
    }

    /// Digests have the same name on both sides where their type has one; the compiler numbers the others in order.
    fn bind_digests(&mut self, info: &Info, program: &Program) -> Result<(), PipelineError> {
        for (place, digest) in info.digests().iter().enumerate() {
            let name = &digest.preamble.name;
            let by_name = program.digests.iter().find(|(_, candidate)| candidate.name == *name);
            let same_count = program.digests.len() == info.digests().len();
            let by_place = program.digests.iter().nth(place).filter(|_| same_count);
            let missing = || PipelineError::Missing { kind: "digest", name: name.clone() };
            let (number, _) = by_name.or(by_place).ok_or_else(missing)?;
            self.digests.insert(digest.preamble.id, DigestBinding { number: *number });
        }
        Ok(())
    }
}

fn position<'n>(
    mut names: impl Iterator<Item = &'n String>,
    name: &str,
    kind: &'static str,
) -> Result<usize, PipelineError> {
    names
        .position(|candidate| candidate == name)
        .ok_or_else(|| PipelineError::Missing { kind, name: name.to_owned() })
}

fn same_size(name: &str, info: u64, program: u32) -> Result<(), PipelineError> {
    if info == u64::from(program) {
        return Ok(());
    }
    let (info, program) = (format!("{info} cells"), format!("{program}"));
    Err(PipelineError::Different { place: format!("`{name}`"), info, program })
}

/// Checks that a P4Info and a program come from the same source. The compiler removes tables that nothing applies, so
/// one that is missing proves nothing; but then the program has no table that the P4Info lacks.
fn check_origin(info: &Info, program: &Program) -> Result<(), PipelineError> {
    let missing = info.tables().iter().find(|table| program.table(&table.preamble.name).is_none());
    let Some(missing) = missing else { return Ok(()) };
    // Tables that the compiler makes have names without a control.
    let mut named = program.tables.iter().filter(|table| table.name.contains('.'));
    let strange = named.any(|target| info.tables().iter().all(|table| table.preamble.name != target.name));
    if strange {
        return Err(PipelineError::Missing { kind: "table", name: missing.preamble.name.clone() });
    }
    Ok(())
}

fn bind_table(
    table: &Table,
    index: usize,
    program: &Program,
    translated: &Translated,
) -> Result<TableBinding, PipelineError> {
    let name = &table.preamble.name;
    let spec = &program.tables[index];
    let fields = bind_fields(table, spec, translated)?;
    let mut actions = Vec::with_capacity(table.actions().len());
    for action in table.actions() {
        actions.extend(bind_action(action, spec, program, translated)?);
    }
    let profile = match (&table.profile, spec.kind) {
        (None, TableKind::Simple) => None,
        (Some(_), TableKind::Indirect(profile)) => Some(profile as usize),
        (given, _) => {
            let say = |indirect| if indirect { "an action profile" } else { "no action profile" };
            return Err(PipelineError::Different {
                place: format!("table `{name}`"),
                info: say(given.is_some()).to_owned(),
                program: say(given.is_none()).to_owned(),
            });
        }
    };
    Ok(TableBinding { index, fields, actions, profile })
}

fn bind_fields(
    table: &Table,
    spec: &program::Table,
    translated: &Translated,
) -> Result<Vec<usize>, PipelineError> {
    let place = || format!("table `{}`", table.preamble.name);
    let count = table.fields().len();
    if count != spec.key.len() {
        let (info, program) = (format!("{count} fields of the key"), spec.key.len().to_string());
        return Err(PipelineError::Different { place: place(), info, program });
    }
    let bind = |(at, field): (usize, &closc_runtime::info::MatchField)| {
        // Names differ for keys that are expressions or carry `@name`; the order never does.
        let named = spec.key.iter().position(|key| key.name == field.name);
        let key = if spec.key[at].name == field.name { at } else { named.unwrap_or(at) };
        translated.same_width(field.width, spec.key[key].bits, || {
            format!("table `{}`, field `{}`", table.preamble.name, field.name)
        })?;
        Ok(key)
    };
    table.fields().iter().enumerate().map(bind).collect()
}

/// Widths that types have for the controller, where that is not what they have in the data plane.
struct Translated(BTreeSet<u32>);

impl Translated {
    fn new(info: &Info) -> Self {
        let types = info.types().into_iter().flat_map(|types| types.new_types.values());
        let width = |spec: &config::P4NewTypeSpec| match spec.representation.as_ref()? {
            Representation::TranslatedType(translation) => match translation.sdn_type.as_ref()? {
                SdnType::SdnBitwidth(bits) => u32::try_from(*bits).ok(),
                SdnType::SdnString(_) => None,
            },
            Representation::OriginalType(_) => None,
        };
        Self(types.filter_map(width).collect())
    }

    fn same_width(&self, info: Width, program: u32, place: impl Fn() -> String) -> Result<(), PipelineError> {
        match info {
            Width::Text => Ok(()),
            Width::Bits(bits) if bits == program || self.0.contains(&bits) => Ok(()),
            Width::Bits(bits) => Err(PipelineError::Different {
                place: place(),
                info: format!("{bits} bits"),
                program: program.to_string(),
            }),
        }
    }
}

/// Binds an action; none where the compiler removed it from the table.
fn bind_action(
    reference: &ActionRef,
    spec: &program::Table,
    program: &Program,
    translated: &Translated,
) -> Result<Option<ActionBinding>, PipelineError> {
    let action = &reference.action;
    let name = &action.preamble.name;
    let mut candidates = spec.actions.iter().map(|(index, _)| *index);
    let found = candidates.find(|index| program.actions[*index as usize].name == *name);
    let Some(index) = found else { return Ok(None) };
    let target = &program.actions[index as usize];
    let bind = |(at, param): (usize, &closc_runtime::info::Param)| {
        let named = target.params.iter().position(|(name, _)| *name == param.name);
        let place = named.unwrap_or(at);
        let missing =
            || PipelineError::Missing { kind: "parameter", name: format!("{} of action {name}", param.name) };
        let (_, bits) = target.params.get(place).ok_or_else(missing)?;
        translated
            .same_width(param.width, *bits, || format!("action `{name}`, parameter `{}`", param.name))?;
        Ok(ParamBinding { id: param.id, param: place })
    };
    let params: Result<Vec<ParamBinding>, PipelineError> =
        action.params().iter().enumerate().map(bind).collect();
    Ok(Some(ActionBinding { id: action.preamble.id, action: index, params: params? }))
}

fn bind_value_set(set: &ValueSet, program: &Program) -> Result<ValueSetBinding, PipelineError> {
    let name = &set.preamble.name;
    let index = position(program.value_sets.iter().map(|set| &set.name), name, "value set")?;
    let fields = set.fields.iter().map(|field| (field.id, field.width.bits())).collect();
    Ok(ValueSetBinding { index, fields })
}
