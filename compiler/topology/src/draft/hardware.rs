//! Every kind of switch of a fabric: the tiers', those of single planes and those of single devices.

use std::sync::Arc;

use closc_diagnostics::Span;
use closc_platform::{Catalogue, Os, Platform};

use super::DraftTier;
use super::exceptions::{DraftExceptions, Entry};
use super::tier::resolve;
use crate::coordinate::{Subject, TierId};
use crate::document::{FabricDoc, HardwareDoc};

/// A kind of switch: hardware and operating system, and where they were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Hardware {
    pub(crate) tier: TierId,
    pub(crate) platform: Arc<Platform>,
    pub(crate) os: Os,
    pub(crate) platform_span: Span,
    pub(crate) os_span: Span,
    /// Which switches it is about, for messages: `each T0`, `each T0 of plane 3`, `` `p3-t0-017` ``.
    pub(crate) who: String,
}

/// Lists every kind of switch whose platform is known.
pub(super) fn list(
    doc: &FabricDoc,
    catalogue: &Catalogue,
    tiers: &[&DraftTier],
    exceptions: &DraftExceptions,
) -> Vec<Hardware> {
    let mut found = Vec::new();
    for tier in tiers {
        let label = tier.id.label();
        if let (Some(platform), Some(os)) = (&tier.platform, tier.os) {
            found.push(Hardware {
                tier: tier.id,
                platform: platform.clone(),
                os,
                platform_span: tier.name.span,
                os_span: tier.os_span,
                who: format!("each {label}"),
            });
        }
        for (plane, span, override_doc) in by_plane(doc, tier.id) {
            let Some((platform, os)) = resolve(override_doc, catalogue, tier.platform.as_ref(), tier.os)
            else {
                continue;
            };
            found.push(kind(
                tier.id,
                platform,
                os,
                span,
                override_doc,
                format!("each {label} of plane {plane}"),
            ));
        }
    }
    for (entries, override_doc) in &exceptions.devices {
        // A range of a thousand switches is one kind of switch in each tier.
        for tier in tiers {
            let of_tier = |entry: &&Entry| matches!(entry.subject, Ok(Subject::Switch(switch)) if switch.tier == tier.id);
            let Some(entry) = entries.iter().find(of_tier) else { continue };
            let Some((platform, os)) = resolve(override_doc, catalogue, tier.platform.as_ref(), tier.os)
            else {
                continue;
            };
            found.push(kind(tier.id, platform, os, entry.span, override_doc, format!("`{}`", entry.name)));
        }
    }
    found
}

fn kind(
    tier: TierId,
    platform: Arc<Platform>,
    os: Os,
    span: Span,
    doc: &HardwareDoc,
    who: String,
) -> Hardware {
    Hardware {
        tier,
        platform,
        os,
        platform_span: doc.platform.as_ref().map_or(span, |platform| platform.span),
        os_span: doc.os.map_or(span, |os| os.span),
        who,
    }
}

/// Returns the planes of a tier that have hardware of their own, as they were written.
pub(crate) fn by_plane(doc: &FabricDoc, tier: TierId) -> impl Iterator<Item = (u16, Span, &HardwareDoc)> {
    let stated = match tier {
        TierId::T0 => doc.tiers.t0.by_plane.as_ref(),
        TierId::T1 => doc.tiers.t1.by_plane.as_ref(),
        TierId::T2 => doc.tiers.t2.as_ref().and_then(|t2| t2.by_plane.as_ref()),
    };
    stated
        .map(|named| named.0.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|(plane, hardware)| (plane.value, plane.span, hardware))
}
