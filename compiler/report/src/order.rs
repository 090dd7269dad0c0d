//! The order of a fabric: switches, modules, cables, and power by rack.
//!
//! In: a plan. Out: tables, as CSV, as a workbook and as a page to print. Invariants: all formats have the
//! same cells. Ports of a cage share a module, and all ports of a NIC share a cage. A figure that no source
//! publishes is absent and never zero.

mod count;
mod print;
#[cfg(not(target_family = "wasm"))]
mod workbook;

use closc_cabling::floor::{Floor, Positions};
use closc_cabling::list::{Bill, Entry};
use closc_cabling::modules::ModuleKind;
use closc_plan::Plan;

use count::{Rack, SwitchKind};

/// Everything to buy for a fabric.
#[derive(Debug)]
pub struct Order {
    fabric: String,
    tables: Vec<OrderTable>,
    /// Whether cable lengths are computed from rack positions.
    is_measured: bool,
}

/// Racks without a position in a floor plan, and devices without a rack.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the floor plan has no position for {0}")]
pub struct MissingPosition(String);

/// A table of an order.
#[derive(Debug, PartialEq, Eq)]
struct OrderTable {
    /// Its name, which is also its file name and its heading in the page.
    name: &'static str,
    head: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Text(String),
    Number(u64),
    /// A figure that no source publishes.
    Absent,
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    fn figure(figure: Option<impl Into<u64>>) -> Self {
        figure.map_or(Cell::Absent, |figure| Cell::Number(figure.into()))
    }
}

impl Order {
    /// Counts the items of a plan. Cable lengths come from the fabric file, or from rack positions if a floor
    /// plan is given.
    ///
    /// # Errors
    ///
    /// With a floor plan: [`MissingPosition`] if it has no position for a rack, or a device has no rack.
    pub fn of(plan: &Plan, floor: Option<&Floor>) -> Result<Self, MissingPosition> {
        let positions = floor.map(Positions::of);
        let mut bill = positions.as_ref().map_or_else(Bill::default, Bill::with_positions);
        for plane in plan.planes() {
            bill.add(plan, plane);
        }
        reject_unplaced(&bill)?;
        let entries = bill.entries();
        let counted = count::count(plan, &entries);
        let mut tables = vec![
            switches(&counted.switches),
            modules(&counted.modules),
            cables(&entries),
            power(&counted.racks),
        ];
        let notes = closc_cabling::lanes::order_notes(plan);
        tables.extend((!notes.is_empty()).then(|| self::notes(&notes)));
        Ok(Order { fabric: plan.name().to_string(), tables, is_measured: floor.is_some() })
    }

    /// Returns the tables of the order as CSV, each with its name. An absent figure is an empty cell.
    pub fn csv(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.tables.iter().map(|table| (table.name, table.csv()))
    }
}

/// Rejects a bill with unplaced racks or devices. The error names at most three of them.
fn reject_unplaced(bill: &Bill<'_>) -> Result<(), MissingPosition> {
    const NAMED: usize = 3;
    let all = bill.unplaced_items();
    let named: Vec<String> = all.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if all.is_empty() { Ok(()) } else { Err(MissingPosition(named.join(", ") + &more)) }
}

impl OrderTable {
    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::plain).collect::<Vec<_>>());
        let head = self.head.iter().map(|name| name.replace(' ', "_")).collect();
        for record in std::iter::once(head).chain(rows) {
            writer.write_record(record).expect("writes to memory succeed, and rows are as long as the head");
        }
        let bytes = writer.into_inner().expect("writes to memory succeed");
        String::from_utf8(bytes).expect("cells are UTF-8")
    }
}

impl Cell {
    fn plain(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) => number.to_string(),
            Cell::Absent => String::new(),
        }
    }
}

fn switches(kinds: &[(SwitchKind, u64)]) -> OrderTable {
    let rows = kinds.iter().map(|(kind, count)| {
        let power = kind.platform.power.as_ref();
        let units = kind.platform.rack_units;
        vec![
            Cell::text(kind.platform.id.as_str()),
            Cell::text(kind.platform.title.as_str()),
            Cell::text(kind.os.keyword()),
            Cell::Number(*count),
            Cell::figure(units),
            Cell::figure(units.map(|units| u64::from(units) * count)),
            Cell::figure(power.and_then(|power| power.typical_watts)),
            Cell::figure(power.and_then(|power| power.maximum_watts)),
        ]
    });
    let head = &[
        "platform",
        "title",
        "operating system",
        "count",
        "rack units",
        "rack units in all",
        "typical watts",
        "maximum watts",
    ];
    OrderTable { name: "switches", head, rows: rows.collect() }
}

fn modules(kinds: &[(ModuleKind, u64)]) -> OrderTable {
    let rows = kinds.iter().map(|(kind, count)| {
        let power = kind.power();
        vec![
            Cell::text(kind.place),
            Cell::text(kind.medium.as_str()),
            Cell::Number(kind.lanes.into()),
            Cell::text(kind.lane.to_string()),
            Cell::Number(*count),
            Cell::figure(power.map(|(typical, _)| typical)),
            Cell::figure(power.map(|(_, maximum)| maximum)),
        ]
    });
    let head = &["cage of", "medium", "lanes", "lane speed", "count", "typical watts", "maximum watts"];
    OrderTable { name: "modules", head, rows: rows.collect() }
}

fn cables(entries: &[Entry]) -> OrderTable {
    let rows = entries.iter().map(|entry| {
        vec![
            Cell::text(entry.kind),
            Cell::text(entry.medium.as_str()),
            Cell::text(entry.length.to_string()),
            Cell::text(entry.lower_speed.to_string()),
            Cell::text(entry.upper_speed.to_string()),
            Cell::Number(entry.links),
            Cell::Number(entry.lower_cages),
            Cell::Number(entry.upper_cages),
        ]
    });
    let head =
        &["ends", "medium", "length", "lower speed", "upper speed", "links", "lower cages", "upper cages"];
    OrderTable { name: "cables", head, rows: rows.collect() }
}

fn notes(notes: &[String]) -> OrderTable {
    let rows = notes.iter().map(|note| vec![Cell::text(note.as_str())]);
    OrderTable { name: "notes", head: &["note"], rows: rows.collect() }
}

fn power(racks: &[Rack]) -> OrderTable {
    let rows = racks.iter().map(|rack| {
        let unpublished: Vec<&str> = rack.unpublished_parts.iter().map(String::as_str).collect();
        vec![
            rack.name.as_ref().map_or(Cell::text("not placed"), |name| Cell::text(name.as_str())),
            Cell::Number(rack.switches),
            Cell::figure(rack.units),
            Cell::figure(rack.typical),
            Cell::figure(rack.maximum),
            Cell::text(unpublished.join("; ")),
        ]
    });
    let head =
        &["rack", "switches", "rack units", "typical watts", "maximum watts", "without published power"];
    OrderTable { name: "power", head, rows: rows.collect() }
}
