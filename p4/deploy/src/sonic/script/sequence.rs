//! Commands by which a switch remembers the sequence number of the last signed tree that it took.
//!
//! Invariants: the number is written before a change is confirmed, so a replay of an older tree is refused also after a kill; a
//! number that cannot be read refuses every tree that is not allowed to be older.

use crate::options::SequenceGuard;

/// Refuses a tree that is older than the last one. To be run under the lock.
pub(super) fn check(state: &str, guard: Option<SequenceGuard>) -> String {
    let Some(guard) = guard.filter(|guard| !guard.allow_older) else { return String::new() };
    let own = guard.sequence;
    format!(
        "last=0; [ ! -e {state}/sequence ] || last=$(cat {state}/sequence)\n\
         [ \"$last\" -le {own} ] || {{ echo \"the switch took a tree with sequence number $last, and this one has {own}: push a newer \
         one, or use \\`--allow-older\\`\" >&2; exit 79; }}\n"
    )
}

/// Remembers the number. To be run under the lock.
pub(super) fn remember(state: &str, guard: Option<SequenceGuard>) -> String {
    let Some(SequenceGuard { sequence, .. }) = guard else { return String::new() };
    format!("echo {sequence} >{state}/sequence.new\nsync\nmv {state}/sequence.new {state}/sequence\n")
}
