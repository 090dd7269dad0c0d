//! All access to the machine: devices, sockets, files, the clock.

pub mod client;
mod descriptor_store;
pub mod doctor;
mod hold;
pub mod machine;
pub mod notify;
mod orders;
pub mod ports;
mod queries;
pub mod run;
pub mod scrape;
pub mod serve;
pub mod setup;
pub mod state;
pub mod sys;
mod tun;
