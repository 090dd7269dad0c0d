//! Checks that a P4Info and a program come from the same compilation, by comparing the properties of objects.
//!
//! In: pairs of objects with the same name. Out: all differences, for a single error message. Invariants: a pair
//! without a difference has the same keys (width and kind of each field), sizes, constness and direct resources. So an
//! entity that fits the P4Info fits the data plane. The compiler's JSON does not distinguish constant and other initial
//! entries of a table; the P4Info decides.

use closc_runtime::info::{self, ActionProfile, Info, MeterUnit, Register, Table, ValueSet};
use closc_runtime::proto::config;
use closc_runtime::value::Width;
use config::p4_bitstring_like_type_spec::TypeSpec as Bits;
use config::p4_data_type_spec::TypeSpec as Data;
use config::p4_new_type_spec::Representation;

use crate::program::{self, MatchKind, Program, TableKind};

/// Maximum nesting of types; a P4Info may be recursive.
const MAX_DEPTH: u32 = 32;

/// Collects differences.
#[derive(Debug, Default)]
pub(super) struct Proof {
    faults: Vec<String>,
}

impl Proof {
    /// Returns the bound objects, or the differences.
    pub(super) fn finish<T>(self, bound: T) -> Result<T, Vec<String>> {
        if self.faults.is_empty() { Ok(bound) } else { Err(self.faults) }
    }

    /// Records an object that only the P4Info contains.
    pub(super) fn report_missing(&mut self, kind: &str, name: &str) {
        self.faults.push(format!("the program has no {kind} `{name}`"));
    }

    /// Finds an object of the program by name, or records that it is missing.
    pub(super) fn position<'n>(
        &mut self,
        mut names: impl Iterator<Item = &'n String>,
        name: &str,
        kind: &str,
    ) -> Option<usize> {
        let found = names.position(|candidate| candidate == name);
        if found.is_none() {
            self.report_missing(kind, name);
        }
        found
    }

    /// Compares one property.
    pub(super) fn equal(
        &mut self,
        place: impl Fn() -> String,
        info: impl Into<String>,
        program: impl Into<String>,
    ) {
        let (info, program) = (info.into(), program.into());
        if info != program {
            self.faults.push(format!("{}: {info} in the P4Info, {program} in the program", place()));
        }
    }

    /// Checks that P4Info and program both have a property, or both lack it.
    fn compare_property(&mut self, place: impl Fn() -> String, what: &str, info: bool, program: bool) {
        let name = |has| if has { what.to_owned() } else { format!("no {what}") };
        self.equal(place, name(info), name(program));
    }

    /// Compares a width; translated types may have a different width in the data plane.
    pub(super) fn width(
        &mut self,
        place: impl Fn() -> String,
        (info, translated): (Width, bool),
        program: u32,
    ) {
        match info {
            Width::Text => {}
            Width::Bits(_) if translated => {}
            Width::Bits(bits) => self.equal(place, format!("{bits} bits"), format!("{program} bits")),
        }
    }

    /// Compares match kinds. The compiler converts optional fields to ternary ones, and nothing else.
    pub(super) fn kind(&mut self, place: impl Fn() -> String, info: &info::MatchKind, program: MatchKind) {
        let same = match (info, program) {
            (info::MatchKind::Exact, MatchKind::Exact | MatchKind::Valid)
            | (info::MatchKind::Lpm, MatchKind::Lpm)
            | (info::MatchKind::Ternary | info::MatchKind::Optional, MatchKind::Ternary)
            | (info::MatchKind::Range, MatchKind::Range) => true,
            (
                info::MatchKind::Exact
                | info::MatchKind::Lpm
                | info::MatchKind::Ternary
                | info::MatchKind::Optional
                | info::MatchKind::Range
                | info::MatchKind::Other(_),
                _,
            ) => false,
        };
        if !same {
            let program = program.name();
            self.faults.push(format!("{}: {info} in the P4Info, {program} in the program", place()));
        }
    }

    /// Compares a table, except for its key and its actions.
    pub(super) fn table(&mut self, table: &Table, spec: &program::Table, program: &Program) {
        let place = || format!("table `{}`", table.preamble.name);
        let indirect = matches!(spec.kind, TableKind::Indirect(_));
        self.compare_property(place, "action profile", table.profile.is_some(), indirect);
        if let (Some(profile), TableKind::Indirect(index)) = (&table.profile, spec.kind) {
            let name = &program.profiles[index as usize].name;
            self.equal(place, format!("`{}`", profile.preamble.name), format!("`{name}`"));
        }
        let listed = spec.entries.as_ref().map_or(0, Vec::len);
        match &spec.entries {
            // p4c writes either the number of initial entries or the size of the P4Info here.
            Some(_) => {}
            None => self.equal(place, format!("size {}", table.size), format!("size {}", spec.size)),
        }
        if table.is_const {
            self.compare_property(place, "constant entries", true, spec.entries.is_some());
        } else {
            self.compare_property(place, "entries of the program", table.has_initial_entries, listed > 0);
        }
        if let (Some(default), false) = (&spec.default, indirect) {
            let given = table.const_default_action.is_some();
            self.compare_property(place, "constant default action", given, default.constant);
            let named = table.const_default_action;
            let named = named.and_then(|id| table.action_by_id(id)).map(|of| &of.action.preamble.name);
            if let (Some(name), true) = (named, default.constant) {
                let action = &program.actions[default.action as usize].name;
                self.equal(place, format!("default action `{name}`"), format!("default action `{action}`"));
            }
        }
        self.compare_property(place, "direct counter", table.direct_counter.is_some(), spec.counters);
        self.compare_property(place, "direct meter", table.direct_meter.is_some(), spec.meter.is_some());
        if let (Some(meter), Some(target)) = (&table.direct_meter, spec.meter) {
            self.meter_unit(meter, &program.meters[target.array as usize]);
        }
        self.compare_property(place, "idle timeouts", table.idle_timeout, spec.ageing);
    }

    /// Compares the unit of a meter.
    pub(super) fn meter_unit(&mut self, meter: &info::Meter, array: &program::MeterArray) {
        let info = match meter.unit {
            MeterUnit::Bytes => "bytes",
            MeterUnit::Packets => "packets",
        };
        let program = if array.bytes { "bytes" } else { "packets" };
        self.equal(|| format!("meter `{}`", meter.preamble.name), info, program);
    }

    /// Compares an action profile.
    pub(super) fn profile(&mut self, profile: &ActionProfile, spec: &program::Profile) {
        let place = || format!("action profile `{}`", profile.preamble.name);
        self.equal(place, format!("size {}", profile.size), format!("size {}", spec.size));
        self.compare_property(place, "selector", profile.with_selector, spec.selector.is_some());
    }

    /// Compares the size of an array.
    pub(super) fn size(&mut self, kind: &str, name: &str, info: u64, program: u32) {
        let place = || format!("{kind} `{name}`");
        self.equal(place, format!("{info} cells"), format!("{program} cells"));
    }

    /// Compares a register array.
    pub(super) fn register(&mut self, info: &Info, register: &Register, array: &program::RegisterArray) {
        let name = &register.preamble.name;
        self.size("register array", name, register.size, array.size);
        if let Some([Some(bits)]) = widths(info.types(), &register.spec).as_deref() {
            let place = || format!("register array `{name}`");
            self.equal(place, format!("{bits} bits"), format!("{} bits", array.bits));
        }
    }

    /// Compares a parser value set.
    pub(super) fn value_set(&mut self, set: &ValueSet, spec: &program::ValueSet) {
        let place = || format!("value set `{}`", set.preamble.name);
        if spec.size > 0 {
            self.equal(place, format!("size {}", set.size), format!("size {}", spec.size));
        }
        let bits = set.fields.iter().map(|field| match field.width {
            Width::Bits(bits) if !field.translated => Some(bits),
            Width::Bits(_) | Width::Text => None,
        });
        if let Some(bits) = bits.sum::<Option<u32>>() {
            self.equal(place, format!("{bits} bits"), format!("{} bits", spec.bits));
        }
    }

    /// Compares the fields of a digest.
    pub(super) fn digest(&mut self, info: &Info, digest: &info::Digest, spec: &program::Digest) {
        let place = || format!("digest `{}`", digest.preamble.name);
        let Some(widths) = widths(info.types(), &digest.spec) else { return };
        self.equal(place, format!("{} fields", widths.len()), format!("{} fields", spec.fields.len()));
        for (at, (bits, field)) in widths.into_iter().zip(&spec.fields).enumerate() {
            if let Some(bits) = bits {
                let place = || format!("{}, field {}", place(), at + 1);
                self.equal(place, format!("{bits} bits"), format!("{} bits", field.bits));
            }
        }
    }
}

/// Returns the widths of the numbers in a type, with `None` for each translated number. Returns `None` for a
/// type without a fixed number of them.
fn widths(types: Option<&config::P4TypeInfo>, spec: &config::P4DataTypeSpec) -> Option<Vec<Option<u32>>> {
    let mut found = Vec::new();
    add_widths(types, spec, 0, &mut found).then_some(found)
}

fn add_widths(
    types: Option<&config::P4TypeInfo>,
    spec: &config::P4DataTypeSpec,
    depth: u32,
    found: &mut Vec<Option<u32>>,
) -> bool {
    let Some(spec) = spec.type_spec.as_ref().filter(|_| depth < MAX_DEPTH) else { return false };
    let mut scalar = |bits: i32| u32::try_from(bits).map(|bits| found.push(Some(bits))).is_ok();
    match spec {
        Data::Bool(_) => scalar(1),
        Data::Bitstring(bits) => match &bits.type_spec {
            Some(Bits::Bit(bit)) => scalar(bit.bitwidth),
            Some(Bits::Int(int)) => scalar(int.bitwidth),
            Some(Bits::Varbit(_)) | None => false,
        },
        Data::SerializableEnum(name) => {
            let declared = types.and_then(|types| types.serializable_enums.get(&name.name));
            declared.and_then(|spec| spec.underlying_type).is_some_and(|bits| scalar(bits.bitwidth))
        }
        Data::Tuple(tuple) => tuple.members.iter().all(|member| add_widths(types, member, depth + 1, found)),
        Data::Struct(name) => {
            let Some(declared) = types.and_then(|types| types.structs.get(&name.name)) else { return false };
            let mut members = declared.members.iter();
            members.all(|member| {
                member.type_spec.as_ref().is_some_and(|spec| add_widths(types, spec, depth + 1, found))
            })
        }
        Data::NewType(name) => {
            let declared = types.and_then(|types| types.new_types.get(&name.name));
            match declared.and_then(|spec| spec.representation.as_ref()) {
                Some(Representation::OriginalType(spec)) => add_widths(types, spec, depth + 1, found),
                Some(Representation::TranslatedType(_)) => {
                    found.push(None);
                    true
                }
                None => false,
            }
        }
        Data::Header(_)
        | Data::HeaderUnion(_)
        | Data::HeaderStack(_)
        | Data::HeaderUnionStack(_)
        | Data::Enum(_)
        | Data::Error(_) => false,
    }
}
