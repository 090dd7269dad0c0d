//! Properties of a cable in NetBox besides device, port, type and length: the type of each end, and the status.
//!
//! Source: NetBox's models `dcim.Cable` and `dcim.CableTermination`. The statuses are those of
//! `LinkStatusChoices`. Out: [`Use`], or the reason why the list cannot be used. Invariants: only cables
//! between two interfaces become cables of the fabric.

/// The role of a NetBox cable in a fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is plugged and carries traffic.
    Plugged,
    /// It is plugged and will be removed.
    Leaving,
    /// It is not plugged yet.
    Planned,
    /// It is not a cable between interfaces. Contains the reason.
    Other(&'static str),
}

/// Reads the types of both ends.
pub(super) fn ends(types: [Option<&str>; 2]) -> Result<Use, String> {
    let mut found = Use::Plugged;
    for word in types.into_iter().flatten() {
        let lower = word.to_lowercase();
        match lower.strip_prefix("dcim.").unwrap_or(&lower) {
            "interface" => {}
            "powerport" | "poweroutlet" | "powerfeed" => found = Use::Other("power"),
            "consoleport" | "consoleserverport" => found = Use::Other("console"),
            "circuits.circuittermination" => found = Use::Other("circuits to other networks"),
            "frontport" | "rearport" => {
                return Err(format!(
                    "`{word}` is a port of a patch panel: expected cables between interfaces; help: trace the cables \
                     in NetBox"
                ));
            }
            _ => {
                return Err(format!(
                    "unknown type of an end `{word}`: expected `dcim.interface`, or an end of power, console or a circuit"
                ));
            }
        }
    }
    Ok(found)
}

/// Reads the status.
pub(super) fn status(word: Option<&str>) -> Result<Use, String> {
    match word.map(str::to_lowercase).as_deref() {
        None | Some("connected") => Ok(Use::Plugged),
        Some("planned") => Ok(Use::Planned),
        Some("decommissioning") => Ok(Use::Leaving),
        Some(_) => Err(format!(
            "unknown status `{}`: expected `connected`, `planned` or `decommissioning`",
            word.unwrap_or_default()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_other_than_interfaces_are_classified() {
        let both = |word| ends([Some("dcim.interface"), Some(word)]);
        assert_eq!(both("dcim.interface"), Ok(Use::Plugged));
        assert_eq!(ends([None, None]), Ok(Use::Plugged));
        assert_eq!(both("dcim.poweroutlet"), Ok(Use::Other("power")));
        assert_eq!(both("dcim.consoleserverport"), Ok(Use::Other("console")));
        assert_eq!(both("circuits.circuittermination"), Ok(Use::Other("circuits to other networks")));
        assert!(both("dcim.rearport").unwrap_err().contains("patch panel"));
        assert!(both("dcim.socket").unwrap_err().contains("unknown type"));
    }
}
