//! `closc switch` as a process, with public clients and with `closc push`.

mod clients;
mod crash;
mod frozen;
mod places;
mod process;
mod tls;
mod tutorials;
