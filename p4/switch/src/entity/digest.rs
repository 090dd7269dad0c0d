//! Digests: their configuration, and the lists that the data plane sends.

use closc_runtime::check::Change;
use closc_runtime::info;
use closc_runtime::proto::v1;
use v1::entity::Entity;

use super::page::Page;
use super::undo::Undo;
use super::{Fault, Store, data, entity};
use crate::state::{DigestConfig, DigestList};

impl Store {
    pub(super) fn write_digest(
        &mut self,
        digest: &info::Digest,
        change: Change<v1::digest_entry::Config>,
    ) -> Result<(), Fault> {
        let (id, what) = (digest.preamble.id, "the configuration of digest");
        let binding = self.pipeline.digest(id).ok_or(Fault::NotFound { kind: "digest", id })?;
        let number = binding.number;
        let old = self.engine.digest_config(number);
        let new = match (change, old) {
            (Change::Insert(_), Some(_)) => return Err(Fault::Exists { kind: what, id }),
            (Change::Modify(_) | Change::Delete, None) => return Err(Fault::NotFound { kind: what, id }),
            (Change::Insert(given) | Change::Modify(given), _) => Some(config(given)),
            (Change::Delete, Some(_)) => None,
        };
        self.engine.set_digest(number, new);
        self.remember(|| Undo::Digest { number, config: old });
        Ok(())
    }

    pub(super) fn read_digests(&self, request: &v1::DigestEntry, out: &mut Page) {
        let id = request.digest_id;
        let infos = self.pipeline.info().digests().iter().enumerate();
        for (part, info) in infos.filter(|(_, d)| id == 0 || d.preamble.id == id) {
            let digest_id = info.preamble.id;
            let Some(binding) = self.pipeline.digest(digest_id) else { continue };
            if let Some(config) = self.engine.digest_config(binding.number) {
                let config = Some(config_message(config));
                let entry = v1::DigestEntry { digest_id, config };
                if out.put(part, 0, || Some(entity(Entity::DigestEntry(entry)))).is_break() {
                    return;
                }
            }
        }
    }

    /// Acknowledges a list of samples; returns whether the digest exists.
    pub fn acknowledge(&mut self, digest_id: u32, list_id: u64) -> bool {
        let number = self.pipeline.digest(digest_id).map(|binding| binding.number);
        if let Some(number) = number {
            self.engine.acknowledge_digest(number, list_id);
        }
        number.is_some()
    }

    /// Converts a list of samples to P4Runtime, without a timestamp; `None` if the P4Info does not contain
    /// the digest.
    pub fn digest_list(&self, list: &DigestList) -> Option<v1::DigestList> {
        let digest_id = self.pipeline.digest_id(list.digest)?;
        let info = self.pipeline.info().digest_by_id(digest_id)?;
        let fields = &self.pipeline.program().digests.get(&list.digest)?.fields;
        let named = data::TypeNames { types: self.pipeline.info().types(), names: self.names.as_ref() };
        let sample = |sample: &crate::state::Sample| data::sample_data(named, &info.spec, fields, sample);
        let data = list.samples.iter().map(sample).collect();
        Some(v1::DigestList { digest_id, list_id: list.list, data, timestamp: 0 })
    }
}

fn config(given: v1::digest_entry::Config) -> DigestConfig {
    let time = |ns: i64| ns.max(0).cast_unsigned();
    DigestConfig {
        max_timeout_ns: time(given.max_timeout_ns),
        max_list_size: given.max_list_size.max(0).cast_unsigned(),
        ack_timeout_ns: time(given.ack_timeout_ns),
    }
}

fn config_message(config: DigestConfig) -> v1::digest_entry::Config {
    v1::digest_entry::Config {
        max_timeout_ns: config.max_timeout_ns.cast_signed(),
        max_list_size: config.max_list_size.cast_signed(),
        ack_timeout_ns: config.ack_timeout_ns.cast_signed(),
    }
}
