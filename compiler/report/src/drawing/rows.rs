//! A plane of one zone: a row of switches for each tier, and the cables between the rows.
//!
//! In: a plan and a plane. Out: boxes and cables. Invariants: counts do not include absent elements. The first switches
//! of a tier are named, and the others share one box. Two boxes are joined if and only if a cable joins them.

use std::collections::BTreeMap;

use closc_diagnostics::figures::number;
use closc_plan::Plan;
use closc_topology::{Link, PlaneId, Switch, TierId, ZoneId};

use super::subject::{cables, kind, nic_cage, plural, speed_up, tiers};
use super::{Drawing, Kind, Node};

/// Maximum number of boxes of a tier.
const BOXES_MAX: usize = 5;

/// Switches of a tier, in the order of their boxes.
struct Row {
    tier: TierId,
    switches: Vec<Switch>,
}

impl Row {
    /// Number of boxes.
    fn boxes(&self) -> usize {
        self.switches.len().min(BOXES_MAX)
    }

    /// Number of switches with their own box.
    fn box_count(&self) -> usize {
        if self.switches.len() > BOXES_MAX { BOXES_MAX - 1 } else { self.switches.len() }
    }

    /// Returns the index of the box of a switch.
    fn box_index(&self, switch: Switch) -> Option<usize> {
        Some(self.switches.binary_search(&switch).ok()?.min(self.boxes() - 1))
    }
}

/// Draws a plane of a fabric with one zone.
pub(super) fn plane(plan: &Plan, plane: PlaneId) -> Drawing {
    let own: Vec<Row> = tiers(plan).into_iter().map(|tier| row(plan, plane, tier)).collect();
    let columns = own.iter().map(Row::boxes).max().unwrap_or(1);
    let mut drawing = Drawing { title: format!("{}, plane {plane}", plan.name()), ..Drawing::default() };
    let mut above: Option<(&Row, Vec<usize>)> = None;
    for (from_top, row) in own.iter().enumerate() {
        let first = (columns - row.boxes()) / 2;
        let boxes: Vec<usize> = (0..row.boxes())
            .map(|at| drawing.node(switches(plan, row, at, (from_top, first + at))))
            .collect();
        if let Some((upper, upper_boxes)) = &above {
            join(plan, &mut drawing, (upper, upper_boxes), (row, &boxes));
        }
        above = Some((row, boxes));
    }
    if let Some((t0s, boxes)) = above {
        nics(plan, &mut drawing, plane, (t0s, &boxes));
    }
    drawing
}

fn row(plan: &Plan, plane: PlaneId, tier: TierId) -> Row {
    let mut switches: Vec<Switch> = plan.fabric().tier_switches(plane, tier).collect();
    switches.sort_unstable();
    Row { tier, switches }
}

/// Makes the box at position `at` of a row.
fn switches(plan: &Plan, row: &Row, at: usize, (from_top, column): (usize, usize)) -> Node {
    let first = row.switches[at];
    let text = if at < row.box_count() {
        plan.switch_name(first).to_string()
    } else {
        format!("{} more {}s", number((row.switches.len() - at) as u64), row.tier.label())
    };
    let more = plan.topology().hardware(first).0.id.to_string();
    Node { kind: kind(row.tier), text, detail: more, row: from_top, column, span: 1, group: None }
}

/// Joins two rows by the cables between their switches.
fn join(
    plan: &Plan,
    drawing: &mut Drawing,
    (upper, above): (&Row, &[usize]),
    (lower, below): (&Row, &[usize]),
) {
    let fabric = plan.fabric();
    let mut found: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for switch in &lower.switches {
        let count = plan.topology().tier(lower.tier).map_or(0, |tier| tier.up.count);
        let links = (0..count).map(|up| Link::Fabric { lower: *switch, up });
        for link in links.filter(|link| fabric.has_link(*link)) {
            let far = fabric.upper_end(link).and_then(|(far, _)| upper.box_index(far));
            if let (Some(low), Some(far)) = (lower.box_index(*switch), far) {
                *found.entry((low, far)).or_default() += 1;
            }
        }
    }
    let Some(plane) = lower.switches.first().map(|switch| switch.plane) else { return };
    let all = cables(found.values().sum(), speed_up(plan, plane, lower.tier, std::iter::once(ZoneId(0))));
    if let [one] = &*found.iter().collect::<Vec<_>>() {
        let ((low, far), _) = one;
        return drawing.edge(above[*far], below[*low], all);
    }
    let pairs = (0..lower.box_count()).flat_map(|low| (0..upper.box_count()).map(move |far| (low, far)));
    let mut counts: Vec<u64> = pairs.map(|pair| found.get(&pair).copied().unwrap_or(0)).collect();
    counts.dedup();
    let each = match counts[..] {
        [each] => format!("; {each} between each {} and {}", lower.tier.label(), upper.tier.label()),
        _ => String::new(),
    };
    for ((low, far), count) in found {
        drawing.edge(above[far], below[low], plural(count, "cable"));
    }
    drawing.row_captions.push((drawing.nodes[below[0]].row, all + &each));
}

/// Adds the NICs below the T0s.
fn nics(plan: &Plan, drawing: &mut Drawing, plane: PlaneId, (t0s, boxes): (&Row, &[usize])) {
    let mut found = vec![0; boxes.len()];
    for link in plan.fabric().host_links(plane) {
        if let Some((t0, _)) = plan.fabric().upper_end(link)
            && let Some(at) = t0s.box_index(t0)
        {
            found[at] += 1;
        }
    }
    let speed = plan.topology().port_speed(ZoneId(0));
    for (t0, count) in boxes.iter().zip(found).filter(|(_, count)| *count > 0) {
        let Node { row, column, .. } = drawing.nodes[*t0];
        let text = plural(count, "NIC port");
        let more = nic_cage(plan, plane, ZoneId(0));
        let node = drawing.node(Node {
            kind: Kind::Nic,
            text,
            detail: more,
            row: row + 1,
            column,
            span: 1,
            group: None,
        });
        drawing.edge(*t0, node, cables(count, Some(speed)));
    }
}
