//! `closc lab`: brings a compiled fabric up on this machine and walks it.
