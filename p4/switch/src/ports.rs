//! Real ports: interfaces of the machine, and captures of what passes them.

mod interfaces;
mod pcap;
mod raw;

pub(crate) use interfaces::{InterfaceError, Interfaces};
