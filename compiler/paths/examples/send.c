/* Sends one packet over every path from one NIC to another, with only closc_paths.h and a raw socket:
 *
 *     cc -std=c99 -I compiler/paths/include -o send compiler/paths/examples/send.c
 *     ./send path-tables/group-0001.bin SOURCE DESTINATION [nic0p%u]
 *
 * SOURCE and DESTINATION are inner addresses of NICs. Each packet is IPv6 in IPv6 without a segment routing header
 * (RFC 8986 section 5.2, H.Encaps.Red with one segment). It contains a UDP datagram to port 9 (discard, RFC 863). The
 * outer destination is the path. With a pattern of interface names, each packet leaves through the port of its plane.
 * Without a pattern, nothing is sent. Prints a line for each path, in the form of an MRC NIC's explicit entropy value
 * profile: entropy value, port (from 1), outer destination. Denied values are omitted. */
#define _GNU_SOURCE /* SO_BINDTODEVICE */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "closc_paths.h"

enum { IPV6_HEADER = 40, UDP_HEADER = 8, DATA = 8, DISCARD = 9, INNER = IPV6_HEADER + UDP_HEADER + DATA };

static uint32_t add(uint32_t sum, const uint8_t *bytes, size_t len) {
    for (size_t n = 0; n + 1 < len; n += 2) sum += (uint32_t)(bytes[n] << 8 | bytes[n + 1]);
    return sum;
}

/* Builds the inner packet. Its source port has the lowest 15 bits of the entropy value, and its data the complete
 * value, so that a capture shows the path. */
static void inner(uint8_t packet[INNER], const uint8_t source[16], const uint8_t destination[16], uint32_t entropy) {
    const uint16_t len = UDP_HEADER + DATA, port = (uint16_t)(0x8000u | (entropy & 0x7fffu));
    memset(packet, 0, INNER);
    packet[0] = 0x60; /* version 6; class and flow label 0 */
    packet[5] = (uint8_t)len, packet[6] = IPPROTO_UDP, packet[7] = 64;
    memcpy(packet + 8, source, 16);
    memcpy(packet + 24, destination, 16);
    uint8_t *udp = packet + IPV6_HEADER;
    udp[0] = (uint8_t)(port >> 8), udp[1] = (uint8_t)port, udp[3] = DISCARD, udp[5] = (uint8_t)len;
    for (int n = 0; n < 4; n++) udp[UDP_HEADER + n] = (uint8_t)(entropy >> (24 - 8 * n));
    /* RFC 8200 section 8.1: the checksum covers addresses, length, next header and the datagram. */
    uint32_t sum = add(add(0, packet + 8, 32), udp, len) + len + IPPROTO_UDP;
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    sum = sum == 0xffff ? sum : ~sum & 0xffff;
    udp[6] = (uint8_t)(sum >> 8), udp[7] = (uint8_t)sum;
}

/* Opens a raw socket for IPv6 in IPv6 that sends through one interface. */
static int raw(const char *pattern, unsigned plane) {
    char name[IF_NAMESIZE];
    const char *hole = strstr(pattern, "%u");
    int len = hole ? snprintf(name, sizeof name, "%.*s%u%s", (int)(hole - pattern), pattern, plane, hole + 2)
                   : snprintf(name, sizeof name, "%s", pattern);
    if (len < 0 || (size_t)len >= sizeof name) return errno = ENAMETOOLONG, -1;
    int fd = socket(AF_INET6, SOCK_RAW, IPPROTO_IPV6);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name) + 1) != 0) {
        int why = errno;
        close(fd);
        return errno = why, -1;
    }
    return fd;
}

static int send_over(const struct closc_paths_table *table, const struct closc_paths_destination *to,
                     const struct in6_addr *source, const struct in6_addr *destination, uint8_t plane,
                     uint16_t downlink, const char *pattern) {
    int fd = pattern ? raw(pattern, plane) : -1;
    if (pattern && fd < 0) return fprintf(stderr, "plane %u: %s\n", plane, strerror(errno)), 1;
    int failed = 0;
    for (uint32_t n = 0; n < closc_paths_values(table); n++) {
        uint32_t entropy = closc_paths_entropy(table, plane, downlink, n);
        if (closc_paths_is_denied(table, downlink, to, entropy)) continue;
        struct sockaddr_in6 over = {.sin6_family = AF_INET6};
        char text[INET6_ADDRSTRLEN];
        uint8_t packet[INNER];
        uint8_t port = closc_paths_outer(table, to, entropy, over.sin6_addr.s6_addr);
        inner(packet, source->s6_addr, destination->s6_addr, entropy);
        if (fd >= 0 && sendto(fd, packet, sizeof packet, 0, (struct sockaddr *)&over, sizeof over) < 0) {
            fprintf(stderr, "entropy value %u: %s\n", (unsigned)entropy, strerror(errno));
            failed = 1;
        }
        printf("%u %u %s\n", (unsigned)entropy, port + 1u, inet_ntop(AF_INET6, &over.sin6_addr, text, sizeof text));
    }
    if (fd >= 0) close(fd);
    return failed;
}

/* Reads a complete file. The caller frees the buffer. */
static uint8_t *read_all(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) end = ftell(file);
    if (end > 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)end);
    *len = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
    if (file) fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    struct in6_addr source, destination;
    if (argc < 4 || inet_pton(AF_INET6, argv[2], &source) != 1 || inet_pton(AF_INET6, argv[3], &destination) != 1)
        return fprintf(stderr, "usage: %s TABLE SOURCE DESTINATION [INTERFACE%%u]\n", argv[0]), 64;
    size_t len;
    uint8_t *bytes = read_all(argv[1], &len);
    struct closc_paths_table table;
    struct closc_paths_destination from, to;
    int code = 1;
    if (!bytes || closc_paths_open(&table, bytes, len) != CLOSC_PATHS_OK)
        fprintf(stderr, "%s: no path table\n", argv[1]);
    else if (!closc_paths_find(&table, source.s6_addr, &from) || from.zone != table.zone || from.group != table.group)
        fprintf(stderr, "%s: not a NIC of this table's group\n", argv[2]);
    else if (!closc_paths_find(&table, destination.s6_addr, &to))
        fprintf(stderr, "%s: no NIC of this fabric\n", argv[3]);
    else {
        const char *pattern = argc > 4 ? argv[4] : NULL;
        code = 0;
        for (uint8_t plane = 0; plane < table.planes; plane++)
            code |= send_over(&table, &to, &source, &destination, plane, from.downlink, pattern);
    }
    free(bytes);
    return code;
}
