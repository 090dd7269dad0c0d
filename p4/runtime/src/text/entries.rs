//! Entries as a file to store and review: a standard `p4.v1.WriteRequest` in text format. A comment before each update
//! shows it with names. Every P4Runtime tool can read the file.

use prost::Message as _;

use super::error::TextError;
use super::schema::{Schema, Type};
use super::wire::Value;
use super::writer;
use crate::info::Info;
use crate::proto::v1;
use crate::render;

/// Writes updates below a heading, with each line of `heading` as a comment.
pub fn write_entries(info: &Info, heading: &str, updates: &[v1::Update]) -> String {
    use std::fmt::Write as _;
    let schema = Schema::get();
    let request = schema.find("p4.v1.WriteRequest").expect("proto/ defines it");
    let (_, field) = schema.messages[request].by_name("updates").expect("proto/ defines it");
    debug_assert!(matches!(field.ty, Type::Message(_)), "updates are messages");

    let mut text = String::with_capacity(64 + updates.len() * 512);
    text.push_str("# proto-file: p4/v1/p4runtime.proto\n# proto-message: p4.v1.WriteRequest\n");
    for line in heading.lines() {
        text.push_str("# ");
        text.push_str(line);
        text.push('\n');
    }
    let mut encoded = Vec::new();
    for update in updates {
        write!(text, "\n# {}\n", render::update(info, update)).expect("a string takes everything");
        encoded.clear();
        update.encode(&mut encoded).expect("a vector takes everything");
        writer::write_field(schema, field, Value::Bytes(&encoded), 0, &mut text);
    }
    text
}

/// Reads the output of [`write_entries`], or any other `p4.v1.WriteRequest` in text format.
pub fn read_entries(text: &str) -> Result<Vec<v1::Update>, TextError> {
    super::read::<v1::WriteRequest>(text).map(|request| request.updates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn entries_are_kept_with_their_names_and_read_again() {
        let info = sample::info();
        let entry = info.entry("next_hop").expect("known").exact("id", 9u16).action("drop", &[]).build();
        let updates = vec![v1::Update::insert(entry.expect("right"))];
        let text = write_entries(&info, "p0-t0-001, pipeline sample\nsecond line", &updates);
        let expected = r#"# proto-file: p4/v1/p4runtime.proto
# proto-message: p4.v1.WriteRequest
# p0-t0-001, pipeline sample
# second line

# + ingress.next_hop  id=9 -> drop()
updates {
  type: INSERT
  entity {
    table_entry {
      table_id: 33554435
      match {
        field_id: 1
        exact {
          value: "\t"
        }
      }
      action {
        action {
          action_id: 16777218
        }
      }
    }
  }
}
"#;
        assert_eq!(text, expected);
        assert_eq!(read_entries(&text), Ok(updates));
    }
}
