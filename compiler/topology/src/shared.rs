//! Serialisation of shared values. A value is written completely at each occurrence.
//!
//! In: a field of a topology. Out: its serialised form. Invariants: two topologies of equal meaning have the same form,
//! whether they share a value or have copies of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_platform::{Os, Platform};
use serde::{Serialize, Serializer};

/// Serialises the shared value itself.
pub(crate) fn value<T: Serialize, S: Serializer>(shared: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
    T::serialize(shared, serializer)
}

/// Serialises hardware and operating system by plane, zone or switch.
pub(crate) fn hardware<K: Serialize, S: Serializer>(
    places: &BTreeMap<K, (Arc<Platform>, Os)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(places.iter().map(|(place, (platform, os))| (place, (&**platform, os))))
}
