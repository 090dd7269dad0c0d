//! Files of a tree that are reported as not judged. Files in `ranks/` and `kubernetes/` do not affect forwarding.
//! Programs in `p4/` do: they are reported only if the caller passes no digests for them.

use camino::Utf8Path;

/// Returns a description of a file that is not judged; `None` for other files.
pub(crate) fn kind(path: &Utf8Path) -> Option<&'static str> {
    match (path.iter().next()?, path.file_name()?) {
        ("ranks", _) => Some("where jobs are placed, `ranks/`"),
        ("kubernetes", _) => Some("networks of pods, `kubernetes/`"),
        ("p4", _) => Some("programs of pipelines, `p4/`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_judged_has_a_name() {
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/backup-ports.json")), None);
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/netplan.yaml")), None);
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/networkd/10-nic0p0.network")), None);
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/sysctl.conf")), None);
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/closc/nic0.env")), None);
        assert!(kind(Utf8Path::new("ranks/hostfile")).is_some());
        assert_eq!(kind(Utf8Path::new("hosts/su001-n001/boot.sh")), None);
        assert_eq!(kind(Utf8Path::new("switches/p0-t0-001/boot.sh")), None);
    }
}
