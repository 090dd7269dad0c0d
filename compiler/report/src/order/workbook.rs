//! An order as a workbook (Office Open XML).
//!
//! In: an order. Out: the bytes of an `.xlsx` file. Invariants: the cells are those of the CSV files, one
//! sheet per table, and equal orders have equal bytes.

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

use super::{Cell, Order, OrderTable};

/// Maximum width of a column, in characters.
const WIDTH_MAX: f64 = 60.0;

impl Order {
    /// Returns the order as a workbook.
    ///
    /// # Errors
    ///
    /// An error of the writer if a table has more rows than a sheet can have (1,048,576).
    pub fn xlsx(&self) -> Result<Vec<u8>, XlsxError> {
        let mut workbook = Workbook::new();
        // Without a date, the writer uses the current time.
        let date = ExcelDateTime::from_ymd(1980, 1, 1)?;
        let title = format!("Order of {}", self.fabric);
        workbook.set_properties(&DocProperties::new().set_title(title).set_creation_datetime(&date));
        for table in &self.tables {
            sheet(workbook.add_worksheet().set_name(table.name)?, table)?;
        }
        workbook.save_to_buffer()
    }
}

fn sheet(sheet: &mut Worksheet, table: &OrderTable) -> Result<(), XlsxError> {
    let (bold, counts) = (Format::new().set_bold(), Format::new().set_num_format("#,##0"));
    for (column, name) in (0..).zip(table.head) {
        sheet.write_string_with_format(0, column, *name, &bold)?;
        let cells = table.rows.iter().filter_map(|row| row.get(usize::from(column)));
        let widest = cells.map(|cell| cell.plain().chars().count()).max().unwrap_or_default();
        sheet.set_column_width(column, (widest.max(name.len()) as f64 + 2.0).min(WIDTH_MAX))?;
    }
    for (line, row) in (1..).zip(&table.rows) {
        for (column, cell) in (0..).zip(row) {
            match cell {
                Cell::Text(text) => sheet.write_string(line, column, text.as_str())?,
                Cell::Number(number) => {
                    sheet.write_number_with_format(line, column, *number as f64, &counts)?
                }
                Cell::Absent => continue,
            };
        }
    }
    sheet.set_freeze_panes(1, 0)?;
    if let (Some(last), Some(wide)) = (u32::try_from(table.rows.len()).ok(), table.head.len().checked_sub(1))
    {
        sheet.autofilter(0, 0, last, wide as u16)?;
    }
    Ok(())
}
