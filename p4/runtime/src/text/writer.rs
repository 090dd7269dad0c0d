//! Writes encoded messages as text: one field per line, two spaces per level, fields in the order of their numbers,
//! maps in the order of their keys. The same message always gives the same bytes.

use std::fmt::Write as _;

use super::reader::{self, MAX_DEPTH};
use super::schema::{Field, Message, MessageId, Schema, Type};
use super::wire::{Fields, Value};

/// Appends the fields of an encoded message.
pub(super) fn write(schema: &Schema, id: MessageId, data: &[u8], indent: usize, out: &mut String) {
    let message = &schema.messages[id];
    if message.name == "google.protobuf.Any" && write_expanded(schema, data, indent, out) {
        return;
    }
    let mut map: Option<(&Field, Vec<&[u8]>)> = None;
    for (number, value) in Fields::new(data) {
        if map.as_ref().is_some_and(|(field, _)| field.number != number) {
            write_map(schema, map.take(), indent, out);
        }
        match (message.by_number(number), value) {
            (None, _) => {}
            (Some(field), Value::Bytes(entry)) if field.map => {
                map.get_or_insert_with(|| (field, Vec::new())).1.push(entry);
            }
            (Some(field), Value::Bytes(bytes)) if field.packed => {
                let mut numbers = Fields::new(bytes);
                while let Some(number) = numbers.number() {
                    write_field(schema, field, Value::Number(number), indent, out);
                }
            }
            (Some(field), value) => write_field(schema, field, value, indent, out),
        }
    }
    write_map(schema, map, indent, out);
}

/// Appends one field.
pub(super) fn write_field(schema: &Schema, field: &Field, value: Value<'_>, indent: usize, out: &mut String) {
    push_indent(indent, out);
    out.push_str(&field.name);
    match (&field.ty, value) {
        (Type::Message(_), Value::Bytes([])) => out.push_str(" {\n"),
        (Type::Message(id), Value::Bytes(data)) => {
            out.push_str(" {\n");
            write(schema, *id, data, indent + 1, out);
        }
        (Type::String, Value::Bytes(bytes)) => {
            out.push_str(": ");
            push_string(bytes, out);
        }
        (_, Value::Bytes(bytes)) => {
            out.push_str(": ");
            push_bytes(bytes, out);
        }
        (Type::Bool, Value::Number(number)) => {
            out.push_str(if number == 0 { ": false" } else { ": true" });
        }
        (Type::Enum(id), Value::Number(number)) => {
            let number = number as i32;
            match schema.enums[*id].by_number.get(&number) {
                Some(name) => write!(out, ": {name}"),
                None => write!(out, ": {number}"),
            }
            .expect("a string takes everything");
        }
        (Type::Int32 | Type::Int64, Value::Number(number)) => {
            write!(out, ": {}", number.cast_signed()).expect("a string takes everything");
        }
        (_, Value::Number(number)) => write!(out, ": {number}").expect("a string takes everything"),
    }
    if matches!(field.ty, Type::Message(_)) {
        push_indent(indent, out);
        out.push('}');
    }
    out.push('\n');
}

fn write_map(schema: &Schema, map: Option<(&Field, Vec<&[u8]>)>, indent: usize, out: &mut String) {
    let Some((field, mut entries)) = map else { return };
    // Entries begin with a length and a key. The length must not affect the order, so the keys are compared.
    entries.sort_by_key(|entry| key(entry));
    for entry in entries {
        write_field(schema, field, Value::Bytes(entry), indent, out);
    }
}

fn key(entry: &[u8]) -> &[u8] {
    match Fields::new(entry).find(|(number, _)| *number == 1) {
        Some((_, Value::Bytes(key))) => key,
        Some((_, Value::Number(_))) | None => &[],
    }
}

/// Writes the content of an `Any` if its type is known. Returns whether the content was written.
fn write_expanded(schema: &Schema, data: &[u8], indent: usize, out: &mut String) -> bool {
    let (mut url, mut content): (&[u8], &[u8]) = (&[], &[]);
    for (number, value) in Fields::new(data) {
        match (number, value) {
            (1, Value::Bytes(bytes)) => url = bytes,
            (2, Value::Bytes(bytes)) => content = bytes,
            (_, Value::Bytes(_) | Value::Number(_)) => return false,
        }
    }
    let Ok(url) = str::from_utf8(url) else { return false };
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '/' | '_' | '-');
    let inner =
        url.split_once('/').filter(|_| url.chars().all(plain)).and_then(|(_, name)| schema.find(name));
    let Some(inner) = inner.filter(|inner| is_understood(schema, *inner, content, indent + 1)) else {
        return false;
    };
    let mut text = String::new();
    write(schema, inner, content, indent + 1, &mut text);
    // Different bytes can have the same meaning. The content is written only if reading it returns the same bytes.
    if reader::read(schema, inner, &text).as_deref() != Ok(content) {
        return false;
    }
    push_indent(indent, out);
    writeln!(out, "[{url}] {{").expect("a string takes everything");
    out.push_str(&text);
    push_indent(indent, out);
    out.push_str("}\n");
    true
}

/// Returns whether data is a message with known fields only, nested no deeper than the reader supports.
fn is_understood(schema: &Schema, id: MessageId, data: &[u8], depth: usize) -> bool {
    let message: &Message = &schema.messages[id];
    depth < MAX_DEPTH as usize
        && Fields::new(data).all(|(number, value)| match (message.by_number(number), value) {
            (None, _) => false,
            (Some(field), Value::Number(_)) => {
                !matches!(field.ty, Type::Message(_) | Type::String | Type::Bytes | Type::Unsupported)
            }
            (Some(field), Value::Bytes(bytes)) => match field.ty {
                Type::Message(id) => is_understood(schema, id, bytes, depth + 1),
                Type::String => str::from_utf8(bytes).is_ok(),
                Type::Bytes => true,
                Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Enum(_) => {
                    field.packed
                }
                Type::Unsupported => false,
            },
        })
}

fn push_indent(indent: usize, out: &mut String) {
    for _ in 0..indent {
        out.push_str("  ");
    }
}

fn push_string(bytes: &[u8], out: &mut String) {
    match str::from_utf8(bytes) {
        Ok(text) => {
            out.push('"');
            for char in text.chars() {
                if char.is_ascii() { push_escaped(char as u8, out) } else { out.push(char) }
            }
            out.push('"');
        }
        Err(_) => push_bytes(bytes, out),
    }
}

fn push_bytes(bytes: &[u8], out: &mut String) {
    out.push('"');
    for byte in bytes {
        push_escaped(*byte, out);
    }
    out.push('"');
}

/// Escapes a byte in octal, as protobuf's own printers do, so that a following digit is not part of the escape.
fn push_escaped(byte: u8, out: &mut String) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        b'"' => out.push_str("\\\""),
        b'\'' => out.push_str("\\'"),
        b'\\' => out.push_str("\\\\"),
        b' '..=b'~' => out.push(char::from(byte)),
        _ => {
            out.push('\\');
            for shift in [6, 3, 0] {
                out.push(char::from(b'0' + (byte >> shift & 7)));
            }
        }
    }
}
