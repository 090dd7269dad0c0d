//! An index of a P4Info by name. It finds tables, fields, actions and all other objects by full name, by alias or by a
//! suffix that is unique.
//!
//! An [`Info`] is consistent: ids are unique and every reference between objects resolves. Client and server share it,
//! so a name has the same meaning for both.

mod error;
mod load;
mod load_tables;
mod names;
mod objects;
mod references;
mod types;

use std::collections::HashMap;
use std::sync::Arc;

pub use error::{InfoError, InfoFault, LookupError, ObjectKind};
use names::Names;
pub use objects::{
    Action, ActionProfile, ActionRef, Counter, CounterUnit, Digest, ExternInstance, MatchField, MatchKind,
    Metadata, Meter, MeterUnit, PacketHeader, Param, Preamble, Register, Scope, SizeSemantics, Table,
    ValueSet,
};
pub use references::Reference;

use crate::proto::config;
use crate::value::encode_number;

/// The objects of one kind, by position, id and name.
#[derive(Debug, Clone)]
struct Objects<T> {
    items: Vec<Arc<T>>,
    by_id: HashMap<u32, u32>,
    names: Names,
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Objects { items: Vec::new(), by_id: HashMap::new(), names: Names::default() }
    }
}

impl<T> Objects<T> {
    fn by_id(&self, id: u32) -> Option<&Arc<T>> {
        self.by_id.get(&id).map(|position| &self.items[*position as usize])
    }

    fn find(&self, kind: ObjectKind, name: &str) -> Result<&Arc<T>, LookupError> {
        let position = self.names.find(kind, None, name)?;
        Ok(&self.items[position as usize])
    }
}

/// A P4Info with its names resolved.
#[derive(Debug, Clone, Default)]
pub struct Info {
    message: config::P4Info,
    tables: Objects<Table>,
    actions: Objects<Action>,
    profiles: Objects<ActionProfile>,
    counters: Objects<Counter>,
    direct_counters: Objects<Counter>,
    meters: Objects<Meter>,
    direct_meters: Objects<Meter>,
    registers: Objects<Register>,
    value_sets: Objects<ValueSet>,
    digests: Objects<Digest>,
    packet_headers: Objects<PacketHeader>,
    externs: Objects<ExternInstance>,
    /// The type of ports, if the controller sees them as text.
    text_ports: Option<Arc<str>>,
}

macro_rules! lookups {
    ($($field:ident: $object:ty, $kind:ident, $find:ident, $by_id:ident, $require:ident, $what:literal;)+) => {
        impl Info {$(
            #[doc = concat!("Returns every ", $what, " in the order of the P4Info.")]
            pub fn $field(&self) -> &[Arc<$object>] {
                &self.$field.items
            }

            #[doc = concat!("Finds the ", $what, " that the name, the alias or the suffix means.")]
            pub fn $find(&self, name: &str) -> Result<&Arc<$object>, LookupError> {
                self.$field.find(ObjectKind::$kind, name)
            }

            #[doc = concat!("Returns the ", $what, " with the id, if there is one.")]
            pub fn $by_id(&self, id: u32) -> Option<&Arc<$object>> {
                self.$field.by_id(id)
            }

            #[doc = concat!("Returns the ", $what, " with the id, or says that there is none.")]
            pub fn $require(&self, id: u32) -> Result<&Arc<$object>, LookupError> {
                let unknown = LookupError::UnknownId { kind: ObjectKind::$kind, scope: None, id };
                self.$field.by_id(id).ok_or(unknown)
            }
        )+}
    };
}

lookups! {
    tables: Table, Table, table, table_by_id, require_table, "table";
    actions: Action, Action, action, action_by_id, require_action, "action";
    profiles: ActionProfile, ActionProfile, profile, profile_by_id, require_profile, "action profile";
    counters: Counter, Counter, counter, counter_by_id, require_counter, "counter array";
    direct_counters: Counter, DirectCounter, direct_counter, direct_counter_by_id, require_direct_counter,
        "direct counter";
    meters: Meter, Meter, meter, meter_by_id, require_meter, "meter array";
    direct_meters: Meter, DirectMeter, direct_meter, direct_meter_by_id, require_direct_meter, "direct meter";
    registers: Register, Register, register, register_by_id, require_register, "register array";
    value_sets: ValueSet, ValueSet, value_set, value_set_by_id, require_value_set, "value set";
    digests: Digest, Digest, digest, digest_by_id, require_digest, "digest";
    packet_headers: PacketHeader, PacketHeader, packet_header, packet_header_by_id, require_packet_header,
        "packet header";
    externs: ExternInstance, Extern, extern_instance, extern_by_id, require_extern, "extern instance";
}

impl Info {
    /// Indexes a P4Info, or returns all of its errors.
    pub fn new(message: config::P4Info) -> Result<Self, InfoError> {
        load::load(message, true)
    }

    /// Indexes a P4Info without `@entry_restriction` and `@action_restriction`. Use it for a target that
    /// leaves these checks to its clients, such as BMv2.
    pub fn without_restrictions(message: config::P4Info) -> Result<Self, InfoError> {
        load::load(message, false)
    }

    /// Returns the P4Info that was indexed.
    pub fn message(&self) -> &config::P4Info {
        &self.message
    }

    /// Returns the header that comes with packet-ins, if the program has one.
    pub fn packet_in(&self) -> Option<&Arc<PacketHeader>> {
        self.packet_header("packet_in").ok()
    }

    /// Returns the header that goes with packet-outs, if the program has one.
    pub fn packet_out(&self) -> Option<&Arc<PacketHeader>> {
        self.packet_header("packet_out").ok()
    }

    /// Returns the type of ports if the controller sees them as text. Watched ports and the ports of replicas have no
    /// type in the P4Info; they are then text too.
    pub fn text_ports(&self) -> Option<&str> {
        self.text_ports.as_deref()
    }

    /// Returns the encoding of a port: a number, or the decimal text of the number if ports are text.
    pub fn port(&self, port: u32) -> Vec<u8> {
        match self.text_ports {
            Some(_) => port.to_string().into_bytes(),
            None => encode_number(port.into()),
        }
    }

    /// Returns whether a type is a port type.
    pub fn is_port_type(&self, name: &str) -> bool {
        use config::p4_new_type_spec::Representation;
        let spec = self.types().and_then(|types| types.new_types.get(name));
        let uri = match spec.and_then(|spec| spec.representation.as_ref()) {
            Some(Representation::TranslatedType(translation)) => translation.uri.as_str(),
            Some(Representation::OriginalType(_)) | None => "",
        };
        types::is_port_type(name, uri)
    }

    /// Returns the types that the program declares.
    pub fn types(&self) -> Option<&config::P4TypeInfo> {
        self.message.type_info.as_ref()
    }
}

#[cfg(test)]
mod tests;
