/* Chooses the entropy value of each packet, and leaves a bad path at once: the library closc-paths-engine.
 *
 * Link libclosc_paths_engine.a (cargo build --release -p closc-paths-engine). Addresses are made of entropy values by
 * closc_paths.h. Nothing is allocated after closc_engine_new() but by closc_engine_reload(), which copies the table.
 * An engine belongs to one thread at a time. Times are nanoseconds of any clock that does not go back.
 * Functions return 0, or below 0 if they did not do it; null pointers are refused.
 */
#ifndef CLOSC_ENGINE_H
#define CLOSC_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct closc_engine;

enum closc_engine_state {
    CLOSC_ENGINE_GOOD = 1,
    CLOSC_ENGINE_ASSUMED_BAD = 2,
    CLOSC_ENGINE_DENIED = 4,
    CLOSC_ENGINE_SKIP = 8,
    CLOSC_ENGINE_UNKNOWN = 128
};

enum closc_engine_reason {
    CLOSC_ENGINE_ADMINISTRATOR = 0,
    CLOSC_ENGINE_DRAIN = 1,
    CLOSC_ENGINE_GRAY_LOSS = 2,
    CLOSC_ENGINE_FAULT = 3
};

struct closc_engine_pick {
    uint32_t entropy;
    uint8_t port; /* of the NIC, which is the plane */
};

/* Fields below 0 mean any. */
struct closc_engine_denial {
    int32_t plane, source, uplink_first, uplink_last, t1_uplink_first, t1_uplink_last, zone, group, downlink;
    int32_t reason;
    uint64_t until_ns; /* 0: until it is allowed */
};

struct closc_engine_event {
    uint64_t path, at_ns;
    uint32_t entropy, lost;
    uint8_t from, to; /* closc_engine_state */
};

/* An engine for the NIC on a downlink (from 0) of the table's group, with room for so many destinations; or NULL. */
struct closc_engine *closc_engine_new(const uint8_t *table, size_t len, uint16_t downlink, size_t destinations);
void closc_engine_free(struct closc_engine *engine);

/* A destination by the 16 bytes of its NIC's address. */
int closc_engine_open(struct closc_engine *engine, const uint8_t *inner, uint64_t now_ns, uint64_t *path);
void closc_engine_close(struct closc_engine *engine, uint64_t path);

/* The path of the next packet; -1 if every path is denied or every plane has a port down. */
int closc_engine_pick(struct closc_engine *engine, uint64_t path, struct closc_engine_pick *pick);

/* What became of a packet or probe: it arrived, met congestion, was lost; a probe did not come back. */
void closc_engine_answered(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);
void closc_engine_congested(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy);
void closc_engine_lost(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);
void closc_engine_missed(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);

/* Ports: an own one, and those of the far side, a bit for each plane; returns those of the far side that came back. What is behind a
 * port that came back may have no routes yet: doubted paths are used again when enough answers came back over each. Whoever sends no
 * probes does not doubt. */
void closc_engine_own_port(struct closc_engine *engine, uint8_t port, int up);
uint32_t closc_engine_far_ports(struct closc_engine *engine, uint64_t path, uint32_t up);
void closc_engine_doubt(struct closc_engine *engine, uint64_t path, uint8_t port, uint64_t now_ns);

/* Denies; -2 if it would take the last path to a destination. Allows again. Ends what is over. */
int closc_engine_deny(struct closc_engine *engine, const struct closc_engine_denial *denial, uint64_t now_ns,
                      uint64_t *id);
int closc_engine_allow(struct closc_engine *engine, uint64_t id, uint64_t now_ns);
void closc_engine_tick(struct closc_engine *engine, uint64_t now_ns);

/* Takes another table of the same group; what did not change keeps its state. */
int closc_engine_reload(struct closc_engine *engine, const uint8_t *table, size_t len, uint64_t now_ns);

/* The state of a path, and the oldest event that nobody saw. */
int closc_engine_state(const struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy);
int closc_engine_next_event(struct closc_engine *engine, struct closc_engine_event *event);

#ifdef __cplusplus
}
#endif

#endif
