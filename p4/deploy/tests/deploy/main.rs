//! Pushes, plans, drift and watches against scripted targets over real connections.

mod bind;
mod bmv2;
mod drift;
mod ecmp;
mod embedded;
mod faults;
mod files;
mod gnmi;
mod left_alone;
mod pair;
mod pins;
mod pins_bmv2;
mod plan;
mod push;
mod sonic;
mod support;
mod tls;
mod tofino;
mod watch;
mod waves;
