//! QoS profiles, PFC headroom and ECN thresholds.
