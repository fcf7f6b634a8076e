// Explains, for error messages, what this machine finds wrong with an address.
#pragma once

#include <string>

#include "dist/store/socket.h"

namespace dist {

// An addition to an error about connections of this host: that its loopback device, by which its processes
// reach each other at any address, is down; "" otherwise.
std::string loopback_problem();

// "10.0.0.5 is not an address of this machine, which has 10.0.0.2", or "" where the host is one, has no
// address, or stands for all.
std::string foreign_address_problem(const SocketAddress& address);

}  // namespace dist
