//! Copies of a disk at many moments while a program writes to it. Each copy is the disk as it would be after
//! a power failure at that moment.
//!
//! In: a closure that writes to the disk, its progress, and the processes that write. Out: copies, each with
//! the progress before and after it was made. Invariants: a process is stopped between two of its system
//! calls while the disk is copied; a copy during which the kernel wrote is discarded.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::disk::Disk;

/// A copy, with the progress before and after it was made.
pub(crate) type Copy<P> = (Utf8PathBuf, P, P);

/// Returns the number of copies: `CLOSC_CRASH_POINTS`, or a sample that takes a few seconds.
pub(crate) fn points(sample: usize) -> usize {
    std::env::var("CLOSC_CRASH_POINTS")
        .map_or(sample, |points| points.parse().expect("CLOSC_CRASH_POINTS is a number of copies"))
}

/// Runs the work until enough copies of its disk exist. The flag that is passed to the work is then set.
///
/// `stop(true)` stops the processes that write to the disk, and `stop(false)` lets them continue.
pub(crate) fn copies<P: Send>(
    (disk, image): (&Disk, &Utf8Path),
    points: usize,
    progress: impl Fn() -> P + Sync,
    stop: impl Fn(bool) + Sync,
    work: impl FnOnce(&AtomicBool),
) -> Vec<Copy<P>> {
    let (over, copies) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0_u64.. {
                // In a failing test, the work ends first.
                if copies.lock().expect("no panic").len() >= points || over.load(Ordering::SeqCst) {
                    break;
                }
                // Long enough for some requests, and short enough for the server, which aborts requests that
                // take seconds.
                std::thread::sleep(Duration::from_micros(60_000 + 11_003 * (number % 13)));
                let copy = image.with_file_name(format!("copy-{number}"));
                let before = progress();
                stop(true);
                let is_of_one_moment = disk.copy(image, &copy).expect("an image is copied");
                let after = progress();
                stop(false);
                if is_of_one_moment {
                    copies.lock().expect("no panic").push((copy, before, after));
                } else {
                    fs::remove_file(&copy).expect("a copy can be removed");
                }
            }
            over.store(true, Ordering::SeqCst);
        });
        let ends = EndGuard(&over);
        work(&over);
        drop(ends);
    });
    copies.into_inner().expect("no panic")
}

/// Mounts each copy in a folder and inspects it. The check gets its number, and the progress before and after
/// the copy was made.
pub(crate) fn judged<P, T>(
    folder: &Utf8Path,
    copies: &[Copy<P>],
    judge: impl Fn(&Utf8Path, usize, (&P, &P)) -> Result<T, String>,
) -> Vec<Result<T, String>> {
    let look = |(number, (image, before, after)): (usize, &Copy<P>)| {
        let disk = Disk::mount(image, &folder.join(format!("look-{number}")), 1)?;
        let judged = judge(&disk.mount, number, (before, after));
        drop(disk);
        let _ = fs::remove_file(image);
        judged
    };
    copies.iter().enumerate().map(look).collect()
}

/// Stops the copying when the work has ended, even by a panic.
struct EndGuard<'o>(&'o AtomicBool);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
