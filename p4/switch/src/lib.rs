//! The embedded software switch: a P4Runtime target that runs BMv2 JSON.
