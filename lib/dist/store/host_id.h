// The identity of this host: ranks with equal ids can share memory and local sockets.
#pragma once

#include <string>

namespace dist {

// Boot id, network namespace and host name: two containers on one machine are two hosts. DIST_HOST_ID
// replaces it (to simulate several hosts on one machine).
std::string host_id();

}  // namespace dist
