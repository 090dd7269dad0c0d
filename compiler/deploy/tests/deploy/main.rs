//! Pushes, plans, drift and watches against scripted targets over real connections.

mod drift;
mod faults;
mod files;
mod plan;
mod push;
mod support;
mod tls;
mod watch;
mod waves;
