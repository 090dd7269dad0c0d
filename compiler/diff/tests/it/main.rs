//! All tests of this crate in one program, so that the workspace is linked once.

mod artefacts;
mod claims;
mod classes;
mod growth;
mod isolation;
mod leaving;
mod minimal;
mod mixed;
mod operator;
mod properties;
mod reloads;
mod renumbering;
mod replaced;
mod rollout;
mod systems;
mod unread;
mod walk;
mod wave_texts;
