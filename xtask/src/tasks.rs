//! The tasks, one file each.

pub(crate) mod commands;
pub(crate) mod count;
pub(crate) mod docs;
pub(crate) mod platforms;
pub(crate) mod playground;
pub(crate) mod schema;
