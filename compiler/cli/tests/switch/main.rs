//! `closc switch` as a process: driven by public clients, and pushed to by `closc push`.

mod clients;
#[path = "../common/mod.rs"]
mod common;
mod crash;
mod frozen;
mod places;
mod process;
mod tls;
mod tutorials;
