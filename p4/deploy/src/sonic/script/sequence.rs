//! Commands with which a switch stores the sequence number of the last signed tree that it accepted.
//!
//! Invariants: the number is written before a change is confirmed, so a replay of an older tree is rejected even if the
//! push is killed. If the number cannot be read, only trees that may be older are accepted.

use crate::options::SequenceGuard;

/// Rejects a tree that is older than the last one. It must run under the lock.
pub(super) fn check(state: &str, guard: Option<SequenceGuard>) -> String {
    let Some(guard) = guard.filter(|guard| !guard.allow_older) else { return String::new() };
    let own = guard.sequence;
    format!(
        "last=0; [ ! -e {state}/sequence ] || last=$(cat {state}/sequence)\n\
         [ \"$last\" -le {own} ] || {{ echo \"the switch has a tree with sequence number $last, and this one has {own}: push a newer \
         one, or use \\`--allow-older\\`\" >&2; exit 79; }}\n"
    )
}

/// Stores the number. It must run under the lock.
pub(super) fn remember(state: &str, guard: Option<SequenceGuard>) -> String {
    let Some(SequenceGuard { sequence, .. }) = guard else { return String::new() };
    format!("echo {sequence} >{state}/sequence.new\nsync\nmv {state}/sequence.new {state}/sequence\n")
}
