//! The reader of compact host path tables: entropy value to destination address.
