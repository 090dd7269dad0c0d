/* Prints every destination with a spread of entropy values, to be compared with the Rust reader. */
#include <stdio.h>

#include "closc_paths.h"

int main(void) {
    static uint8_t bytes[1 << 20];
    size_t len = fread(bytes, 1, sizeof bytes, stdin);
    struct closc_paths_table table;
    enum closc_paths_fault fault = closc_paths_open(&table, bytes, len);
    if (fault != CLOSC_PATHS_OK) {
        printf("fault %d\n", (int)fault);
        return 1;
    }
    for (uint16_t zone = 0; zone < 3; zone++)
        for (uint16_t group = 0; group < 5; group++)
            for (uint16_t downlink = 0; downlink < 7; downlink++) {
                uint8_t inner[16] = {0x20, 0x01, 0x0d, 0xb8, 0x10, 0x00};
                struct closc_paths_destination to;
                inner[6] = (uint8_t)(zone << 4), inner[7] = (uint8_t)group, inner[15] = (uint8_t)downlink;
                if (!closc_paths_find(&table, inner, &to)) continue;
                for (uint32_t ev = 0; ev < 0x200000; ev += 4099) {
                    uint8_t outer[16];
                    uint8_t port = closc_paths_outer(&table, &to, ev, outer);
                    printf("%u %u %u %u %u ", zone, group, downlink, (unsigned)ev, port);
                    for (int n = 0; n < 16; n++) printf("%02x", outer[n]);
                    printf(" %d\n", closc_paths_is_denied(&table, 1, &to, ev));
                }
            }
    return 0;
}
