//! The messages and services of P4Runtime and gNMI, which `build.rs` generates from `proto/`, and their descriptors.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

/// Everything defined in the `proto/` folder, with its package names.
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

/// The `Status` message of gRPC and its codes.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod google {
    pub mod rpc {
        include!(concat!(env!("OUT_DIR"), "/google.rpc.rs"));
    }
}

/// gNMI, with which a controller reads and sets the configuration of a switch.
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

/// The encoded `FileDescriptorSet` of `proto/` and of its imports.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/p4runtime.fds"));

/// Returns the descriptors of every message, for the text format and for comparisons.
pub fn descriptors() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        DescriptorPool::decode(DESCRIPTOR_SET).expect("build.rs wrote a set that protox had checked")
    });
    &POOL
}
