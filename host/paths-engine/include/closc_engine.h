/* The library closc-paths-engine: chooses the entropy value of each packet, and stops using a bad path at once.
 *
 * Link libclosc_paths_engine.a (cargo build --release -p closc-paths-engine). closc_paths.h computes addresses from
 * entropy values. Only closc_engine_new() and closc_engine_reload() allocate memory; both copy the table.
 * An engine is used by one thread at a time. Times are in nanoseconds of any monotonic clock.
 * Functions of type int return a negative value on failure, such as for a null pointer. On success they return 0,
 * except for closc_engine_state().
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
    uint8_t port; /* of the NIC; the same number as the plane */
};

/* The paths to deny. A negative field matches every value, with two exceptions: a negative last uplink is equal to the
 * first one, and a negative reason is the administrator. */
struct closc_engine_denial {
    int32_t plane, source, uplink_first, uplink_last, t1_uplink_first, t1_uplink_last, zone, group, downlink;
    int32_t reason;
    uint64_t until_ns; /* 0: until closc_engine_allow() */
};

struct closc_engine_event {
    uint64_t path, at_ns;
    uint32_t entropy, lost;
    uint8_t from, to; /* closc_engine_state */
};

/* Returns an engine for the NIC on a downlink (from 0) of the table's group, or NULL. At most `destinations` are open
 * at a time. */
struct closc_engine *closc_engine_new(const uint8_t *table, size_t len, uint16_t downlink, size_t destinations);
void closc_engine_free(struct closc_engine *engine);

/* Opens a destination by the 16-byte address of its NIC. `path` identifies it in the other functions. */
int closc_engine_open(struct closc_engine *engine, const uint8_t *inner, uint64_t now_ns, uint64_t *path);
void closc_engine_close(struct closc_engine *engine, uint64_t path);

/* Chooses the path of the next packet; -1 if no path is usable, such as when all are denied or every plane has a port
 * down. */
int closc_engine_pick(struct closc_engine *engine, uint64_t path, struct closc_engine_pick *pick);

/* Record the result of a packet or probe: it was answered, it met congestion, the packet was lost, or the probe was not
 * answered. */
void closc_engine_answered(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);
void closc_engine_congested(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy);
void closc_engine_lost(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);
void closc_engine_missed(struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy, uint64_t now_ns);

/* Record the state of one port of this NIC, and of all ports of the destination's NIC, with one bit per plane.
 * closc_engine_far_ports() returns the ports that recovered. The switch behind a recovered port may have no routes yet.
 * closc_engine_doubt() therefore takes the paths of that plane out of use until enough answers arrive over each.
 * Call it only if the destination answers probes. */
void closc_engine_own_port(struct closc_engine *engine, uint8_t port, int up);
uint32_t closc_engine_far_ports(struct closc_engine *engine, uint64_t path, uint32_t up);
void closc_engine_doubt(struct closc_engine *engine, uint64_t path, uint8_t port, uint64_t now_ns);

/* Deny paths (-2 if this would remove the last path to a destination), end a denial, and end expired denials. */
int closc_engine_deny(struct closc_engine *engine, const struct closc_engine_denial *denial, uint64_t now_ns,
                      uint64_t *id);
int closc_engine_allow(struct closc_engine *engine, uint64_t id, uint64_t now_ns);
void closc_engine_tick(struct closc_engine *engine, uint64_t now_ns);

/* Switches to another table of the same group. Paths with the same address keep their state. */
int closc_engine_reload(struct closc_engine *engine, const uint8_t *table, size_t len, uint64_t now_ns);

/* Return the state of a path (closc_engine_state), and remove the oldest event; -1 if there is none. */
int closc_engine_state(const struct closc_engine *engine, uint64_t path, uint8_t port, uint32_t entropy);
int closc_engine_next_event(struct closc_engine *engine, struct closc_engine_event *event);

#ifdef __cplusplus
}
#endif

#endif
