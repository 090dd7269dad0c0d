//! Resource limits of the process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Lets this process have as many files and connections open as the system allows: a fabric of thousands of switches
/// needs one each, and many systems begin with 1,024.
pub fn raise_open_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
    {
        tracing::debug!("the limit of open files stays at {soft}: {error}");
    }
}

/// Memory of a compilation with templates of a site. `mrc-8x512.yaml` takes 74 MiB.
const TEMPLATES_MEMORY_MAX: u64 = 1 << 30;

/// Limits the memory of this process before templates of a site are rendered: steps of templates are counted, and each step can double
/// a text. A process over the limit ends.
pub(crate) fn limit_memory() -> nix::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_DATA)?;
    setrlimit(Resource::RLIMIT_DATA, TEMPLATES_MEMORY_MAX.min(hard), hard)
}

/// Returns the most memory that this process has had so far, in bytes, where the system tells.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
