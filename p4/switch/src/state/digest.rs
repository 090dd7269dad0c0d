//! Digests: samples are collected in lists, sent when a list is full or old enough, and not repeated until they are
//! acknowledged.

use std::collections::{BTreeMap, HashSet};

/// Configuration of a digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DigestConfig {
    /// Maximum delay of a sample in nanoseconds; 0 sends at once.
    pub(crate) max_timeout_ns: u64,
    /// Maximum number of samples in a list; 0 leaves it to the switch.
    pub(crate) max_list_size: u32,
    /// Time in nanoseconds after which an unacknowledged sample may be sent again.
    pub(crate) ack_timeout_ns: u64,
}

/// Number of samples in a list if the control plane leaves it to the switch.
const DEFAULT_LIST: u32 = 16;

/// Maximum number of unacknowledged samples; further ones are dropped, as specified.
const MOST_PENDING: usize = 65_536;

/// One sample: the words of its fields.
pub(crate) type Sample = Box<[u64]>;

/// Samples to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestList {
    /// The digest.
    pub digest: u32,
    /// Number of the list.
    pub list: u64,
    /// Its samples in order.
    pub samples: Vec<Sample>,
    /// Time of sending, in nanoseconds.
    pub at_ns: u64,
}

/// State of a digest that is enabled.
#[derive(Debug)]
pub(crate) struct DigestState {
    config: DigestConfig,
    waiting_samples: Vec<Sample>,
    /// Arrival time of the first waiting sample.
    since_ns: u64,
    next_list: u64,
    /// Samples that are waiting, or sent and not acknowledged.
    pending_samples: HashSet<Sample>,
    /// Unacknowledged lists: time and samples.
    sent: BTreeMap<u64, (u64, Vec<Sample>)>,
}

impl DigestState {
    /// Returns a digest without samples.
    pub(crate) fn new(config: DigestConfig) -> Self {
        let (waiting, pending, sent) = (Vec::new(), HashSet::new(), BTreeMap::new());
        Self { config, waiting_samples: waiting, since_ns: 0, next_list: 1, pending_samples: pending, sent }
    }

    /// Returns the configuration.
    pub(crate) fn config(&self) -> DigestConfig {
        self.config
    }

    /// Changes the configuration.
    pub(crate) fn configure(&mut self, config: DigestConfig) {
        self.config = config;
    }

    /// Adds a sample; returns a list if one is due.
    pub(crate) fn learn(&mut self, digest: u32, sample: Sample, now_ns: u64) -> Option<DigestList> {
        self.forget(now_ns);
        if self.pending_samples.len() >= MOST_PENDING || !self.pending_samples.insert(sample.clone()) {
            return None;
        }
        if self.waiting_samples.is_empty() {
            self.since_ns = now_ns;
        }
        self.waiting_samples.push(sample);
        let full = match self.config.max_list_size {
            0 => DEFAULT_LIST,
            size => size,
        };
        let due = self.config.max_timeout_ns == 0 || self.waiting_samples.len() >= full as usize;
        if due { self.flush(digest, now_ns) } else { None }
    }

    /// Returns the list whose samples have waited long enough.
    pub(crate) fn tick(&mut self, digest: u32, now_ns: u64) -> Option<DigestList> {
        self.forget(now_ns);
        let old = now_ns.saturating_sub(self.since_ns) >= self.config.max_timeout_ns;
        if old { self.flush(digest, now_ns) } else { None }
    }

    /// Returns the time at which [`Self::tick`] must be called.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        (!self.waiting_samples.is_empty()).then(|| self.since_ns.saturating_add(self.config.max_timeout_ns))
    }

    /// Acknowledges a list.
    pub(crate) fn acknowledge(&mut self, list: u64) {
        if let Some((_, samples)) = self.sent.remove(&list) {
            self.release(&samples);
        }
    }

    fn release(&mut self, samples: &[Sample]) {
        for sample in samples {
            self.pending_samples.remove(sample);
        }
    }

    fn flush(&mut self, digest: u32, now_ns: u64) -> Option<DigestList> {
        if self.waiting_samples.is_empty() {
            return None;
        }
        let samples = std::mem::take(&mut self.waiting_samples);
        let list = self.next_list;
        self.next_list += 1;
        if self.config.ack_timeout_ns == 0 {
            // No acknowledgement is expected, so duplicates are not suppressed.
            self.release(&samples);
        } else {
            self.sent.insert(list, (now_ns, samples.clone()));
        }
        Some(DigestList { digest, list, samples, at_ns: now_ns })
    }

    /// Allows samples whose acknowledgement is overdue to be sent again.
    fn forget(&mut self, now_ns: u64) {
        while let Some(first) = self.sent.first_entry() {
            if now_ns.saturating_sub(first.get().0) < self.config.ack_timeout_ns {
                break;
            }
            let (_, samples) = first.remove();
            self.release(&samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: u64) -> Sample {
        Box::from([n])
    }

    #[test]
    fn a_list_goes_out_when_full_or_old() {
        let config = DigestConfig { max_timeout_ns: 100, max_list_size: 2, ack_timeout_ns: 1000 };
        let mut digest = DigestState::new(config);
        assert_eq!(digest.learn(1, sample(1), 0), None);
        assert_eq!(digest.learn(1, sample(1), 1), None, "the same sample is not repeated");
        let full = digest.learn(1, sample(2), 2).expect("two samples are a list");
        assert_eq!((full.list, full.samples.len()), (1, 2));
        assert_eq!(digest.learn(1, sample(3), 50), None);
        assert_eq!(digest.due_ns(), Some(150));
        assert_eq!(digest.tick(1, 149), None);
        assert_eq!(digest.tick(1, 150).map(|list| list.list), Some(2));
    }

    #[test]
    fn acknowledged_or_overdue_samples_may_come_again() {
        let config = DigestConfig { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 1000 };
        let mut digest = DigestState::new(config);
        let list = digest.learn(1, sample(1), 0).expect("sent at once").list;
        assert_eq!(digest.learn(1, sample(1), 10), None);
        digest.acknowledge(list);
        assert!(digest.learn(1, sample(1), 20).is_some());
        assert_eq!(digest.learn(1, sample(1), 500), None);
        assert!(digest.learn(1, sample(1), 1020).is_some());
    }
}
