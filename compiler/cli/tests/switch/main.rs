//! `closc switch` as a process: driven by public clients, and pushed to by `closc push`.

mod clients;
mod process;
mod tls;
