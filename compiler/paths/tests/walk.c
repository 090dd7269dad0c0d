/* Prints the fabric's name, the entropy sets and probes of every NIC, and every destination with a range of entropy
 * values. A test compares this with the output of the Rust reader. */
#include <stdio.h>

#include "closc_paths.h"

static void hex(const uint8_t address[16]) {
    for (int n = 0; n < 16; n++) printf("%02x", address[n]);
}

static void sets(const struct closc_paths_table *table) {
    for (uint8_t plane = 0; plane < table->planes && plane < 5; plane++)
        for (uint16_t downlink = 0; downlink < 7; downlink++)
            for (uint32_t n = 0; n < closc_paths_values(table); n++) {
                uint32_t ev = closc_paths_entropy(table, plane, downlink, n);
                struct closc_paths_choice over = closc_paths_choice(table, ev);
                printf("%u %u %u %u", plane, downlink, (unsigned)n, (unsigned)ev);
                for (uint8_t segments = 2; segments <= 6; segments = (uint8_t)(segments + 2)) {
                    uint8_t probe[16];
                    over.plane = plane;
                    if (!closc_paths_probe(table, segments, over, downlink, probe)) continue;
                    printf(" ");
                    hex(probe);
                }
                printf("\n");
            }
}

int main(void) {
    static uint8_t bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, stdin);
    struct closc_paths_table table;
    enum closc_paths_fault fault = closc_paths_open(&table, bytes, len);
    if (fault != CLOSC_PATHS_OK) {
        printf("fault %d\n", (int)fault);
        return 1;
    }
    size_t letters = 0;
    const char *fabric = closc_paths_fabric(&table, &letters);
    for (size_t n = 0; fabric && n < letters; n++) printf("%02x", (unsigned)(uint8_t)fabric[n]);
    printf("\n");
    sets(&table);
    for (uint16_t zone = 0; zone < 3; zone++)
        for (uint16_t group = 0; group < 5; group++)
            for (uint16_t downlink = 0; downlink < 7; downlink++) {
                uint8_t inner[16] = {0x20, 0x01, 0x0d, 0xb8, 0x10, 0x00};
                struct closc_paths_destination to;
                uint16_t place = (uint16_t)(zone << (16 - table.zone_bits) | group);
                inner[6] = (uint8_t)(place >> 8), inner[7] = (uint8_t)place, inner[15] = (uint8_t)downlink;
                if (!closc_paths_find(&table, inner, &to)) continue;
                for (uint32_t ev = 0; ev < 0x200000; ev += 4099) {
                    uint8_t outer[16];
                    uint8_t port = closc_paths_outer(&table, &to, ev, outer);
                    printf("%u %u %u %u %u ", zone, group, downlink, (unsigned)ev, port);
                    hex(outer);
                    printf(" %d\n", closc_paths_is_denied(&table, 1, &to, ev));
                }
            }
    return 0;
}
