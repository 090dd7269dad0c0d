//! Readers of untrusted bytes: they use `closc-budget`, so each has a limit.
//!
//! In: the sources of the workspace. Out: reads to the end without a limit, and allocations whose size comes
//! from input. The exceptions are counted per file, each with a reason; a number may fall but never rise.

use std::collections::BTreeMap;

use super::rooms::sources;

/// Calls that read an unlimited number of bytes.
const READS: &[&str] = &["read_to_end(", "read_to_string(", "fs::read("];

/// Calls that allocate a given size. If the line also converts an integer, the size probably comes from input.
const SIZED: &[&str] = &["with_capacity(", "vec![0; ", "vec![0u8; ", "reserve(", "resize("];

/// A file, the number of its calls, and the reason why they are safe.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("compiler/budget/src/limited.rs", 1, "the reader with the limit"),
    ("compiler/audit/src/log.rs", 1, "a file of the kernel"),
    ("compiler/audit/src/sink.rs", 1, "the end of an audit log, at most four times its longest line"),
    ("compiler/cli/src/complete/line.rs", 1, "a file that the user names"),
    ("compiler/cli/src/limits.rs", 1, "a file of the kernel"),
    ("compiler/cli/src/objects/read.rs", 1, "a length that was compared with a limit"),
    ("compiler/files/src/lib.rs", 1, "a size that was compared with the limit"),
    ("compiler/lab/src/backend/bmv2/switches.rs", 1, "a log of a process of the lab"),
    (
        "compiler/lab/src/backend/embedded/process.rs",
        2,
        "a log of a process of the lab, a file of the kernel",
    ),
    ("compiler/lab/src/backend/linux/carriers.rs", 2, "files of the kernel"),
    ("compiler/lab/src/backend/linux/counters.rs", 1, "a file of the kernel"),
    ("compiler/lab/src/backend/p4.rs", 1, "an inventory of the lab"),
    ("compiler/lab/src/lab/holder.rs", 1, "a file of the kernel"),
    ("host/nic/src/bench/machine.rs", 2, "files of the kernel"),
    ("host/nic/src/io/doctor/kernel.rs", 3, "files of the kernel"),
    ("host/nic/src/io/setup.rs", 1, "the machine's own list of users"),
    ("p4/deploy/src/sonic/owner.rs", 2, "files of the kernel"),
    ("p4/runtime/src/server/files.rs", 1, "certificates of the person who starts the server"),
    ("p4/switch/src/command/run.rs", 1, "files of the person who starts the switch"),
];

/// Counts the calls of a source.
fn calls(text: &str) -> usize {
    let is_sized = |line: &str| line.contains("try_from(") && SIZED.iter().any(|call| line.contains(call));
    let reads = |line: &str| READS.iter().map(|call| line.matches(call).count()).sum::<usize>();
    text.lines().map(|line| reads(line) + usize::from(is_sized(line))).sum()
}

#[test]
fn foreign_bytes_are_read_within_a_budget() {
    let allowed: BTreeMap<&str, usize> = EXCEPTIONS.iter().map(|(file, calls, _)| (*file, *calls)).collect();
    assert_eq!(allowed.len(), EXCEPTIONS.len(), "a file is listed twice");
    let found: BTreeMap<String, usize> =
        sources().into_iter().map(|(file, text)| (file, calls(&text))).filter(|(_, n)| *n > 0).collect();
    let of = |file: &str| found.get(file).copied().unwrap_or(0);
    let mut wrong = Vec::new();
    for (file, n) in &found {
        let most = allowed.get(file.as_str()).copied().unwrap_or(0);
        if *n > most {
            wrong.push(format!("{file}: {n} raw reads, {most} are listed: use `closc_budget`"));
        }
    }
    for (file, n) in allowed.iter().filter(|(file, n)| of(file) < **n) {
        wrong.push(format!("{file}: {} raw reads, {n} are listed: lower the number", of(file)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn raw_reads_are_found() {
    assert_eq!(calls("file.read_to_end(&mut bytes)?;\nlet a = fs::read(x); let b = fs::read(y);\n"), 3);
    assert_eq!(calls("let v = Vec::with_capacity(usize::try_from(len)?);\nlet v = vec![0; 4096];\n"), 1);
    assert_eq!(calls("let text = closc_budget::read(file, MAX)?;"), 0);
}
