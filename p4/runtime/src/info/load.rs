//! Builds an [`Info`] from the P4Info message and collects all inconsistencies.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{InfoError, InfoFault, ObjectKind};
use super::objects::Parts;
use super::types::{Place, is_translated, port_type, text_type, width};
use super::{
    Action, ActionProfile, Counter, CounterUnit, Digest, ExternInstance, Info, Metadata, Meter, MeterUnit,
    Objects, PacketHeader, Param, Preamble, Register, SizeSemantics, ValueSet, references,
};
use crate::proto::config;
use crate::restriction::{Kind, Operand, Restriction, RestrictionError};
use crate::value::Width;

/// Indexes a P4Info, with or without the restrictions in its annotations.
pub(super) fn load(message: config::P4Info, restricts: bool) -> Result<Info, InfoError> {
    let types = message.type_info.as_ref();
    let mut loader = Loader { types, restricts, ids: BTreeMap::new(), faults: Vec::new() };
    let mut info = Info::default();
    // Objects that others refer to are loaded first.
    loader.actions(&mut info, &message.actions);
    loader.profiles(&mut info, &message.action_profiles);
    loader.counters(&mut info, &message);
    loader.meters(&mut info, &message);
    loader.tables(&mut info, &message.tables);
    loader.load_other_objects(&mut info, &message);
    loader.check_table_references(&info);
    let faults = loader.faults;
    let text_ports = port_type(message.type_info.as_ref());
    if faults.is_empty() { Ok(Info { message, text_ports, ..info }) } else { Err(InfoError { faults }) }
}

/// State while a P4Info is loaded.
pub(super) struct Loader<'m> {
    pub(super) types: Option<&'m config::P4TypeInfo>,
    restricts: bool,
    /// The name of the object with an id; ids are unique over all kinds.
    ids: BTreeMap<u32, String>,
    pub(super) faults: Vec<InfoFault>,
}

impl Loader<'_> {
    pub(super) fn preamble(&mut self, kind: ObjectKind, preamble: Option<&config::Preamble>) -> Preamble {
        let preamble = preamble.cloned().unwrap_or_default();
        let config::Preamble { id, name, alias, annotations, .. } = preamble;
        if id == 0 {
            self.faults.push(InfoFault::NoId { kind, name: name.clone() });
        } else if let Some(other) = self.ids.insert(id, name.clone()) {
            self.faults.push(InfoFault::SameId { kind, name: name.clone(), first: other, id });
        }
        Preamble { id, name, alias, annotations }
    }

    pub(super) fn add<T>(
        &mut self,
        objects: &mut Objects<T>,
        kind: ObjectKind,
        preamble: &Preamble,
        object: T,
    ) {
        if objects.names.add(&preamble.name, &preamble.alias).is_err() {
            self.faults.push(InfoFault::SameName { kind, name: preamble.name.clone() });
            return;
        }
        objects.by_id.insert(preamble.id, objects.items.len() as u32);
        objects.items.push(Arc::new(object));
    }

    pub(super) fn part<T>(&mut self, parts: &mut Parts<T>, kind: ObjectKind, name: &str, part: T) {
        if parts.names.add(name, "").is_err() {
            self.faults.push(InfoFault::SameName { kind, name: name.to_owned() });
            return;
        }
        parts.items.push(part);
    }

    pub(super) fn width(
        &mut self,
        bitwidth: i32,
        type_name: Option<&config::P4NamedType>,
        place: &Place<'_>,
    ) -> Width {
        width(self.types, bitwidth, type_name, place).unwrap_or_else(|fault| {
            self.faults.push(fault);
            Width::Text
        })
    }

    pub(super) fn part_id(
        &mut self,
        id: u32,
        taken: &mut BTreeMap<u32, String>,
        kind: ObjectKind,
        name: &str,
    ) {
        if id == 0 {
            self.faults.push(InfoFault::NoId { kind, name: name.to_owned() });
        } else if let Some(other) = taken.insert(id, name.to_owned()) {
            self.faults.push(InfoFault::SameId { kind, name: name.to_owned(), first: other, id });
        }
    }

    fn actions(&mut self, info: &mut Info, messages: &[config::Action]) {
        for message in messages {
            let preamble = self.preamble(ObjectKind::Action, message.preamble.as_ref());
            let mut params = Parts::default();
            let mut ids = BTreeMap::new();
            for param in &message.params {
                self.part_id(param.id, &mut ids, ObjectKind::Param, &param.name);
                let place = Place { kind: ObjectKind::Param, name: &param.name, scope: &preamble.name };
                let width = self.width(param.bitwidth, param.type_name.as_ref(), &place);
                let refers_to = references::read(&param.annotations, &param.structured_annotations);
                let text = text_type(width, param.type_name.as_ref());
                let translated = is_translated(self.types, param.type_name.as_ref());
                let name = param.name.clone();
                let object = Param { id: param.id, name, width, text, translated, refers_to };
                self.part(&mut params, ObjectKind::Param, &param.name, object);
            }
            let restriction = Restriction::of_action(&preamble.annotations, operands(&params.items));
            let restriction = self.restriction(ObjectKind::Action, &preamble, restriction);
            let object = Action { preamble: preamble.clone(), params, restriction };
            self.add(&mut info.actions, ObjectKind::Action, &preamble, object);
        }
    }

    fn profiles(&mut self, info: &mut Info, messages: &[config::ActionProfile]) {
        use config::action_profile::SelectorSizeSemantics;
        for message in messages {
            let preamble = self.preamble(ObjectKind::ActionProfile, message.preamble.as_ref());
            let semantics = match &message.selector_size_semantics {
                Some(SelectorSizeSemantics::SumOfMembers(members)) => {
                    SizeSemantics::Members { max_weight: members.max_member_weight.max(0) as u32 }
                }
                Some(SelectorSizeSemantics::SumOfWeights(_)) | None => SizeSemantics::Weights,
            };
            let object = ActionProfile {
                preamble: preamble.clone(),
                table_ids: message.table_ids.clone(),
                with_selector: message.with_selector,
                size: message.size.max(0) as u64,
                max_group_size: message.max_group_size.max(0) as u32,
                semantics,
                weights_disallowed: message.weights_disallowed,
            };
            self.add(&mut info.profiles, ObjectKind::ActionProfile, &preamble, object);
        }
    }

    fn counters(&mut self, info: &mut Info, message: &config::P4Info) {
        for counter in &message.counters {
            let preamble = self.preamble(ObjectKind::Counter, counter.preamble.as_ref());
            self.counter_spec(ObjectKind::Counter, &preamble, counter.spec.as_ref());
            let (unit, size) = (counter_unit(counter.spec.as_ref()), counter.size.max(0) as u64);
            let object = Counter { preamble: preamble.clone(), unit, size, table_id: None };
            self.add(&mut info.counters, ObjectKind::Counter, &preamble, object);
        }
        for counter in &message.direct_counters {
            let preamble = self.preamble(ObjectKind::DirectCounter, counter.preamble.as_ref());
            self.counter_spec(ObjectKind::DirectCounter, &preamble, counter.spec.as_ref());
            let (unit, table_id) = (counter_unit(counter.spec.as_ref()), Some(counter.direct_table_id));
            let object = Counter { preamble: preamble.clone(), unit, size: 0, table_id };
            self.add(&mut info.direct_counters, ObjectKind::DirectCounter, &preamble, object);
        }
    }

    fn meters(&mut self, info: &mut Info, message: &config::P4Info) {
        for meter in &message.meters {
            let preamble = self.preamble(ObjectKind::Meter, meter.preamble.as_ref());
            self.meter_spec(ObjectKind::Meter, &preamble, meter.spec.as_ref());
            let (unit, kind) = meter_spec(meter.spec.as_ref());
            let size = meter.size.max(0) as u64;
            let object = Meter { preamble: preamble.clone(), unit, kind, size, table_id: None };
            self.add(&mut info.meters, ObjectKind::Meter, &preamble, object);
        }
        for meter in &message.direct_meters {
            let preamble = self.preamble(ObjectKind::DirectMeter, meter.preamble.as_ref());
            self.meter_spec(ObjectKind::DirectMeter, &preamble, meter.spec.as_ref());
            let (unit, kind) = meter_spec(meter.spec.as_ref());
            let table_id = Some(meter.direct_table_id);
            let object = Meter { preamble: preamble.clone(), unit, kind, size: 0, table_id };
            self.add(&mut info.direct_meters, ObjectKind::DirectMeter, &preamble, object);
        }
    }

    fn load_other_objects(&mut self, info: &mut Info, message: &config::P4Info) {
        for register in &message.registers {
            let preamble = self.preamble(ObjectKind::Register, register.preamble.as_ref());
            let spec = register.type_spec.clone().unwrap_or_default();
            let object = Register { preamble: preamble.clone(), spec, size: register.size.max(0) as u64 };
            self.add(&mut info.registers, ObjectKind::Register, &preamble, object);
        }
        for set in &message.value_sets {
            let preamble = self.preamble(ObjectKind::ValueSet, set.preamble.as_ref());
            let fields = self.match_fields(&preamble, &set.r#match).items;
            let object = ValueSet { preamble: preamble.clone(), fields, size: set.size.max(0) as u64 };
            self.add(&mut info.value_sets, ObjectKind::ValueSet, &preamble, object);
        }
        for digest in &message.digests {
            let preamble = self.preamble(ObjectKind::Digest, digest.preamble.as_ref());
            let spec = digest.type_spec.clone().unwrap_or_default();
            let object = Digest { preamble: preamble.clone(), spec };
            self.add(&mut info.digests, ObjectKind::Digest, &preamble, object);
        }
        for header in &message.controller_packet_metadata {
            let preamble = self.preamble(ObjectKind::PacketHeader, header.preamble.as_ref());
            let fields = self.metadata(&preamble, &header.metadata);
            let object = PacketHeader { preamble: preamble.clone(), fields };
            self.add(&mut info.packet_headers, ObjectKind::PacketHeader, &preamble, object);
        }
        for kind in &message.externs {
            for instance in &kind.instances {
                let preamble = self.preamble(ObjectKind::Extern, instance.preamble.as_ref());
                let (type_id, type_name) = (kind.extern_type_id, kind.extern_type_name.clone());
                let object = ExternInstance { preamble: preamble.clone(), type_id, type_name };
                self.add(&mut info.externs, ObjectKind::Extern, &preamble, object);
            }
        }
    }

    fn metadata(
        &mut self,
        owner: &Preamble,
        messages: &[config::controller_packet_metadata::Metadata],
    ) -> Parts<Metadata> {
        let mut fields = Parts::default();
        let mut ids = BTreeMap::new();
        for message in messages {
            self.part_id(message.id, &mut ids, ObjectKind::Metadata, &message.name);
            let place = Place { kind: ObjectKind::Metadata, name: &message.name, scope: &owner.name };
            let width = self.width(message.bitwidth, message.type_name.as_ref(), &place);
            let text = text_type(width, message.type_name.as_ref());
            let translated = is_translated(self.types, message.type_name.as_ref());
            let field = Metadata { id: message.id, name: message.name.clone(), width, text, translated };
            self.part(&mut fields, ObjectKind::Metadata, &message.name, field);
        }
        fields
    }

    /// Checks that a direct resource belongs to the table that lists it.
    pub(super) fn direct_resource(&mut self, info: &Info, owner: &Preamble, id: u32) {
        let counter =
            info.direct_counters.by_id(id).map(|it| (ObjectKind::DirectCounter, &it.preamble, it.table_id));
        let meter =
            info.direct_meters.by_id(id).map(|it| (ObjectKind::DirectMeter, &it.preamble, it.table_id));
        match counter.or(meter) {
            // A resource of another architecture; it is ignored.
            None => {}
            Some((_, _, table)) if table == Some(owner.id) => {}
            Some((kind, resource, _)) => {
                let (name, table) = (resource.name.clone(), owner.name.clone());
                self.faults.push(InfoFault::ForeignResource { kind, name, table });
            }
        }
    }

    /// Checks references to tables. Tables are loaded after the objects that refer to them, so this is a separate step.
    fn check_table_references(&mut self, info: &Info) {
        let table = |id: u32| info.tables.by_id(id).is_some();
        for profile in info.profiles() {
            for id in profile.table_ids.iter().filter(|id| !table(**id)) {
                self.report_dangling(ObjectKind::ActionProfile, &profile.preamble, ObjectKind::Table, *id);
            }
        }
        for counter in info.direct_counters().iter().filter(|counter| !counter.table_id.is_some_and(table)) {
            let id = counter.table_id.unwrap_or_default();
            self.report_dangling(ObjectKind::DirectCounter, &counter.preamble, ObjectKind::Table, id);
        }
        for meter in info.direct_meters().iter().filter(|meter| !meter.table_id.is_some_and(table)) {
            let id = meter.table_id.unwrap_or_default();
            self.report_dangling(ObjectKind::DirectMeter, &meter.preamble, ObjectKind::Table, id);
        }
    }

    /// Checks that a number is a value of its enumeration.
    pub(super) fn check_enum<E: TryFrom<i32>>(
        &mut self,
        kind: ObjectKind,
        owner: &Preamble,
        (field, value): (&'static str, i32),
    ) {
        if E::try_from(value).is_err() {
            self.faults.push(InfoFault::UnknownEnum { kind, name: owner.name.clone(), field, value });
        }
    }

    fn counter_spec(&mut self, kind: ObjectKind, owner: &Preamble, spec: Option<&config::CounterSpec>) {
        let unit = spec.map_or(0, |spec| spec.unit);
        self.check_enum::<config::counter_spec::Unit>(kind, owner, ("unit", unit));
    }

    fn meter_spec(&mut self, kind: ObjectKind, owner: &Preamble, spec: Option<&config::MeterSpec>) {
        let spec = spec.copied().unwrap_or_default();
        self.check_enum::<config::meter_spec::Unit>(kind, owner, ("unit", spec.unit));
        self.check_enum::<config::meter_spec::Type>(kind, owner, ("type", spec.r#type));
    }

    /// Returns a restriction, or records its error.
    pub(super) fn restriction(
        &mut self,
        kind: ObjectKind,
        owner: &Preamble,
        read: Result<Option<Restriction>, RestrictionError>,
    ) -> Option<Restriction> {
        if !self.restricts {
            return None;
        }
        read.unwrap_or_else(|error| {
            self.faults.push(InfoFault::Restriction { kind, name: owner.name.clone(), error });
            None
        })
    }

    pub(super) fn report_dangling(
        &mut self,
        kind: ObjectKind,
        owner: &Preamble,
        wanted: ObjectKind,
        id: u32,
    ) {
        self.faults.push(InfoFault::Dangling { kind, name: owner.name.clone(), target_kind: wanted, id });
    }
}

fn counter_unit(spec: Option<&config::CounterSpec>) -> CounterUnit {
    match spec.map(config::CounterSpec::unit).unwrap_or_default() {
        config::counter_spec::Unit::Bytes => CounterUnit::Bytes,
        config::counter_spec::Unit::Packets => CounterUnit::Packets,
        config::counter_spec::Unit::Both | config::counter_spec::Unit::Unspecified => CounterUnit::Both,
    }
}

fn meter_spec(spec: Option<&config::MeterSpec>) -> (MeterUnit, config::meter_spec::Type) {
    let spec = spec.copied().unwrap_or_default();
    let unit = match spec.unit() {
        config::meter_spec::Unit::Packets => MeterUnit::Packets,
        config::meter_spec::Unit::Bytes | config::meter_spec::Unit::Unspecified => MeterUnit::Bytes,
    };
    (unit, spec.r#type())
}

/// Returns the operands that the restriction of an action may use.
fn operands(params: &[Param]) -> Vec<Operand> {
    let operand = |param: &Param| {
        let (id, name, width) = (param.id, param.name.clone(), param.width);
        Operand { id, name, width, kind: Kind::Param }
    };
    params.iter().map(operand).collect()
}
