//! Physical ports: network interfaces of the machine, and captures of their packets.

mod interfaces;
mod pcap;
mod raw;

pub(crate) use interfaces::{InterfaceError, Interfaces};
