//! Resource limits of the process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files and connections as far as the system allows. A fabric with thousands of switches
/// needs one per switch, and the default is often 1,024.
pub fn raise_open_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
    {
        tracing::debug!("the limit of open files stays at {soft}: {error}");
    }
}

/// Maximum memory of a compilation with site templates, in bytes. `mrc-8x512.yaml` takes 74 MiB.
const TEMPLATES_MEMORY_MAX: u64 = 1 << 30;

/// Limits the memory of this process before site templates are rendered. The limit of template steps is not
/// sufficient, because each step can double a text. A process that exceeds the memory limit is terminated.
pub(crate) fn limit_memory() -> nix::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_DATA)?;
    setrlimit(Resource::RLIMIT_DATA, TEMPLATES_MEMORY_MAX.min(hard), hard)
}

/// Returns the peak memory of this process so far, in bytes; `None` if the system does not report it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
