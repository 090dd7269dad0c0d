//! The files built into the program.
//!
//! In: `catalogue/*.yaml`, at compile time. Out: their texts. Invariants: the files are accepted
//! by the same checks as a site's (a test loads them all).

/// Lists the files; a test compares the list with the folder.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../catalogue/", $name, ".yaml")))),*]
    };
}

/// Names and texts, in the order of names.
pub(crate) static FILES: &[(&str, &str)] = files![
    "arista-7808r3-288x400g",
    "bmv2",
    "linux",
    "minipack2-128x200g",
    "q3d-7280r4-64x400g",
    "sonic-vs",
    "spectrum1-msn2700",
    "spectrum3-sn4700",
    "spectrum4-sn5600",
    "spectrum4-sn5600-256x100g",
    "spectrum5-sn5640",
    "spectrum6-sn6600",
    "th2-64x100g",
    "th3-32x400g",
    "th4-64x400g",
    "th5-128x400g",
    "th5-256x200g",
    "th5-512x100g",
    "th5-64x800g",
    "th6-1024x100g",
    "th6-128x800g",
    "th6-256x400g",
    "th6-512x200g",
];
