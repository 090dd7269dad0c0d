//! Artefacts from intents: one file in targets/ for each switch operating system.
