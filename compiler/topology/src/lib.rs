//! The fabric language: text to Document to Topology.
