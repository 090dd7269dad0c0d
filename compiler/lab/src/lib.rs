//! Brings a compiled fabric up on one machine and walks it packet by packet.
