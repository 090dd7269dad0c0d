//! An ext4 image on a loop device, which stands for a disk that may lose power.
//!
//! Invariants: image and mount are removed when they are dropped. For every copy it is known whether it shows
//! a single moment. Needs root.

use std::fs;
use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

/// Size of the disk: small, so that a copy takes milliseconds.
const DISK: u64 = 48 << 20;

/// Creates an image with an empty file system.
pub(crate) fn make(image: &Utf8Path) -> Result<(), String> {
    fs::File::create(image).and_then(|file| file.set_len(DISK)).map_err(|error| error.to_string())?;
    run("mkfs.ext4", &["-q", "-F", image.as_str()]).map(drop)
}

pub(crate) fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// A mounted image on a loop device; the mount and the device are removed when it is dropped.
pub(crate) struct Disk {
    device: String,
    pub(crate) mount: Utf8PathBuf,
}

impl Disk {
    /// Mounts an image, which replays its journal as it would after a loss of power.
    ///
    /// The journal is written after `commit` seconds without a sync.
    pub(crate) fn mount(image: &Utf8Path, mount: &Utf8Path, commit: u32) -> Result<Disk, String> {
        fs::create_dir_all(mount).map_err(|error| error.to_string())?;
        let device = run("losetup", &["--find", "--show", image.as_str()])?;
        let options = format!("commit={commit}");
        let mounted = run("mount", &["-t", "ext4", "-o", &options, &device, mount.as_str()]);
        let disk = Disk { device, mount: mount.to_owned() };
        mounted.map(|_| disk)
    }

    /// Returns the number of completed writes; `None` if a write is in progress.
    fn writes(&self) -> Option<u64> {
        let name = self.device.rsplit('/').next()?;
        let stat = fs::read_to_string(Path::new("/sys/class/block").join(name).join("stat")).ok()?;
        let fields: Vec<u64> = stat.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        (fields.get(8) == Some(&0)).then(|| fields[4])
    }

    /// Copies the image; returns whether the copy shows a single moment, because nothing was written during
    /// copying.
    pub(crate) fn copy(&self, image: &Utf8Path, place: &Utf8Path) -> Result<bool, String> {
        let before = self.writes();
        run("cp", &["--sparse=always", image.as_str(), place.as_str()])?;
        Ok(before.is_some() && before == self.writes())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = run("umount", &[self.mount.as_str()]);
        let _ = run("losetup", &["--detach", &self.device]);
    }
}
