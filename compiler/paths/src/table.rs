//! The reader of path tables.
//!
//! In: bytes. Out: outer destination addresses. Invariants: once a table is open, lookups do not fail. The
//! result for an address outside the fabric is `None`.
//!
//! Plane, uplinks and downlink are numbers that are added to fields of uSIDs. So an outer address is the
//! template of the destination plus one term for each of these numbers. With parallel cables, the T0 uplink
//! also adds the number of the cable to the uSID of the last T0.

use crate::checksum::crc32;
use crate::choice::{Choice, Kind};
use crate::denied::TableDenial;
use crate::layout::{self as at, address_at, u16_at, u32_at};

/// An open table.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    bytes: &'a [u8],
    header: Header,
    uplink_mask: u32,
    plane_mask: u32,
}

/// The numbers in the header of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of planes, which is also the number of ports of a NIC.
    pub planes: u8,
    /// Position of the plane in an outer address.
    pub plane: PlaneAt,
    /// Bits of the T0 uplink in an entropy value: the lowest ones.
    pub uplink_bits: u8,
    /// Bits of the plane, above those of the T0 uplink.
    pub plane_bits: u8,
    /// Bits of the T1 uplink, above those of the plane.
    pub t1_uplink_bits: u8,
    /// Prefix length of the pool of NIC addresses.
    pub pool_len: u8,
    /// The pool of NIC addresses.
    pub pool: u128,
    /// Bits of the zone in a NIC address, 1 to 8. Zone and group together have 16 bits.
    pub zone_bits: u8,
    /// Number of cables between a T0 and a T1.
    pub parallel0: u16,
    /// Number of cables between a T1 and a T2.
    pub parallel1: u16,
    /// Number of uSIDs that a T1 owns.
    pub per_t1: u16,
    /// Number of uplinks of a T0.
    pub t0_uplinks: u16,
    /// Number of uplinks of a T1.
    pub t1_uplinks: u16,
    /// Increment of the T2's uSID per step, which is the T1 uplink divided by `parallel1`.
    pub t2_step: u16,
    /// Increment of the T2's uSID per row of T1s.
    pub t2_row: u16,
    /// Number of rows that T1s share: the row of a T1 is its index modulo this number. If it is 0, the row is
    /// the index.
    pub t2_rows: u16,
    /// Zone of the table's group.
    pub zone: u16,
    /// The table's group.
    pub group: u16,
    /// Number of zones.
    pub zones: u16,
    /// Number of groups in each zone.
    pub groups: u16,
    /// Number of downlinks in use on each T0.
    pub nics: u16,
    /// Number of active entropy values per plane.
    pub active: u16,
    /// Number of backup entropy values per plane.
    pub backup: u16,
    /// Minimum number of active entropy values, over all planes. At this minimum, further values are not
    /// retired.
    pub min_active: u16,
    /// UDP destination port of the transport.
    pub udp_port: u16,
    /// Maximum size of a packet inside the outer header.
    pub mtu: u16,
    /// First T1 uplink of the group's entropy sets; 0 in two tiers.
    pub t1_start: u16,
    /// uSID of the first T2 in plane 0; 0 in two tiers.
    pub t2_usid: u16,
}

/// Position of the plane in an outer address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneAt {
    /// In every uSID, shifted left by `shift` bits.
    Usids {
        /// Number of bits to the right of the plane.
        shift: u8,
    },
    /// In the block: plane 0 has the block of the templates, and plane p has this block plus p.
    Block,
}

impl PlaneAt {
    /// Returns the difference between the addresses of adjacent planes, for a list of `segments` uSIDs.
    fn step(self, segments: u32) -> u128 {
        match self {
            PlaneAt::Usids { shift } => {
                (0..segments).fold(0, |sum, n| sum | 1 << (80 - 16 * n + u32::from(shift)))
            }
            PlaneAt::Block => 1 << 96,
        }
    }
}

/// Reason why bytes are not a valid table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Shorter than a header, or than the length in the header.
    Short,
    /// Longer than the length in the header.
    Long,
    /// Does not begin with `CLPT`.
    Magic,
    /// The version is unknown, or differs from the one that the rest of the header requires.
    Version(u16),
    /// The checksum does not match the bytes.
    Checksum,
    /// A section lies outside the file, or a number is out of range.
    Layout,
    /// The bytes after the denials are not a valid fabric name.
    Name,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Fault::Short => f.write_str("the file is shorter than its header says"),
            Fault::Long => {
                f.write_str("the file is longer than its header says: there is data after the table")
            }
            Fault::Magic => f.write_str("the file is not a path table: it does not begin with `CLPT`"),
            Fault::Version(version) => {
                write!(f, "version {version} is not known here, or not the version of such a table")
            }
            Fault::Checksum => f.write_str("the checksum does not fit: the file is damaged"),
            Fault::Layout => f.write_str("a section lies outside the file, or a number is out of range"),
            Fault::Name => {
                f.write_str("the text after the denials is not the name of a fabric: the file is damaged")
            }
        }
    }
}

impl core::error::Error for Fault {}

/// The group and downlink of an inner address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    template: u128,
    planes: u128,
    /// Distance.
    pub kind: Kind,
    /// Zone.
    pub zone: u16,
    /// Group.
    pub group: u16,
    /// Downlink, from 0.
    pub downlink: u16,
}

/// The data for sending a packet: the NIC port, and the outer destination address in network order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outer {
    /// The NIC port, which is the plane.
    pub port: u8,
    /// The outer destination address.
    pub address: [u8; 16],
}

impl<'a> Table<'a> {
    /// Checks the bytes and opens them as a table.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        if bytes.len() < at::HEADER {
            return Err(Fault::Short);
        }
        if bytes[..4] != at::MAGIC {
            return Err(Fault::Magic);
        }
        let version = u16_at(bytes, at::AT_VERSION);
        if ![at::TWO_TIERS, at::THREE_TIERS, at::WITH_BLOCKS, at::WITH_WIDTHS].contains(&version) {
            return Err(Fault::Version(version));
        }
        let total = u32_at(bytes, at::AT_TOTAL) as usize;
        if bytes.len() != total {
            return Err(if bytes.len() < total { Fault::Short } else { Fault::Long });
        }
        if total < at::HEADER || usize::from(u16_at(bytes, at::AT_HEADER_LEN)) != at::HEADER {
            return Err(Fault::Layout);
        }
        if crc32(&bytes[at::CHECKED_FROM..]) != u32_at(bytes, at::AT_CRC) {
            return Err(Fault::Checksum);
        }
        let header = Header::read(bytes)?;
        // Each table has only one valid version: the one that the writer gives it.
        if version != header.version() {
            return Err(Fault::Version(version));
        }
        let uplink_mask = mask(header.uplink_bits)?;
        let plane_mask = mask(header.plane_bits)?;
        let table = Table { bytes, header, uplink_mask, plane_mask };
        table.check()?;
        Ok(table)
    }

    /// Reopens unchanged bytes with the header of the first [`Table::open`], without checks. With other
    /// bytes, results are meaningless, but there are never panics.
    pub fn reopen(bytes: &'a [u8], header: Header) -> Self {
        let of = |bits: u8| mask(bits).unwrap_or(0);
        Table { bytes, header, uplink_mask: of(header.uplink_bits), plane_mask: of(header.plane_bits) }
    }

    fn check(&self) -> Result<(), Fault> {
        let h = self.header;
        let width = u32::from(h.uplink_bits) + u32::from(h.plane_bits) + u32::from(h.t1_uplink_bits);
        let sections = [
            (at::AT_DESTINATIONS, usize::from(h.zones) * usize::from(h.groups) * at::DESTINATION),
            (at::AT_ORDERS, usize::from(h.planes) * usize::from(h.t0_uplinks) * 2),
            (at::AT_DENIED, u32_at(self.bytes, at::AT_DENIED_COUNT) as usize * at::DENIED),
        ];
        let inside = sections.into_iter().all(|(field, len)| {
            (u32_at(self.bytes, field) as usize).checked_add(len).is_some_and(|end| end <= self.bytes.len())
        });
        let shift = match h.plane {
            PlaneAt::Usids { shift } => shift,
            PlaneAt::Block => 0,
        };
        let numbers = h.parallel0 > 0
            && h.parallel1 > 0
            && shift < 16
            && width <= 32
            && h.pool_len <= 48
            && (1..=8).contains(&h.zone_bits)
            && h.t0_uplinks > 0
            && h.t1_start < h.t1_uplinks.max(1)
            && h.zone < h.zones
            && h.group < h.groups;
        if !(inside && numbers) {
            return Err(Fault::Layout);
        }
        self.check_name()
    }

    /// Checks that the table ends with the denials, or with a complete name.
    fn check_name(&self) -> Result<(), Fault> {
        let start = self.denials_end().ok_or(Fault::Layout)?;
        if start == self.bytes.len() {
            return Ok(());
        }
        let name = self.fabric().ok_or(Fault::Name)?;
        let end = start + 1 + name.len();
        let rest = self.bytes.get(end..).ok_or(Fault::Name)?;
        let fills = end.next_multiple_of(4) == self.bytes.len() && rest.iter().all(|byte| *byte == 0);
        if fills { Ok(()) } else { Err(Fault::Name) }
    }

    /// Returns the offset at which the denials end; `None` if it is outside the table.
    fn denials_end(&self) -> Option<usize> {
        let denials = (u32_at(self.bytes, at::AT_DENIED_COUNT) as usize).checked_mul(at::DENIED)?;
        let start = (u32_at(self.bytes, at::AT_DENIED) as usize).checked_add(denials)?;
        (at::HEADER..=self.bytes.len()).contains(&start).then_some(start)
    }

    /// Returns the numbers of the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the name of the fabric, which follows the denials; `None` if the table does not contain one,
    /// as in tables from older compilers.
    pub fn fabric(&self) -> Option<&'a str> {
        let (len, rest) = self.bytes.get(self.denials_end()?..)?.split_first()?;
        let name = rest.get(..usize::from(*len))?;
        core::str::from_utf8(name).ok().filter(|name| !name.is_empty())
    }

    /// Returns the checksum of the table. Two different tables have the same checksum with a probability of
    /// one in four billion.
    pub fn checksum(&self) -> u32 {
        u32_at(self.bytes, at::AT_CRC)
    }

    /// Returns the group and downlink of a NIC's inner address; `None` for addresses outside the fabric.
    pub fn destination(&self, inner: [u8; 16]) -> Option<Destination> {
        let inner = u128::from_be_bytes(inner);
        let h = &self.header;
        let pool_bits = u32::from(h.pool_len);
        let under = if pool_bits == 0 { 0 } else { (inner ^ h.pool) >> (128 - pool_bits) };
        let place = (inner >> 64) as u16;
        let group_bits = 16 - h.zone_bits.min(15);
        let (zone, ordinal) = (place >> group_bits, place & ((1 << group_bits) - 1));
        let (group, downlink) = (ordinal.wrapping_sub(1), (inner as u16).wrapping_sub(1));
        // All bits between the pool and the coordinates, and between the coordinates and the downlink, are
        // zero.
        let gaps = (inner ^ h.pool) & !(0xffff << 64 | 0xffff);
        let known = under == 0 && gaps == 0 && zone < h.zones && group < h.groups && downlink < h.nics;
        known.then(|| self.record(zone, group, downlink)).flatten()
    }

    fn record(&self, zone: u16, group: u16, downlink: u16) -> Option<Destination> {
        let index = usize::from(zone) * usize::from(self.header.groups) + usize::from(group);
        let start = u32_at(self.bytes, at::AT_DESTINATIONS) as usize + index * at::DESTINATION;
        let record = self.bytes.get(start..start + at::DESTINATION)?;
        let (kind, segments) = match record[16] {
            1 => (Kind::Local, 2),
            2 => (Kind::Zone, 4),
            3 => (Kind::Far, 6),
            _ => return None,
        };
        let planes = self.header.plane.step(segments);
        let template = address_at(record, 0).wrapping_add(u128::from(downlink) << (96 - 16 * segments));
        Some(Destination { template, planes, kind, zone, group, downlink })
    }

    /// Splits an entropy value. Fields may be out of range, see [`Table::in_range`].
    pub fn choice(&self, entropy: u32) -> Choice {
        let h = &self.header;
        let above = u64::from(entropy) >> h.uplink_bits;
        Choice {
            plane: (above as u32 & self.plane_mask) as u8,
            t0_uplink: (entropy & self.uplink_mask) as u16,
            t1_uplink: (above >> h.plane_bits) as u16,
        }
    }

    /// Returns whether a choice names a plane and uplinks that exist.
    pub fn in_range(&self, choice: Choice) -> bool {
        choice.plane < self.header.planes
            && choice.t0_uplink < self.header.t0_uplinks
            && choice.t1_uplink < self.header.t1_uplinks.max(1)
    }

    /// Returns the NIC port and the outer address for an entropy value. For local destinations, the uplinks
    /// are ignored.
    #[inline]
    pub fn outer(&self, to: &Destination, entropy: u32) -> Outer {
        let choice = self.choice(entropy);
        let planes = to.planes.wrapping_mul(u128::from(choice.plane));
        let address = to.template.wrapping_add(planes).wrapping_add(self.uplinks(to.kind, choice));
        Outer { port: choice.plane, address: address.to_be_bytes() }
    }

    #[inline]
    fn uplinks(&self, kind: Kind, choice: Choice) -> u128 {
        let h = &self.header;
        let slot = |number: u32, value: u16| u128::from(value) << (96 - 16 * number);
        match kind {
            Kind::Local => 0,
            Kind::Zone if h.parallel0 == 1 && h.per_t1 == 1 => slot(2, choice.t0_uplink),
            Kind::Zone | Kind::Far => {
                let (index, cable0) = (choice.t0_uplink / h.parallel0, choice.t0_uplink % h.parallel0);
                let t1 = index.wrapping_mul(h.per_t1);
                let up = slot(2, t1.wrapping_add(cable0));
                if kind == Kind::Zone {
                    return up + slot(3, cable0);
                }
                let (step, cable1) = (choice.t1_uplink / h.parallel1, choice.t1_uplink % h.parallel1);
                let row = index.checked_rem(h.t2_rows).unwrap_or(index);
                let t2 = step.wrapping_mul(h.t2_step).wrapping_add(row.wrapping_mul(h.t2_row));
                up + slot(3, t2.wrapping_add(cable1)) + slot(4, t1.wrapping_add(cable1)) + slot(5, cable0)
            }
        }
    }

    /// Returns the order of uplinks of a plane; entropy sets are windows of this order.
    pub fn order(&self, plane: u8) -> impl Iterator<Item = u16> + 'a {
        let uplinks = usize::from(self.header.t0_uplinks);
        let start = u32_at(self.bytes, at::AT_ORDERS) as usize + usize::from(plane) * uplinks * 2;
        let count = if plane < self.header.planes { uplinks } else { 0 };
        let bytes = self.bytes;
        (0..count).map(move |n| u16_at(bytes, start + n * 2))
    }

    /// Returns the entropy values of a NIC in a plane: first the active ones, then the backup ones.
    ///
    /// They follow consecutive positions in the order of uplinks, modulo its length. The T1 uplink advances
    /// with each T0 uplink, and once more with each round.
    pub fn entropy_values(&self, plane: u8, downlink: u16) -> impl Iterator<Item = u32> + '_ {
        let h = &self.header;
        let base =
            u32_at(self.bytes, at::AT_ORDERS) as usize + usize::from(plane) * usize::from(h.t0_uplinks) * 2;
        let first = usize::from(downlink) * usize::from(h.active);
        let count = if plane < h.planes { usize::from(h.active) + usize::from(h.backup) } else { 0 };
        let uplinks = usize::from(h.t0_uplinks);
        (first..first + count).map(move |n| {
            let uplink = u16_at(self.bytes, base + n % uplinks * 2);
            let t1 = usize::from(h.t1_start) + n / uplinks + usize::from(uplink);
            let t1 = (t1 % usize::from(h.t1_uplinks.max(1))) as u64;
            let high = t1 << h.plane_bits | u64::from(plane);
            (high << h.uplink_bits | u64::from(uplink)) as u32
        })
    }

    /// Returns the denials.
    pub fn denials(&self) -> impl Iterator<Item = TableDenial> + 'a {
        let start = u32_at(self.bytes, at::AT_DENIED) as usize;
        let count = u32_at(self.bytes, at::AT_DENIED_COUNT) as usize;
        let bytes = self.bytes;
        (0..count).map(move |n| {
            let from = start + n * at::DENIED;
            TableDenial::read(bytes.get(from..from + at::DENIED).unwrap_or(&[]))
        })
    }

    /// Returns whether a path of a sender, given by its downlink, is denied.
    pub fn is_denied(&self, source: u16, to: &Destination, entropy: u32) -> bool {
        let choice = self.choice(entropy);
        self.denials().any(|d| d.covers(to.kind, source, (to.zone, to.group, to.downlink), choice))
    }

    /// Returns the address of a probe to the T0 and back.
    pub fn t0_probe(&self, plane: u8, downlink: u16) -> [u8; 16] {
        let planes = self.planes(2, plane);
        let template = address_at(self.bytes, at::AT_T0_PROBE).wrapping_add(u128::from(downlink) << 64);
        template.wrapping_add(planes).to_be_bytes()
    }

    /// Returns the address of a probe over a T0 uplink to the T1 and back.
    pub fn t1_probe(&self, plane: u8, uplink: u16, downlink: u16) -> [u8; 16] {
        let planes = self.planes(4, plane);
        let choice = Choice { plane, t0_uplink: uplink, t1_uplink: 0 };
        let template = address_at(self.bytes, at::AT_T1_PROBE).wrapping_add(u128::from(downlink) << 32);
        template.wrapping_add(planes).wrapping_add(self.uplinks(Kind::Zone, choice)).to_be_bytes()
    }

    /// Returns the address of a probe over a T0 uplink and a T1 uplink to the T2 and back; `None` in two
    /// tiers.
    pub fn t2_probe(&self, plane: u8, uplink: u16, t1_uplink: u16, downlink: u16) -> Option<[u8; 16]> {
        if self.header.t1_uplinks == 0 {
            return None;
        }
        let planes = self.planes(6, plane);
        let choice = Choice { plane, t0_uplink: uplink, t1_uplink };
        // Block, T0 and T1 of the T1 probe; then T2, the same T1 and T0 again, and the NIC.
        let around = address_at(self.bytes, at::AT_T1_PROBE);
        let usid = |slot: u32| around >> (96 - 16 * slot) & 0xffff;
        let [t0, t1, nic] = [usid(1), usid(2), usid(4)];
        let back = u128::from(self.header.t2_usid) << 48 | t1 << 32 | t0 << 16;
        let template = around >> 64 << 64 | back | nic.wrapping_add(u128::from(downlink)) & 0xffff;
        Some(template.wrapping_add(planes).wrapping_add(self.uplinks(Kind::Far, choice)).to_be_bytes())
    }

    fn planes(&self, segments: u32, plane: u8) -> u128 {
        self.header.plane.step(segments).wrapping_mul(u128::from(plane))
    }
}

impl Header {
    /// Returns the address of a NIC of the fabric.
    pub fn nic(&self, (zone, group): (u16, u16), downlink: u16) -> [u8; 16] {
        let place = u32::from(zone) << (16 - self.zone_bits.min(16)) | (u32::from(group) + 1);
        (self.pool | u128::from(place as u16) << 64 | (u128::from(downlink) + 1)).to_be_bytes()
    }

    /// Returns the version of a table with this header: the oldest one that can express it.
    pub(crate) fn version(&self) -> u16 {
        match (self.plane, self.t2_rows, self.t1_uplinks) {
            _ if self.zone_bits != DEFAULT_ZONE_BITS => at::WITH_WIDTHS,
            (PlaneAt::Usids { .. }, 0, 0) => at::TWO_TIERS,
            (PlaneAt::Usids { .. }, 0, _) => at::THREE_TIERS,
            _ => at::WITH_BLOCKS,
        }
    }

    fn read(bytes: &[u8]) -> Result<Header, Fault> {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let plane = match byte(at::AT_PLANE_IN) {
            at::IN_USIDS => PlaneAt::Usids { shift: byte(at::AT_PLANE_SHIFT) },
            at::IN_BLOCK => PlaneAt::Block,
            _ => return Err(Fault::Layout),
        };
        let zone_bits = match byte(at::AT_ZONE_BITS) {
            0 => DEFAULT_ZONE_BITS,
            DEFAULT_ZONE_BITS => return Err(Fault::Layout),
            bits => bits,
        };
        Ok(Header {
            planes: byte(at::AT_PLANES),
            plane,
            uplink_bits: byte(at::AT_UPLINK_BITS),
            plane_bits: byte(at::AT_PLANE_BITS),
            t1_uplink_bits: byte(at::AT_T1_UPLINK_BITS),
            pool_len: byte(at::AT_POOL_LEN),
            pool: address_at(bytes, at::AT_POOL),
            zone_bits,
            parallel0: u16_at(bytes, at::AT_PARALLEL0),
            parallel1: u16_at(bytes, at::AT_PARALLEL1),
            per_t1: u16_at(bytes, at::AT_PER_T1),
            t0_uplinks: u16_at(bytes, at::AT_T0_UPLINKS),
            t1_uplinks: u16_at(bytes, at::AT_T1_UPLINKS),
            t2_step: u16_at(bytes, at::AT_T2_STEP),
            t2_row: u16_at(bytes, at::AT_T2_ROW),
            t2_rows: u16_at(bytes, at::AT_T2_ROWS),
            zone: u16_at(bytes, at::AT_ZONE),
            group: u16_at(bytes, at::AT_GROUP),
            zones: u16_at(bytes, at::AT_ZONES),
            groups: u16_at(bytes, at::AT_GROUPS),
            nics: u16_at(bytes, at::AT_NICS),
            active: u16_at(bytes, at::AT_ACTIVE),
            backup: u16_at(bytes, at::AT_BACKUP),
            min_active: u16_at(bytes, at::AT_MIN_ACTIVE),
            udp_port: u16_at(bytes, at::AT_UDP_PORT),
            mtu: u16_at(bytes, at::AT_MTU),
            t1_start: u16_at(bytes, at::AT_T1_START),
            t2_usid: u16_at(bytes, at::AT_T2_USID),
        })
    }
}

/// Bits of the zone in tables that do not state them.
pub(crate) const DEFAULT_ZONE_BITS: u8 = 4;

fn mask(bits: u8) -> Result<u32, Fault> {
    if bits <= 16 { Ok((1 << bits) - 1) } else { Err(Fault::Layout) }
}
