//! Text tables: the first column and cells that begin with a letter or `#` are left-aligned; other cells are
//! right-aligned.

/// Formats rows under their headings, indented by two.
pub(super) fn draw(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut out = String::new();
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    for row in [&heads].into_iter().chain(rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            let words = column == 0 || cell.starts_with(|c: char| c.is_alphabetic() || c == '#');
            let (left, right) = if words { (cell.as_str(), &*pad) } else { (&*pad, cell.as_str()) };
            line.extend(["  ", left, right]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
