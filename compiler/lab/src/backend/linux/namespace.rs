//! Named network namespaces, as created by `ip netns`.

use std::fs::File;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nix::sched::{CloneFlags, setns};

use super::command::ip_batch;
use crate::LabError;
use crate::privilege;

/// The folder in which `ip netns` stores namespaces.
const FOLDER: &str = "/run/netns";

/// Capabilities inside a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    /// Sufficient to change the network.
    Network,
    /// Sufficient to start routers, which change to another user.
    Routers,
}

/// A named network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace {
    /// Its name.
    pub(crate) name: String,
    /// The device, for messages.
    pub(crate) device: String,
}

impl Namespace {
    /// Moves the calling thread into the namespace. Only dedicated threads may call this, because a thread
    /// cannot leave the namespace again.
    fn enter(&self) -> Result<(), LabError> {
        let what = || format!("enter namespace `{}`", self.name);
        let file = File::open(path(&self.name)).map_err(LabError::io(what()))?;
        setns(file, CloneFlags::CLONE_NEWNET).map_err(LabError::os(what()))
    }

    /// Runs a function on a new thread inside the namespace, with network capabilities only.
    pub(crate) fn run<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R, LabError> + Send,
    ) -> Result<R, LabError> {
        self.run_as(Rights::Network, work)
    }

    fn run_as<R: Send>(
        &self,
        rights: Rights,
        work: impl FnOnce() -> Result<R, LabError> + Send,
    ) -> Result<R, LabError> {
        let inside = || {
            self.enter()?;
            match rights {
                Rights::Network => privilege::of_namespaces()?,
                Rights::Routers => privilege::of_routers()?,
            }
            work()
        };
        thread::scope(|scope| scope.spawn(inside).join().unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Returns whether a namespace of that name exists.
pub(crate) fn exists(name: &str) -> bool {
    path(name).exists()
}

/// Creates namespaces.
pub(crate) fn create(names: &[String]) -> Result<(), LabError> {
    ip_batch(&lines("netns add", names), "this machine").map_err(|error| match error {
        // Root of a user namespace cannot mount namespaces.
        LabError::Command { message, .. } if message.contains("Operation not permitted") => LabError::NotRoot,
        other => other,
    })
}

/// Deletes namespaces and their contents. Missing ones are not an error.
pub(crate) fn delete(names: &[String]) -> Result<(), LabError> {
    let present = |names: &[String]| -> Vec<String> { names.iter().filter(|n| exists(n)).cloned().collect() };
    let batch = lines("netns del", &present(names));
    let outcome = if batch.is_empty() { Ok(()) } else { ip_batch(&batch, "this machine") };
    // If one cannot be deleted, delete the others.
    for name in present(names) {
        if let Err(error) = ip_batch(&format!("netns del {name}\n"), &name) {
            tracing::warn!("{error}");
        }
    }
    let left = present(names);
    if left.is_empty() {
        if let Err(error) = outcome {
            tracing::warn!("removed at the second attempt: {error}");
        }
        return Ok(());
    }
    Err(LabError::Leftover(left))
}

/// Returns one command per name.
fn lines(command: &str, names: &[String]) -> String {
    names.iter().fold(String::new(), |text, name| text + command + " " + name + "\n")
}

/// Runs a function inside every namespace, on several threads, and returns the results in order. Stops at the first
/// error.
pub(crate) fn run_in_namespaces<'a, R: Send>(
    namespaces: impl IntoIterator<Item = &'a Namespace>,
    jobs: usize,
    work: impl Fn(usize) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    run_in_namespaces_as(Rights::Network, namespaces, jobs, work)
}

/// Like [`run_in_namespaces`], with the given capabilities.
pub(super) fn run_in_namespaces_as<'a, R: Send>(
    rights: Rights,
    namespaces: impl IntoIterator<Item = &'a Namespace>,
    jobs: usize,
    work: impl Fn(usize) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    let namespaces: Vec<&Namespace> = namespaces.into_iter().collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(namespaces.iter().map(|_| None).collect());
    let failed: Mutex<Option<LabError>> = Mutex::new(None);
    let worker = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(namespace) = namespaces.get(at) else { return };
            match namespace.run_as(rights, || work(at)) {
                Ok(result) => lock(&done)[at] = Some(result),
                Err(error) => {
                    next.store(namespaces.len(), Ordering::Relaxed);
                    lock(&failed).get_or_insert(error);
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, namespaces.len().max(1)) {
            scope.spawn(worker);
        }
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(done
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .into_iter()
            .flatten()
            .collect()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
