//! The architecture's standard metadata, and the checksums around the control flows.

use super::super::control::{Checksum, ChecksumKind};
use super::super::{Field, Queueing, Standard};
use super::Builder;
use super::operand::Scope;
use crate::Error;

impl Builder<'_> {
    /// Finds the fields with which v1model and the program communicate.
    pub(super) fn standard(&self) -> Result<Standard, Error> {
        let find = |header, field| self.field((header, field), "v1model").ok();
        let need = |field: &'static str| {
            find("standard_metadata", field)
                .ok_or(Error::Missing { kind: "field of standard_metadata", name: field })
        };
        let queue = |field| find("queueing_metadata", field);
        let queueing = match (
            queue("enq_timestamp"),
            queue("enq_qdepth"),
            queue("deq_timedelta"),
            queue("deq_qdepth"),
        ) {
            (Some(enq_timestamp), Some(enq_qdepth), Some(deq_timedelta), Some(deq_qdepth)) => {
                Some(Queueing { enq_timestamp, enq_qdepth, deq_timedelta, deq_qdepth, qid: queue("qid") })
            }
            _ => None,
        };
        Ok(Standard {
            ingress_port: need("ingress_port")?,
            packet_length: need("packet_length")?,
            instance_type: need("instance_type")?,
            egress_spec: need("egress_spec")?,
            egress_port: need("egress_port")?,
            parser_error: find("standard_metadata", "parser_error"),
            checksum_error: find("standard_metadata", "checksum_error"),
            mcast_grp: find("intrinsic_metadata", "mcast_grp"),
            egress_rid: find("intrinsic_metadata", "egress_rid"),
            ingress_timestamp: find("intrinsic_metadata", "ingress_global_timestamp"),
            egress_timestamp: find("intrinsic_metadata", "egress_global_timestamp"),
            priority: find("intrinsic_metadata", "priority"),
            queueing,
        })
    }

    /// Compiles the checksums: those to verify and those to update.
    pub(super) fn checksums(&self) -> Result<(Vec<Checksum>, Vec<Checksum>), Error> {
        let (mut verify, mut update) = (Vec::new(), Vec::new());
        for checksum in &self.document.checksums {
            if checksum.verify {
                verify.push(self.checksum(checksum)?);
            }
            if checksum.update {
                update.push(self.checksum(checksum)?);
            }
        }
        Ok((verify, update))
    }

    fn checksum(&self, checksum: &crate::json::Checksum) -> Result<Checksum, Error> {
        let place = format!("checksum `{}`", checksum.name);
        let (header, field) = &checksum.target;
        let field: Field = self.field((header, field), &place)?;
        let kind = match (checksum.kind.as_str(), checksum.calculation.as_deref()) {
            ("ipv4", _) => ChecksumKind::Ipv4,
            ("generic", Some(name)) => ChecksumKind::Calculation(self.calculation_names.get(name, &place)?),
            ("generic", None) => return Err(Error::invalid(place, "it names no calculation")),
            (other, _) => return Err(Error::invalid(place, format!("checksum type `{other}` is not known"))),
        };
        let cond = match checksum.if_cond.as_ref().filter(|json| !json.is_null()) {
            Some(json) => Some(self.cond(json, Scope::None, &place)?),
            None => None,
        };
        Ok(Checksum { field, cond, kind })
    }
}
