//! The text form of one platform.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use closc_diagnostics::figures::number;
use closc_platform::{
    Breakout, Buffer, Claim, EcmpWidth, FactorySetting, Fault, HwskuFacts, Limit, Platform, Power, Release,
};

/// Returns the properties of a platform with their sources.
pub(super) fn page(platform: &Platform) -> String {
    let mut text = format!("{}: {}\n", platform.id, platform.title);
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "  {what:<10} {value}");
    };
    let panel = &platform.panel;
    let oses: Vec<&str> = platform.oses.iter().map(|os| os.keyword()).collect();
    line("targets", oses.join(", "));
    line("cages", format!("{} of {} lanes, {} per lane", panel.cages, panel.lanes, panel.lane_speed));
    if let Some(logical) = &panel.logical_ports {
        let (keyword, source) = logical.source.parts();
        line("ports", format!("{} at the same time ({keyword}: {source})", logical.max));
    }
    if let Some(units) = platform.rack_units {
        line("height", format!("{units} U"));
    }
    if let Some(power) = &platform.power {
        line("power", self::power(power));
    }
    for (at, breakout) in panel.listed_breakouts().enumerate() {
        line(if at == 0 { "breakouts" } else { "" }, split(platform, breakout));
    }
    match &platform.buffer {
        Some(buffer) => line("buffer", self::buffer(buffer)),
        None if platform.is_software() => line("buffer", "not configured: a software switch".to_owned()),
        None => line("buffer", "unknown: not configured".to_owned()),
    }
    if let Some(limits) = &platform.trimming {
        let most = limits.size_max.map(|most| format!(" to {most}")).unwrap_or_default();
        let queue = limits.queue.map(|queue| format!("; into queue {}", queue.get())).unwrap_or_default();
        line("trimming", format!("leaves {}{most}{queue}", limits.size_min));
    }
    for (at, limit) in Limit::ALL.into_iter().enumerate() {
        line(if at == 0 { "limits" } else { "" }, self::limit(platform, limit));
    }
    line("features", features(platform));
    for (at, fact) in balancing_lines(platform).into_iter().enumerate() {
        line(if at == 0 { "balancing" } else { "" }, fact);
    }
    let facts = platform.sonic.iter().flat_map(|sonic| &sonic.facts);
    for (at, fact) in facts.flat_map(|(hwsku, facts)| self::facts(hwsku, facts)).enumerate() {
        line(if at == 0 { "hwskus" } else { "" }, fact);
    }
    let faults = Fault::all().iter().filter(|fault| fault.concerns_platform(platform));
    for (at, fault) in faults.enumerate() {
        line(if at == 0 { "faults" } else { "" }, self::fault(fault));
    }
    for (at, setting) in super::factory(platform).enumerate() {
        line(if at == 0 { "factory" } else { "" }, self::factory(setting));
    }
    for (at, source) in platform.sources.iter().enumerate() {
        line(if at == 0 { "sources" } else { "" }, source.clone());
    }
    text
}

/// Returns the power with its source.
fn power(power: &Power) -> String {
    let of = |figure: Option<u32>, kind: &str| {
        figure.map_or_else(
            || format!("{kind} not published"),
            |watts| format!("{kind} {} W", number(watts.into())),
        )
    };
    let (keyword, source) = power.source.parts();
    let (typical, maximum) = (of(power.typical_watts, "typical"), of(power.maximum_watts, "maximum"));
    format!("{typical}, {maximum} ({keyword}: {source})")
}

/// Returns a number with its source: `6,400 IPv6 routes (assumed: ...)`.
fn limit(platform: &Platform, limit: Limit) -> String {
    let of = match limit {
        Limit::MySids => "local SIDs",
        Limit::Ipv6Routes => "IPv6 routes",
        Limit::EcmpWidth => "members of an ECMP group",
        Limit::EcmpGroups => "ECMP groups",
        Limit::Neighbours => "neighbours",
    };
    let source = platform.limits.provenance.get(&limit).map(|provenance| {
        let (word, source) = provenance.parts();
        format!(" ({word}: {source})")
    });
    let sizes = platform.limits.ecmp_sizes.iter().filter(|_| limit == Limit::EcmpWidth);
    let fits = std::iter::once(platform.limits.get(limit)).chain(sizes.copied()).map(u64::from);
    let fits: Vec<String> = fits.map(number).collect();
    format!("{} {of}{}", fits.join(", or "), source.unwrap_or_default())
}

/// Returns the kinds of load balancing other than `hash`, one line per kind: ``adaptive with nvue at 200G, 400G
/// (published: ...)``.
fn balancing_lines(platform: &Platform) -> Vec<String> {
    let all = platform.balancing.iter().flat_map(|(os, kinds)| kinds.iter().map(move |kind| (os, kind)));
    all.map(|(os, (balance, fact))| {
        let speeds = fact.speeds.iter().map(|speeds| {
            let speeds: Vec<String> = speeds.iter().map(ToString::to_string).collect();
            format!(" at {}", speeds.join(", "))
        });
        let (word, source) = fact.source.parts();
        format!(
            "{} with {}{} ({word}: {source})",
            balance.keyword(),
            os.keyword(),
            speeds.collect::<String>()
        )
    })
    .collect()
}

/// Returns the known facts about a hwsku: its first release, then one line per feature.
fn facts(hwsku: &str, facts: &HwskuFacts) -> Vec<String> {
    let of = |feature: &str, claim: &Option<Claim>| {
        let (word, source) = claim.as_ref()?.parts();
        Some(format!("{hwsku}: {feature} {word}: {source}"))
    };
    let since = facts.since.map(|since| match since {
        Release::Master => format!("{hwsku}: sonic {since} only"),
        since => format!("{hwsku}: sonic {since} and later"),
    });
    let width = facts.ecmp_width.as_ref().map(|EcmpWidth { members, source, since }| {
        let (word, source) = source.parts();
        let since = since.map(|since| format!(" with sonic {since} and later")).unwrap_or_default();
        format!("{hwsku}: {members} members of an ECMP group{since} {word}: {source}")
    });
    let trimming = of("trimming", &facts.trimming).map(|claim| match facts.trimming_since {
        Some(since) => format!("{claim} (sonic {since} and later)"),
        None => claim,
    });
    [since, of("uN", &facts.un), trimming, width].into_iter().flatten().collect()
}

/// Returns a known fault: `sonic, pins 202411 (delivery): refuses ... (sonic-net/sonic-utilities#4226)`.
fn fault(fault: &Fault) -> String {
    let oses: Vec<&str> = fault.oses.iter().map(|os| os.keyword()).collect();
    let (oses, releases, impact) = (oses.join(", "), fault.releases(), fault.impact.keyword());
    format!("{oses} {releases} ({impact}): {} ({})", fault.effect, fault.source)
}

/// Returns a factory setting: `nvue 5.9 and later (protection): ...`.
fn factory(setting: &FactorySetting) -> String {
    let oses: Vec<&str> = setting.oses.iter().map(|os| os.keyword()).collect();
    let (oses, releases, impact) = (oses.join(", "), setting.releases(), setting.impact.keyword());
    format!("{oses} {releases} ({impact}): {} ({})", setting.sentence(), setting.source)
}

fn split(platform: &Platform, breakout: Breakout) -> String {
    let ports = platform.usable_ports(breakout);
    let default = if breakout == platform.panel.default_breakout { ", default" } else { "" };
    let all = platform.all_cages(breakout);
    let hwsku = match &platform.sonic {
        Some(_) if platform.has_hwsku(all) => {
            format!(", hwsku {}", platform.hwsku(all).unwrap_or_default())
        }
        Some(_) => ", no hwsku of its own".to_owned(),
        None => String::new(),
    };
    format!("{:<8} {ports:>5} ports{default}{hwsku}", breakout.to_string())
}

/// Returns the sizes of the buffer on single hwskus, as text after the usual size.
fn sizes(totals: &BTreeMap<String, impl Display>) -> String {
    let sizes: Vec<String> = totals.iter().map(|(hwsku, total)| format!("{total} on {hwsku}")).collect();
    if sizes.is_empty() { String::new() } else { format!(" ({})", sizes.join(", ")) }
}

fn buffer(buffer: &Buffer) -> String {
    let totals = sizes(&buffer.totals);
    let queue = buffer.lossless_queue_max.map(|most| format!(", at most {most} a lossless queue"));
    let older = buffer.older.iter().map(|older| {
        let most = older.lossless_queue_max.map(|most| format!(" and {most} a lossless queue"));
        let (total, totals, most) = (older.total, sizes(&older.totals), most.unwrap_or_default());
        format!(", {total}{totals}{most} with sonic up to {}", older.until)
    });
    let models = buffer.headroom_models.iter().map(|(hwsku, model)| format!(", as `{model}` on {hwsku}"));
    format!(
        "{}{totals} in cells of {}, headroom as `{}`{}{}{}",
        buffer.total,
        buffer.cell,
        buffer.headroom_model,
        models.collect::<String>(),
        queue.unwrap_or_default(),
        older.collect::<String>()
    )
}

fn features(platform: &Platform) -> String {
    let has = platform.features;
    let all = [
        (has.un, "uN"),
        (has.ua, "uA"),
        (has.trimming, "trimming"),
        (has.pfc, "PFC"),
        (has.ecn, "ECN"),
        (has.qp_hash, "hash over queue pairs"),
    ];
    let words: Vec<&str> = all.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
