//! Demands from Parquet files, if the crate is built with that feature.

#![cfg(feature = "parquet")]

use std::sync::Arc;

use closc_te::Matrix;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const LAB: &str = include_str!("../../../../topologies/lab/two-planes.yaml");

/// Writes a table with two text columns and a number column.
fn file(names: [&str; 3], rows: &[(&str, &str, f64)]) -> Vec<u8> {
    let [a, b, c] = names;
    let schema = format!(
        "message demand {{ required binary {a} (UTF8); required binary {b} (UTF8); required double {c}; }}"
    );
    let schema = Arc::new(parse_message_type(&schema).expect("the schema is legal"));
    let compression = parquet::basic::Compression::SNAPPY;
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, properties).expect("a table can be written");
    let mut group = writer.next_row_group().expect("a table has rows");
    let texts = |at: usize| -> Vec<ByteArray> {
        rows.iter().map(|row| ByteArray::from(if at == 0 { row.0 } else { row.1 })).collect()
    };
    let rates: Vec<f64> = rows.iter().map(|row| row.2).collect();
    for at in 0..3 {
        let mut column = group.next_column().expect("a column can be written").expect("there are three");
        if at < 2 {
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts(at), None, None)
                .expect("texts can be written");
        } else {
            column.typed::<DoubleType>().write_batch(&rates, None, None).expect("numbers can be written");
        }
        column.close().expect("a column can be closed");
    }
    group.close().expect("rows can be closed");
    writer.into_inner().expect("a table can be closed")
}

#[test]
fn parquet_says_the_same_as_csv() {
    let plan = closc_tests::shape::plan(LAB);
    let rows = [("group-0001", "group-0002", 100_000.0), ("su001-n001/nic0", "su002-n002", 2_500.0)];
    let bytes = file(["source", "destination", "mbps"], &rows);
    let table = Matrix::from_parquet(&plan, bytes).expect("it is legal");
    let text = "source,destination,gbps\ngroup-0001,group-0002,100\nsu001-n001/nic0,su002-n002,2.5\n";
    let csv = Matrix::from_csv(&plan, text.as_bytes()).expect("it is legal");
    let without_lines = |matrix: Matrix| -> Vec<_> {
        matrix.demands.into_iter().map(|demand| (demand.from, demand.to, demand.gbps.to_bits())).collect()
    };
    assert_eq!(without_lines(table), without_lines(csv));
}

#[test]
fn faults_name_their_rows() {
    let plan = closc_tests::shape::plan(LAB);
    let rows = [("group-0001", "group-0002", 1.0), ("group-0001", "group-0009", -1.0)];
    let faults = Matrix::from_parquet(&plan, file(["source", "destination", "gbps"], &rows))
        .expect_err("it is at fault");
    assert!(faults.iter().all(|fault| fault.line == 2), "{faults:?}");
    assert_eq!(faults.len(), 2);
    let faults =
        Matrix::from_parquet(&plan, file(["source", "to", "gbps"], &rows)).expect_err("it is at fault");
    assert!(faults.iter().any(|fault| fault.to_string().contains("`to` is not a column")), "{faults:?}");
    let faults = Matrix::from_parquet(&plan, b"source,destination".to_vec()).expect_err("it is at fault");
    assert!(faults[0].to_string().contains("not Parquet"), "{faults:?}");
}
