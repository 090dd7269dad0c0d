//! The functions of `include/closc_engine.h`.
//!
//! In: pointers of a caller in C. Out: the engine's answers as numbers. Invariants: this is the only file of the crate
//! with unsafe code; every pointer is checked for null. Lengths cannot be checked.

#![allow(
    unsafe_code,
    reason = "a C interface takes pointers and exports names; each use says what it relies on"
)]
#![allow(unreachable_pub, reason = "programs in C reach these functions, no Rust crate does")]

use std::ptr;
use std::slice;

use closc_paths::{Scope, Table};

use crate::{Capacity, Denial, DenialId, DenyFault, Engine, PathId, Reason, Settings};

/// An engine and its table.
#[derive(Debug)]
pub struct CEngine {
    engine: Engine,
    table: Vec<u8>,
}

/// Plane and entropy value of the next packet.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CPick {
    entropy: u32,
    port: u8,
}

/// A denial. A field below 0 matches every value, with two exceptions. A last uplink below 0 is equal to the first one,
/// and a reason below 0 is the administrator. `until_ns` 0 means that the denial does not end by itself.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CDenial {
    plane: i32,
    source: i32,
    uplink_first: i32,
    uplink_last: i32,
    t1_uplink_first: i32,
    t1_uplink_last: i32,
    zone: i32,
    group: i32,
    downlink: i32,
    reason: i32,
    until_ns: u64,
}

/// A change of state.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CEvent {
    path: u64,
    at_ns: u64,
    entropy: u32,
    lost: u32,
    from: u8,
    to: u8,
}

/// Creates an engine; null on failure.
///
/// # Safety
/// `bytes` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_new(
    bytes: *const u8,
    len: usize,
    downlink: u16,
    destinations: usize,
) -> *mut CEngine {
    if bytes.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: not null, and `len` long by the contract.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) }.to_vec();
    let Ok(table) = Table::open(&bytes) else { return ptr::null_mut() };
    let capacity = Capacity::of(&table, destinations);
    let Ok(engine) = Engine::new(&table, downlink, Settings::default(), capacity) else {
        return ptr::null_mut();
    };
    Box::into_raw(Box::new(CEngine { engine, table: bytes }))
}

/// Frees an engine.
///
/// # Safety
/// `engine` was returned by `closc_engine_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_free(engine: *mut CEngine) {
    if !engine.is_null() {
        // SAFETY: made by Box::into_raw, and given up by the caller.
        drop(unsafe { Box::from_raw(engine) });
    }
}

/// Opens a destination.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`, `inner` points to 16 bytes, `path` to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_open(
    engine: *mut CEngine,
    inner: *const u8,
    now_ns: u64,
    path: *mut u64,
) -> i32 {
    // SAFETY: null or valid by the contract.
    let (Some(own), Some(inner), Some(path)) =
        (unsafe { (engine.as_mut(), inner.cast::<[u8; 16]>().as_ref(), path.as_mut()) })
    else {
        return -1;
    };
    let Ok(table) = Table::open(&own.table) else { return -1 };
    match own.engine.open(&table, *inner, now_ns) {
        Ok(id) => {
            *path = id.to_bits();
            0
        }
        Err(_) => -1,
    }
}

/// Closes a destination.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_close(engine: *mut CEngine, path: u64) {
    // SAFETY: null or valid by the contract.
    if let Some(own) = unsafe { engine.as_mut() } {
        own.engine.close(PathId::from_bits(path));
    }
}

/// Chooses the path of the next packet.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`, `pick` points to a [`CPick`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_pick(engine: *mut CEngine, path: u64, pick: *mut CPick) -> i32 {
    // SAFETY: null or valid by the contract.
    let (Some(own), Some(out)) = (unsafe { (engine.as_mut(), pick.as_mut()) }) else { return -1 };
    match own.engine.pick(PathId::from_bits(path)) {
        Some(pick) => {
            *out = CPick { entropy: pick.entropy, port: pick.plane };
            0
        }
        None => -1,
    }
}

macro_rules! evidence {
    ($($(#[$doc:meta])* $name:ident => $method:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `engine` was returned by `closc_engine_new`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(engine: *mut CEngine, path: u64, port: u8, entropy: u32, now_ns: u64) {
            // SAFETY: null or valid by the contract.
            if let Some(own) = unsafe { engine.as_mut() } {
                own.engine.$method(PathId::from_bits(path), port, entropy, now_ns);
            }
        }
    )*};
}

evidence! {
    /// Records a packet or probe that arrived.
    closc_engine_answered => record_answer;
    /// Records a lost packet.
    closc_engine_lost => record_loss;
    /// Records a missed probe.
    closc_engine_missed => record_miss;
}

/// Records a packet that met congestion.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_congested(engine: *mut CEngine, path: u64, port: u8, entropy: u32) {
    // SAFETY: null or valid by the contract.
    if let Some(own) = unsafe { engine.as_mut() } {
        own.engine.record_congestion(PathId::from_bits(path), port, entropy);
    }
}

/// Records whether a port of this NIC is up.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_own_port(engine: *mut CEngine, port: u8, up: i32) {
    // SAFETY: null or valid by the contract.
    if let Some(own) = unsafe { engine.as_mut() } {
        own.engine.set_local_port(port, up != 0);
    }
}

/// Records which ports of the far NIC are up. Returns those that recovered.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_far_ports(engine: *mut CEngine, path: u64, up: u32) -> u32 {
    // SAFETY: null or valid by the contract.
    unsafe { engine.as_mut() }.map_or(0, |own| own.engine.set_far_ports(PathId::from_bits(path), up))
}

/// Stops using the paths of a plane until enough answers arrive, because a port at one end recovered.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_doubt(engine: *mut CEngine, path: u64, port: u8, now_ns: u64) {
    // SAFETY: null or valid by the contract.
    if let Some(own) = unsafe { engine.as_mut() } {
        own.engine.doubt(PathId::from_bits(path), port, now_ns);
    }
}

/// Denies paths.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`, `denial` points to a [`CDenial`], `id` to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_deny(
    engine: *mut CEngine,
    denial: *const CDenial,
    now_ns: u64,
    id: *mut u64,
) -> i32 {
    // SAFETY: null or valid by the contract.
    let (Some(own), Some(denial), Some(id)) = (unsafe { (engine.as_mut(), denial.as_ref(), id.as_mut()) })
    else {
        return -1;
    };
    match own.engine.deny(denial.read(), now_ns) {
        Ok(made) => {
            *id = made.0;
            0
        }
        Err(DenyFault::LastPath(_)) => -2,
        Err(DenyFault::Full(_)) => -1,
    }
}

impl CDenial {
    fn read(&self) -> Denial {
        let field = |number: i32| u16::try_from(number).ok();
        let pair = |first: i32, last: i32| field(first).map(|first| (first, field(last).unwrap_or(first)));
        let reasons = [Reason::Administrator, Reason::Drain, Reason::GrayLoss, Reason::Fault];
        Denial {
            plane: u8::try_from(self.plane).ok(),
            scope: Scope {
                source: field(self.source),
                uplinks: pair(self.uplink_first, self.uplink_last),
                t1_uplinks: pair(self.t1_uplink_first, self.t1_uplink_last),
                zone: field(self.zone),
                group: field(self.group),
                downlink: field(self.downlink),
            },
            reason: usize::try_from(self.reason)
                .ok()
                .and_then(|n| reasons.get(n))
                .copied()
                .unwrap_or(reasons[0]),
            until_ns: (self.until_ns != 0).then_some(self.until_ns),
        }
    }
}

/// Ends a denial.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_allow(engine: *mut CEngine, id: u64, now_ns: u64) -> i32 {
    // SAFETY: null or valid by the contract.
    let Some(own) = (unsafe { engine.as_mut() }) else { return -1 };
    if own.engine.allow(DenialId(id), now_ns) { 0 } else { -1 }
}

/// Ends expired denials.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_tick(engine: *mut CEngine, now_ns: u64) {
    // SAFETY: null or valid by the contract.
    if let Some(own) = unsafe { engine.as_mut() } {
        own.engine.tick(now_ns);
    }
}

/// Switches to another table.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`, `bytes` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_reload(
    engine: *mut CEngine,
    bytes: *const u8,
    len: usize,
    now_ns: u64,
) -> i32 {
    // SAFETY: null or valid by the contract.
    let Some(own) = (unsafe { engine.as_mut() }) else { return -1 };
    if bytes.is_null() {
        return -1;
    }
    // SAFETY: not null, and `len` long by the contract.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) }.to_vec();
    let taken = match (Table::open(&own.table), Table::open(&bytes)) {
        (Ok(old), Ok(new)) => own.engine.reload(&old, &new, now_ns, |_| ()).is_ok(),
        _ => false,
    };
    if taken {
        own.table = bytes;
        return 0;
    }
    -1
}

/// Returns the state of a path.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_state(
    engine: *const CEngine,
    path: u64,
    port: u8,
    entropy: u32,
) -> i32 {
    // SAFETY: null or valid by the contract.
    let Some(own) = (unsafe { engine.as_ref() }) else { return -1 };
    let mut values = own.engine.values(PathId::from_bits(path));
    values.find(|v| v.plane == port && v.entropy == entropy).map_or(-1, |v| v.state as i32)
}

/// Removes and returns the oldest event.
///
/// # Safety
/// `engine` was returned by `closc_engine_new`, `event` points to a [`CEvent`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closc_engine_next_event(engine: *mut CEngine, event: *mut CEvent) -> i32 {
    // SAFETY: null or valid by the contract.
    let (Some(own), Some(out)) = (unsafe { (engine.as_mut(), event.as_mut()) }) else { return -1 };
    let Some(e) = own.engine.next_event() else { return -1 };
    let (from, to) = (e.from as u8, e.to as u8);
    *out = CEvent { path: e.path.to_bits(), at_ns: e.at_ns, entropy: e.entropy, lost: e.lost, from, to };
    0
}
