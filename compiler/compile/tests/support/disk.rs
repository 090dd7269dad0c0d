//! An ext4 image on a loop device, which stands for a disk whose power may go.
//!
//! Invariants: image and mount are gone when they are dropped; a copy is of one moment or known not to be. Needs root.

use std::fs;
use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

/// Size of the disk: small, so that a copy takes milliseconds.
const DISK: u64 = 48 << 20;

/// Makes an image with an empty file system.
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

/// An image on a loop device, mounted; both are gone when it is dropped.
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

    /// Writes that were completed, where none is under way.
    fn writes(&self) -> Option<u64> {
        let name = self.device.rsplit('/').next()?;
        let stat = fs::read_to_string(Path::new("/sys/class/block").join(name).join("stat")).ok()?;
        let fields: Vec<u64> = stat.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        (fields.get(8) == Some(&0)).then(|| fields[4])
    }

    /// Copies the image; says whether the copy is of one moment, during which nothing was written.
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
