//! Table entries for a pipeline from a device intent.
