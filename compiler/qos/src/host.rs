//! Settings of a host, derived from the same profile as those of its switch.
//!
//! In: a [`Profile`]. Out: a [`HostQos`] with values, which renderers convert to `mlnx_qos`, `cma_roce_tos` or NCCL
//! variables. Invariants: a DSCP has the priority of the class to which the switch maps it. A priority uses PFC on the
//! host if and only if it does on the switch.

mod bandwidth;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::codes::{Dscp, Percent, Priority};
use crate::ecn::Ecn;
use crate::profile::{Class, ClassName, Profile, Role, Scheduler};

/// The header field that a port trusts. It is always DSCP, because priorities in VLAN tags do not survive routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The DSCP of the IP header.
    Dscp,
}

/// The host settings of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostQos {
    /// The header field that ports trust (`mlnx_qos --trust`).
    pub trust: Trust,
    /// The classes that hosts can send, in ascending order of the traffic class on switches.
    pub classes: Vec<HostClass>,
    /// The priority of each of the 64 code points (`mlnx_qos --dscp2prio`).
    pub dscp_to_priority: BTreeMap<Dscp, Priority>,
    /// The eight priorities.
    pub priorities: [HostPriority; 8],
    /// Code points of RDMA traffic.
    pub rdma: RdmaMarks,
    /// DCQCN settings, if the profile marks data and has a class for notifications.
    pub dcqcn: Option<Dcqcn>,
    /// The code points of MRC, if the profile trims.
    pub mrc: Option<MrcMarks>,
}

/// A class that hosts can send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostClass {
    /// The name, as on the switch.
    pub name: ClassName,
    /// Purpose.
    pub role: Role,
    /// Code point of the class.
    pub dscp: Dscp,
    /// The code point as a ToS or traffic-class byte: DSCP shifted left by two (26: 104).
    pub tos: u8,
    /// The same byte with ECT(0) (26: 106).
    pub tos_ect0: u8,
    /// The priority on the host and in PFC frames.
    pub priority: Priority,
    /// Whether the class is lossless.
    pub pfc: bool,
    /// Whether switches mark packets of the class, so that senders must set ECT.
    pub ecn: bool,
}

/// One of the eight priorities of a host port. Its traffic class on the NIC has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HostPriority {
    /// Whether PFC is enabled for the priority (`mlnx_qos --pfc`).
    pub pfc: bool,
    /// Traffic class on the NIC (`mlnx_qos --prio_tc`).
    pub tc: u8,
    /// Scheduling of the traffic class (`mlnx_qos --tsa` and `--tcbw`).
    pub selection: Selection,
    /// The receive buffer (`mlnx_qos --prio2buffer`): 0 for lossy priorities, a separate one for each lossless
    /// priority.
    pub buffer: u8,
}

/// Scheduling of a traffic class of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// Strict priority, which unused classes also have.
    Strict,
    /// Enhanced transmission selection with this share. The shares of a port sum to 100.
    Ets(Percent),
}

/// Code points of RDMA traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RdmaMarks {
    /// The class of data.
    pub data: HostClass,
    /// ToS of connections from the RDMA connection manager (`cma_roce_tos`).
    pub connection_tos: u8,
    /// Traffic class of data in NCCL (`NCCL_IB_TC`): the ToS byte.
    pub nccl_tc: u8,
    /// Traffic class of clear-to-send messages (`NCCL_IB_FIFO_TC`), if they have a class.
    pub nccl_fifo_tc: Option<u8>,
}

/// DCQCN settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dcqcn {
    /// Priorities for which DCQCN is enabled, in ascending order (`ecn/roce_np|roce_rp/enable`).
    pub priorities: Vec<Priority>,
    /// Code point of notifications (`ecn/roce_np/cnp_dscp`).
    pub cnp_dscp: Dscp,
    /// The priority of notifications (`ecn/roce_np/cnp_802p_prio`).
    pub cnp_priority: Priority,
}

/// The code points of MRC (its six DSCP classes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MrcMarks {
    /// NO_TRIM.
    pub no_trim: Dscp,
    /// TRIMMABLE.
    pub trimmable: Dscp,
    /// TRIMMABLE_RETX; the code point of data if retransmissions have no class.
    pub trimmable_retransmit: Dscp,
    /// TRIMMED.
    pub trimmed: Dscp,
    /// TRIMMED_LASTHOP.
    pub trimmed_last_hop: Dscp,
    /// CONTROL; NO_TRIM if control has no class.
    pub control: Dscp,
}

impl HostQos {
    /// Derives the host settings from a profile.
    pub fn of(profile: &Profile) -> Self {
        let classes: Vec<HostClass> =
            profile.classes().filter_map(|class| host_class(profile, class)).collect();
        Self {
            trust: Trust::Dscp,
            dscp_to_priority: Dscp::all().map(|dscp| (dscp, profile.class_of(dscp).priority)).collect(),
            priorities: priorities(profile),
            rdma: rdma(&classes),
            dcqcn: dcqcn(profile),
            mrc: mrc(profile),
            classes,
        }
    }

    /// Returns the class with a role; if there are several, the one with the lowest traffic class.
    pub fn role(&self, role: Role) -> Option<&HostClass> {
        self.classes.iter().find(|class| class.role == role)
    }
}

/// Returns the code point that senders of a class use: the first one of the class. A default class without code points
/// uses the lowest unclaimed one.
fn mark(profile: &Profile, class: &Class) -> Option<Dscp> {
    let free = || Dscp::all().find(|dscp| profile.class_of(*dscp).name == class.name);
    class.mark().or_else(free)
}

fn host_class(profile: &Profile, class: &Class) -> Option<HostClass> {
    let dscp = mark(profile, class)?;
    Some(HostClass {
        name: class.name.clone(),
        role: class.role,
        dscp,
        tos: dscp.tos(),
        tos_ect0: dscp.tos_ect0(),
        priority: class.priority,
        pfc: class.pfc,
        ecn: class.ecn != Ecn::Off,
    })
}

fn priorities(profile: &Profile) -> [HostPriority; 8] {
    let shares = bandwidth::shares(profile);
    let lossless = profile.pfc_priorities();
    std::array::from_fn(|number| {
        let priority = Priority::new(number as u8).expect("an array of eight has indices 0 to 7");
        let place = lossless.iter().position(|found| *found == priority);
        HostPriority {
            pfc: place.is_some(),
            tc: priority.get(),
            selection: shares.get(&priority).map_or(Selection::Strict, |share| Selection::Ets(*share)),
            buffer: place.map_or(0, |place| place as u8 + 1),
        }
    })
}

fn rdma(classes: &[HostClass]) -> RdmaMarks {
    let role = |role| classes.iter().find(|class| class.role == role);
    let data = role(Role::Data).cloned().expect("the rules demand a data class with a code point");
    RdmaMarks {
        connection_tos: data.tos,
        nccl_tc: data.tos,
        nccl_fifo_tc: role(Role::Cts).map(|class| class.tos),
        data,
    }
}

fn dcqcn(profile: &Profile) -> Option<Dcqcn> {
    let cnp = profile.role(Role::Cnp)?;
    let cnp_dscp = mark(profile, cnp)?;
    let marked = profile.classes().filter(|class| class.role == Role::Data && class.ecn != Ecn::Off);
    let mut priorities: Vec<_> = marked.map(|class| class.priority).collect();
    priorities.sort();
    priorities.dedup();
    (!priorities.is_empty()).then_some(Dcqcn { priorities, cnp_dscp, cnp_priority: cnp.priority })
}

fn mrc(profile: &Profile) -> Option<MrcMarks> {
    let trimming = profile.trimming()?;
    let role = |role| profile.role(role).and_then(|class| mark(profile, class));
    let trimmable = role(Role::Data)?;
    let no_trim = mark(profile, profile.default_class())?;
    Some(MrcMarks {
        no_trim,
        trimmable,
        trimmable_retransmit: role(Role::Retransmit).unwrap_or(trimmable),
        trimmed: trimming.fabric_dscp,
        trimmed_last_hop: trimming.last_hop_dscp,
        control: role(Role::Control).unwrap_or(no_trim),
    })
}

/// Returns the weight of a scheduler; `None` for strict priority.
fn weight(scheduler: Scheduler) -> Option<u32> {
    match scheduler {
        Scheduler::Strict => None,
        Scheduler::Dwrr(weight) => Some(u32::from(weight.get())),
    }
}
