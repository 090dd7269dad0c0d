//! The messages and services of P4Runtime and gNMI as `build.rs` made them from `proto/`, and their descriptors.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

/// Everything that the `proto/` folder defines, under its package names.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod p4 {
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/p4.v1.rs"));
    }
    pub mod config {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/p4.config.v1.rs"));
        }
    }
}

/// The status message of gRPC and its codes.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod google {
    pub mod rpc {
        include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
    }
}

/// gNMI: what a controller reads from a switch and sets there.
#[allow(missing_docs, unreachable_pub, deprecated, clippy::all, clippy::pedantic)]
pub mod gnmi {
    include!(concat!(env!("OUT_DIR"), "/gnmi.rs"));
}

/// Extensions of gNMI.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod gnmi_ext {
    include!(concat!(env!("OUT_DIR"), "/gnmi_ext.rs"));
}

pub use google::rpc;
pub use p4::{config::v1 as config, v1};

/// The encoded `FileDescriptorSet` of `proto/` and of what it imports.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/p4runtime.fds"));

/// Returns the descriptors of every message, for text format and for comparisons.
pub fn descriptors() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        DescriptorPool::decode(DESCRIPTOR_SET).expect("build.rs wrote a set that protox had checked")
    });
    &POOL
}
