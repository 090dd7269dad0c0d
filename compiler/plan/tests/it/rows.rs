//! Rows of T2s: the uSID that hosts compute is that of the T2 at the end of the cable, for any number of rows.

use closc_topology::ZoneId;

#[test]
fn strides_lead_to_the_t2_of_the_cable() {
    for rows in [1u16, 2, 4] {
        let plan = closc_tests::shape::plan(&format!(
            "fabric: rows\nplanes: 1\nzones: 2\nqos: none\n\
             hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 400G, lanes: 4 }} }}\n\
             tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 4 }}\n  \
               t1: {{ platform: th5-128x400g, os: sonic, up: 3 }}\n  \
               t2: {{ platform: th5-128x400g, os: sonic, ports_per_zone: {}, wiring: rows, rows: {rows} }}\n",
            4 / rows
        ));
        let table = plan.path_table(ZoneId(0), 0).segments;
        for (t1, step) in (0..plan.topology().t1_count).flat_map(|t1| (0..3).map(move |step| (t1, step))) {
            let row = table.t2_rows.map_or(t1, |rows| t1 % rows);
            let added = step * table.t2_step + row * table.t2_row;
            assert_eq!(added, plan.segments().t2_index(t1, step), "{rows} rows: uplink {step} of T1 {t1}");
        }
    }
}
