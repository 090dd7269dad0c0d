/* Reads compact path tables (see FORMAT.md): entropy sets of a NIC, the outer destination address for an entropy
 * value, and addresses of probes.
 *
 * Header-only C99 without allocation or dependencies. Open a table once, and look a destination up once per queue
 * pair. Take the sender's entropy values from closc_paths_entropy(), and call closc_paths_outer() for each packet. Every
 * function is safe on any bytes: closc_paths_open() checks lengths and checksum, and later reads stay within the
 * checked bytes.
 */
#ifndef CLOSC_PATHS_H
#define CLOSC_PATHS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum closc_paths_fault {
    CLOSC_PATHS_OK = 0,
    CLOSC_PATHS_SHORT = 1,    /* shorter than a header, or than the length in the header */
    CLOSC_PATHS_MAGIC = 2,    /* does not begin with CLPT */
    CLOSC_PATHS_VERSION = 3,  /* the version is unknown, or not the one that the rest of the header requires */
    CLOSC_PATHS_CHECKSUM = 4, /* the checksum does not match the bytes */
    CLOSC_PATHS_LAYOUT = 5,   /* a section lies outside the file, or a number is out of range */
    CLOSC_PATHS_LONG = 6,     /* longer than the length in the header */
    CLOSC_PATHS_NAME = 7      /* the bytes after the denials are not a valid fabric name */
};

struct closc_paths_table {
    const uint8_t *bytes;
    uint32_t destinations, orders, denied, denied_count;
    uint16_t parallel0, parallel1, per_t1, t0_uplinks, t1_uplinks, t2_step, t2_row;
    uint16_t zone, group, zones, groups, nics;
    uint16_t active, backup, min_active; /* active and backup per plane, min_active over all planes */
    uint16_t udp_port, mtu;              /* of the transport; maximum size of the inner packet */
    uint16_t t1_start, t2_usid;          /* 0 in two tiers */
    uint16_t t2_rows;                    /* rows that T1s share; if 0, the row of a T1 is its index */
    uint8_t plane_in_block;              /* 1 if the block contains the plane, 0 if every uSID does */
    uint8_t zone_bits;                   /* bits of the zone in a NIC address; zone and group together have 16 */
    uint8_t planes, plane_shift, uplink_bits, plane_bits, t1_uplink_bits, pool_len;
};

struct closc_paths_destination {
    uint16_t usid[6]; /* for plane 0 and uplink 0 */
    uint32_t block; /* of plane 0 */
    uint8_t segments; /* 2, 4 or 6 */
    uint16_t zone, group, downlink;
};

struct closc_paths_choice {
    uint8_t plane; /* also the NIC port */
    uint16_t t0_uplink, t1_uplink;
};

static inline uint16_t closc_paths_u16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }

static inline uint32_t closc_paths_u32(const uint8_t *at) {
    return (uint32_t)closc_paths_u16(at) | (uint32_t)closc_paths_u16(at + 2) << 16;
}

static inline uint16_t closc_paths_net16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static inline uint32_t closc_paths_crc32(const uint8_t *at, size_t len) {
    uint32_t crc = 0xffffffffu;
    for (size_t n = 0; n < len; n++) {
        crc ^= at[n];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static inline int closc_paths_inside(uint32_t offset, uint64_t len, uint32_t total) {
    return (uint64_t)offset + len <= total;
}

/* Returns whether bytes are valid UTF-8 (RFC 3629, section 4). */
static inline int closc_paths_is_utf8(const uint8_t *at, size_t len) {
    for (size_t n = 0; n < len;) {
        uint8_t first = at[n];
        size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 4;
        if (more > 3 || len - n <= more) return 0;
        uint32_t sign = more == 0 ? first : first & (0x3f >> more);
        for (size_t k = 1; k <= more; k++) {
            if (at[n + k] >> 6 != 2) return 0;
            sign = sign << 6 | (at[n + k] & 0x3f);
        }
        /* Reject overlong forms, surrogates, and values above U+10FFFF. */
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (sign < least[more] || (sign >= 0xd800 && sign < 0xe000) || sign > 0x10ffff) return 0;
        n += more + 1;
    }
    return 1;
}

/* Returns whether a table ends with its denials, or with a complete name. */
static inline int closc_paths_ends_well(const uint8_t *bytes, uint64_t start, uint32_t total) {
    if (start == total) return 1;
    uint64_t end = start + 1 + bytes[start];
    if (bytes[start] == 0 || end > total || ((end + 3) & ~(uint64_t)3) != total) return 0;
    for (uint64_t n = end; n < total; n++) {
        if (bytes[n] != 0) return 0;
    }
    return closc_paths_is_utf8(bytes + start + 1, bytes[start]);
}

/* Checks bytes and opens them as a table. The bytes must outlive the table. */
static inline enum closc_paths_fault closc_paths_open(struct closc_paths_table *t, const uint8_t *bytes, size_t len) {
    if (len < 128) return CLOSC_PATHS_SHORT;
    if (memcmp(bytes, "CLPT", 4) != 0) return CLOSC_PATHS_MAGIC;
    uint16_t version = closc_paths_u16(bytes + 4);
    if (version < 1 || version > 4) return CLOSC_PATHS_VERSION;
    uint32_t total = closc_paths_u32(bytes + 8);
    if (total > len) return CLOSC_PATHS_SHORT;
    if (total < len) return CLOSC_PATHS_LONG;
    if (total < 128 || closc_paths_u16(bytes + 6) != 128) return CLOSC_PATHS_LAYOUT;
    if (closc_paths_crc32(bytes + 16, total - 16) != closc_paths_u32(bytes + 12)) return CLOSC_PATHS_CHECKSUM;
    t->bytes = bytes;
    t->planes = bytes[16], t->plane_shift = bytes[17], t->uplink_bits = bytes[18];
    t->plane_bits = bytes[19], t->t1_uplink_bits = bytes[20], t->pool_len = bytes[21];
    t->parallel0 = closc_paths_u16(bytes + 22), t->parallel1 = closc_paths_u16(bytes + 24);
    t->per_t1 = closc_paths_u16(bytes + 26);
    t->t0_uplinks = closc_paths_u16(bytes + 28), t->t1_uplinks = closc_paths_u16(bytes + 30);
    t->t2_step = closc_paths_u16(bytes + 32), t->t2_row = closc_paths_u16(bytes + 34);
    t->zone = closc_paths_u16(bytes + 36), t->group = closc_paths_u16(bytes + 38);
    t->zones = closc_paths_u16(bytes + 40), t->groups = closc_paths_u16(bytes + 42);
    t->nics = closc_paths_u16(bytes + 44);
    t->active = closc_paths_u16(bytes + 46), t->backup = closc_paths_u16(bytes + 48);
    t->min_active = closc_paths_u16(bytes + 50);
    t->udp_port = closc_paths_u16(bytes + 52), t->mtu = closc_paths_u16(bytes + 54);
    t->t1_start = closc_paths_u16(bytes + 120), t->t2_usid = closc_paths_u16(bytes + 122);
    t->plane_in_block = bytes[124];
    t->t2_rows = closc_paths_u16(bytes + 126);
    if (t->plane_in_block > 1) return CLOSC_PATHS_LAYOUT;
    if (bytes[125] == 4) return CLOSC_PATHS_LAYOUT;
    t->zone_bits = bytes[125] ? bytes[125] : 4;
    /* Each table has only one valid version: the oldest that can express it. */
    if (version != (t->zone_bits != 4 ? 4 : t->plane_in_block || t->t2_rows > 0 ? 3 : t->t1_uplinks > 0 ? 2 : 1)) return CLOSC_PATHS_VERSION;
    if (t->plane_in_block) t->plane_shift = 0;
    t->destinations = closc_paths_u32(bytes + 72), t->orders = closc_paths_u32(bytes + 76);
    t->denied = closc_paths_u32(bytes + 80), t->denied_count = closc_paths_u32(bytes + 84);
    int inside = closc_paths_inside(t->destinations, (uint64_t)t->zones * t->groups * 24, total) &&
                 closc_paths_inside(t->orders, (uint64_t)t->planes * t->t0_uplinks * 2, total) &&
                 closc_paths_inside(t->denied, (uint64_t)t->denied_count * 20, total);
    int numbers = t->parallel0 > 0 && t->parallel1 > 0 && t->plane_shift < 16 && t->uplink_bits <= 16 &&
                  t->plane_bits <= 16 && t->uplink_bits + t->plane_bits + t->t1_uplink_bits <= 32 &&
                  t->pool_len <= 48 && t->zone_bits >= 1 && t->zone_bits <= 8 && t->t0_uplinks > 0 && t->t1_start < (t->t1_uplinks > 0 ? t->t1_uplinks : 1) &&
                  t->zone < t->zones && t->group < t->groups;
    uint64_t behind = (uint64_t)t->denied + (uint64_t)t->denied_count * 20;
    if (!inside || !numbers || behind < 128) return CLOSC_PATHS_LAYOUT;
    return closc_paths_ends_well(bytes, behind, total) ? CLOSC_PATHS_OK : CLOSC_PATHS_NAME;
}

/* Returns the name of the fabric, without a terminating zero, and sets its length. NULL if the table has no name. */
static inline const char *closc_paths_fabric(const struct closc_paths_table *t, size_t *len) {
    uint64_t start = (uint64_t)t->denied + (uint64_t)t->denied_count * 20;
    uint32_t total = closc_paths_u32(t->bytes + 8);
    if (start >= total || t->bytes[start] == 0 || start + 1 + t->bytes[start] > total) return NULL;
    *len = t->bytes[start];
    return (const char *)t->bytes + start + 1;
}

/* Finds the group and downlink of a NIC's inner address. Returns 0 for addresses outside the fabric. */
static inline int closc_paths_find(const struct closc_paths_table *t, const uint8_t inner[16],
                                   struct closc_paths_destination *to) {
    const uint8_t *pool = t->bytes + 56;
    for (int n = 0; n < 14; n++)
        if (n != 6 && n != 7 && inner[n] != pool[n]) return 0;
    uint16_t place = closc_paths_net16(inner + 6), last = closc_paths_net16(inner + 14);
    int group_bits = 16 - t->zone_bits;
    uint16_t ordinal = (uint16_t)(place & ((1u << group_bits) - 1));
    if (ordinal == 0 || last == 0) return 0;
    to->zone = (uint16_t)(place >> group_bits), to->group = (uint16_t)(ordinal - 1), to->downlink = (uint16_t)(last - 1);
    if (to->zone >= t->zones || to->group >= t->groups || to->downlink >= t->nics) return 0;
    const uint8_t *record = t->bytes + t->destinations + ((uint32_t)to->zone * t->groups + to->group) * 24;
    if (record[16] < 1 || record[16] > 3) return 0;
    to->segments = (uint8_t)(record[16] * 2);
    to->block = (uint32_t)closc_paths_net16(record) << 16 | closc_paths_net16(record + 2);
    for (int n = 0; n < 6; n++) to->usid[n] = closc_paths_net16(record + 4 + 2 * n);
    to->usid[to->segments - 1] = (uint16_t)(to->usid[to->segments - 1] + to->downlink);
    return 1;
}

/* Splits an entropy value. */
static inline struct closc_paths_choice closc_paths_choice(const struct closc_paths_table *t, uint32_t entropy) {
    uint64_t above = (uint64_t)entropy >> t->uplink_bits;
    struct closc_paths_choice choice = {
        (uint8_t)(above & ((1u << t->plane_bits) - 1)),
        (uint16_t)(entropy & ((1u << t->uplink_bits) - 1)),
        (uint16_t)(above >> t->plane_bits),
    };
    return choice;
}

/* Returns the number of entropy values that a NIC has in a plane: the active ones, then the backup ones. */
static inline uint32_t closc_paths_values(const struct closc_paths_table *t) {
    return (uint32_t)t->active + t->backup;
}

/* Returns entropy value n of a NIC (given by its downlink, from 0) in a plane. n is below closc_paths_values(). Returns
 * 0 for planes that do not exist. The values follow consecutive positions in the order of uplinks, modulo its length.
 * The T1 uplink advances with each T0 uplink, and once more with each round. */
static inline uint32_t closc_paths_entropy(const struct closc_paths_table *t, uint8_t plane, uint16_t downlink,
                                           uint32_t n) {
    if (plane >= t->planes) return 0;
    uint64_t at = (uint64_t)downlink * t->active + n;
    uint64_t in_order = (uint64_t)plane * t->t0_uplinks + at % t->t0_uplinks;
    uint16_t uplink = closc_paths_u16(t->bytes + t->orders + in_order * 2);
    uint16_t t1_uplinks = t->t1_uplinks > 0 ? t->t1_uplinks : 1;
    uint64_t t1 = (t->t1_start + at / t->t0_uplinks + uplink) % t1_uplinks;
    return (uint32_t)((t1 << t->plane_bits | plane) << t->uplink_bits | uplink);
}

/* Adds the fields of a choice to a list of uSIDs, modulo 2^16. */
static inline void closc_paths_fill(const struct closc_paths_table *t, struct closc_paths_choice c, uint8_t segments,
                                    uint16_t usid[6]) {
    for (int n = 0; n < segments && !t->plane_in_block; n++)
        usid[n] = (uint16_t)(usid[n] + ((uint32_t)c.plane << t->plane_shift));
    if (segments <= 2) return;
    uint32_t j = c.t0_uplink / t->parallel0, cable0 = c.t0_uplink % t->parallel0;
    uint32_t t1 = j * t->per_t1;
    usid[1] = (uint16_t)(usid[1] + t1 + cable0);
    if (segments == 4) {
        usid[2] = (uint16_t)(usid[2] + cable0);
        return;
    }
    uint32_t step = c.t1_uplink / t->parallel1, cable1 = c.t1_uplink % t->parallel1;
    uint32_t row = t->t2_rows > 0 ? j % t->t2_rows : j;
    usid[2] = (uint16_t)(usid[2] + step * t->t2_step + row * t->t2_row + cable1);
    usid[3] = (uint16_t)(usid[3] + t1 + cable1);
    usid[4] = (uint16_t)(usid[4] + cable0);
}

/* Returns the block of a plane. */
static inline uint32_t closc_paths_block(const struct closc_paths_table *t, uint32_t first, uint8_t plane) {
    return t->plane_in_block ? first + plane : first;
}

static inline void closc_paths_address(uint32_t block, const uint16_t usid[6], uint8_t outer[16]) {
    for (int n = 0; n < 4; n++) outer[n] = (uint8_t)(block >> (24 - 8 * n));
    for (int n = 0; n < 6; n++) {
        outer[4 + 2 * n] = (uint8_t)(usid[n] >> 8);
        outer[5 + 2 * n] = (uint8_t)usid[n];
    }
}

/* Writes the outer destination address in network order and returns the NIC port. */
static inline uint8_t closc_paths_outer(const struct closc_paths_table *t, const struct closc_paths_destination *to,
                                        uint32_t entropy, uint8_t outer[16]) {
    struct closc_paths_choice c = closc_paths_choice(t, entropy);
    uint16_t usid[6];
    for (int n = 0; n < 6; n++) usid[n] = n < to->segments ? to->usid[n] : 0;
    closc_paths_fill(t, c, to->segments, usid);
    closc_paths_address(closc_paths_block(t, to->block, c.plane), usid, outer);
    return c.plane;
}

/* Writes the address of a probe that returns to its NIC (given by its downlink) and port (the plane). With 2 segments
 * it goes over the T0, with 4 over a T0 uplink and the T1. With 6 it also goes over a T1 uplink and the T2. Returns 0 for
 * other numbers of segments, and for 6 without T2s. */
static inline int closc_paths_probe(const struct closc_paths_table *t, uint8_t segments,
                                    struct closc_paths_choice over, uint16_t downlink, uint8_t outer[16]) {
    if (segments != 2 && segments != 4 && (segments != 6 || t->t1_uplinks == 0)) return 0;
    const uint8_t *at = t->bytes + (segments == 2 ? 88 : 104);
    uint32_t block = (uint32_t)closc_paths_net16(at) << 16 | closc_paths_net16(at + 2);
    uint16_t usid[6] = {0};
    for (int n = 0; n < 4; n++) usid[n] = closc_paths_net16(at + 4 + 2 * n);
    if (segments == 6) {
        uint16_t nic = usid[3];
        usid[2] = t->t2_usid, usid[3] = usid[1], usid[4] = usid[0], usid[5] = nic;
    }
    usid[segments - 1] = (uint16_t)(usid[segments - 1] + downlink);
    closc_paths_fill(t, over, segments, usid);
    closc_paths_address(closc_paths_block(t, block, over.plane), usid, outer);
    return 1;
}

static inline int closc_paths_within(const uint8_t *range, uint16_t value) {
    return closc_paths_u16(range) <= value && value <= closc_paths_u16(range + 2);
}

/* Returns whether a path of a sender (given by its downlink, from 0) is denied. */
static inline int closc_paths_is_denied(const struct closc_paths_table *t, uint16_t source,
                                        const struct closc_paths_destination *to, uint32_t entropy) {
    struct closc_paths_choice c = closc_paths_choice(t, entropy);
    for (uint32_t n = 0; n < t->denied_count; n++) {
        const uint8_t *d = t->bytes + t->denied + n * 20;
        uint16_t flags = closc_paths_u16(d + 2);
        if (d[0] != c.plane) continue;
        if (flags & 1 && closc_paths_u16(d + 4) != source) continue;
        if (flags & 2 && (to->segments == 2 || !closc_paths_within(d + 6, c.t0_uplink))) continue;
        if (flags & 4 && (to->segments != 6 || !closc_paths_within(d + 10, c.t1_uplink))) continue;
        if (flags & 8 && closc_paths_u16(d + 14) != to->zone) continue;
        if (flags & 16 && closc_paths_u16(d + 16) != to->group) continue;
        if (flags & 32 && closc_paths_u16(d + 18) != to->downlink) continue;
        return 1;
    }
    return 0;
}

#endif
