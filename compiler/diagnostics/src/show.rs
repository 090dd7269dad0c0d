//! The views of a list of findings: text for people, JSON for tools, annotations for CI.

pub mod github;
pub mod json;
pub mod text;
