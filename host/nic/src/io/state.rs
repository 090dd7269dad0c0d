//! Denials on a disk, so that none is forgotten when the agent ends.
//!
//! Invariants: the file is whole at every moment; a denial is in it before whoever asked for it gets an answer.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::agent::Bans;

/// Writes the denials.
pub fn save(path: &Path, bans: &Bans) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(bans)?)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Reads them; none, if there is no file.
pub fn load(path: &Path) -> io::Result<Bans> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Bans::default()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Ban;

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("denials.json");
        assert_eq!(load(&path).unwrap(), Bans::default());
        let ban =
            Ban { id: Some(3), plane: Some(1), reason: "drain".into(), until: Some(12.5), ..Ban::default() };
        let bans = Bans { next: 4, bans: vec![ban] };
        save(&path, &bans).unwrap();
        assert_eq!(load(&path).unwrap(), bans);
        fs::write(&path, "{").unwrap();
        assert!(load(&path).is_err());
    }
}
