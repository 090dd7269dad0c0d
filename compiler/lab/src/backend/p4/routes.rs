//! Reads the routes of P4 switches from their tables.
//!
//! In: a connection to a switch, the P4Info of its program. Out: its [`Routes`]: prefixes, ports, weights. Invariants:
//! routes are read from the switch instead of files. Tables are found by name. A next hop that does not exist adds no
//! port to a route.

use std::collections::BTreeMap;

use closc_runtime::Info;
use closc_runtime::client::{Client, ClientError};
use closc_runtime::entry;
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1;
use v1::entity::Entity;
use v1::table_action::Type;

use crate::backend::{Forwarding, Routes};
use crate::tree::{self, Program};

/// Metric of all routes, because a switch has only one route per destination.
const METRIC: u32 = 0;

/// Id of an action, and of its parameter that names the next object.
#[derive(Debug)]
struct ReferenceAction {
    action: u32,
    param: u32,
}

impl ReferenceAction {
    fn new(info: &Info, action: &str, param: &str) -> Result<ReferenceAction, LookupError> {
        let action = info.action(action)?;
        Ok(ReferenceAction { action: action.preamble.id, param: action.param(param)?.id })
    }

    fn of<'c>(&self, call: &'c v1::Action) -> Option<&'c [u8]> {
        if call.action_id == self.action { tree::param(call, self.param) } else { None }
    }
}

/// Ids of the tables that routes consist of.
#[derive(Debug)]
pub(super) struct Tables {
    program: Program,
    route: u32,
    to_next_hop: ReferenceAction,
    to_group: ReferenceAction,
    group: u32,
    /// Action of a group member.
    member: ReferenceAction,
    /// Action profile of the groups, if groups are separate P4Runtime objects.
    profile: Option<u32>,
    next_hop: u32,
    /// From a next hop to its port or router interface.
    link: ReferenceAction,
    interface: Option<u32>,
    /// From a router interface to its port.
    leaves: Vec<ReferenceAction>,
}

impl Tables {
    /// Finds the tables of a program.
    pub(super) fn of(program: Program, info: &Info) -> Result<Tables, LookupError> {
        match program {
            Program::Fabric => Ok(Tables {
                program,
                route: info.table("ingress.ipv6_route")?.preamble.id,
                to_next_hop: ReferenceAction::new(info, "set_nexthop_id", "nexthop_id")?,
                to_group: ReferenceAction::new(info, "set_wcmp_group", "wcmp_group_id")?,
                group: info.table("ingress.wcmp_group")?.preamble.id,
                member: ReferenceAction::new(info, "select_nexthop", "nexthop_id")?,
                profile: Some(info.profile("ingress.wcmp_selector")?.preamble.id),
                next_hop: info.table("ingress.nexthop")?.preamble.id,
                link: ReferenceAction::new(info, "set_nexthop", "port")?,
                interface: None,
                leaves: Vec::new(),
            }),
            Program::Sai => Ok(Tables {
                program,
                route: info.table("ipv6_table")?.preamble.id,
                to_next_hop: ReferenceAction::new(info, "set_nexthop_id", "nexthop_id")?,
                to_group: ReferenceAction::new(info, "set_wcmp_group_id", "wcmp_group_id")?,
                group: info.table("wcmp_group_table")?.preamble.id,
                member: ReferenceAction::new(info, "set_nexthop_id", "nexthop_id")?,
                profile: None,
                next_hop: info.table("nexthop_table")?.preamble.id,
                link: ReferenceAction::new(info, "set_ip_nexthop", "router_interface_id")?,
                interface: Some(info.table("router_interface_table")?.preamble.id),
                leaves: vec![
                    ReferenceAction::new(info, "unicast_set_port_and_src_mac", "port")?,
                    ReferenceAction::new(info, "set_port_and_src_mac", "port")?,
                ],
            }),
        }
    }

    /// Read requests to a switch.
    fn questions(&self) -> Vec<v1::Entity> {
        let tables = [Some(self.route), Some(self.group), Some(self.next_hop), self.interface];
        let mut asked: Vec<v1::Entity> = tables.into_iter().flatten().map(entry::wildcard).collect();
        if let Some(action_profile_id) = self.profile {
            asked.push(v1::ActionProfileMember { action_profile_id, ..Default::default() }.into());
            asked.push(v1::ActionProfileGroup { action_profile_id, ..Default::default() }.into());
        }
        asked
    }

    /// Reads the routes of a switch. `names` contains the names of its ports by number.
    pub(super) async fn read(
        &self,
        client: &Client,
        names: &BTreeMap<u32, String>,
    ) -> Result<Routes, ClientError> {
        let mut found = RouteObjects::default();
        for entity in client.read(self.questions()).await? {
            found.take(self, entity);
        }
        Ok(found.routes(self.program, names))
    }
}

/// Key of an object.
type Key = Vec<u8>;

/// The next object of a route.
#[derive(Debug)]
enum NextObject {
    Nowhere,
    NextHop(Key),
    Group(Key),
}

/// Objects of a switch.
#[derive(Debug, Default)]
struct RouteObjects {
    routes: Vec<(closc_artefacts::Prefix, NextObject)>,
    /// Next hops of a group with their weights.
    groups: BTreeMap<Key, Vec<(Key, u32)>>,
    /// Ids of groups that are P4Runtime objects, by the key that routes use.
    group_ids: BTreeMap<Key, u32>,
    members: BTreeMap<u32, Key>,
    objects: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Port or router interface of each next hop.
    links: BTreeMap<Key, Key>,
    interfaces: BTreeMap<Key, Key>,
}

impl RouteObjects {
    fn take(&mut self, tables: &Tables, entity: v1::Entity) {
        match entity.entity {
            Some(Entity::TableEntry(entry)) => self.entry(tables, &entry),
            Some(Entity::ActionProfileMember(member)) => {
                let next_hop = member.action.as_ref().and_then(|call| tables.member.of(call));
                self.members.extend(next_hop.map(|key| (member.member_id, key.to_vec())));
            }
            Some(Entity::ActionProfileGroup(group)) => {
                let members = group.members.iter().map(|member| (member.member_id, weight(member.weight)));
                self.objects.insert(group.group_id, members.collect());
            }
            Some(_) | None => {}
        }
    }

    fn entry(&mut self, tables: &Tables, entry: &v1::TableEntry) {
        if entry.table_id == tables.route {
            self.route(tables, entry);
            return;
        }
        let Some(key) = entry.r#match.first().and_then(tree::exact_bytes).map(<[u8]>::to_vec) else { return };
        if entry.table_id == tables.group {
            match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
                Some(Type::ActionProfileGroupId(id)) => drop(self.group_ids.insert(key, *id)),
                Some(Type::ActionProfileActionSet(set)) => {
                    let member = |one: &v1::ActionProfileAction| {
                        Some((tables.member.of(one.action.as_ref()?)?.to_vec(), weight(one.weight)))
                    };
                    let members = set.action_profile_actions.iter().filter_map(member).collect();
                    self.groups.insert(key, members);
                }
                Some(Type::Action(_) | Type::ActionProfileMemberId(_)) | None => {}
            }
        } else if let Some(call) = tree::call(entry) {
            let (objects, leads) = if Some(entry.table_id) == tables.interface {
                (&mut self.interfaces, tables.leaves.iter().find_map(|leads| leads.of(call)))
            } else {
                (&mut self.links, tables.link.of(call))
            };
            objects.extend(leads.map(|to| (key, to.to_vec())));
        }
    }

    fn route(&mut self, tables: &Tables, entry: &v1::TableEntry) {
        // Packets of a lab use the default VRF, which has an empty name.
        let other_vrf = entry.r#match.iter().filter_map(tree::exact_bytes).any(|key| !key.is_empty());
        let (Some(to), false) = (tree::lpm(entry), other_vrf) else { return };
        let call = tree::call(entry);
        let next_hop = call.and_then(|call| tables.to_next_hop.of(call));
        let group = call.and_then(|call| tables.to_group.of(call));
        let way = match (next_hop, group) {
            (Some(key), _) => NextObject::NextHop(key.to_vec()),
            (None, Some(key)) => NextObject::Group(key.to_vec()),
            (None, None) => NextObject::Nowhere,
        };
        self.routes.push((to, way));
    }

    /// The port of a next hop, by its number.
    fn port(&self, program: Program, next_hop: &Key) -> Option<u32> {
        let link = self.links.get(next_hop)?;
        match program {
            Program::Fabric => u32::try_from(tree::number_of(link)?).ok(),
            Program::Sai => std::str::from_utf8(self.interfaces.get(link)?).ok()?.parse().ok(),
        }
    }

    /// The next hops of a route, with their weights.
    fn next_hops<'f>(&'f self, way: &'f NextObject) -> Vec<(&'f Key, u32)> {
        match way {
            NextObject::Nowhere => Vec::new(),
            NextObject::NextHop(key) => vec![(key, 1)],
            NextObject::Group(key) => {
                let set = self.groups.get(key).into_iter().flatten().map(|(key, weight)| (key, *weight));
                let object = self.group_ids.get(key).and_then(|id| self.objects.get(id));
                let members = object.into_iter().flatten();
                set.chain(members.filter_map(|(id, weight)| Some((self.members.get(id)?, *weight)))).collect()
            }
        }
    }

    fn routes(&self, program: Program, names: &BTreeMap<u32, String>) -> Routes {
        let all = self.routes.iter().map(|(to, way)| {
            let mut hops: BTreeMap<String, u32> = BTreeMap::new();
            for (next_hop, weight) in self.next_hops(way) {
                let Some(port) = self.port(program, next_hop) else { continue };
                let name = names.get(&port).cloned().unwrap_or_else(|| format!("port {port}"));
                *hops.entry(name).or_default() += weight;
            }
            (METRIC, Forwarding { to: *to, from: None, hops: hops.into_iter().collect() })
        });
        Routes::new(all.collect())
    }
}

fn weight(weight: i32) -> u32 {
    u32::try_from(weight).unwrap_or_default()
}
