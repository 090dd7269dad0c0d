//! Pushes, plans, drift and watches against scripted targets over real connections.

mod bind;
mod bmv2;
mod drift;
mod ecmp;
mod embedded;
mod faults;
mod files;
mod gnmi;
mod pair;
mod pins;
mod pins_bmv2;
mod plan;
mod push;
mod skipped_switches;
mod sonic;
mod tls;
mod tofino;
mod watch;
mod waves;
