//! All access to the machine: devices, sockets, files, the clock.

mod asking;
pub mod client;
pub mod doctor;
mod hold;
mod kept;
pub mod machine;
pub mod notify;
mod orders;
pub mod ports;
pub mod run;
mod said;
pub mod scrape;
pub mod serve;
pub mod setup;
pub mod state;
pub mod sys;
mod tun;
