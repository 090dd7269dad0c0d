//! Counters, meters, registers, value sets, calculations, digests and field lists.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::hash::{Algorithm, Calculation, HashInput, crc_table};
use super::super::{CounterArray, Digest, DirectCounter, Field, MeterArray, RegisterArray, ValueSet};
use super::operand::{name_pair, parts, text};
use super::{Builder, check_bits, check_size};
use crate::{Error, bits, json};

impl Builder<'_> {
    /// Resolves counters, meters, registers and value sets.
    pub(super) fn arrays(&mut self) -> Result<(), Error> {
        let document = self.document;
        for array in &document.counter_arrays {
            if array.is_direct {
                let table = array.binding.clone().unwrap_or_default();
                self.direct_counters.push(DirectCounter { name: array.name.clone(), table });
                continue;
            }
            let size = check_size(array.size, &format!("counter array `{}`", array.name))?;
            self.counter_names.add(array.name.clone(), self.counters.len())?;
            self.counters.push(CounterArray { name: array.name.clone(), size });
        }
        for array in &document.meter_arrays {
            self.meter(array)?;
        }
        for array in &document.register_arrays {
            let place = format!("register array `{}`", array.name);
            let (size, bits) = (check_size(array.size, &place)?, check_bits(array.bitwidth, &place)?);
            self.register_names.add(array.name.clone(), self.registers.len())?;
            self.registers.push(RegisterArray { name: array.name.clone(), size, bits });
        }
        for set in &document.parse_vsets {
            let place = format!("value set `{}`", set.name);
            let (bits, size) =
                (check_bits(set.compressed_bitwidth, &place)?, check_size(set.max_size, &place)?);
            self.value_set_names.add(set.name.clone(), self.value_sets.len())?;
            self.value_sets.push(ValueSet { name: set.name.clone(), bits, size });
        }
        Ok(())
    }

    fn meter(&mut self, array: &json::MeterArray) -> Result<(), Error> {
        let place = format!("meter array `{}`", array.name);
        let bytes = match array.kind.as_str() {
            "bytes" => true,
            "packets" => false,
            other => return Err(Error::invalid(place, format!("meter type `{other}` is not known"))),
        };
        u8::try_from(array.rate_count)
            .map_err(|_| Error::invalid(&place, format!("{} rates are too many", array.rate_count)))?;
        let size = check_size(array.size, &place)?;
        let index = self.meters.len();
        self.meter_names.add(array.name.clone(), index)?;
        if let Some((header, field)) = array.result_target.as_ref().filter(|_| array.is_direct) {
            self.meter_targets.insert(index as u16, self.field((header, field), &place)?);
        }
        self.meters.push(MeterArray { name: array.name.clone(), size, bytes });
        Ok(())
    }

    /// Resolves the named calculations.
    pub(super) fn calculations(&mut self) -> Result<(), Error> {
        let document = self.document;
        for calculation in &document.calculations {
            let place = format!("calculation `{}`", calculation.name);
            let compiled = self.calculation(&calculation.algo, &calculation.input, &place)?;
            self.calculation_names.add(calculation.name.clone(), self.calculations.len())?;
            self.calculations.push(compiled);
        }
        Ok(())
    }

    /// Resolves the input and algorithm of a hash.
    pub(super) fn calculation(
        &self,
        algorithm: &str,
        input: &[Value],
        place: &str,
    ) -> Result<Calculation, Error> {
        let algorithm = Algorithm::from_name(algorithm)
            .ok_or_else(|| Error::invalid(place, format!("hash algorithm `{algorithm}` is not known")))?;
        let table = if let Algorithm::Crc(crc) = &algorithm { crc_table(crc) } else { Box::default() };
        let mut compiled = Calculation { algorithm, input: Vec::new(), payload: false, table };
        for json in input {
            let (kind, value) = match json.get("type").and_then(Value::as_str) {
                Some("payload") => {
                    compiled.payload = true;
                    continue;
                }
                _ => parts(json, place)?,
            };
            compiled.input.push(match kind {
                "field" => HashInput::Field(self.field(name_pair(value, place)?, place)?),
                "header" => HashInput::Header(self.header_names.get(text(value, place)?, place)?),
                "hexstr" => hash_constant(json, value, place)?,
                other => return Err(Error::invalid(place, format!("hash input `{other}` is not known"))),
            });
        }
        Ok(compiled)
    }

    /// Resolves the digests.
    pub(super) fn digests(&self) -> Result<BTreeMap<u32, Digest>, Error> {
        let mut digests = BTreeMap::new();
        for list in &self.document.learn_lists {
            let place = format!("digest `{}`", list.name);
            let digest = Digest { name: list.name.clone(), fields: self.listed_fields(list, &place)? };
            if digests.insert(list_id(list, &place)?, digest).is_some() {
                return Err(Error::Duplicate { kind: "digest id", name: list.id.to_string() });
            }
        }
        Ok(digests)
    }

    /// Resolves the field lists.
    pub(super) fn field_lists(&self) -> Result<BTreeMap<u32, Vec<Field>>, Error> {
        let mut lists = BTreeMap::new();
        for list in &self.document.field_lists {
            let place = format!("field list `{}`", list.name);
            if lists.insert(list_id(list, &place)?, self.listed_fields(list, &place)?).is_some() {
                return Err(Error::Duplicate { kind: "field list id", name: list.id.to_string() });
            }
        }
        Ok(lists)
    }

    /// Resolves the fields of a list; constants in it are ignored.
    fn listed_fields(&self, list: &json::FieldList, place: &str) -> Result<Vec<Field>, Error> {
        let mut fields = Vec::new();
        for element in &list.elements {
            match parts(element, place)? {
                ("field", value) => fields.push(self.field(name_pair(value, place)?, place)?),
                ("hexstr", _) => {}
                (other, _) => {
                    return Err(Error::invalid(place, format!("element type `{other}` is not known")));
                }
            }
        }
        Ok(fields)
    }
}

fn hash_constant(json: &Value, value: &Value, place: &str) -> Result<HashInput, Error> {
    let digits = text(value, place)?;
    let bytes = bits::parse_hex_bytes(digits)
        .ok_or_else(|| Error::invalid(place, format!("`{digits}` is not a hexadecimal number")))?;
    let width = json.get("bitwidth").and_then(Value::as_u64).unwrap_or(bytes.len() as u64 * 8);
    let width = check_bits(width, place)?;
    let mut words = vec![0; bits::words_for(width as usize)];
    bits::from_bytes(&bytes, &mut words);
    bits::truncate(&mut words, width as usize);
    Ok(HashInput::Constant { words: words.into(), bits: width })
}

fn list_id(list: &json::FieldList, place: &str) -> Result<u32, Error> {
    u32::try_from(list.id).map_err(|_| Error::invalid(place, format!("id {} is out of range", list.id)))
}
