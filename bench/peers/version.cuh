// The name of a peer with its version, where the version's macros are expressions: "CUB 3.0.1".
#pragma once

struct peer_version {
    char text[32];
};

constexpr peer_version peer_version_of(const char *name, int major, int minor, int patch) {
    const int numbers[] = {major, minor, patch};
    peer_version version = {};
    int at = 0;
    for (; name[at] != 0; at++) {
        version.text[at] = name[at];
    }
    for (int i = 0; i < 3; i++) {
        version.text[at++] = i == 0 ? ' ' : '.';
        for (int unit = numbers[i] >= 100 ? 100 : numbers[i] >= 10 ? 10 : 1; unit > 0; unit /= 10) {
            version.text[at++] = (char)('0' + numbers[i] / unit % 10);
        }
    }
    return version;
}
