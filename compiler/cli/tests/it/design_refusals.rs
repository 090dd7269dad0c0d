//! `closc design` without a result: the reason is correct, all contradictions are reported at once, and the advice
//! works.

use crate::common::Place;

fn design_args(flags: &str) -> Vec<&str> {
    ["design"].into_iter().chain(flags.split(' ')).collect()
}

/// Returns the exit code of a refusal: 64 for option values that are wrong without a search, otherwise 1. A search can
/// find no hardware or ports, or fewer designs than `--pick`. Files have errors of their own.
fn refusal_code(flags: &str) -> i32 {
    let later = ["--prices", "--pick", "--speed 10G", "--speed 1600G", "nvidia --os eos"];
    let is_found_later = later.iter().any(|flag| flags.contains(flag)) || flags.ends_with("--os linux");
    if is_found_later { 1 } else { 64 }
}

#[test]
fn a_need_without_a_design_is_refused_with_a_reason() {
    let place = Place::new();
    place.write("few.csv", "item,price\nspectrum4-sn5600,1\n");
    place.write("typo.csv", "item,price\nspectrum4-sn560,1\n");
    place.write("open.csv", "item,price\nspectrum4-sn5600,1\ncable nic-t0,\"2\n");
    for (flags, wanted) in [
        ("--nics 1001", "1001 is not a whole number of nodes of 8 NICs: use `--nics 1008`"),
        ("--nics 64 --rails 3", "3 rails do not divide the 8 NICs of a node"),
        (
            "--nics 64 --rails 8 --planes-by-nic 3",
            "8 rails cannot be divided over any of these numbers of planes by NIC",
        ),
        (
            "--nics 64 --rails 8 --planes-by-nic 8 --routing srv6-static",
            "planes by NIC need `--routing ecmp-static` or `bgp-unnumbered`",
        ),
        ("--nics 8 --rails 8 --planes-by-nic 8", "use `--nics 16`"),
        (
            "--nics 64 --planes 1 --speed 10G",
            "no switch of the catalogue with `sonic` or `nvue` or `eos` has ports of 10G",
        ),
        ("--nics 64 --platform sn9999", "no platform `sn9999`"),
        ("--nics 64 --vendor dell", "no hardware of a vendor `dell` has a known buffer size"),
        ("--nics 8 --planes 1 --platform spectrum4-sn5600 --tiers 2", "one T0 holds 8 NICs"),
        ("--nics 1 --nics-per-node 1", "1 NIC is less than two on each T0: use `--nics 2`\n"),
        ("--nics 64 --tiers 1 --routing bgp-unnumbered", "`--tiers 1` needs `--routing ecmp-static`"),
        ("--nics 64 --tiers 1 --rails 8", "`closc design --planes-by-nic 8`"),
        ("--nics 4294967295", "use `--nics 4294967288`"),
        ("--nics 512 --fail t0<=1%", "needs 100 planes, and a fabric has at most 16: allow `t0<=6.25%`"),
        ("--nics 512 --fail t1<=0.00001%", "with a percentage above 0 and at most 100"),
        (
            "--nics 512 --fail t0<=7%",
            "needs 15 planes or more: a failed T0 costs a NIC one plane; use `--planes 16`",
        ),
        ("--nics 512 --grow-to 100", "`--grow-to 100` is less than `--nics 512`"),
        ("--nics 64 --prices few.csv", "the first lacks `"),
        (
            "--nics 64 --prices typo.csv",
            "`spectrum4-sn560` is neither a platform nor a part: did you mean `spectrum4-sn5600`?",
        ),
        ("--nics 64 --prices open.csv", "line 3: a quote `\"` opens here and is not closed"),
        ("--nics 64 --objective cost", "needs `--prices FILE`"),
        ("--nics 64 --pick 3 --show 2 --out x.yaml", "`--pick 3`: only 2 designs listed; use `--show 3`"),
        ("--nics 64 --stage 2 --out x.yaml", "`--stage 2` needs `--stages`"),
        (
            "--stages 64,128 --platform spectrum4-sn5600 --stage 3 --out x.yaml",
            "`--stage 3`: `--stages` has 2 stages",
        ),
    ] {
        let said = place.ends(refusal_code(flags), &design_args(flags));
        assert!(said.contains(wanted), "{flags}: {said}");
    }
    let said = place.ends(64, &["design", "--nics", "64", "--fail", "t2<=5%"]);
    assert!(said.contains("is not a limit"), "{said}");
}

/// An option without an effect is an error.
#[test]
fn flags_without_an_effect_are_refused() {
    let place = Place::new();
    for (line, wanted) in [
        ("--nics 64 --pick 2", "--out <FILE>"),
        ("--stages 64,128 --stage 2", "--out <FILE>"),
        ("--nics 64 --force", "--out <FILE>"),
        ("--compare a.yaml b.yaml --grow-to 128", "cannot be used with"),
        ("--compare a.yaml b.yaml --rails 8", "cannot be used with"),
        ("--compare a.yaml b.yaml --show 2", "cannot be used with"),
    ] {
        let said = place.ends(64, &design_args(line));
        assert!(said.contains(wanted), "{line}: {said}");
    }
}

/// The user can act on the reason, and it is found without a search.
#[test]
fn the_reason_of_a_refusal_names_the_remedy() {
    let place = Place::new();
    for (flags, wanted) in [
        (
            "--nics 64 --platform spectrum4-sn5600 --planes 1 --pick 99 --out x.yaml",
            "`--pick 99`: the front has only ",
        ),
        // This is reported before the search, which would take minutes.
        (
            "--nics 100000000 --os eos --routing srv6-static",
            "E0213: `eos` does not support `routing: srv6-static`; change `--routing` or `--os`",
        ),
        (
            "--nics 64 --os linux,p4 --routing bgp-unnumbered",
            "E0213: `linux` or `p4` does not support `routing: bgp-unnumbered`",
        ),
        (
            "--nics 64 --speed 1600G --planes 1 --routing ecmp-static",
            "platforms without a known buffer size are tried only with `--platform`: `",
        ),
    ] {
        let said = place.ends(refusal_code(flags), &design_args(flags));
        assert!(said.contains(wanted), "{flags}: {said}");
    }
}

/// Proposed files have no warnings, so levels would have no effect.
#[test]
fn levels_of_warnings_are_refused_for_a_search() {
    let place = Place::new();
    for line in ["design --nics 64 -D W0203", "design --nics 64 --allow W0302", "init --nics 64 -D warnings"]
    {
        let said = place.ends(64, &line.split(' ').collect::<Vec<_>>());
        assert!(said.contains("have no effect on proposed designs"), "{line}: {said}");
    }
}

/// The error for an unsupported format names the formats of the command.
#[test]
fn refused_formats_name_the_others() {
    let place = Place::new();
    for (line, wanted) in [
        ("design --nics 64 --format parquet", "use `human`, `html`, `csv`, `json` or `github`"),
        ("export tables x.yaml --out x --format html", "use `human`, `csv`, `parquet`, `json` or `github`"),
        ("check x.yaml --format html", "use `human`, `json` or `github`"),
    ] {
        let said = place.ends(64, &line.split(' ').collect::<Vec<_>>());
        assert!(said.contains(wanted), "{line}: {said}");
    }
}

/// JSON output contains the list of designs even if a file is written.
#[test]
fn a_written_design_is_also_a_document() {
    let place = Place::new();
    let words: Vec<&str> = "design --nics 64 --platform spectrum4-sn5600 --planes 2".split(' ').collect();
    let listed = place.json(0, &words);
    let written = place.json(0, &[&words[..], &["--out", "x.yaml"]].concat());
    assert_eq!(written, listed);
    assert_eq!(written["designs"][0]["file"], place.read("x.yaml").as_str());
}

/// One run reports all options that contradict others.
#[test]
fn contradictions_are_reported_together() {
    let place = Place::new();
    for (flags, wanted) in [
        (
            "--nics 100 --planes-by-nic 8",
            &["2 options contradict others", "use `--nics 104`", "1 rail cannot be divided over"][..],
        ),
        (
            "--nics 100 --rails 3 --nics-per-node 1 --planes 3 --grow-to 50",
            &[
                "3 options",
                "`--grow-to 50` is less",
                "3 rails do not divide the 1 NIC of a node",
                "400G does not divide",
            ],
        ),
        (
            "--stages 100,50 --rails 3",
            &["4 options", "the smallest first", "100 is not", "50 is not", "3 rails"],
        ),
    ] {
        let said = place.ends(64, &design_args(flags));
        for wanted in wanted {
            assert!(said.contains(wanted), "{flags}: {wanted}: {said}");
        }
    }
}

/// If the hardware does not run an operating system, the message names the system, not the ports.
#[test]
fn the_operating_system_is_named_where_it_is_the_reason() {
    let place = Place::new();
    for (flags, wanted) in [
        ("--nics 64 --vendor nvidia --os eos", "no hardware of `nvidia` runs `eos`; it runs `"),
        ("--nics 64 --os linux", "no hardware of the catalogue runs `linux`; it runs `"),
        ("--nics 64 --os linux", "or use `--platform "),
        (
            "--nics 64 --vendor nvidia --planes 1 --speed 10G",
            "no switch of `nvidia` with `sonic` or `nvue` or `eos` has ports of 10G",
        ),
    ] {
        let said = place.ends(refusal_code(flags), &design_args(flags));
        assert!(said.contains(wanted), "{flags}: {said}");
    }
}

/// An option is advised only if a design with it passes the checks.
#[test]
fn advice_leads_to_a_design() {
    let place = Place::new();
    for flags in ["--nics 100000000", "--nics 2048 --tiers 1", "--nics 16 --tiers 3 --planes 1"] {
        let said = place.ends(1, &design_args(flags));
        let advised: Vec<&str> = said
            .split('`')
            .filter(|part| part.starts_with("--") || part.starts_with("closc design --"))
            .collect();
        if said.contains("is known to permit one") {
            continue;
        }
        for option in advised {
            let option = option.trim_start_matches("closc design ");
            let (name, _) = option.split_once(' ').expect("an option with a value");
            let rest: Vec<&str> = flags.split(' ').collect();
            let rest: Vec<&str> = rest.chunks(2).filter(|pair| pair[0] != name).flatten().copied().collect();
            place.ends(0, &design_args(&format!("{} {option}", rest.join(" "))));
        }
    }
}

/// The message names the file of the user, not a temporary one.
#[test]
fn a_file_that_cannot_be_written_is_named() {
    let place = Place::new();
    let said = place.ends(1, &design_args("--nics 64 --out absent/a.yaml"));
    assert!(said.contains("cannot write `absent/a.yaml`") && !said.contains("closc-new"), "{said}");
}

/// Published route limits bind: designs keep within them with more switches, and without such a design the need is
/// refused.
#[test]
fn published_route_limits_are_kept() {
    let place = Place::new();
    let own = include_str!("../../../../tests/errors/platforms/box-200-routes.yaml");
    let of = |routes: u32| {
        let id = format!("box-{routes}-routes");
        let text = own.replace("box-200-routes", &id);
        place.write(
            &format!("{id}.yaml"),
            text.replace("ipv6_routes: 200", &format!("ipv6_routes: {routes}")),
        );
        (format!("--platforms {id}.yaml"), id)
    };
    let flags = |nics: u32, routes: u32| {
        let (folder, id) = of(routes);
        format!("--nics {nics} --speed 400G {folder} --platform {id} --routing bgp-unnumbered --os frr")
    };
    let switches = |nics: u32, routes: u32| {
        let found = place.json(0, &design_args(&flags(nics, routes)));
        let rows = found["designs"].as_array().expect("a list");
        for (at, row) in rows.iter().enumerate() {
            assert!(row["assumed"].is_null(), "{row:#}");
            let file = format!("design-{at}.yaml");
            place.write(&file, row["file"].as_str().expect("a text"));
            place.ends(0, &["check", &file, "--platforms", &format!("box-{routes}-routes.yaml")]);
        }
        rows[0]["switches"].as_u64().expect("a number")
    };
    // In each of two planes, a T0 with 128 NICs has 129 routes for its group, 16 to groups, 24 to switches, and one to
    // all.
    assert_eq!((switches(2048, 200), switches(2048, 165)), (48, 56));
    let said = place.ends(1, &design_args(&flags(4096, 200)));
    let reason = "the first has E0902: each T0 needs 210 IPv6 routes, but `box-200-routes` holds 200";
    assert!(said.contains(reason), "{said}");
    // A larger table is all that it lacks.
    assert_eq!(switches(4096, 210), 96);
}

/// Command lines that the parser refuses: the message names every option that helps.
#[test]
fn messages_of_the_parser_name_all_options() {
    let place = Place::new();
    let said = place.ends(64, &["design"]);
    for option in ["--nics", "--stages", "--compare"] {
        assert!(said.contains(option), "{option}: {said}");
    }
    let said = place.ends(64, &design_args("--nics 64 --fail t2<=5%"));
    assert!(said.contains("only T0s and T1s have limits"), "{said}");
}

/// The list of designs has more formats than a comparison or an explanation.
#[test]
fn formats_are_refused_by_the_option_that_lacks_them() {
    let place = Place::new();
    for flags in ["--compare a.yaml b.yaml", "--nics 64 --explain a.yaml"] {
        let said = place.ends(64, &design_args(&format!("{flags} --format csv")));
        let option = if flags.contains("--compare") { "--compare" } else { "--explain" };
        assert!(said.contains(&format!("`closc design {option}` does not support `--format csv`")), "{said}");
    }
}
