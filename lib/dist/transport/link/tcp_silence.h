// Whether the machine at the other end of a TCP connection is gone.
#pragma once

#include <chrono>

#include <netinet/tcp.h>

namespace dist::net {

inline constexpr std::chrono::seconds longest_silence{30};

// What the kernel knows about the connection (tcp(7), TCP_INFO). A rank that computes does not read, for
// minutes perhaps: its machine still answers each retransmission, and each probe of its closed window (RFC
// 9293, 3.8.6.1). So neither TCP_USER_TIMEOUT, which ends a connection whose window stays closed, nor the age
// of unacknowledged data shows that a machine is gone; several questions without any answer do. (While
// nothing is under way, keepalive asks.)
inline bool is_silent(const tcp_info& info) {
  using std::chrono::microseconds, std::chrono::milliseconds;
  constexpr int questions = 3;
  const milliseconds silence(info.tcpi_last_ack_recv);
  if (silence < longest_silence) return false;
  const bool resent = info.tcpi_retransmits >= questions && silence * 2 > microseconds(info.tcpi_rto) * 3;
  return resent || info.tcpi_probes >= questions;
}

}  // namespace dist::net
