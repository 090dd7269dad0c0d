//! Prices from a user.
//!
//! In: a CSV file `item,price`. Out: the sum for a [`Bill`]. Invariants: closc does not contain prices. If an
//! item of a bill has no price, the bill has no sum.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_artefacts::{OPEN_QUOTE, open_quote, record_line};
use closc_platform::{Catalogue, Platform};

use crate::bill::{Bill, Item, PARTS};

/// Prices by item, in a unit chosen by the user.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    by_item: BTreeMap<String, u64>,
}

/// Reason why a price file is rejected.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// A line is malformed.
    #[error("line {line}: {cause}")]
    Form {
        /// Number of the line.
        line: u64,
        /// The error.
        cause: String,
    },
    /// An item that does not exist in any design.
    #[error("`{name}` is neither a platform nor a part{}; parts are {parts}", suggestion.as_ref().map_or_else(String::new, |suggestion| format!(": did you mean `{suggestion}`?")))]
    Item {
        /// The item.
        name: String,
        /// The nearest platform.
        suggestion: Option<String>,
        /// Names of all items other than switches.
        parts: String,
    },
    /// Two names of one switch have different prices.
    #[error("`{}` and `{}` are one switch with different ports, but have prices {} and {}: write one of them", names[0], names[1], prices[0], prices[1])]
    Hardware {
        /// Names of the catalogue.
        names: [String; 2],
        /// The price of each.
        prices: [u64; 2],
    },
    /// The header is wrong.
    #[error("the first line must be `item,price`")]
    Header,
}

/// The highest price. With it, the sum over all items of a fabric fits into 64 bits.
const PRICE_MAX: u64 = 1_000_000_000;

impl Prices {
    /// Reads a CSV file with the columns `item` and `price`, separated by commas, semicolons or tabs; prices are whole
    /// numbers.
    ///
    /// # Errors
    ///
    /// [`PricesError`] for the first error.
    pub fn read(text: &str) -> Result<Self, PricesError> {
        let text = text.trim_start_matches('\u{feff}');
        let head = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
        let delimiter = [b';', b'\t'].into_iter().find(|byte| head.as_bytes().contains(byte)).unwrap_or(b',');
        if let Some(line) = open_quote(text.as_bytes(), delimiter) {
            return Err(PricesError::Form { line, cause: OPEN_QUOTE.to_owned() });
        }
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.delimiter(delimiter).trim(csv::Trim::All).comment(Some(b'#'));
        let mut reader = reader.from_reader(text.as_bytes());
        if reader.headers().map_or(true, |header| header.iter().ne(["item", "price"])) {
            return Err(PricesError::Header);
        }
        let mut by_item = BTreeMap::new();
        for row in reader.records() {
            let row = row.map_err(|error| {
                let line = error.position().map_or(0, csv::Position::line);
                PricesError::Form { line, cause: error.to_string() }
            })?;
            let at = row.position().map_or((0, 0), |start| (start.byte(), start.line()));
            let line = record_line(text.as_bytes(), at, Some(b'#'));
            let (item, price) = (row[0].to_owned(), &row[1]);
            let Some(price) = price.parse::<u64>().ok().filter(|price| *price <= PRICE_MAX) else {
                let cause = format!("`{price}` is not a whole number up to {PRICE_MAX}");
                return Err(PricesError::Form { line, cause });
            };
            if by_item.insert(item.clone(), price).is_some() {
                return Err(PricesError::Form { line, cause: format!("`{item}` has a price already") });
            }
        }
        Ok(Prices { by_item })
    }

    /// Extends the prices to switches that are listed under another name of the catalogue.
    ///
    /// # Errors
    ///
    /// [`PricesError::Item`] for the first item that is not a platform or a part of designs, and
    /// [`PricesError::Hardware`] for the first switch with different prices.
    pub fn by_hardware(mut self, catalogue: &Catalogue) -> Result<Self, PricesError> {
        let is_known = |name: &str| PARTS.contains(&name) || catalogue.get(name).is_some();
        if let Some(name) = self.by_item.keys().find(|name| !is_known(name)) {
            let meant = catalogue.suggest(name).map(ToString::to_string);
            let parts = PARTS.map(|part| format!("`{part}`")).join(", ");
            return Err(PricesError::Item { name: name.clone(), suggestion: meant, parts });
        }
        self.reject_different_prices(catalogue)?;
        let priced = |platform: &&Arc<Platform>| self.by_item.contains_key(platform.id.as_str());
        let mut others: Vec<(String, u64)> = Vec::new();
        for platform in catalogue.usual().filter(|platform| !priced(platform)) {
            let mut same = catalogue.usual().filter(|other| other.hardware() == platform.hardware());
            let price = same.find_map(|other| self.by_item.get(other.id.as_str()));
            others.extend(price.map(|price| (platform.id.to_string(), *price)));
        }
        self.by_item.extend(others);
        Ok(self)
    }

    /// Checks that all names of a switch have the same price.
    fn reject_different_prices(&self, catalogue: &Catalogue) -> Result<(), PricesError> {
        let mut by_hardware: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
        for (name, price) in &self.by_item {
            let Some(platform) = catalogue.get(name) else { continue };
            let (other, known) = *by_hardware.entry(platform.hardware()).or_insert((name, *price));
            if known != *price {
                let names = [other.to_owned(), name.clone()];
                return Err(PricesError::Hardware { names, prices: [known, *price] });
            }
        }
        Ok(())
    }

    /// Returns the sum of items, each a name and a count, if every item has a price.
    pub fn total<'i>(&self, items: impl IntoIterator<Item = (&'i str, u64)>) -> Option<u64> {
        items.into_iter().try_fold(0_u64, |sum, (name, count)| {
            let price = self.by_item.get(name)?;
            sum.checked_add(price.checked_mul(count)?)
        })
    }

    /// Returns the items of a bill that have no price.
    pub fn unpriced_items<'b>(&self, bill: &'b Bill) -> impl Iterator<Item = &'b str> {
        let is_missing = |item: &&Item| !self.by_item.contains_key(item.name.as_str());
        bill.items.iter().filter(is_missing).map(|item| item.name.as_str()).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_switch_have_one_price() {
        let catalogue = Catalogue::builtin();
        let read = |rows: &str| Prices::read(&format!("item,price\n{rows}")).unwrap().by_hardware(&catalogue);
        let why = read("spectrum4-sn5600,100\nspectrum4-sn5600-256x200g,90\n").unwrap_err().to_string();
        assert_eq!(
            why,
            "`spectrum4-sn5600` and `spectrum4-sn5600-256x200g` are one switch with different ports, but have prices 100 and 90: write one of them"
        );
        let prices = read("spectrum4-sn5600,100\nspectrum4-sn5600-256x200g,100\n").unwrap();
        assert_eq!(prices.total([("spectrum4-sn5600-256x100g", 2)]), Some(200));
    }

    #[test]
    fn items_without_a_price_have_no_sum() {
        let bill =
            Bill { items: vec![Item { name: "a".into(), count: 3 }, Item { name: "b".into(), count: 1 }] };
        let items = [("a", 3), ("b", 1)];
        let prices = Prices::read("item,price\n# relative\na, 5\n").unwrap();
        assert_eq!(prices.total(items), None);
        assert_eq!(prices.unpriced_items(&bill).collect::<Vec<_>>(), ["b"]);
        let prices = Prices::read("item,price\na,5\nb,2\n").unwrap();
        assert_eq!(prices.total(items), Some(17));
        for other in ["item;price\na;5\nb;2\n", "# of spreadsheets\nitem\tprice\na\t5\nb\t2\n"] {
            assert_eq!(Prices::read(other).unwrap().total(items), Some(17), "{other}");
        }
        for wrong in [
            "",
            "a,5\n",
            "item,price\na\n",
            "item,price\na,-1\n",
            "item,price\na,1\na,2\n",
            "item,price\na,1.5\n",
            "item,price\na,\"1",
            "item,price\n\"a,1\n",
            "item,price\na,1000000001\n",
        ] {
            assert!(Prices::read(wrong).is_err(), "{wrong}");
        }
        // Spreadsheets write a byte order mark, and lines that end in `\r\n`.
        let sheet = "\u{feff}item;price\r\na;5\r\n# c\r\n\r\nb;1.5\r\n";
        let why = Prices::read(sheet).unwrap_err().to_string();
        assert_eq!(why, "line 5: `1.5` is not a whole number up to 1000000000");
    }
}
