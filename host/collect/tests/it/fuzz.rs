//! A short, deterministic run of the fuzz target: see `fuzz/`.

#[path = "../../../../fuzz/entry/collect.rs"]
mod collect;
#[path = "../../../../fuzz/entry/inputs.rs"]
mod inputs;

use inputs::Inputs;

#[test]
fn any_bytes_may_come_from_an_agent_a_reader_or_a_disk() {
    let status = r#"{"nic":"fd00:c105:1:1::1","planes":[{"plane":0,"carrier":true}],"findings":[{}],"denials":
        [{"id":3,"plane":1,"reason":"drain","until":12.5}],"counters":{"outside":7}}"#;
    let text = "closc_nic_probes_sent_total{plane=\"0\",tier=\"1\",uplink=\"1\"} 900\n\
        closc_nic_probes_lost_total{plane=\"0\",tier=\"1\",uplink=\"1\"} 800\n\
        closc_nic_probes_sent_total{plane=\"0\",tier=\"0\"} 900\n";
    let get = "GET /api/paths?from=su001-n001%2Fnic0&to=fd00:c105:1:2::1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let post = "POST /api/drain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\r\n\
        {\"token\":\"00\",\"name\":\"plane 1\",\"minutes\":5}";
    let state = r#"{"schema":"closc-collect-state/1","fabric":"eight-planes","denials":{"next":4,"list":[{"id":3,
        "element":"p3-t0-002--p3-t1-004","reason":"fault","why":"x","stage":"applied","since-ms":1,"until-ms":99999,
        "good-wanted":200,"held":null}]}}"#;
    let report = format!("{}\n{text}", status.replace('\n', " "));
    let seeds = [(0, report.as_str()), (1, get), (1, post), (2, state)]
        .map(|(kind, text)| [&[kind, 1], text.as_bytes()].concat());
    for seed in &seeds {
        collect::run(seed);
    }
    for number in 0..600 {
        collect::run(&Inputs::new(number).next(&seeds));
    }
}
