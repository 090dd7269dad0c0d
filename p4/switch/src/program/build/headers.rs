//! Lays out headers, stacks and unions in a packet's words: first validity, then stack counters and variable widths,
//! then metadata, then headers.

use std::ops::Range;

use super::super::field::{Field, FieldSpec};
use super::super::header::{Header, HeaderType, Stack, Union, UnionStack};
use super::super::{Codec, range};
use super::operand::Scope;
use super::{Builder, check_bits};
use crate::json;
use crate::{Error, bits};

impl Builder<'_> {
    /// Assigns positions to headers, stacks and unions; returns the words of metadata.
    pub(super) fn headers(&mut self) -> Result<Range<usize>, Error> {
        let document = self.document;
        for ty in &document.header_types {
            self.header_type(ty)?;
        }
        // Word 0 is always zero; objects without their own position refer to it.
        self.reserve(1)?;
        for header in &document.headers {
            self.header(header)?;
        }
        self.stacks()?;
        self.unions()?;
        let metadata = self.place_fields()?;
        for (name, target) in &document.field_aliases {
            if let Some((header, field)) = name.split_once('.') {
                self.aliases.insert((header.to_owned(), field.to_owned()), target.clone());
            }
        }
        self.length_expressions()?;
        Ok(metadata)
    }

    fn header_type(&mut self, ty: &json::HeaderType) -> Result<(), Error> {
        let place = format!("header type `{}`", ty.name);
        let max_bytes = check_bits(ty.max_length.unwrap_or(0).saturating_mul(8), &place)? / 8;
        let mut fields = Vec::with_capacity(ty.fields.len());
        for spec in &ty.fields {
            fields.push(field_spec(spec, &place)?);
        }
        let fixed_bits: u64 = fields.iter().filter(|f| !f.variable).map(|f| u64::from(f.bits)).sum();
        let fixed_bits = check_bits(fixed_bits, &place)?;
        let variable = fields.iter().position(|f| f.variable);
        if fields.iter().filter(|f| f.variable).count() > 1 {
            return Err(Error::invalid(place, "more than one field has a variable width"));
        }
        if let Some(at) = variable {
            let room = (max_bytes * 8).saturating_sub(fixed_bits);
            fields[at].bits = room;
        }
        let mut words = 0_usize;
        for field in &mut fields {
            let room = field.bits as usize + usize::from(field.signed);
            field.word = words as u32;
            field.words = bits::words_for(room).max(1) as u16;
            words += field.words as usize;
        }
        let codec = if variable.is_some() { Codec::default() } else { Codec::new(&fields) };
        self.type_names.add(ty.name.clone(), self.types.len())?;
        self.types.push(HeaderType {
            name: ty.name.clone(),
            fields,
            fixed_bits,
            variable,
            max_bytes,
            words,
            codec,
        });
        Ok(())
    }

    fn header(&mut self, header: &json::Header) -> Result<(), Error> {
        let place = format!("header `{}`", header.name);
        let ty = self.type_names.get(header.header_type.as_str(), &place)?;
        let kind = &self.types[ty as usize];
        if !header.metadata && !kind.fixed_bits.is_multiple_of(8) {
            let problem = format!("its type has {} bits, which are not whole bytes", kind.fixed_bits);
            return Err(Error::invalid(place, problem));
        }
        let varies = kind.variable.is_some();
        let valid = self.reserve(1)?;
        let length = if varies { Some(self.reserve(1)?) } else { None };
        self.header_names.add(header.name.clone(), self.headers.len())?;
        self.header_ids.add(header.id, self.headers.len())?;
        self.headers.push(Header {
            name: header.name.clone(),
            ty,
            metadata: header.metadata,
            valid,
            base: 0,
            length,
            union: None,
            fields: Box::default(),
            length_value: None,
        });
        Ok(())
    }

    fn stacks(&mut self) -> Result<(), Error> {
        let document = self.document;
        for stack in &document.header_stacks {
            let place = format!("header stack `{}`", stack.name);
            let ty = self.type_names.get(stack.header_type.as_str(), &place)?;
            let headers = self.members(&stack.header_ids, &place)?;
            if headers.is_empty() || headers.iter().any(|h| self.headers[*h as usize].ty != ty) {
                return Err(Error::invalid(place, "its elements are not headers of its type"));
            }
            let next = self.reserve(1)?;
            self.stack_names.add(stack.name.clone(), self.stacks.len())?;
            self.stacks.push(Stack { ty, headers, next });
        }
        Ok(())
    }

    fn members(&self, ids: &[i64], place: &str) -> Result<Vec<u16>, Error> {
        ids.iter().map(|id| self.header_ids.get(id, place)).collect()
    }

    fn unions(&mut self) -> Result<(), Error> {
        let document = self.document;
        for ty in &document.header_union_types {
            let names = ty.headers.iter().map(|(name, _)| name.clone()).collect();
            self.union_members.insert(ty.name.clone(), names);
        }
        for union in &document.header_unions {
            let place = format!("header union `{}`", union.name);
            let headers = self.members(&union.header_ids, &place)?;
            let index = self.unions.len();
            self.union_names.add(union.name.clone(), index)?;
            self.union_ids.add(union.id, index)?;
            self.union_types.insert(union.name.clone(), union.union_type.clone());
            for (member, header) in headers.iter().enumerate() {
                self.headers[*header as usize].union = Some((index as u16, member as u16));
            }
            let state = self.reserve(1)?;
            self.unions.push(Union { headers, state });
        }
        for stack in &document.header_union_stacks {
            let place = format!("header union stack `{}`", stack.name);
            let unions: Result<Vec<u16>, Error> =
                stack.header_union_ids.iter().map(|id| self.union_ids.get(id, &place)).collect();
            let unions = unions?;
            self.check_same_members(&unions, &place)?;
            let next = self.reserve(1)?;
            self.union_stack_names.add(stack.name.clone(), self.union_stacks.len())?;
            self.union_types.insert(stack.name.clone(), stack.union_type.clone());
            self.union_stacks.push(UnionStack { unions, next });
        }
        Ok(())
    }

    /// Rejects a stack whose unions have members of different types.
    fn check_same_members(&self, unions: &[u16], place: &str) -> Result<(), Error> {
        let types = |union: u16| {
            let headers = &self.unions[union as usize].headers;
            headers.iter().map(|h| self.headers[*h as usize].ty).collect::<Vec<_>>()
        };
        match unions.split_first() {
            Some((first, rest)) if rest.iter().all(|u| types(*u) == types(*first)) => Ok(()),
            Some(_) | None => Err(Error::invalid(place, "its elements are not unions of one type")),
        }
    }

    /// Assigns words to metadata, then to headers.
    fn place_fields(&mut self) -> Result<Range<usize>, Error> {
        let start = self.words as usize;
        self.place(true)?;
        let end = self.words as usize;
        self.place(false)?;
        Ok(start..end)
    }

    fn place(&mut self, metadata: bool) -> Result<(), Error> {
        for index in 0..self.headers.len() {
            let header = &self.headers[index];
            if header.metadata != metadata {
                continue;
            }
            let (ty, length) = (header.ty as usize, header.length);
            let base = self.reserve(self.types[ty].words)?;
            let fields = self.types[ty].fields.iter().map(|spec| Field {
                word: base + spec.word,
                words: spec.words,
                signed: spec.signed,
                saturating: spec.saturating,
                bits: spec.bits,
                length: length.filter(|_| spec.variable),
                header: index as u16,
            });
            let fields = fields.collect();
            self.headers[index].base = base;
            self.headers[index].fields = fields;
        }
        Ok(())
    }

    /// Resolves the length expressions of types per instance: a `local` in them is a field of the instance.
    fn length_expressions(&mut self) -> Result<(), Error> {
        let document = self.document;
        for index in 0..self.headers.len() {
            let ty = self.headers[index].ty as usize;
            let Some(json) = document.header_types[ty].length_exp.as_ref().filter(|json| !json.is_null())
            else {
                continue;
            };
            let place = format!("length of header `{}`", self.headers[index].name);
            let expr = self.data(json, Scope::Fields(index as u16), &place)?;
            self.headers[index].length_value = Some(Box::new(range::value(expr)));
        }
        Ok(())
    }
}

fn field_spec(spec: &[serde_json::Value], place: &str) -> Result<FieldSpec, Error> {
    let malformed = || Error::invalid(place, "a field is not a list of name and width");
    let name = spec.first().and_then(|v| v.as_str()).ok_or_else(malformed)?;
    let width = spec.get(1).ok_or_else(malformed)?;
    let variable = width.as_str() == Some("*");
    let width = if variable { 0 } else { width.as_u64().ok_or_else(malformed)? };
    let flag = |at: usize| spec.get(at).and_then(serde_json::Value::as_bool).unwrap_or(false);
    let bits = check_bits(width, &format!("{place}, field `{name}`"))?;
    let (signed, saturating) = (flag(2), flag(3));
    Ok(FieldSpec { name: name.to_owned(), bits, signed, saturating, variable, word: 0, words: 0 })
}
