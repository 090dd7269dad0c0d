/* A sender in C: sends on every path of a destination, loses one, denies one, and uses both again. */
#include "closc_engine.h"
#include "closc_paths.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

int main(int argc, char **argv) {
    static uint8_t bytes[65536], inner[16];
    FILE *file = fopen(argc > 1 ? argv[1] : "", "rb");
    CHECK(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct closc_paths_table table;
    CHECK(closc_paths_open(&table, bytes, len) == CLOSC_PATHS_OK);
    memcpy(inner, bytes + 56, 16);
    inner[7] = 2, inner[15] = 1; /* the first NIC of the second group */
    struct closc_paths_destination to;
    CHECK(closc_paths_find(&table, inner, &to));

    CHECK(closc_engine_new(bytes, 100, 0, 4) == NULL);
    struct closc_engine *engine = closc_engine_new(bytes, len, 0, 4);
    CHECK(engine);
    uint64_t path, id;
    CHECK(closc_engine_open(engine, inner, 1, &path) == 0);

    /* Successive picks are in different planes, and each has an address. */
    struct closc_engine_pick pick, last = {0, 255};
    uint8_t outer[16];
    for (int n = 0; n < 100; n++) {
        CHECK(closc_engine_pick(engine, path, &pick) == 0);
        CHECK(pick.port != last.port);
        CHECK(closc_paths_outer(&table, &to, pick.entropy, outer) == pick.port);
        last = pick;
    }
    printf("%02x%02x:%02x%02x ", outer[0], outer[1], outer[2], outer[3]);

    closc_engine_lost(engine, path, last.port, last.entropy, 2);
    CHECK(closc_engine_state(engine, path, last.port, last.entropy) == CLOSC_ENGINE_ASSUMED_BAD);
    for (int n = 0; n < 100; n++) {
        CHECK(closc_engine_pick(engine, path, &pick) == 0);
        CHECK(pick.entropy != last.entropy);
    }
    struct closc_engine_event event;
    CHECK(closc_engine_next_event(engine, &event) == 0);
    CHECK(event.to == CLOSC_ENGINE_ASSUMED_BAD && event.entropy == last.entropy);
    printf("lost %u ", event.lost);

    struct closc_engine_denial plane = {(int32_t)pick.port, -1, -1, -1, -1, -1, -1, -1, -1, CLOSC_ENGINE_DRAIN, 0};
    CHECK(closc_engine_deny(engine, &plane, 3, &id) == 0);
    printf("denied %d ", closc_engine_state(engine, path, pick.port, pick.entropy));
    struct closc_engine_denial all = plane;
    all.plane = -1;
    printf("guard %d ", closc_engine_deny(engine, &all, 4, &id));
    CHECK(closc_engine_allow(engine, 1, 5) == 0 && closc_engine_allow(engine, 1, 5) == -1);

    for (int n = 0; n < 4; n++) closc_engine_answered(engine, path, last.port, last.entropy, 6);
    printf("back %d\n", closc_engine_state(engine, path, last.port, last.entropy));
    closc_engine_own_port(engine, 0, 0);
    closc_engine_far_ports(engine, path, 1);
    CHECK(closc_engine_pick(engine, path, &pick) == -1);
    CHECK(closc_engine_reload(engine, bytes, len - 1, 7) == -1 && closc_engine_reload(engine, bytes, len, 7) == 0);
    closc_engine_close(engine, path);
    closc_engine_free(engine);
    return 0;
}
