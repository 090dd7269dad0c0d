//! All tests of this crate in one program, so that the workspace is linked once.

mod agreement;
mod common;
mod eos;
mod frr;
mod host;
mod linux;
mod nccl;
mod nvue;
mod path_tables;
mod routing;
mod sonic;
mod sonic_buffers;
mod sonic_delivery;
mod sonic_frr;
mod sonic_ownership;
mod sonic_yang;
