//! `closc export`: the written files and the messages.

use std::collections::BTreeSet;

use crate::common::{Place, small_fabric};

fn place() -> Place {
    let place = Place::new();
    place.write("fabric.yaml", small_fabric("export", 2, "linux", "linux"));
    place
}

#[test]
fn the_files_of_one_node_are_written_whatever_the_fabric_generates() {
    let place = place();
    let said = place.ends(0, &["export", "host", "fabric.yaml", "su001-n001", "--out", "x"]);
    for file in ["nic-qos.sh", "netplan.yaml", "nccl.conf", "networkd/50-closc-nic0p1.network"] {
        let path = format!("x/hosts/su001-n001/{file}");
        assert!(said.lines().any(|line| line == path) && place.path(&path).is_file(), "{said}");
    }
    let only = ["export", "host", "fabric.yaml", "su002-n001", "--only", "netplan", "--out", "y"];
    let only = place.json(0, &only).to_string();
    assert!(only.contains("\"y/hosts/su002-n001/netplan.yaml\""), "{only}");
    assert_eq!(std::fs::read_dir(place.path("y/hosts/su002-n001")).unwrap().count(), 1);
}

#[test]
fn a_node_that_is_not_there_is_named_with_one_that_is() {
    let place = place();
    let said = place.ends(1, &["export", "host", "fabric.yaml", "su003-n001", "--out", "x"]);
    assert!(said.contains("`su003-n001` is not a node of this fabric; the first is `su001-n001`"), "{said}");
    assert!(!place.path("x").exists());
}

/// Collects the paths of all keys of an object; the items of a list share one path.
fn keys(value: &serde_json::Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                // Keys of labels are chosen by the site and are not fields.
                if path.ends_with("spec.nodeSelector") && !value["nodeSelectorTerms"].is_array() {
                    found.insert(path);
                    continue;
                }
                keys(value, &path, found);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, path, found)),
        _ => drop(found.insert(path.to_owned())),
    }
}

#[test]
fn kubernetes_objects_have_the_fields_of_their_definitions() {
    let place = place();
    place.ends(0, &["export", "kubernetes", "fabric.yaml", "--out", "x", "--release", "v26.7.0"]);
    let read = |name: &str| kubernetes(&place, name);
    let fields = |name: &str| {
        let mut found = BTreeSet::new();
        let value = read(name);
        let first = value.get("items").map_or(&value, |items| &items[0]);
        keys(&first["spec"], "spec", &mut found);
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        fields("cidr-pools/nic0p1.json"),
        "spec.cidr spec.gatewayIndex spec.nodeSelector.nodeSelectorTerms.matchExpressions.key \
         spec.nodeSelector.nodeSelectorTerms.matchExpressions.operator \
         spec.nodeSelector.nodeSelectorTerms.matchExpressions.values spec.perNodeNetworkPrefix \
         spec.routes.dst spec.staticAllocations.gateway spec.staticAllocations.nodeName \
         spec.staticAllocations.prefix"
    );
    assert_eq!(
        fields("sriov/policies.json"),
        "spec.deviceType spec.eSwitchMode spec.isRdma spec.linkType spec.mtu spec.nicSelector.pfNames \
         spec.nicSelector.vendor spec.nodeSelector spec.numVfs spec.priority spec.resourceName"
    );
    assert_eq!(
        fields("sriov/networks.json"),
        "spec.ipam spec.linkState spec.metaPlugins spec.networkNamespace spec.resourceName spec.spoofChk \
         spec.trust"
    );
    assert_eq!(fields("host-device/attachments.json"), "spec.config");
    assert_eq!(
        fields("spectrum-x/rails.json"),
        "spec.draEnabled spec.networkNamespace spec.nodeSelector spec.numVfs spec.railTopology.cidrPoolRef \
         spec.railTopology.mtu spec.railTopology.name spec.railTopology.nicSelector.pfNames"
    );
    assert_eq!(
        fields("nic-cluster-policy.json"),
        "spec.global.repository spec.global.version spec.nvIpam.image spec.secondaryNetwork.cniPlugins.image \
         spec.secondaryNetwork.multus.image"
    );
    assert_eq!(
        fields("host-device/nic-cluster-policy.json"),
        "spec.global.repository spec.global.version spec.nvIpam.image spec.secondaryNetwork.cniPlugins.image \
         spec.secondaryNetwork.multus.image spec.sriovDevicePlugin.config spec.sriovDevicePlugin.image"
    );
    pools_and_attachments_fit(&place);
}

#[test]
fn claims_of_rails_request_their_ports() {
    let place = place();
    let base = ["export", "kubernetes", "fabric.yaml", "--out", "x"];
    place.ends(0, &base);
    // With the operator's default, `true`, pods would need claims.
    assert_eq!(kubernetes(&place, "spectrum-x/rails.json")["spec"]["draEnabled"], false);
    assert!(!place.path("x/kubernetes/spectrum-x/claims.json").exists());
    let claim = |gpu: &str| {
        place.ends(0, &[&base[..], &["--dra", gpu, "--namespace", "training"]].concat());
        let rails = kubernetes(&place, "spectrum-x/rails.json");
        assert_eq!(rails["spec"]["draEnabled"], true);
        let mut claims = kubernetes(&place, "spectrum-x/claims.json");
        assert_eq!(claims["items"].as_array().expect("a list").len(), 1);
        let claim = claims["items"][0].take();
        assert_eq!(claim["metadata"]["name"], rails["spec"]["railTopology"][0]["name"]);
        assert_eq!(claim["metadata"]["namespace"], "training");
        claim
    };
    let function = serde_json::json!({ "name": "vf", "exactly": {
        "deviceClassName": "sriovnetwork.k8snetworkplumbingwg.io",
        "count": 2,
        "selectors": [{ "cel": {
            "expression": "device.attributes[\"k8s.cni.cncf.io\"].resourceName == \"nvidia.com/nic0\""
        } }],
    } });
    let gpu = serde_json::json!({
        "name": "gpu", "exactly": { "deviceClassName": "gpu.nvidia.com", "count": 1 }
    });
    assert_eq!(claim("none")["spec"]["spec"], serde_json::json!({ "devices": { "requests": [function] } }));
    let both = serde_json::json!({ "devices": { "requests": [gpu, function] } });
    assert_eq!(claim("any")["spec"]["spec"], both);
    let near = claim("pcie-root");
    assert_eq!([&near["apiVersion"], &near["kind"]], ["resource.k8s.io/v1", "ResourceClaimTemplate"]);
    let constraint = serde_json::json!([
        { "requests": ["gpu", "vf"], "matchAttribute": "resource.kubernetes.io/pcieRoot" }
    ]);
    assert_eq!(near["spec"]["spec"]["devices"]["constraints"], constraint);
}

#[test]
fn agents_of_nics_have_their_settings() {
    let place = Place::new();
    place.write("fabric.yaml", small_fabric("export", 2, "linux", "linux"));
    place.ends(0, &["export", "host", "fabric.yaml", "su001-n001", "--only", "agent", "--out", "x"]);
    let settings = place.read("x/hosts/su001-n001/closc/nic0.env");
    let line = |name: &str| {
        let found = settings.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("{name} in {settings}")).to_owned()
    };
    assert_eq!(line("FABRIC"), "export");
    assert_eq!(line("PORTS"), "nic0p{plane}");
    assert_eq!(line("METRICS"), "127.0.0.1:9750");
    // Its file names match the tree, and its DSCP values match the path table.
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    let table = line("TABLE").replace("/etc/closc/", "tree/");
    assert!(place.path(&table).is_file(), "{table}");
    let json: serde_json::Value = serde_json::from_str(&place.read(&table.replace(".bin", ".json"))).unwrap();
    assert_eq!(json["nics"][0]["address"], line("NIC"));
    let codes: Vec<String> = json["qos"]["classes"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|class| class["dscp"].as_array().unwrap())
        .map(ToString::to_string)
        .collect();
    for name in ["DSCP_DATA", "DSCP_AGAIN", "DSCP_CONTROL"] {
        assert!(codes.contains(&line(name)), "{name} is of no class: {codes:?}");
    }
    let cut = &json["qos"]["trimmed"]["last_hop_dscp"];
    assert_eq!(settings.contains("DSCP_CUT_AT_LAST_HOP"), !cut.is_null());
}

/// A Kubernetes object runs agents on every node with these settings.
#[test]
fn an_object_runs_agents_on_every_node() {
    let place = Place::new();
    let fabric = small_fabric("export", 2, "linux", "linux");
    place.write("ecmp.yaml", format!("{fabric}routing: ecmp-static\n"));
    place.write("fabric.yaml", fabric);
    place.ends(
        0,
        &["export", "kubernetes", "fabric.yaml", "--out", "x", "--agent-image", "registry.example/nic:1"],
    );
    let object = kubernetes(&place, "agents.json");
    assert_eq!((&object["apiVersion"], &object["kind"]), (&"apps/v1".into(), &"DaemonSet".into()));
    let mut found = BTreeSet::new();
    keys(&object["spec"]["template"]["spec"], "", &mut found);
    assert_eq!(
        found.into_iter().collect::<Vec<_>>().join(" "),
        "automountServiceAccountToken containers.args containers.command containers.image \
         containers.livenessProbe.exec.command containers.livenessProbe.periodSeconds \
         containers.livenessProbe.timeoutSeconds containers.name containers.resources.limits.memory \
         containers.resources.requests.memory containers.securityContext.allowPrivilegeEscalation \
         containers.securityContext.capabilities.add containers.securityContext.capabilities.drop \
         containers.securityContext.readOnlyRootFilesystem containers.securityContext.runAsUser \
         containers.securityContext.seccompProfile.type containers.volumeMounts.mountPath \
         containers.volumeMounts.name containers.volumeMounts.readOnly hostNetwork \
         nodeSelector.closc.dev/fabric priorityClassName terminationGracePeriodSeconds tolerations.operator \
         volumes.hostPath.path volumes.hostPath.type volumes.name"
    );
    assert_eq!(object["spec"]["selector"]["matchLabels"], object["spec"]["template"]["metadata"]["labels"]);
    let container = &object["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "registry.example/nic:1");
    assert!(container["args"].as_array().unwrap().contains(&"/etc/closc/nic0.env".into()), "{container}");
    // If switches choose the path, agents have no path tables.
    let refused = ["export", "kubernetes", "ecmp.yaml", "--out", "y", "--agent-image", "i"];
    let said = place.ends(1, &refused);
    assert!(said.contains("agents need path tables"), "{said}");
    place.ends(0, &["export", "kubernetes", "fabric.yaml", "--out", "z"]);
    assert!(!place.path("z/kubernetes/agents.json").exists());
}

fn kubernetes(place: &Place, name: &str) -> serde_json::Value {
    serde_json::from_str(&place.read(&format!("x/kubernetes/{name}"))).expect("it is JSON")
}

/// Checks the values of a pool, and that the objects refer to each other with the correct names.
fn pools_and_attachments_fit(place: &Place) {
    let read = |name: &str| kubernetes(place, name);
    let pool = read("cidr-pools/nic0p1.json");
    assert_eq!(pool["spec"]["cidr"], "fd00:c105:2:100::/56");
    let first = &pool["spec"]["staticAllocations"][0];
    assert_eq!(first["nodeName"], "su001-n001");
    assert_eq!(first["prefix"], "fd00:c105:2:100:1:1:0:a/127");
    assert_eq!(first["gateway"], "fd00:c105:2:100:1:1:0:b");
    let inner = |text: &serde_json::Value| -> serde_json::Value {
        serde_json::from_str(text.as_str().expect("it is text")).expect("it is JSON")
    };
    let attachment = &read("host-device/attachments.json")["items"][1];
    assert_eq!(inner(&attachment["spec"]["config"])["plugins"][0]["ipam"]["poolName"], "nic0p1,nic0");
    // The attachment requests the resource that the device plugin offers.
    let asked = &attachment["metadata"]["annotations"]["k8s.v1.cni.cncf.io/resourceName"];
    assert_eq!(asked, "nvidia.com/nic0p1");
    let plugin = &read("host-device/nic-cluster-policy.json")["spec"]["sriovDevicePlugin"];
    assert_eq!(
        inner(&plugin["config"])["resourceList"][1],
        serde_json::json!({
            "resourcePrefix": "nvidia.com",
            "resourceName": "nic0p1",
            "selectors": { "vendors": ["15b3"], "pfNames": ["nic0p1"], "isRdma": true },
        })
    );
}

/// A fabric with an absent cable and a drained switch, and the MRC file of its first NIC for two peers.
fn mrc(options: &[&str]) -> (Place, serde_json::Value) {
    let place = Place::new();
    let text = small_fabric("mrc", 4, "linux", "linux").replace("up: 2", "up: 4")
        + "exceptions:\n  absent: [p1-t0-001--p1-t1-002]\n  drained: [p2-t1-001]\n"
        + "entropy: { active: 8, backup: 4 }\n";
    place.write("fabric.yaml", text);
    let mut args =
        vec!["export", "mrc", "fabric.yaml", "su001-n001", "--to", "su001-n002,su002-n001", "--out", "x"];
    args.extend(options);
    place.ends(0, &args);
    let file = serde_json::from_str(&place.read("x/mrc/su001-n001/nic0.json")).expect("it is JSON");
    (place, file)
}

/// Compares the export, which reads the path table, with `closc paths`, which walks the plan.
#[test]
fn explicit_values_are_the_paths_of_the_plan_equally_many_in_each_plane() {
    let (place, file) = mrc(&[]);
    assert_eq!((&file["schema"], &file["mode"]), (&"closc-mrc/1".into(), &"explicit".into()));
    assert_eq!(file["port_mask"], 0b1111);
    let profiles = file["profiles"].as_array().expect("a list");
    assert_eq!(profiles.len(), 2);
    for profile in profiles {
        let values = profile["values"].as_array().expect("a list");
        assert_eq!(profile["ev_count"], values.len());
        let mut ports = std::collections::BTreeMap::new();
        for value in values {
            *ports.entry(value["port"].as_u64().expect("a number")).or_insert(0) += 1;
            let entropy = value["entropy"].to_string();
            let to = profile["to"]["nic"].as_str().expect("a name");
            let path = place.json(0, &["paths", "fabric.yaml", "su001-n001/nic0", to, "--ev", &entropy]);
            let path = &path["paths"][0];
            assert!(path["denied"].is_null(), "{path}");
            assert_eq!(path["plane"].as_u64(), value["port"].as_u64().map(|port| port - 1));
            let address: std::net::Ipv6Addr =
                path["destination"].as_str().expect("text").parse().expect("an address");
            let bytes = format!("{:032x}{}", u128::from(address), "0".repeat(32));
            assert_eq!(value["value"], bytes, "{path}");
        }
        assert_eq!(ports.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
        let each = profile["values_per_plane"].as_u64();
        assert!(ports.values().all(|count| Some(*count) == each), "{ports:?}");
        assert!(profile["ev_min_active"].as_u64() <= profile["ev_count"].as_u64());
    }
    let probes = file["probes"].as_array().expect("a list");
    let numbers = probes.iter().map(|probe| probe["req_id"].as_u64().expect("a number"));
    assert!(numbers.eq(0..probes.len() as u64));
    let of = |kind: &str| probes.iter().filter(|probe| probe["kind"] == kind).count();
    // One T0 per plane, and the two uplinks per plane that reach the other group.
    assert_eq!((of("t0"), of("t1"), of("t2")), (4, 8, 0), "{file}");
    assert_eq!(
        of("pair"),
        profiles.iter().map(|p| p["values"].as_array().map_or(0, Vec::len)).sum::<usize>()
    );
}

#[test]
fn what_a_device_takes_bounds_a_profile_and_what_it_cannot_take_is_refused() {
    let (place, file) = mrc(&["--max-values", "7", "--align", "4"]);
    for profile in file["profiles"].as_array().expect("a list") {
        assert_eq!((&profile["ev_count"], &profile["values_per_plane"]), (&4.into(), &1.into()));
    }
    let refused = |options: &[&str]| {
        let mut args = vec!["export", "mrc", "fabric.yaml", "su001-n001", "--to", "su002-n001", "--out", "y"];
        args.extend(options);
        place.ends(1, &args)
    };
    let said = refused(&["--max-values", "3"]);
    assert!(said.contains("4 planes can be used") && said.contains("at most 3"), "{said}");
    let said = refused(&["--align", "64"]);
    assert!(said.contains("a multiple of 64"), "{said}");
    let said = refused(&["--max-all-values", "7"]);
    assert!(said.contains("together, and its device takes 7"), "{said}");
    let said = refused(&["--to", "su001-n002", "--max-profiles", "1"]);
    assert!(said.contains("needs 2 profiles"), "{said}");
    assert!(!place.path("y").exists());
}

#[test]
fn a_port_that_is_absent_is_denied_and_left_out() {
    let place = Place::new();
    let absent = "exceptions: { absent: [su001-n001/nic0.p1] }\n";
    place.write("fabric.yaml", small_fabric("mrc", 2, "linux", "linux") + absent);
    place.ends(0, &["export", "mrc", "fabric.yaml", "su001-n001", "--to", "su002-n001", "--out", "x"]);
    let file: serde_json::Value =
        serde_json::from_str(&place.read("x/mrc/su001-n001/nic0.json")).expect("it is JSON");
    assert_eq!((&file["port_mask"], &file["ports"][1]["denied"]), (&1.into(), &"absent".into()));
    assert_eq!(file["profiles"][0]["planes_left_out"], serde_json::json!([1]));
    let on_one =
        |list: &serde_json::Value| list.as_array().expect("a list").iter().all(|item| item["port"] == 1);
    assert!(on_one(&file["profiles"][0]["values"]) && on_one(&file["probes"]), "{file}");
}

#[test]
fn a_report_is_one_page_that_names_no_other() {
    let place = Place::new();
    let file = "topologies/lab/two-planes.yaml";
    let listed = place.ends(0, &["export", "report", file, "--out", "report.html"]);
    assert_eq!(listed, "report.html\n");
    let page = place.read("report.html");
    for word in ["src=", "href=\"http", "url(", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(place.ends(0, &["export", "report", file, "--out", "-"]), page);
    assert_eq!(place.ends(0, &["export", "report", file, "--out", "report.html", "--quiet"]), "");
}

/// The report of the new side shows the changes, from a file or a saved difference. A report of another fabric is an
/// error.
#[test]
fn a_report_shows_what_changed() {
    let place = place();
    let before = place.read("fabric.yaml");
    place.write("after.yaml", format!("{before}exceptions: {{ absent: [ p0-t1-001 ] }}\n"));
    place.ends(2, &["diff", "fabric.yaml", "after.yaml", "--out", "changes.json"]);
    place.ends(0, &["export", "report", "after.yaml", "--out", "a.html", "--since", "fabric.yaml"]);
    place.ends(0, &["export", "report", "after.yaml", "--out", "b.html", "--changes", "changes.json"]);
    let page = place.read("a.html");
    assert_eq!(page, place.read("b.html"));
    assert!(page.contains(". None is cut off.") && page.contains("Changed tiers"));
    let said =
        place.ends(1, &["export", "report", "fabric.yaml", "--out", "c.html", "--changes", "changes.json"]);
    assert!(said.contains("the new side of `changes.json` does not match `fabric.yaml`"), "{said}");
    let html = place.ends(2, &["diff", "fabric.yaml", "after.yaml", "--format", "html"]);
    assert!(html.contains("<p class=\"verdict warn\">") && !html.contains('`'), "{html}");
    assert!(html.contains("<code>p0-t1-001</code>") && html.contains("<svg "), "{html}");
}

/// The file extension selects the format of a drawing. A report can also be written in Markdown.
#[test]
fn a_file_is_not_named_after_another_format() {
    let place = place();
    for (export, out, advice) in [
        ("drawing", "x.png", "`.svg`"),
        ("drawing", "x.html", "`.svg`"),
        ("report", "r.pdf", "`.html`"),
        ("report", "r.MD", "`--format markdown`"),
    ] {
        let said = place.ends(1, &["export", export, "topologies/lab/two-planes.yaml", "--out", out]);
        assert!(said.contains("is not supported") && said.contains(advice), "{said}");
        assert!(!place.path(out).exists(), "{out}");
    }
}

#[test]
fn a_fabric_is_drawn_and_described() {
    let place = Place::new();
    let file = "topologies/lab/two-planes.yaml";
    for (words, out, begins) in [
        (&[][..], "x.svg", "<svg "),
        (&["plane 1"], "x.dot", "graph \"two-planes, plane 1\""),
        (&["p1-t0-002"], "x.gv", "graph \"two-planes, p1-t0-002\""),
    ] {
        let listed = place.ends(0, &[&["export", "drawing", file, "--out", out][..], words].concat());
        assert_eq!(listed, format!("{out}\n"));
        assert!(place.read(out).starts_with(begins), "{}", place.read(out));
    }
    let said = place.ends(1, &["export", "drawing", file, "plane 2", "--out", "y.svg"]);
    assert!(said.contains('2') && !place.path("y.svg").exists(), "{said}");
    let text = place.ends(0, &["export", "report", file, "--out", "-", "--format", "markdown"]);
    assert!(text.starts_with("# two-planes\n") && text.contains("| T1s | 4 |"), "{text}");
    place.ends(64, &["export", "report", file, "--out", "-", "--format", "html"]);
}

/// Each selected table is one file. Other commands reject formats that only tables support.
#[test]
fn tables_are_written_where_they_are_wanted() {
    let place = Place::new();
    let file = "topologies/lab/two-planes.yaml";
    let listed = place.ends(0, &["export", "tables", file, "--out", "all"]);
    assert_eq!(listed.lines().count(), 6, "{listed}");
    assert!(!place.path("all/paths.csv").exists(), "no pair, no paths");
    let links = place.read("all/links.csv");
    assert!(links.starts_with("link,kind,plane,zone,lower_device,"), "{links}");
    let words = [
        "export",
        "tables",
        file,
        "--out",
        "some",
        "--format",
        "jsonl",
        "--only",
        "links,paths",
        "--plane",
        "1",
    ];
    let listed = place.ends(0, &[&words[..], &["--pair", "su001-n001,su002-n001"]].concat());
    assert_eq!(listed, "some/links.jsonl\nsome/paths.jsonl\n");
    for name in ["links", "paths"] {
        let text = place.read(&format!("some/{name}.jsonl"));
        assert!(!text.is_empty() && text.lines().all(|line| line.contains("\"plane\":1,")), "{text}");
    }
    for words in [
        &["check", file, "--format", "csv"][..],
        &["export", "tables", file, "--out", "x", "--only", "paths"],
        &["export", "tables", file, "--out", "x", "--only", "cables"],
        &["export", "tables", file, "--out", "x", "--pair", "su001-n001"],
    ] {
        place.ends(64, words);
    }
    for (words, wanted) in [
        (["--pair", "su001-n001,su001-n001"], "are the same NIC"),
        (["--pair", "su001-n001,su009-n001"], "su009-n001"),
        (["--plane", "2"], "plane 2 does not exist; there are 2 planes"),
    ] {
        let why = place.ends(1, &[&["export", "tables", file, "--out", "x"], &words[..]].concat());
        assert!(why.contains(wanted), "{why}");
    }
    if !cfg!(feature = "parquet") {
        let why = place.ends(1, &["export", "tables", file, "--out", "x", "--format", "parquet"]);
        assert!(why.contains("--features parquet"), "{why}");
    }
}

#[test]
fn schedulers_and_simulators_are_given_folders_of_their_own() {
    let place = place();
    let said = place.ends(0, &["export", "scheduler", "fabric.yaml", "--out", "x"]);
    for file in [
        "slurm/topology.conf",
        "slurm/topology-block.conf",
        "slurm/topology.yaml",
        "kubernetes/kueue.yaml",
        "kubernetes/node-labels.yaml",
        "topograph/topograph.yaml",
    ] {
        assert!(
            said.lines().any(|line| line == format!("x/{file}")) && place.path("x").join(file).is_file(),
            "{said}"
        );
    }
    place.ends(64, &["export", "scheduler", "fabric.yaml", "--out", "x", "--labels", "a,a"]);
    let refused = place.ends(1, &["export", "scheduler", "fabric.yaml", "--out", "y", "--labels", "a,b,c"]);
    assert!(refused.contains("are 3 keys for 2 levels: unit, fabric"), "{refused}");
    for (simulator, file) in [
        ("infragraph", "infragraph.json"),
        ("astra-sim", "astra-sim/network.yml"),
        ("astra-sim", "astra-sim/plane-1/logical.json"),
        ("htsim", "htsim/plane-1/plane.topo"),
        ("ns3", "ns3/plane-0/topology.txt"),
    ] {
        place.ends(0, &["export", "simulation", "fabric.yaml", "--for", simulator, "--out", "z"]);
        assert!(place.path("z").join(file).is_file(), "{file}");
    }
    place.write("demand.csv", "source,destination,gbps\ngroup-0001,group-0002,8\n");
    let demand =
        ["export", "simulation", "fabric.yaml", "--for", "ns3", "--out", "d", "--demand", "demand.csv"];
    place.ends(0, &demand);
    // 8 Gb/s for 1 ms is 1 MB: 125 kB for each of 4 pairs in each of 2 planes.
    let flows = place.read("d/ns3/plane-1/flow.txt");
    assert!(flows.starts_with("4\n0 2 ") && flows.contains(" 125000 0\n"), "{flows}");
    let refused = place.ends(
        1,
        &[
            "export",
            "simulation",
            "topologies/reference/mrc-8x512.yaml",
            "--for",
            "ns3",
            "--plane",
            "0",
            "--out",
            "e",
        ],
    );
    assert!(refused.contains("131840 (131072 NICs + 768 switches)"), "{refused}");
    assert!(!place.path("e").exists());
}

#[test]
fn a_lab_of_containers_has_the_files_of_a_tree() {
    let place = Place::new();
    let lab = "topologies/lab/bgp-unnumbered.yaml";
    place.ends(
        0,
        &["export", "containerlab", lab, "--out", "x", "--image", "frr=frr:1", "--image", "node=n:1"],
    );
    place.ends(0, &["compile", lab, "--out", "tree", "--quiet"]);
    for file in ["frr.conf", "daemons", "ip.batch"] {
        let (own, tree) = (format!("x/configs/p0-t0-001/{file}"), format!("tree/switches/p0-t0-001/{file}"));
        assert_eq!(place.read(&own), place.read(&tree));
    }
    let topology = place.read("x/bgp-unnumbered.clab.yml");
    for part in [
        "    - { endpoints: [\"su001-n001:nic0p0\", \"p0-t0-001:eth1\"], mtu: 9216 }\n",
        "        - \"configs/p0-t0-001/frr.conf:/etc/frr/frr.conf:ro\"\n",
        "      image: \"frr:1\"\n",
        "      image: \"n:1\"\n",
    ] {
        assert!(topology.contains(part), "{part}\n{topology}");
    }
    place.ends(64, &["export", "containerlab", lab, "--out", "x", "--image", "eos=a"]);
    let p4 = place.ends(1, &["export", "containerlab", "topologies/lab/two-planes-p4.yaml", "--out", "y"]);
    assert!(
        p4.contains("no container that can load the files of `p0-t0-001`") && !place.path("y").exists(),
        "{p4}"
    );
    let large = ["export", "containerlab", "topologies/reference/mrc-8x512.yaml", "--out", "y"];
    let large = place.ends(1, &large);
    assert!(large.contains("there are 38912 (6144 switches + 32768 nodes)"), "{large}");
    place.ends(0, &["export", "resources", lab, "--out", "z", "--quiet"]);
    assert!(place.read("z/resources.json").contains("closc_cable.this[\\\"su001-n001/nic0.p0\\\"]"));
}

#[test]
fn a_testbed_of_sonic_mgmt_has_the_hwskus_of_the_configurations() {
    let place = Place::new();
    let file = small_fabric("bed", 2, "spectrum4-sn5600-256x100g", "sonic");
    place.write("fabric.yaml", format!("{file}\naddresses: {{ management: 10.64.0.0/14 }}\n"));
    let base = ["export", "sonic-mgmt", "fabric.yaml", "--out", "x"];
    let noted = |args: &[&str]| String::from_utf8(place.closc(args).stderr).expect("text");
    let said = noted(&base);
    assert!(said.contains("of NICs omitted") && said.contains("add `- bed` to"), "{said}");
    let said = noted(&[&base[..], &["--traffic-generator", "tg-1=192.0.2.9/24"]].concat());
    assert!(!said.contains("omitted"), "{said}");
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree", "--quiet"]);
    let config = place.read("tree/switches/p0-t0-001/config_db.json");
    let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    let own = &config["DEVICE_METADATA"]["localhost"];
    let devices = place.read("x/ansible/files/sonic_bed_devices.csv");
    let row = devices.lines().find(|row| row.starts_with("p0-t0-001,")).expect("a row");
    assert!(row.contains(&format!(",{},", own["hwsku"].as_str().expect("text"))), "{row}");
    let topology = place.read("x/ansible/vars/nut_topos/nut-bed.yml");
    assert!(topology.contains(&format!("    type: {}\n", own["type"].as_str().expect("text"))), "{topology}");
    let twice = ["--traffic-generator", "a=192.0.2.9/24", "--traffic-generator", "a=192.0.2.8/24"];
    assert!(place.ends(1, &[&base[..], &twice].concat()).contains("two have the name `a`"));
    let own = ["--traffic-generator", "p0-t0-001=192.0.2.9/24"];
    assert!(place.ends(1, &[&base[..], &own].concat()).contains("has the name `p0-t0-001`"));
    for wrong in ["tg", "tg=192.0.2.9", "=192.0.2.9/24", "a b=192.0.2.9/24"] {
        let said = place.ends(64, &[&base[..], &["--traffic-generator", wrong]].concat());
        assert!(said.contains("--traffic-generator"), "{said}");
    }
}

#[test]
fn topologies_for_nvidia_say_how_they_are_used() {
    let place = place();
    let nvue = small_fabric("kit", 2, "spectrum4-sn5600-256x100g", "nvue").replace("virtual", "dac");
    let nvue = format!("{nvue}qos: none\naddresses: {{ hosts: 10.0.0.0/8 }}\nrouting: bgp-unnumbered\n");
    place.write("kit.yaml", format!("{nvue}exceptions: {{ absent: [su001-n001/nic0.p1] }}\n"));
    let noted = |args: &[&str]| String::from_utf8(place.closc(args).stderr).expect("text");
    let said = noted(&["export", "l8k", "kit.yaml", "--out", "x"]);
    let settings = "--topology-file x/topology.json --topology-scheme 2-tier --ip-version ipv4 \
                    --multiplane-mode swplb --number-of-planes 2`";
    assert!(said.contains(settings), "{said}");
    assert!(
        said.contains("1 NIC port without a cable: su001-n001/nic0.p1; k8s-launch-kit rejects"),
        "{said}"
    );
    assert!(said.contains("computes addresses of its own"), "{said}");
    assert!(place.read("x/topology.json").contains("\"rail_group\":[0]"));
    let said = noted(&["export", "l8k", "kit.yaml", "--out", "x", "--ip-version", "ipv6"]);
    assert!(said.contains("--ip-version ipv6"), "{said}");
    let said = noted(&["export", "air", "kit.yaml", "--out", "y", "--image", "nvue=own-5.18"]);
    assert!(said.contains("8 devices renamed for k8s-launch-kit, see `y/names.csv`"), "{said}");
    let manifest = place.read("y/kit.air.json");
    assert!(manifest.contains("\"os\":\"own-5.18\"") && manifest.contains("\"rail1p2\""), "{manifest}");
    let said = noted(&["export", "air", "kit.yaml", "--out", "y", "--plain"]);
    assert!(!said.contains("renamed") && !place.read("y/kit.air.json").contains("network_pci"), "{said}");
    for wrong in ["nvue", "nvue=", "ios=x", "nvue=a b"] {
        let said = place.ends(64, &["export", "air", "kit.yaml", "--out", "y", "--image", wrong]);
        assert!(said.contains("--image"), "{said}");
    }
    let large = "topologies/reference/mrc-8x512.yaml";
    for export in ["l8k", "air"] {
        let said = place.ends(1, &["export", export, large, "--out", "z"]);
        assert!(said.contains("1, 2 or 4 planes") && said.contains("but there are 8"), "{said}");
        assert!(!place.path("z").exists());
    }
}

#[test]
fn sflow_is_an_overlay_that_configurations_take() {
    let place = Place::new();
    let file = small_fabric("sampled", 2, "spectrum4-sn5600-256x100g", "sonic");
    place.write("fabric.yaml", format!("{file}\naddresses: {{ management: 10.64.0.0/14 }}\n"));
    let telemetry = ["export", "telemetry", "fabric.yaml", "--sflow", "192.0.2.9", "--out", "t"];
    let said = place.ends(0, &telemetry);
    for file in
        ["t/gnmic.yaml", "t/prometheus/switches.json", "t/prometheus/nodes.json", "t/overlay/sflow.json"]
    {
        assert!(said.lines().any(|line| line == file) && place.path(file).is_file(), "{said}");
    }
    place.ends(0, &["export", "ansible", "fabric.yaml", "--overlay", "t/overlay", "--out", "a"]);
    let config =
        std::fs::read_to_string(place.path("a/ansible/files/p0-t0-001/config_db.json")).expect("it is there");
    let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
    assert_eq!(config["SFLOW_COLLECTOR"]["collector1"]["collector_ip"], "192.0.2.9");

    let noted = String::from_utf8(place.closc(&telemetry).stderr).expect("text");
    let note = "note: 8 switches run `sonic`, and no file enables in-band telemetry";
    assert!(noted.contains(note), "{noted}");

    let nvue = file.replace("os: sonic", "os: nvue");
    place.write("nvue.yaml", format!("{nvue}\naddresses: {{ management: 10.64.0.0/14 }}\n"));
    let telemetry = ["export", "telemetry", "nvue.yaml", "--sflow", "192.0.2.9", "--out", "n"];
    assert!(place.ends(0, &telemetry).lines().any(|line| line == "n/overlay/sflow.yaml"));
    place.ends(0, &["export", "ansible", "nvue.yaml", "--overlay", "n/overlay", "--out", "b"]);
    let config =
        std::fs::read_to_string(place.path("b/ansible/files/p0-t0-001/nvue.yaml")).expect("it is there");
    // Merging an overlay sorts the keys.
    assert!(config.contains("      sflow:\n        agent:\n          interface: eth0\n"), "{config}");

    let kernel = small_fabric("kernel", 2, "linux", "linux");
    place.write("kernel.yaml", format!("{kernel}\naddresses: {{ management: 10.64.0.0/14 }}\n"));
    let said = place.ends(1, &["export", "telemetry", "kernel.yaml", "--sflow", "192.0.2.9", "--out", "k"]);
    assert!(said.contains("`linux`: hsflowd") && !place.path("k").exists(), "{said}");

    let none = ["export", "telemetry", "fabric.yaml", "--sflow", "0.0.0.0", "--out", "t"];
    assert!(place.ends(64, &none).contains("expected an address"));
    place.write("linux.yaml", small_fabric("kernel", 2, "linux", "linux"));
    let said = place.ends(1, &["export", "telemetry", "linux.yaml", "--out", "l"]);
    assert!(said.contains("no address of p0-t0-001") && !place.path("l").exists(), "{said}");
}
