//! `@refers_to(table, field)`: a key field or a parameter whose value must exist in another table first.
//!
//! The annotation is a convention among P4Runtime users, not part of the specification. `builtin::` is the prefix of
//! tables that P4 programs do not declare.

use crate::proto::config;

/// The object that a value refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// A field of a table, with the names from the annotation.
    Table {
        /// The table.
        table: String,
        /// Its field.
        field: String,
    },
    /// The id of a multicast group.
    MulticastGroup,
    /// The id of a clone session.
    CloneSession,
}

impl Reference {
    fn new(table: &str, field: &str) -> Self {
        match table {
            "builtin::multicast_group_table" => Reference::MulticastGroup,
            "builtin::clone_session_table" => Reference::CloneSession,
            _ => Reference::Table { table: table.to_owned(), field: field.to_owned() },
        }
    }
}

/// Reads the references from annotations of both forms, in order and without duplicates.
pub(super) fn read(annotations: &[String], structured: &[config::StructuredAnnotation]) -> Vec<Reference> {
    let plain = annotations.iter().filter_map(|annotation| from_text(annotation));
    let structured = structured.iter().filter_map(from_structured);
    let mut references: Vec<Reference> = Vec::new();
    for reference in plain.chain(structured) {
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}

/// Reads `@refers_to(ingress.next_hop, id)`; p4c prints the tokens with spaces between them.
fn from_text(annotation: &str) -> Option<Reference> {
    let body = annotation.trim().strip_prefix("@refers_to")?.trim().strip_prefix('(')?.strip_suffix(')')?;
    let body: String = body.chars().filter(|char| !char.is_whitespace() && *char != '"').collect();
    let (table, field) = body.split_once(',')?;
    Some(Reference::new(table, field))
}

fn from_structured(annotation: &config::StructuredAnnotation) -> Option<Reference> {
    use config::structured_annotation::Body;
    if annotation.name != "refers_to" {
        return None;
    }
    let (table, field) = match annotation.body.as_ref()? {
        Body::ExpressionList(list) => match list.expressions.as_slice() {
            [table, field] => (text(table)?, text(field)?),
            _ => return None,
        },
        Body::KvPairList(list) => {
            let find = |key: &str| list.kv_pairs.iter().find(|pair| pair.key == key)?.value.as_ref();
            (text(find("table")?)?, text(find("field")?)?)
        }
    };
    Some(Reference::new(table, field))
}

fn text(expression: &config::Expression) -> Option<&str> {
    use config::expression::Value;
    match expression.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        Value::Int64Value(_) | Value::BoolValue(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_annotations_are_read_whatever_their_spaces() {
        let annotations = [
            "@refers_to(ingress.next_hop, id)".to_owned(),
            "@refers_to(ingress . next_hop , id)".to_owned(),
            "@refers_to(builtin : : multicast_group_table , multicast_group_id)".to_owned(),
            "@hidden".to_owned(),
        ];
        let next_hop = Reference::Table { table: "ingress.next_hop".to_owned(), field: "id".to_owned() };
        assert_eq!(read(&annotations, &[]), [next_hop, Reference::MulticastGroup]);
    }

    #[test]
    fn structured_annotations_are_read() {
        use config::{Expression, ExpressionList, expression, structured_annotation};
        let word = |word: &str| Expression { value: Some(expression::Value::StringValue(word.to_owned())) };
        let annotation = config::StructuredAnnotation {
            name: "refers_to".to_owned(),
            body: Some(structured_annotation::Body::ExpressionList(ExpressionList {
                expressions: vec![word("vrf"), word("vrf_id")],
            })),
            source_location: None,
        };
        let expected = Reference::Table { table: "vrf".to_owned(), field: "vrf_id".to_owned() };
        assert_eq!(read(&[], &[annotation]), [expected]);
    }
}
